"""From file to file: embed from every format, and index build, beside an older version.

    python benchmarks/files.py reviews.parquet [--before SOURCES] [--only embed] [-o RESULT.json]
    python benchmarks/files.py reviews.parquet --only parquet --sizes 1000000 3000000

The text is written over and over to files of each format; what is asked of them takes turns, and so
do versions. Processor time of all threads counts, as a busy machine changes it little, and the time
on the clock stands beside it. What a document takes once a process has started is the difference
between a large and a small Parquet file; ``--only parquet`` measures no more than that.
``--before`` is the ``src`` of another checkout; it fits the model, which both load.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
from measuring import commit, publish, surroundings
from speed.growth import write_corpus
from speed.setting import Plan, Setting
from speed.text import read_text
from speed.timing import digits

DIMENSIONS = 100
SIZES = (100_000, 400_000)
SUFFIXES = (".csv", ".jsonl", ".csv.gz", ".csv.zst", ".jsonl.gz", ".jsonl.zst")
TIMES_IN_MEMORY = 20  # as long as a file takes, or nearly: the machine's rate varies within seconds
MAIN = "from deltavec.cli import main; main()"
FIT = """
import sys
import numpy as np
import pyarrow.parquet as pq
import deltavec as dv
words = open(sys.argv[1]).read().split("\\n")
drawn = np.random.default_rng(0).standard_normal((len(words), int(sys.argv[3])), dtype=np.float32)
texts = pq.read_table(sys.argv[2])["text"].slice(0, 40_000).combine_chunks()
dv.fit(texts, dv.WordVectors(words, drawn), "idf-sum-pca").save(sys.argv[4])
"""


class Taken(NamedTuple):
    """What something took: seconds of the processor, and on the clock."""

    processor: float
    clock: float


def taken(work: Callable[[], Any], who: int) -> Taken:
    """What this process, or those it starts, take for some work."""
    before, begin = resource.getrusage(who), time.perf_counter()
    work()
    clock, after = time.perf_counter() - begin, resource.getrusage(who)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Taken(spent, clock)


def run(sources: Path, *arguments: str, program: str = MAIN) -> None:
    subprocess.run(
        [sys.executable, "-c", program, *arguments],
        env={**os.environ, "PYTHONPATH": str(sources), "PYTHONWARNINGS": "ignore"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        check=True,
    )


def write_others(folder: Path, size: int) -> list[str]:
    """Write the Parquet file of this size in every other format; their names."""
    table = pa.parquet.read_table(folder / f"{size}.parquet")
    pa.csv.write_csv(table, folder / f"{size}.csv")
    with (folder / f"{size}.jsonl").open("w", encoding="utf-8") as file:
        file.writelines(f"{json.dumps(row, ensure_ascii=False)}\n" for row in table.to_pylist())
    for suffix in (".csv", ".jsonl"):
        plain = folder / f"{size}{suffix}"
        for ending, codec in ((".gz", "gzip"), (".zst", "zstd")):
            target = pa.CompressedOutputStream(pa.OSFile(f"{plain}{ending}", "wb"), codec)
            with plain.open("rb") as source, target:
                shutil.copyfileobj(source, target)
    return [f"{size}{suffix}" for suffix in SUFFIXES]


def embedding(
    setting: Setting, sources: Path, folder: Path, names: Sequence[str], runs: int
) -> dict[str, dict[str, list[float]]]:
    """What embedding takes in memory, and from each of the files to Parquet."""
    model = setting.model(DIMENSIONS)

    def embed_again() -> None:
        for _ in range(TIMES_IN_MEMORY):
            model.embed(setting.sample, threads=setting.cores)

    asked: dict[str, Callable[[], Taken]] = {
        "in memory": lambda: taken(embed_again, resource.RUSAGE_SELF)
    }
    for name in names:
        asked[name] = lambda name=name: embed_file(sources, folder, name)
    return in_turn(asked, runs)


def embed_file(sources: Path, folder: Path, name: str) -> Taken:
    """What ``deltavec embed`` takes for a file."""
    output = folder / "vectors.parquet"
    command = ("embed", str(folder / "model.dv"), str(folder / name), "--output", str(output))
    try:
        return taken(lambda: run(sources, *command), resource.RUSAGE_CHILDREN)
    finally:
        output.unlink(missing_ok=True)


def building(versions: dict[str, Path], corpus: Path, folder: Path, runs: int) -> dict[str, Any]:
    """What ``deltavec index build`` takes, with and without words where there are some."""
    output = folder / "built.idx"

    def build(sources: Path, *options: str) -> Taken:
        command = ("index", "build", str(folder / "model.dv"), str(corpus), "-o", str(output))
        try:
            return taken(lambda: run(sources, *command, *options), resource.RUSAGE_CHILDREN)
        finally:
            shutil.rmtree(output)

    asked: dict[str, Callable[[], Taken]] = {
        "now, without words": lambda: build(versions["now"], "--no-words"),
        "now, with words": lambda: build(versions["now"]),
    }
    if "before" in versions:
        asked["before, which has no words"] = lambda: build(versions["before"])
    return in_turn(asked, runs)


def in_turn(asked: dict[str, Callable[[], Taken]], runs: int) -> dict[str, dict[str, list[float]]]:
    """The seconds of each, several times; the first time is not counted."""
    found: dict[str, list[Taken]] = {name: [] for name in asked}
    for _ in range(runs + 1):
        for name, measure in asked.items():
            found[name].append(measure())
    return {
        name: {kind: [digits(getattr(one, kind)) for one in some[1:]] for kind in Taken._fields}
        for name, some in found.items()
    }


def told(setting: Setting, seconds: dict[str, Any], sizes: Sequence[int]) -> dict[str, Any]:
    """Rates in million words a second of the processor's time, and on the clock; medians of turns.

    What is compared was measured in one turn.
    """
    small, large = (f"{size}.parquet" for size in sizes)
    a_document = setting.text.counts.tokens / len(setting.text.column) / 1e6
    in_memory = TIMES_IN_MEMORY * setting.sample_words / 1e6
    found: dict[str, Any] = {}
    for kind in Taken._fields:
        turns = {name: each[kind] for name, each in seconds.items()}
        memory = [in_memory / one for one in turns.pop("in memory")]
        pairs = zip(turns[small], turns[large], strict=True)
        steady = [(sizes[1] - sizes[0]) * a_document / (more - less) for less, more in pairs]
        shares = [file / memory for file, memory in zip(steady, memory, strict=True)]
        found[kind] = {
            "in memory": digits(statistics.median(memory)),
            "Parquet, once started": digits(statistics.median(steady)),
            "Parquet, once started, over in memory": digits(statistics.median(shares), 3),
            "the same, turn by turn": [digits(share, 3) for share in shares],
        }
        for name, some in turns.items():
            words = int(name.partition(".")[0]) * a_document
            found[kind][name] = digits(words / statistics.median(some))
    return found


def main() -> None:
    """Measure, print, and write what was measured."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--column", default="text")
    parser.add_argument("--before", type=Path)
    parser.add_argument(
        "--only", nargs="*", choices=("embed", "parquet", "index"), default=["embed", "index"]
    )
    parser.add_argument("--sizes", nargs=2, type=int, default=SIZES, help="documents, less first")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("-o", "--output", type=Path)
    given = parser.parse_args()
    versions = {"now": Path(__file__).parents[1] / "src"}
    if given.before:
        versions = {"before": given.before.resolve(), **versions}
    result = surroundings(["numba", "numpy", "pyarrow"])
    result |= {
        "commits": {name: commit(sources.parent) for name, sources in versions.items()},
        "documents": list(given.sizes),
        "dimensions": DIMENSIONS,
    }
    with tempfile.TemporaryDirectory(prefix="deltavec-files-") as made:
        folder = Path(made)
        text = read_text(given.corpus, given.column)
        setting = Setting(text, Plan(), 2, folder, folder, {})
        parquets = [f"{size}.parquet" for size in given.sizes]
        for size, name in zip(given.sizes, parquets, strict=True):
            write_corpus(text.column, size, folder / name)
        words = folder / "words.txt"
        words.write_text("\n".join(setting.table))
        small = folder / parquets[0]
        arguments = (str(words), str(small), str(DIMENSIONS), str(folder / "model.dv"))
        run(versions.get("before", versions["now"]), *arguments, program=FIT)
        result["load"] = os.getloadavg()[0]  # what else the machine has to do
        if given.only != ["index"]:
            others = write_others(folder, given.sizes[0]) if "embed" in given.only else []
            names = [*parquets, *others]
            seconds = embedding(setting, versions["now"], folder, names, given.runs)
            result["million_words_per_second"] = told(setting, seconds, given.sizes)
            result["embed_seconds"] = seconds
        if "index" in given.only:
            result["index_build_seconds"] = building(versions, small, folder, given.runs)
    publish(result, given.output)


if __name__ == "__main__":
    main()
