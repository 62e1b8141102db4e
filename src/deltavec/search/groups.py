"""Rows that belong together because pairs link them, and the row that stands for each group."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from deltavec.core import search_kernels as kernels
from deltavec.core.kernels import Float32s, Int64s


class Grouped(NamedTuple):
    """Groups of two rows or more, largest first, then by their lowest row."""

    members: Int64s  # the rows of all groups, one group after the other, each ascending
    begins: Int64s  # where each group begins, and where the last one ends
    centres: Int64s  # the row of each group that is most alike to its others


class Links:
    """Groups as they form while pairs come in; memory for one number a row.

    Parameters
    ----------
    rows
        How many rows there are.
    """

    def __init__(self, rows: int) -> None:
        self._parents = np.arange(rows)

    def add(self, a: Int64s, b: Int64s) -> None:
        """Link the two rows of each pair."""
        kernels.join_groups(self._parents, a, b)

    def groups(self, vectors: Float32s) -> Grouped:
        """The groups that all pairs together make."""
        lowest = self._parents.copy()
        kernels.settle_groups(lowest)
        sizes = np.bincount(lowest, minlength=len(lowest))
        members = np.flatnonzero(sizes[lowest] > 1)
        members = members[np.lexsort((members, lowest[members], -sizes[lowest[members]]))]
        lengths = sizes[lowest[members]]
        begins = [0]
        while begins[-1] < len(members):
            begins.append(begins[-1] + int(lengths[begins[-1]]))
        centres = np.empty(len(begins) - 1, np.int64)
        ends = np.array(begins)
        kernels.most_central(vectors, members, ends, centres)
        return Grouped(members, ends, centres)
