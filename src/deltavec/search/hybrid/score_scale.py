r"""How the vectors of documents are spread: what a cosine is compared with.

The cosines of a query u with all documents vary by :math:`\sigma_c^2 = u^\top C u`, C the
covariance of the documents' vectors: known before any of them is compared. It follows from sums
over documents, so documents that come are added and documents that go are subtracted.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from deltavec.core.arrays import Float32s, Float64s
from deltavec.core.threads import one_blas_thread, parallel_map, thread_count

BLOCK = 4096  # rows; sums are taken block by block, so that threads change no bit
LEAST_SPREAD = 0.01


@dataclass(frozen=True, eq=False)
class ScoreScale:
    r"""The spread of some rows, those of zeros too.

    Attributes
    ----------
    moment, total : ndarray of float64
        The sums of :math:`u u^\top` and of u over the rows.
    rows : int
        How many there are.
    """

    moment: Float64s
    total: Float64s
    rows: int

    @classmethod
    def of(cls, vectors: Float32s, threads: int | None = None) -> ScoreScale:
        """The spread of these rows."""
        dimensions = vectors.shape[1]
        moment, total = np.zeros((dimensions, dimensions)), np.zeros(dimensions)

        def block(begin: int) -> tuple[Float64s, Float64s]:
            rows = vectors[begin : begin + BLOCK]
            if len(rows) < BLOCK:  # few: a small change must not be lost in rounding
                rows = rows.astype(np.float64)
            return (rows.T @ rows).astype(np.float64), rows.sum(axis=0, dtype=np.float64)

        with one_blas_thread():
            begins = range(0, len(vectors), BLOCK)
            for product, part in parallel_map(block, begins, thread_count(threads)):
                moment, total = moment + product, total + part
        return cls(moment, total, len(vectors))

    def plus(self, other: ScoreScale, sign: int = 1) -> ScoreScale:
        """The spread with other rows, or without them if the sign is -1."""
        return ScoreScale(
            self.moment + sign * other.moment,
            self.total + sign * other.total,
            self.rows + sign * other.rows,
        )

    @cached_property
    def covariance(self) -> Float64s:
        """The covariance of the rows."""
        mean = self.total / max(self.rows, 1)
        covariance: Float64s = self.moment / max(self.rows, 1) - np.outer(mean, mean)
        return covariance

    def cosine_std(self, vector: Float64s) -> float:
        """How the cosines of the rows with a vector of unit length vary."""
        # Not by BLAS, which would wake up all cores for less than they need to wake up.
        variance = float(np.einsum("ij,j->i", self.covariance, vector) @ vector)
        return max(math.sqrt(max(variance, 0.0)), LEAST_SPREAD)
