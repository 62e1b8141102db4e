"""Repeated timings in turn, so that a slow minute of the machine falls on all alike."""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any


def seconds_of(function: Callable[[], Any]) -> float:
    """How long one call takes; what it returns is dropped after the clock has stopped."""
    begin = time.perf_counter()
    result = function()
    seconds = time.perf_counter() - begin
    del result
    return seconds


def interleaved(functions: Mapping[str, Callable[[], Any]], repeats: int) -> dict[str, list[float]]:
    """The seconds of each function, called in turn; once before, unmeasured, to warm up."""
    for function in functions.values():
        function()
    seconds: dict[str, list[float]] = {name: [] for name in functions}
    for _ in range(repeats):
        for name, function in functions.items():
            seconds[name].append(seconds_of(function))
    return seconds


def medians(seconds: Mapping[str, Sequence[float]]) -> dict[str, float]:
    """The time in the middle of each."""
    return {name: statistics.median(some) for name, some in seconds.items()}


def million_per_second(words: int, seconds: float) -> float:
    """A rate in million words a second."""
    return words / seconds / 1e6


def digits(value: float, significant: int = 4) -> float:
    """A value with no more digits than were measured."""
    if value == 0 or not math.isfinite(value):
        return value
    return round(value, significant - 1 - math.floor(math.log10(abs(value))))


def rounded(values: Sequence[float]) -> list[float]:
    """Values with no more digits than were measured."""
    return [digits(value) for value in values]


def bound(*rates: float) -> float:
    """The rate of doing one after the other: 1 / (1 / b + 1 / c)."""
    return 1 / sum(1 / rate for rate in rates)


def growth_exponent(sizes: Sequence[float], seconds: Sequence[float]) -> float:
    """The slope of a straight line through both logarithms: 1 when time grows as size does."""
    return statistics.linear_regression(
        [math.log(size) for size in sizes], [math.log(second) for second in seconds]
    ).slope
