r"""How the vectors of documents are spread: what a cosine is compared with.

The cosines of a query u with all documents vary by :math:`\sigma_c^2 = u^\top C u`, C the
covariance of the documents' vectors: known before any of them is compared.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from deltavec.core.arrays import Float32s, Float64s
from deltavec.core.threads import one_blas_thread, parallel_map, thread_count

BLOCK = 4096  # rows; sums are taken block by block, so that additions give the same bits
LEAST_SPREAD = 0.01


class ScoreScale(NamedTuple):
    r"""The spread of some rows, those of zeros too.

    Attributes
    ----------
    whole_moment, whole_sum : ndarray of float64
        The sums of :math:`u u^\top` and of u over whole blocks of rows: where one goes on when
        rows are added.
    covariance : ndarray of float64
        The covariance of all rows.
    rows : int
        How many there are.
    """

    whole_moment: Float64s
    whole_sum: Float64s
    covariance: Float64s
    rows: int

    def cosine_std(self, vector: Float64s) -> float:
        """How the cosines of the rows with a vector of unit length vary."""
        # Not by BLAS, which would wake up all cores for less than they need to wake up.
        variance = float(np.einsum("ij,j->i", self.covariance, vector) @ vector)
        return max(math.sqrt(max(variance, 0.0)), LEAST_SPREAD)


def measure_scale(
    vectors: Float32s, before: ScoreScale | None = None, threads: int | None = None
) -> ScoreScale:
    """The spread of rows, of which the first ones may be known: the same bits either way."""
    dimensions = vectors.shape[1]
    moment, total = np.zeros((dimensions, dimensions)), np.zeros(dimensions)
    first = 0
    if before is not None:
        moment, total = before.whole_moment.copy(), before.whole_sum.copy()
        first = before.rows // BLOCK * BLOCK

    def block(begin: int) -> tuple[Float64s, Float64s]:
        rows = vectors[begin : begin + BLOCK]
        return (rows.T @ rows).astype(np.float64), rows.sum(axis=0, dtype=np.float64)

    begins = range(first, len(vectors), BLOCK)
    whole = moment, total
    with one_blas_thread():
        for begin, (product, part) in zip(
            begins, parallel_map(block, begins, thread_count(threads)), strict=True
        ):
            moment, total = moment + product, total + part
            if begin + BLOCK <= len(vectors):
                whole = moment, total
    mean = total / max(len(vectors), 1)
    covariance = moment / max(len(vectors), 1) - np.outer(mean, mean)
    return ScoreScale(*whole, covariance, len(vectors))
