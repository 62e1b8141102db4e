"""Labeled pairs of documents: their labels, their cosines."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from deltavec.core.arrays import Float32s, Int32s
from deltavec.core.jit import compiled
from deltavec.core.threads import parallel_map, thread_count
from deltavec.errors import CorpusError

PAIRS_AT_ONCE = 65_536  # of sparse rows
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
    if sparse.issparse(vectors):
        for begin in range(0, len(scores), PAIRS_AT_ONCE):
            here = slice(begin, begin + PAIRS_AT_ONCE)
            both = vectors[first[here]].multiply(vectors[second[here]])
            scores[here] = np.asarray(both.sum(axis=1)).reshape(-1)
        return scores
    count = thread_count(threads)
    borders = np.linspace(0, len(scores), count + 1).astype(int).tolist()
    rows = np.ascontiguousarray(vectors, np.float32)

    def work(border: tuple[int, int]) -> None:
        here = slice(*border)
        products(rows, first[here], second[here], scores[here])

    list(parallel_map(work, [*pairwise(borders)], count))
    return scores


@compiled
def products(vectors: Float32s, first: Int32s, second: Int32s, scores: Float32s) -> None:
    """Write the inner product of each pair of rows.

    Pairs sorted by their first row are quickest: it stays in the cache. Four sums at a time, since
    each addition to one must wait for the one before.
    """
    columns = vectors.shape[1]
    fourfold = columns - columns % 4
    for place in range(first.size):
        a, b = vectors[first[place]], vectors[second[place]]
        s0 = s1 = s2 = s3 = np.float64(0.0)
        for column in range(0, fourfold, 4):
            s0 += a[column] * b[column]
            s1 += a[column + 1] * b[column + 1]
            s2 += a[column + 2] * b[column + 2]
            s3 += a[column + 3] * b[column + 3]
        for column in range(fourfold, columns):
            s0 += a[column] * b[column]
        scores[place] = (s0 + s1) + (s2 + s3)


def as_label(value: Any, path: Path, row: int) -> bool:
    """Whether a pair is one of duplicates."""
    spelled = str(value).strip().lower().removesuffix(".0")
    if spelled not in LABELS:
        raise CorpusError(
            f"{path}, row {row}: expected the label 1 (duplicates) or 0 (not), got {value!r}"
        )
    return LABELS[spelled]
