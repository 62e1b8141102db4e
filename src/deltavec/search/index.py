"""Exact cosine search over rows, and what it found."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from deltavec.core.arguments import require_whole
from deltavec.core.arrays import Float32s, blocks
from deltavec.core.threads import thread_count
from deltavec.errors import InputError
from deltavec.notebook import table
from deltavec.search.ids import Ids, IdsLike
from deltavec.search.matrix import ChunkedMatrix
from deltavec.search.topk import nearest_rows

QUERIES_SHOWN = 10
HITS_SHOWN = 20


class Hit(NamedTuple):
    """One row that was found: its id (a number or a string) and its cosine with the query."""

    id: Any
    score: float


@dataclass(frozen=True, eq=False)
class Hits:
    """The rows found for each query, best first.

    ``len(hits)`` is the number of queries; ``hits[0]`` lists what was found for the first one, and
    a loop over ``hits`` goes through the queries.

    Attributes
    ----------
    ids : array of shape (queries, k)
        The ids of the rows: int64, or Python strings.
    scores : float32 array of shape (queries, k)
        Their cosines with the query.

    Examples
    --------
    >>> found = dv.Index(model.embed(texts)).search(model.embed(["bush fires"]), k=2)
    >>> found
    Hits(1 queries, 2 found for each)
    >>> found.ids.tolist()
    [[4, 3]]
    """

    ids: npt.NDArray[Any]
    scores: Float32s

    def __len__(self) -> int:
        return len(self.scores)

    def __getitem__(self, query: int) -> list[Hit]:
        """What was found for one query."""
        pairs = zip(self.ids[query].tolist(), self.scores[query].tolist(), strict=True)
        return [Hit(*pair) for pair in pairs]

    def __iter__(self) -> Iterator[list[Hit]]:
        return map(self.__getitem__, range(len(self)))

    def __repr__(self) -> str:
        queries, k = self.scores.shape
        return f"Hits({queries:,} queries, {k:,} found for each)"

    def _repr_html_(self) -> str:
        """The first hits of the first queries, as a table."""
        queries, k = self.scores.shape
        rows = [
            (query, place + 1, id, f"{score:.4f}")
            for query in range(min(queries, QUERIES_SHOWN))
            for place, (id, score) in enumerate(self[query][:HITS_SHOWN])
        ]
        hidden = queries > QUERIES_SHOWN or k > HITS_SHOWN
        return table(repr(self), ("query", "place", "id", "score"), rows, hidden)


Where: TypeAlias = npt.NDArray[np.bool_] | IdsLike
"""A boolean mask over rows, or the ids of the rows that may be found."""


ROWS_A_BLOCK = 8192


class IndexState(NamedTuple):
    """The rows and their ids; replaced together, so that a search sees one state or the other."""

    pieces: ChunkedMatrix
    ids: Ids


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
        U: npt.ArrayLike | ChunkedMatrix,
        ids: IdsLike | None = None,
        *,
        threads: int | None = None,
    ) -> None:
        thread_count(threads)
        # Rows of a collection were measured before; those that are not deleted have numbers.
        pieces = U if isinstance(U, ChunkedMatrix) else ChunkedMatrix.of(U, "U", threads)
        count = len(pieces) - sum(map(len, pieces.deleted))
        self._state = IndexState(pieces, Ids.of(ids, count))
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

    def blocks(self) -> Iterator[tuple[slice, Float32s]]:
        """The numbers of successive rows, and a copy of these rows."""
        for part in blocks(len(self), ROWS_A_BLOCK):
            yield part, self.take(np.arange(part.start, min(part.stop, len(self))))

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
        """The k rows most similar to each query.

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
        pieces, ids = self._state
        array = np.asanyarray(queries)
        wanted = ChunkedMatrix.of(array[None] if array.ndim == 1 else array, "queries", 1)
        require_dimensions(wanted, pieces.dimensions, "queries")
        require_whole("k", k)
        cores = thread_count(self._threads if threads is None else threads)
        mask = allowed_rows(where, ids)
        k = min(int(k), len(ids) if mask is None else int(np.count_nonzero(mask)))
        allowed = pieces.physical_mask(mask)
        found = nearest_rows(pieces, wanted, k, ranks=ids.ranks, allowed=allowed, threads=cores)
        if (found.ranks >= len(pieces)).any():  # fewer are numbers than there are rows
            raise InputError(
                "NaN or infinity among the vectors: the index is damaged; load it with verify=True "
                "to see where"
            )
        rows = pieces.logical(ids.rows_at(found.ranks))
        return Hits(ids.at(rows), found.scores.astype(np.float32))

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


def require_dimensions(pieces: ChunkedMatrix, dimensions: int, name: str) -> None:
    """Refuse rows of another length."""
    if pieces.dimensions != dimensions:
        raise InputError(f"{name} must have {dimensions} dimensions, got {pieces.dimensions}")


def allowed_rows(where: Where | None, ids: Ids) -> npt.NDArray[np.bool_] | None:
    """A mask of the rows that may be found; None for all of them."""
    if where is None:
        return None
    mask = np.asarray(where)
    if mask.dtype != bool or not mask.size:
        mask = np.zeros(len(ids), bool)
        mask[ids.rows(where)] = True
    if mask.shape != (len(ids),):
        raise InputError(
            f"a mask must have a boolean for each of {len(ids):,} rows, got {mask.shape}"
        )
    return mask
