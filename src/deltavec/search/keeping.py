"""Which rows stay when duplicates go, told while pairs come in."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from deltavec.core.arrays import Int64s
from deltavec.search import kernels
from deltavec.search.pairs import RowPairs


class KeepFirst:
    """Rows that stay: those of which none before them that stays is as alike.

    Memory for two numbers a row, however many pairs there are.

    Parameters
    ----------
    rows
        How many rows there are.
    threshold
        The cosine that makes two rows duplicates, where pairs come that are less alike.
    """

    def __init__(self, rows: int, threshold: float = 0.0) -> None:
        self.threshold = np.float32(threshold)
        self.nearest = np.full(rows, -1)
        self.scores = np.zeros(rows, np.float32)

    def add(self, pairs: RowPairs) -> None:
        """Take in pairs, which come in ascending order."""
        kernels.keep_first(self.nearest, self.scores, *pairs, self.threshold)

    def through(self, found: Iterator[RowPairs]) -> Iterator[RowPairs]:
        """The pairs as they come, taken in by then."""
        for part in found:
            self.add(part)
            yield part

    @property
    def removed(self) -> Int64s:
        """The rows that go, ascending."""
        return np.flatnonzero(self.nearest >= 0)
