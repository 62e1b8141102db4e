"""What colours the points of the map: a column of the collection, or its clusters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from deltavec.serve.values import plain

MOST_LABELS = 8  # colours that people can tell apart, with and without colour blindness


class Colors(NamedTuple):
    """A value for each point of the map.

    Attributes
    ----------
    by : str
        The column, or ``cluster``.
    kind : str
        ``category``: values are numbers of labels, or null; ``number``: they are numbers.
    labels : list of str
        The names of the categories, the most frequent first.
    counts : list of int
        How many points each category has.
    range : list of float
        For numbers, the values at which the scale begins and ends: all but the outermost 2 %.
    values : list
        One for each point.
    """

    by: str
    kind: str
    labels: list[str]
    counts: list[int]
    range: list[float]
    values: list[Any]


def column_colors(name: str, column: pa.ChunkedArray) -> Colors:
    """The colours that a column gives."""
    kind = column.type
    numeric = pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)
    if numeric and pc.count_distinct(column).as_py() > MOST_LABELS:
        return number_colors(name, column)
    return category_colors(name, [label(value) for value in column.to_pylist()])


def label(value: Any) -> str | None:
    """A value as the name of a category."""
    return None if value is None else str(plain(value))


def number_colors(name: str, column: pa.ChunkedArray) -> Colors:
    """The colours of a column of numbers."""
    numbers = pc.cast(column, pa.float64()).to_numpy(zero_copy_only=False)
    known = numbers[np.isfinite(numbers)]
    ends = np.quantile(known, (0.01, 0.99)).tolist() if len(known) else [0.0, 1.0]
    return Colors(name, "number", [], [], ends, [plain(value) for value in numbers.tolist()])


def category_colors(name: str, values: Sequence[str | None]) -> Colors:
    """The colours of a column of names: the most frequent have one, the others none."""
    counts: dict[str, int] = {}
    for value in values:
        if value is not None:
            counts[value] = counts.get(value, 0) + 1
    labels = sorted(counts, key=lambda value: (-counts[value], value))[:MOST_LABELS]
    numbers = {value: number for number, value in enumerate(labels)}
    return Colors(
        name,
        "category",
        labels,
        [counts[value] for value in labels],
        [],
        [None if value is None else numbers.get(value) for value in values],
    )
