"""What rows are called: the numbers 0, 1, 2, ..., or numbers or strings of the user's own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from deltavec.core.arrays import Int64s
from deltavec.core.text.batches import is_text
from deltavec.errors import InputError

IdsLike: TypeAlias = Sequence[int] | Sequence[str] | npt.NDArray[Any]
"""Unique whole numbers or strings; Arrow, pandas and polars columns too."""

NUMBERS, STRINGS = "numbers", "strings"


@dataclass(frozen=True, eq=False)
class Ids:
    """The ids of all rows, in the order of the rows; unique.

    Parameters
    ----------
    values
        An Arrow array of int64 or large_string without nulls.
    given
        Whether the user gave them. Otherwise they are numbers, each used once and never again.
    following
        The number that the next row gets if ids are not given.
    """

    values: Any
    given: bool
    following: int

    @classmethod
    def counted(cls, count: int, first: int = 0) -> Ids:
        """As many numbers, from the first on."""
        return cls(arrow_numbers(np.arange(first, first + count)), False, first + count)

    @classmethod
    def of(cls, ids: IdsLike | None, count: int) -> Ids:
        """The ids for so many rows, those given if there are any."""
        if ids is None:
            return cls.counted(count)
        values = arrow_ids(ids)
        if len(values) != count:
            raise InputError(f"expected an id for each of {count:,} rows, got {len(values):,}")
        require_unique(values)
        return cls(values, True, 0)

    def __len__(self) -> int:
        return len(self.values)

    @property
    def kind(self) -> str:
        """Whether ids are numbers or strings."""
        return STRINGS if pa.types.is_large_string(self.values.type) else NUMBERS

    @cached_property
    def array(self) -> npt.NDArray[Any]:
        """All ids: int64, or Python strings."""
        if self.kind == STRINGS:
            ids: npt.NDArray[Any] = self.values.to_numpy(zero_copy_only=False)
            return ids
        first = self.values.offset  # on the same memory; `to_numpy` would import pandas
        return np.frombuffer(self.values.buffers()[1], np.int64)[first : first + len(self)]

    def at(self, rows: Int64s) -> npt.NDArray[Any]:
        """The ids of these rows, in an array of the same shape."""
        if self.kind == NUMBERS:
            return self.array[rows]
        flat = self.values.take(arrow_numbers(rows)).to_numpy(zero_copy_only=False)
        ids: npt.NDArray[Any] = flat.reshape(rows.shape)
        return ids

    @cached_property
    def by_rank(self) -> Int64s:
        """The rows in the ascending order of their ids; empty if that is the order they have."""
        if not self.given:
            return np.empty(0, np.int64)
        import pyarrow.compute as pc  # not always: it is slow to load

        order: Int64s = pc.sort_indices(self.values).to_numpy().astype(np.int64)
        return np.empty(0, np.int64) if (np.diff(order) == 1).all() else order

    @cached_property
    def ranks(self) -> Int64s:
        """The place of each row's id among all ids; empty if that is the row's number."""
        ranks = np.empty_like(self.by_rank)
        ranks[self.by_rank] = np.arange(len(ranks))
        ranks.flags.writeable = False
        return ranks

    def rows_at(self, ranks: Int64s) -> Int64s:
        """The rows that have these ranks."""
        return self.by_rank[ranks] if len(self.by_rank) else ranks

    def rows(self, ids: IdsLike) -> Int64s:
        """The row of each of these ids.

        Raises
        ------
        InputError
            If one of them is not here.
        """
        import pyarrow.compute as pc

        wanted = arrow_ids(ids)
        if len(wanted) == 0:
            return np.empty(0, np.int64)
        if wanted.type != self.values.type:
            raise InputError(f"ids are {self.kind} here, got {wanted[0].as_py()!r:.60}")
        places = pc.index_in(wanted, self.values)
        if places.null_count:
            unknown = wanted.filter(places.is_null())
            raise InputError(
                f"there is no row with the id {unknown[0].as_py()!r:.60}"
                + (f", nor with {len(unknown) - 1:,} others" if len(unknown) > 1 else "")
            )
        rows: Int64s = places.to_numpy().astype(np.int64)
        return rows

    def with_more(self, ids: IdsLike | None, count: int) -> Ids:
        """These ids and those of as many new rows."""
        if (ids is None) == self.given:
            what = "its rows have ids of yours" if self.given else "the index numbers its rows"
            do = "give ids for the new ones too" if self.given else "add rows without ids"
            raise InputError(f"{what}: {do}")
        if ids is None:
            more = Ids.counted(count, self.following)
            return Ids(pa.concat_arrays([self.values, more.values]), False, more.following)
        more = Ids.of(ids, count)
        if not len(self) or not len(more):
            return more if len(more) else self
        if more.kind != self.kind:
            raise InputError(f"ids are {self.kind} here, got {more.kind}")
        values = pa.concat_arrays([self.values, more.values])
        require_unique(values)
        return Ids(values, True, 0)

    def at_rows(self, rows: Int64s) -> Ids:
        """The ids of these rows only."""
        return Ids(self.values.take(arrow_numbers(rows)), self.given, self.following)


def arrow_numbers(numbers: npt.NDArray[np.int64]) -> Any:
    """Whole numbers as an Arrow array, on the same memory.

    ``pa.array`` would import pandas first, if there is one, to ask it whether they are its own.
    """
    flat = np.ascontiguousarray(numbers, np.int64).ravel()
    return pa.Array.from_buffers(pa.int64(), len(flat), [None, pa.py_buffer(flat)])


def arrow_ids(ids: IdsLike) -> Any:
    """Ids as an Arrow array of int64 or large_string."""
    if isinstance(ids, str | bytes):
        raise InputError(f"expected a sequence of ids, got {ids!r:.60}: put it into a list")
    if len(ids) == 0:
        return pa.array([], pa.int64())
    try:
        values = pa.array(ids if isinstance(ids, pa.Array | pa.ChunkedArray) else np.asarray(ids))
    except (pa.ArrowException, ValueError, TypeError, OverflowError):
        values = None
    if isinstance(values, pa.ChunkedArray):
        values = values.combine_chunks()
    if values is None or values.null_count:
        raise InputError("ids must be all whole numbers or all strings, none missing")
    kind = values.type
    if pa.types.is_dictionary(kind):
        values, kind = values.dictionary_decode(), kind.value_type
    try:
        if pa.types.is_integer(kind):
            return values.cast(pa.int64())
        if is_text(kind):
            return values.cast(pa.large_string())
    except pa.ArrowInvalid:
        raise InputError("ids must fit into 64 bits, and strings must be UTF-8") from None
    raise InputError(f"ids must be whole numbers or strings, got {kind}")


def require_unique(values: Any) -> None:
    """Refuse ids of which two are equal."""
    import pyarrow.compute as pc

    if pc.count_distinct(values).as_py() == len(values):
        return
    counts = pc.value_counts(values)
    twice = counts.filter(pc.greater(counts.field("counts"), 1))[0]["values"].as_py()
    raise InputError(f"ids must be unique, got {twice!r:.60} more than once")
