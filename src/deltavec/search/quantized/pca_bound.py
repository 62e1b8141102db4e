r"""Heads of rows: projections on principal axes that bound the product with any query.

With an orthonormal basis P of some directions, the head of a row x is :math:`(P x, r)`, where
:math:`r = \lVert x - P^\top P x \rVert` is the length of the rest. A query q has a head in the same
way. Then

.. math:: q \cdot x = P q \cdot P x + (q - P^\top P q) \cdot (x - P^\top P x)

is at most the product of the two heads, by Cauchy and Schwarz. So heads can be quantized and
scanned like rows (`deltavec.search.quantized.kernels`). The directions are principal axes of the
rows: better directions leave fewer candidates, and any directions give a valid bound.

Heads are computed in float64 and rounded to float32, and P is orthonormal up to rounding; `ERROR`
exceeds the effect of both on a product.
"""

from __future__ import annotations

import numpy as np

from deltavec.core.arrays import Float32s, Float64s
from deltavec.search.quantized.kernels import TOGETHER

SAMPLED = 8192  # rows that the axes are computed from
LEFT = 1 / 6  # of the variance, at most, outside of the axes
FEWEST_DIMENSIONS, MOST_DIMENSIONS = 32, 1024
TINY = 1e-9  # exceeds the rounding of a squared length
ERROR = 1e-6


def principal_axes(vectors: Float32s) -> Float64s:
    """The axes for heads of these rows, one per column; none where heads gain nothing.

    Heads are at most half as long as rows.
    """
    dimensions = vectors.shape[1]
    none = np.zeros((dimensions, 0))
    if not FEWEST_DIMENSIONS <= dimensions <= MOST_DIMENSIONS:
        return none
    sample = vectors[:: max(1, len(vectors) // SAMPLED)].astype(np.float64)
    squares, axes = np.linalg.eigh(sample.T @ sample)
    outside = np.cumsum(squares)[::-1]  # beyond no axis, beyond the first, and so on
    count = int((outside > LEFT * outside[0]).sum())
    numbers = -(-(count + 1) // TOGETHER) * TOGETHER
    if count == 0 or 2 * numbers > dimensions:
        return none
    return np.ascontiguousarray(axes[:, ::-1][:, : numbers - 1])


def project_heads(vectors: Float32s, directions: Float64s) -> Float32s:
    """The head of each row."""
    wide = vectors.astype(np.float64)
    heads = np.empty((len(wide), directions.shape[1] + 1), np.float32)
    seen = wide @ directions
    squares = np.einsum("ij,ij->i", wide, wide) - np.einsum("ij,ij->i", seen, seen)
    heads[:, :-1] = seen
    heads[:, -1] = np.sqrt(np.maximum(squares, 0) + TINY)
    return heads
