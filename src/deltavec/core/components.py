"""What documents have in common: a second moment that adds, and its leading directions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from deltavec.errors import InputError

# Directions that carry less than this share of the moment are rounding of the vectors' float32.
NEGLIGIBLE = 1e-10


@dataclass(frozen=True, eq=False)
class SecondMoment:
    r"""The sum of :math:`u u^\top` over document vectors, uncentred.

    Attributes
    ----------
    matrix : ndarray of float64, shape (dimensions, dimensions)
        The sum.
    documents : int
        How many vectors were added, those of zeros too.
    """

    matrix: npt.NDArray[np.float64]
    documents: int

    @classmethod
    def empty(cls, dimensions: int) -> SecondMoment:
        """The moment of no vectors at all."""
        return cls(np.zeros((dimensions, dimensions)), 0)

    @classmethod
    def of(cls, vectors: npt.NDArray[np.float32]) -> SecondMoment:
        """The moment of these rows."""
        # float64: ten million documents lose digits in float32
        rows = vectors.astype(np.float64)
        return cls(rows.T @ rows, len(rows))

    def __add__(self, other: SecondMoment) -> SecondMoment:
        if self.matrix.shape != other.matrix.shape:
            raise InputError(
                "moments add only over one number of dimensions, "
                f"got {len(self.matrix)} and {len(other.matrix)}"
            )
        return SecondMoment(self.matrix + other.matrix, self.documents + other.documents)


def leading_components(moment: SecondMoment, count: int) -> npt.NDArray[np.float64]:
    r"""The ``count`` directions along which the documents are longest, one a row.

    The first right singular vectors of the matrix of documents, uncentred (Schmidt, section 1;
    Arora et al. 2017), as eigenvectors of :math:`\sum u u^\top`. The entry of each that is largest
    in absolute value is positive, so that results repeat. Documents that span fewer than ``count``
    directions give fewer.
    """
    values, directions = np.linalg.eigh(moment.matrix)
    leading = np.argsort(values)[::-1][:count]
    leading = leading[values[leading] > NEGLIGIBLE * max(values.sum(), 0.0)]
    components: npt.NDArray[np.float64] = directions[:, leading].T
    largest = np.take_along_axis(
        components, np.abs(components).argmax(axis=1, keepdims=True), axis=1
    )
    return components * np.sign(largest)
