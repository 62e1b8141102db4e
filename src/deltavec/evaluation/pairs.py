"""Labeled pairs of documents: their labels, their cosines."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from deltavec.core.arrays import blocks
from deltavec.core.learning.stemming_kernels import pair_products
from deltavec.core.threads import parallel_map, thread_count
from deltavec.errors import CorpusError

PAIRS_AT_ONCE = 65_536
LABELS = {"1": True, "0": False, "true": True, "false": False}


def pair_cosines(
    vectors: Any,
    first: npt.NDArray[np.int32],
    second: npt.NDArray[np.int32],
    *,
    threads: int | None = None,
) -> npt.NDArray[np.float32]:
    """The inner product of each pair of rows, which are of unit length; dense or sparse."""
    scores = np.empty(len(first), np.float32)

    is_sparse = sparse.issparse(vectors)
    rows: Any = vectors if is_sparse else np.ascontiguousarray(vectors, np.float32)

    def work(some: slice) -> None:
        if is_sparse:
            both = rows[first[some]].multiply(rows[second[some]])
            scores[some] = np.asarray(both.sum(axis=1)).reshape(-1)
        else:
            pair_products(rows, first[some], second[some], scores[some])

    list(parallel_map(work, [*blocks(len(scores), PAIRS_AT_ONCE)], thread_count(threads)))
    return scores


def as_label(value: Any, path: Path, row: int) -> bool:
    """Whether a pair is one of duplicates."""
    spelled = str(value).strip().lower().removesuffix(".0")
    if spelled not in LABELS:
        raise CorpusError(
            f"{path}, row {row}: expected the label 1 (duplicates) or 0 (not), got {value!r}"
        )
    return LABELS[spelled]
