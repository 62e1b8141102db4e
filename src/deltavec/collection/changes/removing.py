"""Documents that leave a collection."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from deltavec.collection import ids as identities
from deltavec.collection.changes.adding import open_current
from deltavec.collection.changes.rewriting import Before, Mask, rewrite
from deltavec.collection.filters.masks import Filter
from deltavec.collection.folder import changing, write_description
from deltavec.collection.store import ID
from deltavec.collection.words import postings_writer
from deltavec.core.model import EmbeddingModel
from deltavec.errors import InputError


def remove(
    folder: Path,
    model: EmbeddingModel,
    ids: Sequence[str] | pa.Array | None,
    *,
    filter: str | None = None,
    missing_ok: bool = False,
    threads: int | None = None,
) -> None:
    """Remove documents from a collection; see `Collection.remove`."""
    if (ids is None) == (filter is None):
        given = "neither" if ids is None else "both"
        raise InputError(f"expected either ids or a filter of what to remove, got {given}")
    with changing(folder, model.fingerprint) as stated:
        before = open_current(folder, stated)
        keep = exclude(before, ids, missing_ok) if filter is None else not_removable(before, filter)
        if keep.all():
            return
        if not keep.any():
            raise InputError(
                f"{folder}: all {stated.documents:,} documents would be removed, and a collection "
                "has at least one: delete the folder instead"
            )
        known = before.words and before.words.words
        with postings_writer(folder, before.words is not None, known) as writer:
            after = rewrite(before, model, keep, writer=writer, threads=threads)
        write_description(folder, after)


def not_removable(before: Before, filter: str) -> Mask:
    """Which documents a filter does not let through."""
    parsed = Filter.of(filter, [ID, *before.description.columns])
    return ~parsed.mask(before.store.columns(parsed.columns))


def exclude(before: Before, ids: Any, missing_ok: bool) -> Mask:
    """Which documents have none of these ids."""
    there = before.store.columns([ID]).column(0)
    wanted = identities.as_list(ids)
    rows = identities.places_of(there, wanted)
    missing = np.flatnonzero(rows < 0)
    if len(missing) and not missing_ok:
        advice = identities.suggestion(wanted[missing[0]], there, before.description.id_column)
        others = f", nor {len(missing) - 1:,} others" if len(missing) > 1 else ""
        raise InputError(
            f"{before.folder}: no document has the id {wanted[missing[0]]!r:.60}{others}{advice}; "
            "nothing was removed"
        )
    keep = np.ones(before.description.documents, bool)
    keep[rows[rows >= 0]] = False
    return keep
