"""Documents of ten words beside what the machine allows: finding words, adding rows, fresh memory.

    python benchmarks/short.py reviews.parquet [--dimensions 300] [-o RESULT.json]

One thread; the least processor time of several runs, in microseconds a document. The bound is
finding the words and adding their rows into memory that is there already, one after the other
(`speed/roofline.py`); ``embed`` returns fresh memory, which the system has to clear.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from measuring import publish, surroundings
from speed import bound_kernels
from speed.roofline import listed_terms
from speed.setting import Plan, Setting
from speed.text import read_text, recut, words_in
from speed.timing import digits

from deltavec.core.passes import embedded
from deltavec.core.texts import as_texts

LENGTH = 10
WORDS = 1_000_000
RUNS = 15


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


def main() -> None:
    """Measure, print, and write what was measured."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--column", default="text")
    parser.add_argument("--dimensions", type=int, default=300)
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
            "fresh memory": lambda: np.empty_like(room).fill(0),
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
        },
        given.output,
    )


if __name__ == "__main__":
    main()
