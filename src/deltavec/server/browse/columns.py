"""The columns of a collection, as one who writes a filter needs them: kinds, values, examples."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from deltavec.collection import Collection
from deltavec.collection.filters.language import text_value, written_column
from deltavec.collection.filters.masks import plain_column
from deltavec.core.arrays import Int64s
from deltavec.server.browse.colors import column_kind

MOST_VALUES = 50  # of a column of text that are listed
LONGEST_VALUE = 60  # characters of one that is


def described_columns(collection: Collection, shown: Int64s) -> dict[str, Any]:
    """Each column with what it holds, the values it has most often, and a filter that uses it.

    Parameters
    ----------
    collection
        Whose columns.
    shown
        The rows that are looked at.
    """
    return {
        "columns": [
            described(name, collection.column(name).take(shown)) for name in collection.columns
        ]
    }


def described(name: str, column: pa.ChunkedArray) -> dict[str, Any]:
    """One column."""
    column = plain_column(column)
    kind = column_kind(column.type)
    written = written_column(name)
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
    """The values that a column of text has most often, as a filter has them."""
    texts = column.cast(pa.large_string())
    lengths = pc.utf8_length(texts)
    short = pc.and_(pc.greater(lengths, 0), pc.less_equal(lengths, LONGEST_VALUE))
    counts = texts.filter(short).value_counts()
    most = sorted(counts.to_pylist(), key=lambda entry: (-entry["counts"], entry["values"]))
    return [text_value(entry["values"]) for entry in most[:MOST_VALUES]]


def middle_number(column: pa.ChunkedArray) -> list[str]:
    """A number that half of the others are above, shortened."""
    middle = pc.quantile(column.cast(pa.float64()), 0.5, interpolation="lower")[0].as_py()
    return [] if middle is None or middle != middle else [f"{middle:.6g}"]


def middle_date(column: pa.ChunkedArray) -> list[str]:
    """A day that half of the others are after."""
    days = column.cast(pa.timestamp("s"), safe=False).combine_chunks()
    order = pc.sort_indices(days)
    day = days[order[len(order) // 2].as_py()].cast(pa.date32(), safe=False).as_py()
    return [text_value(day.isoformat())]


VALUES: dict[str, Callable[[pa.ChunkedArray], list[str]]] = {
    "text": frequent_texts,
    "number": middle_number,
    "date": middle_date,
    "truth": lambda column: ["true", "false"],
}
