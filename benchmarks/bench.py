"""Speed and memory of deltavec beside its peers, and beside what the machine allows.

    make bench REVIEWS=reviews.parquet
    python benchmarks/bench.py reviews.parquet --only roofline scale
    python benchmarks/bench.py --quick

Without a file it runs on generated text (speed/zipf.py). Each section's result is merged into
``bench.json`` as soon as it is there, and ``bench.md`` and the figures are made from that file, so
that a section can be run again by itself. ``--quick`` is a smoke run on little text: its rates
mean nothing, and go to another folder.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

from measuring import ROOT
from speed import (
    cold,
    comparison,
    fitting,
    growth,
    machine,
    report,
    roofline,
    scripts,
    sweeps,
    training,
)
from speed.figures import write_figures
from speed.setting import QUICK, Plan, Setting
from speed.text import Text, generated_text, read_text

from deltavec.errors import DeltavecError

SECTIONS: dict[str, Callable[[Setting], dict[str, Any]]] = {
    "peers": comparison.comparison,
    "roofline": roofline.roofline,
    "threads": sweeps.against_threads,
    "lengths": sweeps.against_lengths,
    "vocabulary": sweeps.against_vocabulary,
    "dimensions": sweeps.against_dimensions,
    "scripts": scripts.scripts,
    "fit": fitting.fitting,
    "growth": growth.growth,
    "training": training.training,
    "cold": cold.cold,
}
RESULTS = ROOT / "benchmarks" / "results"
PAGE = ROOT / "docs" / "guides" / "speed.md"
GENERATED_DOCUMENTS = 60_000
QUICK_DOCUMENTS = 1_500


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("corpus", nargs="?", type=Path, help="a file that deltavec reads")
    parser.add_argument("--column", default="text")
    parser.add_argument(
        "--only", nargs="*", choices=SECTIONS, default=list(SECTIONS),
        help="these sections; none: make the report from what was measured before",
    )  # fmt: skip
    parser.add_argument("--cores", type=int, default=2, help="how many cores all may use")
    parser.add_argument("--quick", action="store_true", help="a smoke run on little text")
    parser.add_argument("-o", "--output", type=Path, help="the folder of results")
    return parser.parse_args()


def confined(cores: int) -> int:
    """Keep this process, and all that it starts, to so many cores; how many it has."""
    if not hasattr(os, "sched_setaffinity"):
        return min(cores, os.cpu_count() or 1)
    allowed = sorted(os.sched_getaffinity(0))[:cores]
    os.sched_setaffinity(0, allowed)
    return len(allowed)


def merge(path: Path, section: str, result: dict[str, Any], about: dict[str, Any]) -> None:
    """Put a section's result into the file, with what it was measured on."""
    whole = json.loads(path.read_text("utf-8")) if path.exists() else {}
    whole[section] = {**result, "measured": about}
    ordered = {name: whole[name] for name in SECTIONS if name in whole}
    path.write_text(json.dumps(ordered, indent=1) + "\n", "utf-8")


def not_installed() -> dict[str, str]:
    """What the set-up could not get, and why."""
    path = Path(sys.prefix) / "absent.json"
    return json.loads(path.read_text("utf-8")) if path.exists() else {}


def say(sentence: str) -> None:
    print(sentence, file=sys.stderr, flush=True)


def text_of(asked: argparse.Namespace) -> Text:
    """The text that was asked for."""
    if asked.corpus is None:
        say("generating text ...")
        return generated_text(QUICK_DOCUMENTS if asked.quick else GENERATED_DOCUMENTS)
    say("reading the text ...")
    try:
        return read_text(asked.corpus, asked.column, QUICK_DOCUMENTS if asked.quick else None)
    except DeltavecError as error:
        sys.exit(str(error))


def measure(setting: Setting, sections: list[str], path: Path) -> list[str]:
    """Run the sections, and merge each into the file; the names of those that failed."""
    about = {
        **machine.surroundings(setting.cores),
        **setting.text.facts(),
        "quick": setting.plan is QUICK,
    }
    failed = []
    for name in sections:
        say(f"{name} ...")
        begin = time.perf_counter()
        try:
            merge(path, name, SECTIONS[name](setting), about)
        except Exception:  # the other sections are worth having
            traceback.print_exc()
            failed.append(name)
        say(f"{name}: {time.perf_counter() - begin:.0f} s")
    return failed


def write_report(folder: Path) -> None:
    """Make the figures and the Markdown from the file of results."""
    path = folder / "bench.json"
    results = json.loads(path.read_text("utf-8")) if path.exists() else {}
    write_figures(results, folder)
    (folder / "bench.md").write_text(report.told(results), "utf-8")
    if folder == RESULTS:
        PAGE.write_text(report.told(results, "../../benchmarks/results/"), "utf-8")
    print(report.claims(results))


def main() -> None:
    asked = arguments()
    cores = confined(asked.cores)
    folder = asked.output or (ROOT / "build" / "bench-quick" if asked.quick else RESULTS)
    folder.mkdir(parents=True, exist_ok=True)
    failed = []
    if asked.only:
        text = text_of(asked)
        with tempfile.TemporaryDirectory(prefix="deltavec-bench-") as scratch:
            setting = Setting(
                text,
                QUICK if asked.quick else Plan(),
                cores,
                Path(scratch),
                Path(sys.prefix) / "models",
                not_installed(),
            )
            failed = measure(setting, asked.only, folder / "bench.json")
    write_report(folder)
    if failed:
        sys.exit(f"failed: {', '.join(failed)}")


if __name__ == "__main__":
    main()
