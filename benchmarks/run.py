"""Run benchmarks, in this checkout or in two that take turns.

    python benchmarks/run.py embed fit search hybrid serve commands files
    python benchmarks/run.py embed serve --against ../other-checkout --repeat 5 -o result.json
    python benchmarks/run.py embed search hybrid --peers --text reviews.parquet

A benchmark is a module of this folder with a function ``steps(given)``: it sets up and returns
named functions. Each checkout runs it in a process of its own with its ``src`` on the path; the
module always comes from this folder, so it may only use names that both checkouts have. Steps take
turns between checkouts, after one turn that is not counted. A step returns what it did:
``items`` to compute a rate, ``answer`` to compare what both found, and other figures.
``--peers`` adds the other libraries that are installed (``peers(given)`` of the module).
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from measuring import ROOT, commit, peak_megabytes, publish, surroundings
from texts import write_corpus

NAMES = ("embed", "fit", "search", "hybrid", "serve", "commands", "files", "cold")
PACKAGES = (
    "deltavec", "numba", "numpy", "scipy", "pyarrow", "scikit-learn", "bm25s", "faiss-cpu",
    "hnswlib", "usearch", "model2vec", "gensim",
)  # fmt: skip

Step = Callable[[], dict[str, Any]]


@dataclass(frozen=True)
class Given:
    """What a benchmark gets: its own folder, a Parquet file with ``id`` and ``text``, sizes."""

    folder: str
    corpus: str
    documents: int
    rows: int
    threads: int
    seconds: float
    peers: bool
    models: str

    @property
    def path(self) -> Path:
        """The folder that the benchmark may write to."""
        return Path(self.folder)


def work(name: str, given: Given) -> None:
    """Run the steps that standard input names, until it ends; answer in JSON, a line each."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # nothing that a library prints gets between the answers
    module = importlib.import_module(name)
    steps: dict[str, Step] = module.steps(given)
    if given.peers:
        steps |= module.peers(given) if hasattr(module, "peers") else {}
    print(json.dumps(list(steps)), file=answers, flush=True)
    for line in sys.stdin:
        cpu, begin = used(), time.perf_counter()
        found = steps[line.strip()]()
        wall, cpu = time.perf_counter() - begin, used() - cpu
        found = {"wall": wall, "cpu": cpu, "peak_megabytes": peak_megabytes(), **found}
        print(json.dumps(found), file=answers, flush=True)


def used() -> float:
    """CPU seconds of this process and of its children that ended."""
    both = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(one.ru_utime + one.ru_stime for one in both)


class Worker:
    """One benchmark in one checkout, in a process of its own."""

    def __init__(self, name: str, checkout: Path, given: Given) -> None:
        given.path.mkdir()
        self.process = subprocess.Popen(
            [sys.executable, "-W", "ignore", __file__, "--work", name, json.dumps(asdict(given))],
            env={**os.environ, "PYTHONPATH": str(checkout / "src")},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.steps: list[str] = self._answer()

    def _answer(self) -> Any:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit("a benchmark failed: see above")
        return json.loads(line)

    def run(self, step: str) -> dict[str, Any]:
        """Run a step once."""
        assert self.process.stdin is not None
        print(step, file=self.process.stdin, flush=True)
        return self._answer()

    def stop(self) -> None:
        """End the process."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()


def measure(workers: dict[str, Worker], repeat: int) -> dict[str, Any]:
    """The figures of each step in each checkout, and how they compare."""
    steps = list(dict.fromkeys(step for worker in workers.values() for step in worker.steps))
    turns: dict[str, dict[str, list[dict[str, Any]]]] = {step: {} for step in steps}
    for turn in range(repeat + 1):
        # The one that goes first changes, as other work on the machine comes and goes.
        order = list(workers) if turn % 2 else list(workers)[::-1]
        for step in steps:
            for name in order:
                if step in workers[name].steps:
                    found = workers[name].run(step)
                    if turn:  # the first one compiles and reads files from disk
                        turns[step].setdefault(name, []).append(found)
        print(f"turn {turn} of {repeat} done", file=sys.stderr, flush=True)
    return {step: compare(found) for step, found in turns.items()}


def compare(found: dict[str, list[dict[str, Any]]]) -> dict[str, Any]:
    """Medians over the turns, rates over those of ``against``, and whether answers agree."""
    report: dict[str, Any] = {name: medians(turns) for name, turns in found.items()}
    if {"now", "against"} <= found.keys():
        now, against = report["now"], report["against"]
        report["rate_over_against"] = {
            kind: rounded((now["items"] / now[kind]) / (against["items"] / against[kind]))
            for kind in ("wall", "cpu")
        }
        answers = [found[name][-1].get("answer") for name in ("now", "against")]
        if None not in answers:
            report["answers"] = difference(*answers)
    return report


def medians(turns: list[dict[str, Any]]) -> dict[str, Any]:
    """The median of every figure."""
    figures = [name for name, value in turns[0].items() if isinstance(value, int | float)]
    found = {name: rounded(statistics.median(turn[name] for turn in turns)) for name in figures}
    if found.setdefault("items", 1) > 1:
        found["items_per_second"] = rounded(found["items"] / found["wall"])
    return found


def difference(now: dict[str, Any], against: dict[str, Any]) -> dict[str, Any]:
    """Whether the same ids were found, and how far numbers are apart."""
    pairs = zip(now["numbers"], against["numbers"], strict=True)
    return {
        "same_ids": now.get("ids") == against.get("ids"),
        "largest_difference": max((abs(one - other) for one, other in pairs), default=0.0),
    }


def rounded(value: float) -> float:
    """Four digits are enough."""
    return float(f"{value:.4g}")


def main() -> None:
    if sys.argv[1:2] == ["--work"]:
        work(sys.argv[2], Given(**json.loads(sys.argv[3])))
        return
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", default=list(NAMES), metavar="NAME")
    parser.add_argument("--against", type=Path, help="another checkout, run in turns")
    parser.add_argument("--repeat", type=int, default=5, help="turns that count")
    parser.add_argument("--text", type=Path, help="a Parquet file with a column text")
    parser.add_argument("--documents", type=int, default=40_000)
    parser.add_argument("--rows", type=int, default=200_000, help="vectors of exact search")
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--seconds", type=float, default=3.0, help="a turn of a server")
    parser.add_argument("--peers", action="store_true", help="the other libraries, too")
    parser.add_argument("--models", type=Path, default=Path("models"), help="folder of models")
    parser.add_argument("-o", "--output", type=Path)
    asked = parser.parse_args()
    if unknown := {*asked.names} - {*NAMES}:
        parser.error(f"NAME must be one of {', '.join(NAMES)}, got {', '.join(unknown)}")
    checkouts = {"now": ROOT}
    if asked.against:
        checkouts["against"] = asked.against.resolve()
    report = surroundings(PACKAGES)
    report["commits"] = {name: commit(path) for name, path in checkouts.items()}
    report |= {name: getattr(asked, name) for name in ("repeat", "documents", "rows", "threads")}
    with tempfile.TemporaryDirectory(prefix="deltavec-bench-") as made:
        corpus = Path(made, "corpus.parquet")
        report["text"] = write_corpus(corpus, asked.documents, asked.text)
        for name in asked.names:
            print(f"{name} ...", file=sys.stderr, flush=True)
            workers: dict[str, Worker] = {}
            try:
                for version, checkout in checkouts.items():
                    given = Given(
                        folder=str(Path(made, f"{name}-{version}")),
                        corpus=str(corpus),
                        documents=asked.documents,
                        rows=asked.rows,
                        threads=asked.threads,
                        seconds=asked.seconds,
                        peers=asked.peers and version == "now",
                        models=str(asked.models.resolve()),
                    )
                    workers[version] = Worker(name, checkout, given)
                report.setdefault("benchmarks", {})[name] = measure(workers, asked.repeat)
                if asked.output:  # what is done stays if a later one fails
                    asked.output.write_text(json.dumps(report, indent=1) + "\n")
            finally:
                for worker in workers.values():
                    worker.stop()
    publish(report, asked.output)


if __name__ == "__main__":
    main()
