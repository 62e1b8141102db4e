"""The graph of an approximate index: usearch proposes rows, and our own scores decide.

Every row that is not zero is a node, under a key of its own that it keeps for life. usearch walks
the graph and proposes more rows than are wanted; they are scored as an exact search would score
them, so that a row that is found has the same score either way, and only a missing one tells the
two apart. Rows of zeros have no direction and no node; their score is known.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from deltavec.core.arrays import frozen
from deltavec.core.kernels import Float32s, Int64s
from deltavec.core.threads import thread_count
from deltavec.errors import InputError, needing
from deltavec.search import kernels
from deltavec.search.rows import Pieces

CONNECTIVITY = 16
EXPANSION_BUILDING = 128
EXPANSION = 64
LARGEST_EXPANSION = 100_000
ROWS_AT_ONCE = 65_536


class Proposed(NamedTuple):
    """Rows that may be among the best, for each query: pairs of a query and a row."""

    queries: Int64s
    rows: Int64s


def usearch() -> Any:
    """The module `usearch.index`, if it is installed."""
    with needing("ann", "an approximate index needs usearch"):
        import usearch.index
    return usearch.index


@dataclass(frozen=True, eq=False)
class Graph:
    """A graph over rows.

    Parameters
    ----------
    nodes
        The index of usearch; rows are added to it and removed from it in place.
    keys
        The key of each row, ascending.
    following
        The key that the next row gets.
    zeros
        The rows that are zero, ascending: they have no node.
    """

    nodes: Any
    keys: Int64s
    following: int
    zeros: Int64s

    @classmethod
    def of(cls, pieces: Pieces, expansion: int, threads: int | None) -> Graph:
        """The graph over these rows."""
        require_expansion(expansion)
        nodes = usearch().Index(
            ndim=pieces.dimensions,
            metric="ip",
            dtype="f16",  # half the memory to walk through; scores are computed anew
            connectivity=CONNECTIVITY,
            expansion_add=EXPANSION_BUILDING,
            expansion_search=expansion,
        )
        none = np.empty(0, np.int64)
        return cls(nodes, none, 0, none).with_more(pieces, threads)

    @classmethod
    def read(
        cls, path: Path, keys: Int64s, dimensions: int, *, expansion: int, following: int
    ) -> Graph:
        """The graph in a file, whose rows have these keys."""
        try:
            nodes = usearch().Index.restore(str(path))
        except (RuntimeError, ValueError) as error:
            raise InputError(f"expected a graph of usearch: {error}") from None
        if nodes is None or nodes.ndim != dimensions:
            raise InputError("the graph is not that of this index: the file was exchanged")
        known = np.asarray(nodes.contains(keys.astype(np.uint64)), bool)
        if int(known.sum()) != len(nodes):
            raise InputError("the graph is not that of this index: the file was exchanged")
        nodes.expansion_search = expansion
        return cls(nodes, keys, following, np.flatnonzero(~known))

    def write(self, path: Path) -> None:
        """Write the graph to a file."""
        self.nodes.save(str(path))

    @property
    def expansion(self) -> int:
        """How many nodes a walk keeps in sight."""
        return int(self.nodes.expansion_search)

    def expand(self, expansion: int) -> None:
        """Keep so many nodes in sight from now on."""
        require_expansion(expansion)
        self.nodes.expansion_search = int(expansion)

    def with_more(self, pieces: Pieces, threads: int | None) -> Graph:
        """The graph with more rows behind the others."""
        keys = np.arange(self.following, self.following + len(pieces))
        zeros = [self.zeros]
        for begin, array in pieces:
            for first in range(0, len(array), ROWS_AT_ONCE):
                rows = array[first : first + ROWS_AT_ONCE]
                is_zero = ~rows.any(axis=1)
                here = begin + first + np.arange(len(rows))
                zeros.append(len(self.keys) + here[is_zero])
                if not is_zero.all():
                    nodes = keys[here[~is_zero]].astype(np.uint64)
                    self.nodes.add(nodes, rows[~is_zero], threads=thread_count(threads))
        return replace(
            self,
            keys=np.concatenate([self.keys, keys]),
            following=self.following + len(pieces),
            zeros=np.concatenate(zeros),
        )

    def at_rows(self, rows: Int64s) -> Graph:
        """The graph of these rows only; they are in ascending order."""
        is_zero = np.zeros(len(self.keys), bool)
        is_zero[self.zeros] = True
        gone = np.setdiff1d(np.flatnonzero(~is_zero), rows)
        if len(gone):
            self.nodes.remove(self.keys[gone].astype(np.uint64))
        return replace(self, keys=self.keys[rows], zeros=np.flatnonzero(is_zero[rows]))

    def proposed(self, queries: Float32s, count: int, threads: int | None) -> Proposed:
        """So many rows for each query, or fewer, that a walk through the graph finds."""
        matches = self.nodes.search(
            queries, min(count, max(1, len(self.nodes))), threads=thread_count(threads)
        )
        if len(queries) == 1:
            keys, counts = matches.keys.reshape(1, -1), np.array([matches.keys.size])
        else:
            keys, counts = matches.keys, np.asarray(matches.counts)
        is_match = np.arange(keys.shape[1]) < counts[:, None]
        numbers = np.nonzero(is_match)[0]
        found = keys[is_match].astype(np.int64)
        # A row may be added or removed meanwhile.
        if self.following == len(self.keys):
            known, rows = found < self.following, found
        else:
            known, rows = contained(found, self.keys), np.searchsorted(self.keys, found)
        return Proposed(numbers[known], rows[known])


def scored(pieces: Pieces, queries: Float32s, proposed: Proposed) -> Float32s:
    """The score of each pair of a query and a row."""
    scores = np.empty(len(proposed.rows), np.float32)
    for begin, array in pieces:
        here: Any = slice(None)
        if len(pieces.arrays) > 1:
            here = (begin <= proposed.rows) & (proposed.rows < begin + len(array))
        part = np.empty(len(proposed.rows[here]), np.float32)
        rows, owners = proposed.rows[here] - begin, proposed.queries[here]
        kernels.score_pairs(array, rows, frozen(queries), owners, part)
        scores[here] = part
    return scores


def contained(values: Int64s, ascending: Int64s) -> npt.NDArray[np.bool_]:
    """Whether each value is among those that are in ascending order."""
    places = np.searchsorted(ascending, values)
    inside = places < len(ascending)
    inside[inside] = ascending[places[inside]] == values[inside]
    return inside


def require_expansion(expansion: int) -> None:
    """Refuse what is not a number of nodes that a walk can keep in sight."""
    is_number = isinstance(expansion, int | np.integer) and not isinstance(expansion, bool)
    if not is_number or not 1 <= expansion <= LARGEST_EXPANSION:
        raise InputError(
            f"expansion must be a whole number from 1 to {LARGEST_EXPANSION:,}, got {expansion!r}"
        )
