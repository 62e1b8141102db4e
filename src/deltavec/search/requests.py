"""What a search was asked for, checked before any work is done."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from deltavec.core.kernels import Int64s
from deltavec.errors import InputError
from deltavec.search.ids import Ids, IdsLike
from deltavec.search.rows import Pieces

Where: TypeAlias = npt.NDArray[np.bool_] | IdsLike
"""A boolean mask over rows, or the ids of the rows that may be found."""


def as_queries(queries: npt.ArrayLike, dimensions: int) -> Pieces:
    """Queries as rows; one alone is one row."""
    array = np.asanyarray(queries)
    pieces = Pieces.of(array[None] if array.ndim == 1 else array, "queries", 1)
    require_dimensions(pieces, dimensions, "queries")
    return pieces


def require_dimensions(pieces: Pieces, dimensions: int, name: str) -> None:
    """Refuse rows of another length."""
    if pieces.dimensions != dimensions:
        raise InputError(f"{name} must have {dimensions} dimensions, got {pieces.dimensions}")


def require_count(k: int) -> None:
    """Refuse a number of rows that is none."""
    if isinstance(k, bool) or not isinstance(k, int | np.integer) or k < 1:
        raise InputError(f"k must be a whole number from 1 on, got {k!r}")


def chosen_rows(where: Where | None, ids: Ids) -> Int64s | None:
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
