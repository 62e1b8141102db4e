"""Many pieces in one array: where each begins, and how to share them out."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import numpy.typing as npt


def begins_of(lengths: npt.ArrayLike) -> npt.NDArray[np.int64]:
    """Where each of successive pieces begins, and where the last one ends."""
    sizes = np.asarray(lengths, np.int64)
    begins = np.zeros(len(sizes) + 1, np.int64)
    np.cumsum(sizes, out=begins[1:])
    return begins


def packed(pieces: Sequence[bytes]) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.int64]]:
    """The pieces one after the other and where each begins, both read-only."""
    begins = begins_of([len(piece) for piece in pieces])
    begins.flags.writeable = False
    return np.frombuffer(b"".join(pieces), np.uint8), begins


def equal_shares(begins: npt.NDArray[np.int64], count: int) -> list[tuple[int, int]]:
    """The pieces as at most ``count`` ranges of about the same size, none of them empty."""
    targets = np.linspace(begins[0], begins[-1], count + 1)[1:-1]
    borders = np.unique([0, *np.searchsorted(begins, targets), len(begins) - 1])
    return [(int(first), int(last)) for first, last in pairwise(borders)]
