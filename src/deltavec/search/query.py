"""One search of an index: what was asked for, checked before any work is done, and answered."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from deltavec.core.arguments import require_whole
from deltavec.core.arrays import Int64s
from deltavec.core.jit import BUDGET
from deltavec.errors import InputError
from deltavec.search import fallback
from deltavec.search.hits import Hits
from deltavec.search.ids import Ids, IdsLike
from deltavec.search.matrix import ChunkedMatrix
from deltavec.search.topk import Search, TopRows, best_rows

Where: TypeAlias = npt.NDArray[np.bool_] | IdsLike
"""A boolean mask over rows, or the ids of the rows that may be found."""


class IndexState(NamedTuple):
    """What an index consists of; replaced whole, so that a search sees one state or the other.

    Attributes
    ----------
    pieces : Pieces
        The rows.
    ids : Ids
        What they are called.
    """

    pieces: ChunkedMatrix
    ids: Ids


def search_state(
    state: IndexState, queries: npt.ArrayLike, k: int, where: Where | None, threads: int
) -> Hits:
    """What `Index.search` gives."""
    pieces, ids = state
    wanted = as_queries(queries, pieces.dimensions)
    require_whole("k", k)
    chosen = allowed_rows(where, ids)
    k = min(int(k), len(ids) if chosen is None else len(chosen))
    if chosen is not None:
        chosen = pieces.physical(chosen)
    search = Search(pieces, ids.ranks, wanted, k, chosen, threads)
    found = best_rows_of(search)
    if (found.ranks >= len(pieces)).any():  # fewer are numbers than there are rows
        raise InputError(
            "NaN or infinity among the vectors: the index is damaged; load it with verify=True to "
            "see where"
        )
    return Hits(ids.at(pieces.logical(ids.rows_at(found.ranks))), found.scores)


def best_rows_of(search: Search) -> TopRows:
    """The best rows, found with kernels or, as long as that is less work, without."""
    if BUDGET.allows(len(search.pieces) * len(search.queries) * search.pieces.dimensions):
        return fallback.best_rows(search)
    return best_rows(search)


def as_queries(queries: npt.ArrayLike, dimensions: int) -> ChunkedMatrix:
    """Queries as rows; one alone is one row."""
    array = np.asanyarray(queries)
    pieces = ChunkedMatrix.of(array[None] if array.ndim == 1 else array, "queries", 1)
    require_dimensions(pieces, dimensions, "queries")
    return pieces


def require_dimensions(pieces: ChunkedMatrix, dimensions: int, name: str) -> None:
    """Refuse rows of another length."""
    if pieces.dimensions != dimensions:
        raise InputError(f"{name} must have {dimensions} dimensions, got {pieces.dimensions}")


def allowed_rows(where: Where | None, ids: Ids) -> Int64s | None:
    """The rows that may be found, ascending; None for all of them."""
    if where is None:
        return None
    mask = np.asarray(where)
    if mask.dtype == bool and mask.size:
        if mask.shape != (len(ids),):
            raise InputError(
                f"a mask must have a boolean for each of {len(ids):,} rows, got {mask.shape}"
            )
        return None if mask.all() else np.flatnonzero(mask)
    return np.unique(ids.rows(where))
