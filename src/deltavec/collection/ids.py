"""What documents are called: their values in a column, or their numbers; always text, each once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from deltavec.errors import InputError


def require_id_type(column: str, found: pa.DataType) -> None:
    """Refuse a column of a type that cannot hold ids, before any work."""
    value = found.value_type if pa.types.is_dictionary(found) else found
    types = pa.types
    text = types.is_string(value) or types.is_large_string(value) or types.is_string_view(value)
    if not (text or types.is_integer(value)):
        raise InputError(
            f"the id column {column!r} must hold text or whole numbers, got {found}: "
            "name another one, or none to number the documents"
        )


def numbered(first: int, count: int) -> pa.Array:
    """The ids of documents that have none of their own: their numbers, from 0 on."""
    return pa.array(np.arange(first, first + count)).cast(pa.string())


def as_ids(column: pa.Array, name: str, first: int) -> pa.Array:
    """The ids in a column, of which the first row has this number."""
    if column.null_count:
        row = first + column.is_null().to_pylist().index(True)
        raise InputError(
            f"the id column {name!r} must have a value in every row, found none in row {row:,}"
        )
    return column.cast(pa.string())


def require_unique(ids: Sequence[pa.Array]) -> None:
    """Refuse ids of which two are equal, with the first that comes again."""
    if not ids:
        return
    column = pa.chunked_array(ids, pa.string()).cast(pa.large_string()).combine_chunks()
    # A code is the number of different values before it: while all are new, the row's own number.
    codes = column.dictionary_encode().indices.to_numpy()
    again = np.flatnonzero(codes != np.arange(len(codes)))
    if len(again):
        row = int(again[0])
        raise InputError(
            f"ids must be unique, got {column[row].as_py()!r:.60} in row {row:,} and before in "
            f"row {int(codes[row]):,}"
        )
