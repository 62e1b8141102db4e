"""Exact cosine search over rows."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import numpy.typing as npt

from deltavec.core.arrays import Float32s
from deltavec.core.threads import thread_count
from deltavec.search.hits import Hits
from deltavec.search.ids import Ids, IdsLike
from deltavec.search.matrix import ChunkedMatrix
from deltavec.search.query import IndexState, Where, require_dimensions, search_state


class Index:
    """Rows that can be searched by cosine.

    The same query and row have the same score, to the last bit, whatever else is searched, by
    however many threads: the cosine in float64, rounded to float32. Rows with the same score come
    in the ascending order of their ids.

    Parameters
    ----------
    U : array of shape (rows, dimensions)
        Rows of unit length, or zero: what `EmbeddingModel.embed` gives. A C-contiguous float32
        array is kept as it is, not copied, so that it may be a memory map larger than memory; do
        not change it afterwards. A row of zeros has the score 0 with everything.
    ids
        What the rows are called: unique whole numbers, or strings. By default rows are numbered
        from 0 on, and a number is never used again when its row is removed.
    threads
        How many cores a search takes; all of them by default.

    Examples
    --------
    >>> import numpy as np
    >>> index = Index(np.array([[1.0, 0.0], [0.8, 0.6], [0.0, 1.0]]), ids=["sea", "beach", "room"])
    >>> hits = index.search(np.array([0.6, 0.8]), k=2)
    >>> hits.ids
    array([['beach', 'room']], dtype=object)
    >>> hits[0][0]
    Hit(id='beach', score=0.9599999785423279)
    """

    def __init__(
        self,
        U: npt.ArrayLike,
        ids: IdsLike | None = None,
        *,
        threads: int | None = None,
    ) -> None:
        thread_count(threads)
        pieces = ChunkedMatrix.of(U, "U", threads)
        self._hold(IndexState(pieces, Ids.of(ids, len(pieces))), threads)

    @classmethod
    def _of(cls, state: IndexState, threads: int | None = None) -> Index:
        index = cls.__new__(cls)
        index._hold(state, threads)
        return index

    def _hold(self, state: IndexState, threads: int | None) -> None:
        self._state = state
        self._threads = threads
        self._changing = threading.Lock()
        self._whole: tuple[ChunkedMatrix, Float32s] | None = None

    def __len__(self) -> int:
        return len(self._state.ids)

    def __repr__(self) -> str:
        return f"Index({len(self):,} rows, {self.dimensions} dimensions)"

    @property
    def dimensions(self) -> int:
        """How long a row is."""
        return self._state.pieces.dimensions

    @property
    def ids(self) -> npt.NDArray[Any]:
        """The ids of all rows, in the order of the rows: int64, or Python strings."""
        return self._state.ids.array

    @property
    def vectors(self) -> Float32s:
        """All rows, read-only; copied into one array if rows were added or removed."""
        with self._changing:
            pieces = self._state.pieces
            if self._whole is None or self._whole[0] is not pieces:
                self._whole = pieces, pieces.in_one().arrays[0]
            return self._whole[1]

    def take(self, rows: npt.ArrayLike) -> Float32s:
        """A copy of the rows with these numbers; nothing else is read."""
        return self._state.pieces.at(self._state.pieces.physical(np.asarray(rows, np.int64)))

    @property
    def pieces(self) -> ChunkedMatrix:
        """All rows, in the arrays that they are kept in, with those of deleted documents."""
        return self._state.pieces

    def search(
        self,
        queries: npt.ArrayLike,
        k: int = 10,
        *,
        where: Where | None = None,
        threads: int | None = None,
    ) -> Hits:
        """The k rows most alike to each query.

        Parameters
        ----------
        queries : array of shape (queries, dimensions) or (dimensions,)
            Rows of unit length, or zero.
        k
            How many rows to find. Where fewer may be found, it is that many.
        where
            Which rows may be found: a boolean for each row, or a sequence of ids.
        threads
            How many cores; by default what the index was made with.

        Returns
        -------
        Hits
            Ids and scores, both of shape (queries, k); one query makes one row.
        """
        return search_state(self._state, queries, k, where, self._cores(threads))

    def _cores(self, threads: int | None) -> int:
        return thread_count(self._threads if threads is None else threads)

    def add(self, U: npt.ArrayLike, ids: IdsLike | None = None) -> None:
        """Add rows behind the others.

        Parameters
        ----------
        U
            Rows of unit length, or zero.
        ids
            What they are called; given if and only if those of the index were.
        """
        with self._changing:
            pieces, old = self._state
            more = ChunkedMatrix.of(U, "U", self._threads)
            require_dimensions(more, pieces.dimensions, "U")
            names = old.with_more(ids, len(more))
            self._state = IndexState(pieces.with_more(more), names)

    def remove(self, ids: IdsLike) -> None:
        """Remove the rows that have these ids; all of them must be there."""
        with self._changing:
            pieces, old = self._state
            keep = np.ones(len(pieces), bool)
            keep[old.rows(ids)] = False
            rows = np.flatnonzero(keep)
            self._state = IndexState(pieces.at_rows(rows), old.at_rows(rows))

    def info(self) -> dict[str, Any]:
        """Size and kind of the index."""
        pieces, ids = self._state
        return {
            "rows": len(pieces),
            "dimensions": pieces.dimensions,
            "ids": ids.kind if ids.given else "row numbers",
            "bytes": 4 * len(pieces) * pieces.dimensions,
        }


def index_of_pieces(pieces: ChunkedMatrix) -> Index:
    """The index of rows that were measured before; those that are not deleted count from 0 on."""
    return Index._of(IndexState(pieces, Ids.counted(len(pieces) - sum(map(len, pieces.deleted)))))
