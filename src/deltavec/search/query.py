"""One search of an index: what was asked for, checked before any work is done, and answered."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from deltavec.core.arguments import require_whole
from deltavec.errors import InputError
from deltavec.search.hits import Hits
from deltavec.search.ids import Ids, IdsLike
from deltavec.search.matrix import ChunkedMatrix
from deltavec.search.topk import nearest_rows

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
    mask = allowed_rows(where, ids)
    k = min(int(k), len(ids) if mask is None else int(np.count_nonzero(mask)))
    allowed = pieces.physical_mask(mask)
    found = nearest_rows(pieces, wanted, k, ranks=ids.ranks, allowed=allowed, threads=threads)
    if (found.ranks >= len(pieces)).any():  # fewer are numbers than there are rows
        raise InputError(
            "NaN or infinity among the vectors: the index is damaged; load it with verify=True to "
            "see where"
        )
    rows = pieces.logical(ids.rows_at(found.ranks))
    return Hits(ids.at(rows), found.scores.astype(np.float32))


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
