"""What filters let through, kept for those who ask again: a page asks many times."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from deltavec.collection.filters.masks import Filter

FILTERS_KEPT = 16


class Columns(Protocol):
    """Where the columns of all documents are read."""

    def columns(self, names: Sequence[str]) -> pa.Table:
        """Some columns of all documents."""


def load_mask(
    masks: dict[str, npt.NDArray[np.bool_]], filter: str, documents: Columns, names: Sequence[str]
) -> npt.NDArray[np.bool_]:
    """Which documents a filter on these columns lets through, as it was or from now on kept."""
    known = masks.get(filter) if isinstance(filter, str) else None
    if known is not None:
        return known
    parsed = Filter.of(filter, names)
    mask = parsed.mask(documents.columns(parsed.columns))
    mask.flags.writeable = False
    if len(masks) >= FILTERS_KEPT:
        masks.clear()
    masks[filter] = mask
    return mask
