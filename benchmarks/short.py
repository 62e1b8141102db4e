"""Documents of ten words beside what the machine allows: finding words, adding rows.

    python benchmarks/short.py reviews.parquet [--before ../older/.venv/bin/python] [-o RESULT.json]

One thread; the least processor time of several runs, in microseconds a document. The bound is
finding the words and adding their rows into memory that is there already, one after the other
(`speed/roofline.py`). ``embed`` has the memory of the result before, which nobody holds any more;
the first result of a process takes longer, as the system clears its memory.

``--before`` names the interpreter of another checkout's environment. Both versions embed the same
documents of ten words, and long ones, with vectors drawn for the frequent words of the text. They
take turns, each in a process of its own, and medians over the turns are compared.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import pyarrow as pa
from measuring import publish, surroundings
from pyarrow import parquet
from speed import bound_kernels
from speed.roofline import listed_terms
from speed.setting import Plan, Setting
from speed.text import Text, read_text, recut, words_in
from speed.timing import digits

from deltavec.core.batching import embedded
from deltavec.core.text.batches import as_texts

LENGTH = 10
WORDS = 1_000_000
RUNS = 15
TURNS = 9
LONG_DOCUMENTS = 10_000
TABLE_WORDS = 30_000
# With what every version has: a folder of documents and words, and how many dimensions.
EMBEDDING = """
import json, sys, time
import numpy, pyarrow.parquet
import deltavec as dv
folder, dimensions = sys.argv[1], int(sys.argv[2])
ten, long = (
    pyarrow.parquet.read_table(f"{folder}/{name}.parquet")["text"].combine_chunks()
    for name in ("ten", "long")
)
words = open(f"{folder}/words.txt", encoding="utf-8").read().split()
drawn = numpy.random.default_rng(0).standard_normal((len(words), dimensions))
model = dv.fit(long[:2000], dv.WordVectors(words, drawn.astype("float32")), recipe="idf-sum-pca")
taken = {}
for name, documents in {"ten words": ten, "as they are": long}.items():
    seconds = []
    for _ in range(6):
        begin = time.thread_time()
        model.embed(documents, threads=1)
        seconds.append(time.thread_time() - begin)
    taken[name] = 1e6 * min(seconds) / len(documents)
print(json.dumps(taken))
"""


def least(functions: dict[str, Callable[[], Any]]) -> dict[str, float]:
    """The least seconds of this thread for each, in turn; once before, to warm up."""
    seconds = dict.fromkeys(functions, float("inf"))
    for function in functions.values():
        function()
    for _ in range(RUNS):
        for name, function in functions.items():
            begin = time.thread_time()
            function()
            seconds[name] = min(seconds[name], time.thread_time() - begin)
    return seconds


def beside(before: str, text: Text, ten: pa.Array, dimensions: int) -> dict[str, Any]:
    """Microseconds a document of this version and another, in turn, and how they compare."""
    turns: dict[str, list[dict[str, float]]] = {"now": [], "before": []}
    with tempfile.TemporaryDirectory() as folder:
        for name, column in {"ten": ten, "long": text.column[:LONG_DOCUMENTS]}.items():
            parquet.write_table(pa.table({"text": column}), f"{folder}/{name}.parquet")
        words = text.counts.frequent(2)[0].words[:TABLE_WORDS]  # the most frequent first
        Path(folder, "words.txt").write_text("\n".join(words), encoding="utf-8")
        for _ in range(TURNS):
            for version, python in {"now": sys.executable, "before": before}.items():
                command = [python, "-W", "ignore", "-c", EMBEDDING, folder, str(dimensions)]
                answer = subprocess.run(command, capture_output=True, text=True, check=True)
                turns[version].append(json.loads(answer.stdout))
    medians = {
        version: {name: median(one[name] for one in some) for name in some[0]}
        for version, some in turns.items()
    }
    return {
        "microseconds_a_document": {
            version: {name: digits(one, 3) for name, one in some.items()}
            for version, some in medians.items()
        },
        "times_the_rate": {
            name: digits(medians["before"][name] / one, 3) for name, one in medians["now"].items()
        },
        "turns": turns,
    }


def main() -> None:
    """Measure, print, and write what was measured."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--column", default="text")
    parser.add_argument("--dimensions", type=int, default=300)
    parser.add_argument("--before", help="the interpreter of an older checkout's environment")
    parser.add_argument("-o", "--output", type=Path)
    given = parser.parse_args()
    text = read_text(given.corpus, given.column)
    model = Setting(text, Plan(), 1, Path(), Path(), {}).model(given.dimensions)
    column = recut(text.column[:10_000], LENGTH, WORDS)
    texts, words = as_texts(column, "words"), model.vocabulary.table
    listed = listed_terms(texts, model)
    room = np.empty((len(column), given.dimensions), np.float32)
    rows = model.folded.rows
    seconds = least(
        {
            "find the words": lambda: bound_kernels.scan_only(texts, 0, len(column), words),
            "add the rows": lambda: bound_kernels.gather_add(*listed, rows, 0, len(column), room),
            "embed into memory that is there": lambda: embedded(
                texts, model.vocabulary, model.folded, 1, vectors=room
            ),
            "embed": lambda: model.embed(column, threads=1),
        }
    )
    bound = seconds["find the words"] + seconds["add the rows"]
    publish(
        {
            **surroundings(["numba", "numpy", "pyarrow"]),
            "load": os.getloadavg()[0],  # what else the machine has to do
            "documents": len(column),
            "dimensions": given.dimensions,
            "microseconds_a_document": {
                name: digits(1e6 * one / len(column), 3) for name, one in seconds.items()
            },
            "bound_million_words_per_second": digits(words_in(column) / bound / 1e6, 3),
            "embed_million_words_per_second": digits(words_in(column) / seconds["embed"] / 1e6, 3),
            "share_of_bound": digits(bound / seconds["embed"], 3),
            "share_of_bound_into_memory_that_is_there": digits(
                bound / seconds["embed into memory that is there"], 3
            ),
            **(
                {"beside_before": beside(given.before, text, column, given.dimensions)}
                if given.before
                else {}
            ),
        },
        given.output,
    )


if __name__ == "__main__":
    main()
