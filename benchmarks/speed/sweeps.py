"""How the rate depends on threads, on the length of documents, and on the size of the table."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pyarrow as pa

import deltavec as dv
from speed.bound_kernels import arithmetic
from speed.setting import Setting
from speed.tables import fitted, sized
from speed.text import recut, words_in
from speed.timing import digits, interleaved, medians, million_per_second, rounded


def against_threads(setting: Setting) -> dict[str, Any]:
    """From one thread to twice as many as there are cores, at 100 and 300 dimensions.

    Beside them arithmetic that shares nothing, one loop a thread: how much more work it gets done
    is all that the machine's cores are worth together.
    """
    counts = [2**power for power in range((2 * setting.cores).bit_length())]
    points = []
    speed_ups = {}
    for dimensions in (100, 300):
        model = setting.model(dimensions)
        functions = {
            threads: lambda m=model, t=threads: m.embed(setting.sample, threads=t)
            for threads in counts
        }
        loops = {
            f"arithmetic, {threads}": lambda t=threads: in_threads(t, setting.plan.arithmetic)
            for threads in counts
        }
        seconds = interleaved(functions | loops, setting.plan.repeats)
        took = {threads: medians(seconds)[f"arithmetic, {threads}"] for threads in counts}
        arithmetic_speed_up = {
            str(threads): digits(threads * took[1] / took[threads]) for threads in counts
        }
        points += [
            point(setting.sample_words, seconds[threads], dimensions=dimensions, threads=threads)
            for threads in counts
        ]
        speed_ups[str(dimensions)] = arithmetic_speed_up
    return {
        "table_words": len(setting.table),
        "points": points,
        "arithmetic_speed_up_beside_dimensions": speed_ups,
    }


def in_threads(threads: int, rounds: int) -> None:
    """The same arithmetic on so many threads at once."""
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(arithmetic, [rounds] * threads))


def against_lengths(setting: Setting) -> dict[str, Any]:
    """The same text, cut into shorter and longer documents."""
    points = []
    for dimensions in (100, 300):
        model = setting.model(dimensions)
        for length in setting.plan.lengths:
            column = recut(setting.text.column, length, max(length, setting.plan.recut_words))
            points += timed(
                setting, model, column, dimensions=dimensions, length=length,
                documents=len(column),
            )  # fmt: skip
    return {"table_words": len(setting.table), "points": points}


def against_vocabulary(setting: Setting) -> dict[str, Any]:
    """Tables of the most frequent words, and larger ones with words that the text never uses."""
    points = []
    for size in setting.plan.table_sizes:
        model = fitted(setting.sample, sized(setting.seen_words, size), 100)
        points += timed(
            setting, model, setting.sample, table_words=size,
            coverage=digits(model.statistics.coverage),
        )  # fmt: skip
    return {"dimensions": 100, "seen_words": len(setting.seen_words), "points": points}


def against_dimensions(setting: Setting) -> dict[str, Any]:
    """A table of the words that the text uses, narrower and wider."""
    points = []
    for dimensions in setting.plan.dimensions:
        model = fitted(setting.sample, setting.seen_words, dimensions)
        points += timed(setting, model, setting.sample, dimensions=dimensions)
    return {"table_words": len(setting.seen_words), "points": points}


def timed(
    setting: Setting, model: dv.EmbeddingModel, column: pa.Array, **about: Any
) -> list[dict[str, Any]]:
    """One point for each number of threads."""
    functions = {
        threads: lambda t=threads: model.embed(column, threads=t)
        for threads in setting.thread_counts
    }
    words = words_in(column)
    return [
        point(words, some, threads=threads, **about)
        for threads, some in interleaved(functions, setting.plan.repeats).items()
    ]


def point(words: int, seconds: list[float], **about: Any) -> dict[str, Any]:
    """One measured rate, and what it was measured at."""
    middle = medians({"": seconds})[""]
    return {
        **about,
        "million_words_per_second": digits(million_per_second(words, middle)),
        "seconds": rounded(seconds),
    }


def scaling(points: list[dict[str, Any]], dimensions: int, threads: int) -> float | None:
    """How many times the rate of one thread so many threads reach."""
    rates = {
        place["threads"]: place["million_words_per_second"]
        for place in points
        if place["dimensions"] == dimensions
    }
    if threads not in rates or 1 not in rates:
        return None
    return float(np.divide(rates[threads], rates[1]))
