"""Values of a collection's columns as JSON has them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import pyarrow as pa


def json_value(value: Any, *, longest: int | None = None, largest: int | None = None) -> Any:
    """The value as a string, a number, a truth value or null; lists and objects of them too.

    Parameters
    ----------
    value
        What a column holds. A number that is not finite becomes null, a date or time text in ISO
        form, bytes hexadecimal digits, and what JSON has no kind for text as Python writes it.
    longest
        Characters up to which a text is kept whole.
    largest
        Whole numbers from this size on become text, for readers that would round them.

    Examples
    --------
    >>> json_value({"stars": float("nan"), "note": "a quiet room"}, longest=8)
    {'stars': None, 'note': 'a quiet…'}
    """
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        return value if largest is None or abs(value) < largest else str(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {
            str(key): json_value(inner, longest=longest, largest=largest)
            for key, inner in value.items()
        }
    if isinstance(value, list | tuple):
        return [json_value(inner, longest=longest, largest=largest) for inner in value]
    text = text_of(value)
    return text if longest is None or len(text) <= longest else text[: longest - 1] + "…"


def rows_of(table: pa.Table) -> list[dict[str, Any]]:
    """The rows of a table as dicts of Python values."""
    columns = dict(zip(table.column_names, table.columns, strict=True))
    return [
        {name: value_of(column, row) for name, column in columns.items()}
        for row in range(len(table))
    ]


def value_of(column: pa.Array | pa.ChunkedArray, row: int) -> Any:
    """A value as Python has it; one that Python does not have, such as a late date, as text."""
    try:
        return column[row].as_py()
    except (OverflowError, ValueError):
        return " ".join(column.slice(row, 1).to_string().strip("[] \n").split())


def text_of(value: Any) -> str:
    """Text as it is, bytes as digits, a date or time in ISO form, else what Python writes."""
    if isinstance(value, str):
        return value
    if isinstance(value, bytes):
        return value.hex()
    return str(value.isoformat()) if hasattr(value, "isoformat") else str(value)
