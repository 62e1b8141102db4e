"""Arrays that are only read, and many pieces in one array.

Nobody can spoil an array that is read-only, and kernels are compiled once for such.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeVar

import numpy as np
import numpy.typing as npt

Kind = TypeVar("Kind", bound=np.generic)

ROWS_AT_ONCE = 65_536  # float64 copies of a table are made a block at a time


def frozen(array: npt.NDArray[Kind]) -> npt.NDArray[Kind]:
    """The array, read-only: a view of it."""
    view = array.view(np.ndarray)
    view.flags.writeable = False
    return view


def blocks(rows: int, size: int = ROWS_AT_ONCE) -> Iterator[slice]:
    """The rows, so many at a time."""
    for first in range(0, rows, size):
        yield slice(first, first + size)


def begins_of(lengths: npt.ArrayLike) -> npt.NDArray[np.int64]:
    """Where each of successive pieces begins, and where the last one ends."""
    sizes = np.asarray(lengths, np.int64)
    begins = np.zeros(len(sizes) + 1, np.int64)
    np.cumsum(sizes, out=begins[1:])
    return begins


def packed(pieces: Sequence[bytes]) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.int64]]:
    """The pieces one after the other and where each begins, both read-only."""
    begins = begins_of([len(piece) for piece in pieces])
    return np.frombuffer(b"".join(pieces), np.uint8), frozen(begins)


def signs_fixed(vectors: npt.NDArray[Kind], axis: int) -> npt.NDArray[Kind]:
    """Singular vectors, or eigenvectors, along an axis: the largest entry of each positive.

    Their sign is arbitrary; with it fixed, results repeat.
    """
    places = np.abs(vectors).argmax(axis=axis, keepdims=True)
    fixed: npt.NDArray[Kind] = vectors * np.sign(np.take_along_axis(vectors, places, axis=axis))
    return fixed
