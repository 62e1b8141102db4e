"""The columns of a collection for writing filters: kinds, frequent values and examples."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from deltavec.collection import Collection
from deltavec.collection.filters.language import column_as_written, text_value
from deltavec.collection.filters.masks import plain_column
from deltavec.core.arrays import Int64s
from deltavec.server.browse.colors import column_kind

MOST_VALUES = 50  # of a column of text that are listed
LONGEST_VALUE = 60  # characters of one that is


def describe_columns(collection: Collection, shown: Int64s) -> dict[str, Any]:
    """Each column with its kind, its most frequent values, and an example of a filter.

    Parameters
    ----------
    collection
        The collection.
    shown
        The rows to look at.
    """
    return {
        "columns": [
            describe_column(name, collection.column(name).take(shown))
            for name in collection.columns
        ]
    }


def describe_column(name: str, column: pa.ChunkedArray) -> dict[str, Any]:
    """The kind, values and example of one column."""
    column = plain_column(column)
    kind = column_kind(column.type)
    written = column_as_written(name)
    known = column.drop_null()
    values = VALUES[kind](known) if kind in VALUES and len(known) else []
    operator = "==" if kind in ("text", "truth") else ">="
    return {
        "name": name,
        "kind": kind,
        "written": written,
        "values": values if kind in ("text", "truth") else [],
        "example": f"{written} {operator} {values[0]}" if written and values else None,
    }


def frequent_texts(column: pa.ChunkedArray) -> list[str]:
    """The most frequent values of a text column, quoted as in a filter."""
    texts = column.cast(pa.large_string())
    lengths = pc.utf8_length(texts)
    short = pc.and_(pc.greater(lengths, 0), pc.less_equal(lengths, LONGEST_VALUE))
    counts = texts.filter(short).value_counts()
    most = sorted(counts.to_pylist(), key=lambda entry: (-entry["counts"], entry["values"]))
    return [text_value(entry["values"]) for entry in most[:MOST_VALUES]]


def median_number(column: pa.ChunkedArray) -> list[str]:
    """The median, to six digits."""
    middle = pc.quantile(column.cast(pa.float64()), 0.5, interpolation="lower")[0].as_py()
    return [] if middle is None or middle != middle else [f"{middle:.6g}"]


def median_date(column: pa.ChunkedArray) -> list[str]:
    """The median date."""
    days = column.cast(pa.timestamp("s"), safe=False).combine_chunks()
    order = pc.sort_indices(days)
    day = days[order[len(order) // 2].as_py()].cast(pa.date32(), safe=False).as_py()
    return [text_value(day.isoformat())]


VALUES: dict[str, Callable[[pa.ChunkedArray], list[str]]] = {
    "text": frequent_texts,
    "number": median_number,
    "date": median_date,
    "truth": lambda column: ["true", "false"],
}
