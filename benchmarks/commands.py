"""How long commands take that ask a little, beside an older version of deltavec.

    python benchmarks/commands.py [--before SOURCES] [--runs 7] [-o RESULT.json]

Both versions make the demo's model and a collection of its stories, each with its own code, and are
asked the same. Versions take turns, and processor time is what counts: a busy machine changes the
time on the clock, and this little. ``--before`` is the ``src`` of another checkout.
"""

from __future__ import annotations

import argparse
import os
import re
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from measuring import commit, publish, surroundings

QUERY = "bin Laden in Afghanistan"
MAIN = "from deltavec.cli import main; main()"
QUESTIONS = {
    "search": ["search", "news.idx", QUERY],
    "similar": ["similar", "news.idx", "5"],
    "info, collection": ["info", "news.idx"],
    "info, model": ["info", "lee-news/news.dv"],
    "explain": ["explain", "lee-news/news.dv", QUERY, "al Qaeda fighters"],
    "--help": ["--help"],
}
# 400,000 words as a pretrained table has them, in 100 dimensions; the text uses few of them.
LARGE = """
import numpy as np
import deltavec as dv
random = np.random.default_rng(0)
words = [f"w{number:x}" for number in range(400_000)]
vectors = dv.WordVectors(words, random.standard_normal((len(words), 100), dtype=np.float32))
texts = [" ".join(words[n] for n in random.zipf(1.2, 20) % len(words)) for _ in range(2000)]
dv.fit(texts, vectors, "idf-sum-pca").save("large.dv")
"""
FIRST = 'import deltavec as dv; dv.load("large.dv").embed(["w1 w2 and some text"])'
WATCHED = ("deltavec", "numba", "numpy", "pandas", "pyarrow", "scipy", "sklearn", "typer")
IMPORTED = re.compile(r"import time:\s+(\d+) \|\s+\d+ \| \s*(\w+)")


def run(
    sources: Path, folder: Path, arguments: list[str], *options: str, program: str = MAIN
) -> str:
    """What a command, or another program, writes to stderr."""
    done = subprocess.run(
        [sys.executable, *options, "-c", program, *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(sources), "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stderr


def processor_seconds(sources: Path, folder: Path, question: str) -> float:
    """The processor time that a command takes, of all its threads."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    if question in QUESTIONS:
        run(sources, folder, QUESTIONS[question])
    else:
        run(sources, folder, [], program=FIRST)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def imports(sources: Path, folder: Path, arguments: list[str]) -> dict[str, float]:
    """The milliseconds that importing takes, by package, as ``-X importtime`` tells."""
    found: dict[str, int] = {}
    for microseconds, name in IMPORTED.findall(run(sources, folder, arguments, "-X", "importtime")):
        package = name if name in WATCHED else "others"
        found[package] = found.get(package, 0) + int(microseconds)
    return {name: found[name] / 1000 for name in sorted(found)}


def measured(versions: dict[str, Path], runs: int) -> dict[str, object]:
    """The medians of each command, and what its imports take."""
    with tempfile.TemporaryDirectory() as made:
        folders = {name: Path(made, name) for name in versions}
        for name, folder in folders.items():
            folder.mkdir()
            run(versions[name], folder, ["demo", "-o", "lee-news"])
            build = ["index", "build", "lee-news/news.dv", "lee-news/news.txt", "-o", "news.idx"]
            run(versions[name], folder, build)
            run(versions[name], folder, [], program=LARGE)
        seconds: dict[str, dict[str, list[float]]] = {}
        for _ in range(runs + 1):  # the first reads files from disk, and is not counted
            for question in (*QUESTIONS, "first document of 400,000 words"):
                for name, folder in folders.items():
                    own = seconds.setdefault(question, {}).setdefault(name, [])
                    own.append(processor_seconds(versions[name], folder, question))
        medians = {
            question: {name: statistics.median(own[1:]) for name, own in each.items()}
            for question, each in seconds.items()
        }
        for each in medians.values():
            if "before" in each:
                each["ratio"] = each["now"] / each["before"]
        return {
            "processor_seconds": medians,
            "imports_of_search_ms": {
                name: imports(versions[name], folder, QUESTIONS["search"])
                for name, folder in folders.items()
            },
        }


def main() -> None:
    """Measure, print, and write what was measured."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--before", type=Path)
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("-o", "--output", type=Path)
    given = parser.parse_args()
    versions = {"now": Path(__file__).parents[1] / "src"}
    if given.before:
        versions = {"before": given.before.resolve(), **versions}
    commits = {name: commit(sources.parent) for name, sources in versions.items()}
    load = os.getloadavg()[0]  # what else the machine had to do
    result = surroundings(["numba", "numpy", "pandas", "pyarrow"])
    result |= {"commits": commits, "load": load, "runs": given.runs}
    publish(result | measured(versions, given.runs), given.output)


if __name__ == "__main__":
    main()
