"""Columns of a collection: the colors they give to the map's points, and examples of filters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from deltavec.collection import Clusters
from deltavec.collection.filters.language import column_as_written, text_value
from deltavec.collection.topics.table import topic_name
from deltavec.core.arrays import Int64s
from deltavec.core.text.batches import is_text
from deltavec.server.errors import plain

CLUSTER = "cluster"
MOST_LABELS = 8  # colors that people can tell apart, with and without color blindness
FEWEST_NUMBERS = 3  # distinct values that make a scale; below that each value has its own color
MOST_VALUES = 50  # of a column of text that are listed
LONGEST_VALUE = 60  # characters of one that is
KINDS = {
    "number": (pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal),
    "date": (pa.types.is_date, pa.types.is_timestamp),
    "truth": (pa.types.is_boolean,),
    "text": (is_text,),
}


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
    """The colors by a column: a scale for numbers and dates, else the most frequent values."""
    kind = column_kind(column.type)
    if kind in ("number", "date") and pc.count_distinct(column).as_py() >= FEWEST_NUMBERS:
        if kind == "date":
            column = column.cast(pa.timestamp("s"), safe=False).cast(pa.int64())
        numbers = column.cast(pa.float64(), safe=False).to_numpy()
        known = numbers[np.isfinite(numbers)]
        ends = np.quantile(known, (0.01, 0.99)).tolist() if len(known) else [0.0, 1.0]
        missing = len(numbers) - len(known)
        return Colors(name, kind, [], [], 0, missing, ends, [plain(n) for n in numbers.tolist()])
    values = [None if value is None else str(plain(value)) for value in column.to_pylist()]
    counts = Counter(value for value in values if value is not None)
    labels = sorted(counts, key=lambda value: (-counts[value], value))[:MOST_LABELS]
    positions = {value: position for position, value in enumerate(labels)}
    colored = [counts[value] for value in labels]
    missing = len(values) - counts.total()
    shown = [None if value is None else positions.get(value) for value in values]
    other = counts.total() - sum(colored)
    return Colors(name, "category", labels, colored, other, missing, [], shown)


def column_kind(type: pa.DataType) -> str:
    """What a column of this type holds: ``number``, ``date``, ``truth``, ``text`` or ``other``."""
    return next((kind for kind, holds in KINDS.items() if any(one(type) for one in holds)), "other")


def describe_column(name: str, column: pa.ChunkedArray) -> dict[str, Any]:
    """A column with its kind, its most frequent values, and an example of a filter."""
    kind = column_kind(column.type)
    written = column_as_written(name)
    known = column.drop_null()
    values, counts = VALUES[kind](known) if kind in VALUES and len(known) else ([], [])
    is_listed = kind in ("text", "truth")
    operator = "==" if is_listed else ">="
    return {
        "name": name,
        "kind": kind,
        "written": written,
        "values": values if is_listed else [],
        "counts": counts,
        "example": f"{written} {operator} {values[0]}" if written and values else None,
    }


def frequent_texts(column: pa.ChunkedArray) -> tuple[list[str], list[int]]:
    """The most frequent values of a text column, quoted as in a filter, and their counts."""
    texts = column.cast(pa.large_string())
    lengths = pc.utf8_length(texts)
    short = pc.and_(pc.greater(lengths, 0), pc.less_equal(lengths, LONGEST_VALUE))
    counts = texts.filter(short).value_counts()
    most = sorted(counts.to_pylist(), key=lambda entry: (-entry["counts"], entry["values"]))
    listed = most[:MOST_VALUES]
    return [text_value(one["values"]) for one in listed], [one["counts"] for one in listed]


def median_number(column: pa.ChunkedArray) -> tuple[list[str], list[int]]:
    """The median, to six digits."""
    middle = pc.quantile(column.cast(pa.float64()), 0.5, interpolation="lower")[0].as_py()
    return [] if middle is None or middle != middle else [f"{middle:.6g}"], []


def count_truths(column: pa.ChunkedArray) -> tuple[list[str], list[int]]:
    """How often a column is true, and false."""
    true = int(pc.sum(column).as_py() or 0)
    return ["true", "false"], [true, len(column) - true]


def median_date(column: pa.ChunkedArray) -> tuple[list[str], list[int]]:
    """The median date."""
    days = column.cast(pa.timestamp("s"), safe=False).combine_chunks()
    order = pc.sort_indices(days)
    day = days[order[len(order) // 2].as_py()].cast(pa.date32(), safe=False).as_py()
    return [text_value(day.isoformat())], []


VALUES: dict[str, Callable[[pa.ChunkedArray], tuple[list[str], list[int]]]] = {
    "text": frequent_texts,
    "number": median_number,
    "date": median_date,
    "truth": count_truths,
}
