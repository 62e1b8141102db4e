"""A matrix in one or more arrays, mapped or in memory.

Adding rows appends an array, or joins it with a short one. Removing rows copies only the arrays
that they are in.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from deltavec.core.arrays import Float32s, Float64s, Int64s, blocks, read_only
from deltavec.core.jit import BUDGET
from deltavec.core.threads import parallel_map, thread_count
from deltavec.errors import InputError
from deltavec.search import kernels
from deltavec.search.quantized.build import LazyQuantizer

SHORT = 4096  # rows
LARGEST_ERROR = 1e-3
ROWS_A_TASK = 65_536
NUMBERS_AT_ONCE = 1 << 17  # products of so many stay in the cache


@dataclass(frozen=True, eq=False)
class ChunkedMatrix:
    """Rows in one or more arrays.

    Parameters
    ----------
    arrays
        C-contiguous float32 arrays of the same width, read-only; at least one.
    length_error
        How far the length of a row is from 1 at most, rows of zeros aside.
    quantized
        The quantized rows of each array, if there are any yet.
    deleted
        The deleted rows of each array, ascending; by default none.
    """

    arrays: tuple[Float32s, ...]
    length_error: float
    quantized: tuple[LazyQuantizer, ...] = ()
    deleted: tuple[Int64s, ...] = ()

    def __post_init__(self) -> None:
        if not self.quantized:
            object.__setattr__(self, "quantized", tuple(LazyQuantizer() for _ in self.arrays))
        if not self.deleted:
            object.__setattr__(self, "deleted", (np.zeros(0, np.int64),) * len(self.arrays))

    @classmethod
    def of(cls, vectors: npt.ArrayLike, name: str, threads: int | None = None) -> ChunkedMatrix:
        """The rows of one array; refused unless they are of unit length or zero."""
        array = as_rows(vectors, name)
        return cls((array,), length_error(array, name, threads))

    def __len__(self) -> int:
        return sum(map(len, self.arrays))

    @property
    def dimensions(self) -> int:
        """How long a row is."""
        return int(self.arrays[0].shape[1])

    @cached_property
    def begins(self) -> Int64s:
        """The offsets of the arrays."""
        return np.cumsum([0, *map(len, self.arrays)])

    @cached_property
    def largest_first(self) -> list[int]:
        """The numbers of the arrays that have rows, by their size."""
        filled = [number for number, array in enumerate(self.arrays) if len(array)]
        return sorted(filled, key=lambda number: -len(self.arrays[number]))

    def __iter__(self) -> Iterator[tuple[int, Float32s]]:
        """The number of the first row, and the array, for each array."""
        return zip(self.begins.tolist(), self.arrays, strict=False)

    @cached_property
    def live_masks(self) -> tuple[npt.NDArray[np.uint8], ...]:
        """Which rows of each array are not deleted; empty where none is."""
        masks = []
        for array, deleted in zip(self.arrays, self.deleted, strict=True):
            mask = np.ones(len(array) if len(deleted) else 0, np.uint8)
            mask[deleted] = 0
            masks.append(read_only(mask))
        return tuple(masks)

    @cached_property
    def live(self) -> Int64s | None:
        """The rows that are not deleted, ascending; None if none is."""
        if not any(map(len, self.deleted)):
            return None
        each = zip(self.begins.tolist(), self.arrays, self.live_masks, strict=False)
        return np.concatenate(
            [b + (np.flatnonzero(m) if len(m) else np.arange(len(a))) for b, a, m in each]
        )

    def physical(self, rows: Int64s) -> Int64s:
        """The rows with these numbers among those that are not deleted."""
        return rows if self.live is None else self.live[rows]

    def logical(self, rows: Int64s) -> Int64s:
        """The numbers of rows among those that are not deleted."""
        return rows if self.live is None else np.searchsorted(self.live, rows)

    def physical_mask(self, mask: npt.NDArray[np.bool_] | None) -> npt.NDArray[np.uint8]:
        """A mask of rows that are not deleted as one of all rows; empty for None."""
        if mask is None or self.live is None:
            whole = np.zeros(0, np.uint8) if mask is None else mask.view(np.uint8)
        else:
            whole = np.zeros(len(self), np.uint8)
            whole[self.live] = mask
        return read_only(whole)

    def make_quantized(self, threads: int | None = None) -> None:
        """Quantize now, so that no search has to."""
        for array, quantizer in zip(self.arrays, self.quantized, strict=True):
            quantizer.of(array, threads, now=True)

    def at(self, rows: Int64s) -> Float32s:
        """A copy of these rows."""
        copy = np.empty((len(rows), self.dimensions), np.float32)
        homes = np.searchsorted(self.begins, rows, side="right") - 1
        for home in np.unique(homes):
            here = homes == home
            copy[here] = self.arrays[home][rows[here] - self.begins[home]]
        return copy

    def with_more(self, more: ChunkedMatrix) -> ChunkedMatrix:
        """These rows, and others behind them; short arrays are joined."""
        kept = len(self.arrays) - (len(self.arrays[-1]) + len(more) <= SHORT)
        tail = [*self.arrays[kept:], *more.arrays]
        arrays = [read_only(np.concatenate(tail))] if kept < len(self.arrays) else tail
        made = *self.quantized[:kept], *(LazyQuantizer() for _ in arrays)
        error = max(self.length_error, more.length_error)
        return ChunkedMatrix((*self.arrays[:kept], *arrays), error, made)

    def at_rows(self, rows: Int64s) -> ChunkedMatrix:
        """These rows only; they must be in ascending order."""
        arrays, made = [], []
        for (begin, array), quantizer in zip(self, self.quantized, strict=True):
            first, last = np.searchsorted(rows, [begin, begin + len(array)])
            whole = last - first == len(array)
            arrays.append(array if whole else read_only(array[rows[first:last] - begin]))
            made.append(quantizer if whole else LazyQuantizer())
        return ChunkedMatrix(tuple(arrays), self.length_error, tuple(made))

    def in_one(self) -> ChunkedMatrix:
        """The same rows in one array, without deleted ones."""
        if len(self.arrays) == 1 and self.live is None:
            return self
        rows = np.concatenate(self.arrays) if self.live is None else self.at(self.live)
        return ChunkedMatrix((read_only(rows),), self.length_error)


def as_rows(vectors: npt.ArrayLike, name: str) -> Float32s:
    """Rows as a C-contiguous float32 array; not a copy if they are one."""
    try:
        array = np.asanyarray(vectors)
    except ValueError:
        raise InputError(f"{name} must have rows of the same length") from None
    if array.dtype.kind != "f":
        raise InputError(f"{name} must be floating-point numbers, got {array.dtype}")
    if array.ndim != 2 or array.shape[1] == 0:
        raise InputError(f"{name} must have the shape (rows, dimensions), got {array.shape}")
    if array.shape[1] > kernels.MOST_DIMENSIONS:
        raise InputError(
            f"{name} may have {kernels.MOST_DIMENSIONS:,} dimensions, got {array.shape[1]:,}"
        )
    with np.errstate(over="ignore"):  # what is too large for float32 is refused as infinite
        return read_only(np.require(array, np.float32, ["C", "ALIGNED"])[...])


def length_error(array: Float32s, name: str, threads: int | None = None) -> float:
    """How far the length of a row is from 1 at most; rows of zeros do not count.

    Raises
    ------
    InputError
        If a number is not finite, or a row is neither about of unit length nor zero.
    """

    def worst(first: int) -> float:
        part = array[first : first + ROWS_A_TASK]
        squares = squared_lengths(part)
        errors = np.abs(np.sqrt(squares) - 1)
        errors[squares == 0] = 0
        farthest = float(errors.max())
        if not farthest <= LARGEST_ERROR:  # NaN is odd as well
            odd = int(np.flatnonzero(~(errors <= LARGEST_ERROR))[0])
            refuse_row(name, first + odd, float(np.sqrt(squares[odd])))
        return farthest

    firsts = range(0, len(array), ROWS_A_TASK)
    return max(parallel_map(worst, firsts, thread_count(threads)), default=0.0)


def squared_lengths(rows: Float32s) -> Float64s:
    """The squared length of each row, the same bits whatever takes it."""
    if BUDGET.allows(rows.size):
        return in_turn(rows, rows)
    squares = np.empty(len(rows))
    kernels.squared_lengths(rows, squares)
    return squares


def in_turn(rows: Float32s, others: Float32s) -> Float64s:
    """The products of rows, their sums taken in float64 one number after the other, as kernels do.

    `accumulate` adds one after the other, which ``sum`` does not. The sum begins at 0.
    """
    totals = np.empty(len(rows))
    for block in blocks(len(rows), max(1, NUMBERS_AT_ONCE // rows.shape[1])):
        other = others[block] if others.ndim > 1 else others
        products = rows[block].astype(np.float64) * other.astype(np.float64)
        with np.errstate(invalid="ignore"):  # of infinities
            totals[block] = np.add.accumulate(products, axis=1)[:, -1] + 0.0
    return totals


def refuse_row(name: str, row: int, length: float) -> None:
    """Say what is wrong with a row of this length."""
    if not np.isfinite(length):
        raise InputError(f"{name} must be finite, got NaN or infinity in row {row:,}")
    raise InputError(
        f"{name} must have rows of unit length (or zero), got {length:.4g} in row {row:,}: "
        "divide each row by its length"
    )
