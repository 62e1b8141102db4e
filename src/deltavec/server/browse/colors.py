"""The colors of the map's points: categories, numbers, dates or clusters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from deltavec.collection import Clusters
from deltavec.collection.filters.masks import plain_column
from deltavec.collection.topics.table import topic_name
from deltavec.core.arrays import Int64s
from deltavec.core.text.batches import is_text
from deltavec.server.responses import plain

CLUSTER = "cluster"
MOST_LABELS = 8  # colors that people can tell apart, with and without color blindness
FEWEST_NUMBERS = 3  # distinct values that make a scale; below that each value has its own color


class Colors(NamedTuple):
    """A value for each point of the map.

    Attributes
    ----------
    by : str
        The column, or ``cluster``.
    kind : str
        ``category``: values are positions of labels, or null; ``number``: numbers; ``date``:
        seconds since 1970.
    labels : list of str
        The names of the categories, the most frequent first.
    counts : list of int
        How many points each category has.
    other : int
        How many points have a value too rare for a label.
    missing : int
        How many points have no value.
    range : list of float
        For numbers and dates, the ends of the scale: the 1st and the 99th percentile.
    values : list
        One for each point.
    """

    by: str
    kind: str
    labels: list[str]
    counts: list[int]
    other: int
    missing: int
    range: list[float]
    values: list[Any]


def cluster_colors(clusters: Clusters, shown: Int64s) -> Colors:
    """The colors of clusters, named by their words."""
    labels = [topic_name(words) for words in clusters.names]
    numbers = clusters.labels[shown]
    counts = np.bincount(numbers[numbers >= 0], minlength=len(labels)).tolist()
    values = [number if number >= 0 else None for number in numbers.tolist()]
    return Colors(CLUSTER, "category", labels, counts, 0, values.count(None), [], values)


def column_colors(name: str, column: pa.ChunkedArray) -> Colors:
    """The colors by a column."""
    column = plain_column(column)
    kind = column_kind(column.type)
    if kind in SCALES and pc.count_distinct(column).as_py() >= FEWEST_NUMBERS:
        return scale_colors(name, kind, SCALES[kind](column))
    return category_colors(name, [label(value) for value in column.to_pylist()])


def column_kind(type: pa.DataType) -> str:
    """What a column of this type holds: ``number``, ``date``, ``truth``, ``text`` or ``other``."""
    for kind, holds in KINDS:
        if any(one(type) for one in holds):
            return kind
    return "other"


KINDS = (
    ("number", (pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal)),
    ("date", (pa.types.is_date, pa.types.is_timestamp)),
    ("truth", (pa.types.is_boolean,)),
    ("text", (is_text,)),
)


def label(value: Any) -> str | None:
    """A value as the name of a category."""
    return None if value is None else str(plain(value))


def as_numbers(column: pa.ChunkedArray) -> list[float]:
    """Numbers as floats; NaN where there is none."""
    numbers: list[float] = pc.cast(column, pa.float64()).to_numpy(zero_copy_only=False).tolist()
    return numbers


def as_seconds(column: pa.ChunkedArray) -> list[float]:
    """Dates and times as seconds since 1970; NaN where there is none."""
    seconds = column.cast(pa.timestamp("s"), safe=False).cast(pa.int64())
    return as_numbers(seconds)


SCALES = {"number": as_numbers, "date": as_seconds}


def scale_colors(name: str, kind: str, numbers: list[float]) -> Colors:
    """The colors by a column of numbers or dates."""
    values = np.array(numbers)
    known = values[np.isfinite(values)]
    ends = np.quantile(known, (0.01, 0.99)).tolist() if len(known) else [0.0, 1.0]
    missing = len(values) - len(known)
    return Colors(name, kind, [], [], 0, missing, ends, [plain(value) for value in numbers])


def category_colors(name: str, values: Sequence[str | None]) -> Colors:
    """The colors by a column of categories: the most frequent ones get a color."""
    counts = Counter(value for value in values if value is not None)
    labels = sorted(counts, key=lambda value: (-counts[value], value))[:MOST_LABELS]
    numbers = {value: number for number, value in enumerate(labels)}
    shown = [None if value is None else numbers.get(value) for value in values]
    colored = [counts[value] for value in labels]
    other = counts.total() - sum(colored)
    missing = len(values) - counts.total()
    return Colors(name, "category", labels, colored, other, missing, [], shown)
