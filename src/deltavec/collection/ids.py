"""The ids of documents: values of a column or row numbers; always text, and unique."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from deltavec.core.arguments import did_you_mean
from deltavec.core.arrays import Int64s, UInt64s, pack
from deltavec.core.text.batches import batch_of_arrow, is_text
from deltavec.core.text.rules import rule
from deltavec.errors import InputError

IDS_TO_COMPARE = 20_000  # for a suggestion
MOST_CHARACTERS = 1 << 28  # of ids whose places in UTF-8 fit into 32 bits
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
    """Ids as a list of strings, from a list of strings or whole numbers, or an Arrow array."""
    if isinstance(ids, str):
        raise InputError(f"expected a list of ids, got the string {ids!r:.60}")
    found = ids.to_pylist() if isinstance(ids, pa.Array | pa.ChunkedArray) else list(ids)
    return [as_id(one) for one in found]


def as_id(id: Any) -> str:
    """An id as it is stored: whole numbers are written out."""
    if isinstance(id, int | np.integer) and not isinstance(id, bool | np.bool_):
        return str(id)
    if not isinstance(id, str):
        raise InputError(
            f"an id is a string or a whole number, got {type(id).__name__} ({id!r:.60})"
        )
    return id


def hash_ids(ids: pa.Array) -> UInt64s:
    """A hash of each id (FNV-1a), by which it is looked up in a segment.

    Equal hashes are compared, so ids that collide cost time and nothing else.
    """
    texts = batch_of_arrow(ids, rule("tokens"))
    lengths = np.diff(texts.ends)
    order = np.argsort(-lengths, kind="stable")
    begins, sorted_lengths = texts.ends[:-1][order], -lengths[order]
    hashes = np.full(len(ids), 0xCBF29CE484222325, np.uint64)
    for place in range(int(lengths.max(initial=0))):
        longer = int(np.searchsorted(sorted_lengths, -place))
        hashes[:longer] ^= texts.data[begins[:longer] + place]
        hashes[:longer] *= np.uint64(0x100000001B3)
    found = np.empty_like(hashes)
    found[order] = hashes
    return found


def as_array(wanted: Sequence[str] | pa.Array) -> pa.Array:
    """Ids as an Arrow array; null for text that no id can be."""
    if isinstance(wanted, pa.Array):
        return wanted
    if any(map(SURROGATE.search, wanted)) or sum(map(len, wanted)) > MOST_CHARACTERS:
        return pa.array([None if SURROGATE.search(one) else one for one in wanted], pa.string())
    data, ends = pack([one.encode() for one in wanted])
    buffers = [None, pa.py_buffer(ends.astype(np.int32)), pa.py_buffer(data)]  # as above
    return pa.Array.from_buffers(pa.string(), len(wanted), buffers)


def places_of(there: pa.Array | pa.ChunkedArray, wanted: pa.Array) -> Int64s:
    """The row of each id; -1 for one that does not exist."""
    import pyarrow.compute as pc

    found = pc.index_in(wanted, value_set=there).fill_null(-1)
    return found.to_numpy().astype(np.int64)  # type: ignore[no-any-return, unused-ignore]


def suggestion(id: str, there: pa.Array | pa.ChunkedArray, column: str) -> str:
    """Advice for an id that does not exist."""
    if not column:
        return f"; documents are numbered from {there[0].as_py()} to {there[-1].as_py()}"
    few = len(there) <= IDS_TO_COMPARE
    advice = did_you_mean(id[:100], there.to_pylist()) if few else ""
    return advice or f"; one is {there[0].as_py()!r:.60}"
