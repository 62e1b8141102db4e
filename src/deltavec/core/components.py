"""What documents have in common: a second moment that adds, and its leading directions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from deltavec.core.arrays import Float32s, Float64s, blocks, fix_signs
from deltavec.core.threads import parallel_map
from deltavec.errors import InputError

ROWS_AT_ONCE = 1_024  # small enough for threads to have a few each

# Directions that carry less than this share of the moment are rounding of the vectors' float32.
NEGLIGIBLE = 1e-10


@dataclass(frozen=True, eq=False)
class SecondMoment:
    r"""The sum of :math:`u u^\top` over document vectors, uncentered.

    Attributes
    ----------
    matrix : ndarray of float64, shape (dimensions, dimensions)
        The sum.
    documents : int
        How many vectors were added, those of zeros too.
    """

    matrix: Float64s
    documents: int

    @classmethod
    def empty(cls, dimensions: int) -> SecondMoment:
        """The moment of no vectors at all."""
        return cls(np.zeros((dimensions, dimensions)), 0)

    @classmethod
    def of(cls, vectors: Float32s, threads: int = 1) -> SecondMoment:
        """The moment of these rows; any number of threads gives the same bits."""

        def squared(block: slice) -> Float64s:
            # float64: ten million documents lose digits in float32
            rows = vectors[block].astype(np.float64)
            return np.asarray(rows.T @ rows)

        parts = parallel_map(squared, [*blocks(len(vectors), ROWS_AT_ONCE)], threads)
        return cls(sum(parts, cls.empty(vectors.shape[1]).matrix), len(vectors))

    def __add__(self, other: SecondMoment) -> SecondMoment:
        if self.matrix.shape != other.matrix.shape:
            raise InputError(
                "moments add only over one number of dimensions, "
                f"got {len(self.matrix)} and {len(other.matrix)}"
            )
        return SecondMoment(self.matrix + other.matrix, self.documents + other.documents)


def leading_components(moment: SecondMoment, count: int) -> Float64s:
    r"""The ``count`` directions along which the documents are longest, one a row.

    The first right singular vectors of the matrix of documents, uncentered (Schmidt, section 1;
    Arora et al. 2017), as eigenvectors of :math:`\sum u u^\top`. The entry of each that is largest
    in absolute value is positive, so that results repeat. Documents that span fewer than ``count``
    directions give fewer.
    """
    values, directions = np.linalg.eigh(moment.matrix)
    leading = np.argsort(values)[::-1][:count]
    leading = leading[values[leading] > NEGLIGIBLE * max(values.sum(), 0.0)]
    return fix_signs(directions[:, leading].T, axis=1)
