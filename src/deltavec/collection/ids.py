"""The ids of documents: values of a column or row numbers; always text, and unique."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from deltavec.core.arguments import did_you_mean
from deltavec.core.arrays import Int64s
from deltavec.core.text.batches import batch_of_arrow, is_text
from deltavec.core.text.rules import rule
from deltavec.errors import InputError

IDS_TO_COMPARE = 20_000  # for a suggestion
SURROGATE = re.compile("[\ud800-\udfff]")


def require_id_type(column: str, found: pa.DataType) -> None:
    """Refuse a column of a type that cannot hold ids, before any work."""
    value = found.value_type if pa.types.is_dictionary(found) else found
    if not (is_text(value) or pa.types.is_integer(value)):
        raise InputError(
            f"the id column {column!r} must hold text or whole numbers, got {found}: "
            "name another one, or none to number the documents"
        )


def number_rows(first: int, count: int) -> pa.Array:
    """The ids of documents that have none of their own: their numbers, from 0 on."""
    # By a buffer: for an array of its own, Arrow imports pandas.
    numbers = pa.py_buffer(np.arange(first, first + count, dtype=np.int64))
    return pa.Array.from_buffers(pa.int64(), count, [None, numbers]).cast(pa.string())


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


def as_list(ids: Any) -> list[str]:
    """Ids as a list of strings, from a list or an Arrow array."""
    if isinstance(ids, str):
        raise InputError(f"expected a list of ids, got the string {ids!r:.60}")
    found = ids.to_pylist() if isinstance(ids, pa.Array | pa.ChunkedArray) else list(ids)
    for one in found:
        if not isinstance(one, str):
            raise InputError(f"an id is a string, got {type(one).__name__} ({one!r:.60})")
    return found


def place_of(there: pa.Array, id: str) -> int | None:
    """The row of an id; None if there is none."""
    [wanted] = as_list([id])
    if SURROGATE.search(wanted):  # nothing stored holds half a pair
        return None
    # On the bytes: for a value of its own, Arrow imports pandas, to ask whether it is one of its.
    texts, written = batch_of_arrow(there, rule("tokens")), wanted.encode()
    places = np.flatnonzero(np.diff(texts.ends) == len(written))
    for number, byte in enumerate(written):
        places = places[texts.data[texts.ends[places] + number] == byte]
    return int(places[0]) if len(places) else None


def places_of(there: pa.Array | pa.ChunkedArray, wanted: Sequence[str] | pa.Array) -> Int64s:
    """The row of each id; -1 for one that does not exist."""
    import pyarrow.compute as pc

    if not isinstance(wanted, pa.Array):
        sound = [None if SURROGATE.search(one) else one for one in wanted]
        wanted = pa.array(sound, pa.string())
    found = pc.index_in(wanted, value_set=there).fill_null(-1)
    return found.to_numpy().astype(np.int64)  # type: ignore[no-any-return, unused-ignore]


def unknown_id(there: pa.ChunkedArray, others: Sequence[pa.Array]) -> npt.NDArray[np.bool_]:
    """Which ids are none of the others."""
    import pyarrow.compute as pc

    found = pc.is_in(there, value_set=pa.chunked_array(others, pa.string()))
    return ~np.asarray(found.to_numpy(), bool)


def suggestion(id: str, there: pa.Array | pa.ChunkedArray, column: str) -> str:
    """Advice for an id that does not exist."""
    if not column:
        return f"; documents are numbered from {there[0].as_py()} to {there[-1].as_py()}"
    few = len(there) <= IDS_TO_COMPARE
    advice = did_you_mean(id[:100], there.to_pylist()) if few else ""
    return advice or f"; one is {there[0].as_py()!r:.60}"
