r"""Documents moved towards their neighbors, for finding groups.

.. math:: u'_d \propto u_d + \tfrac12 \cdot \tfrac1{10} \sum_{n \in N(d)} u_n,

with N(d) the ten documents most like d. What is said by chance in one document is not said in the
others, so that what it is about stands out. What it gains: experiments/beyond.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from deltavec.core.arrays import Float32s, blocks
from deltavec.core.threads import one_blas_thread
from deltavec.core.vectors import normalize_rows
from deltavec.search.tsne.layout import nearest_rows

NEIGHBORS = 10
SHARE = 0.5


@one_blas_thread()
def smooth_rows(vectors: Float32s, there: npt.NDArray[np.bool_]) -> Float32s:
    """The vectors, those that are there moved towards their neighbors, at unit length again."""
    own = np.flatnonzero(there)
    rows = np.ascontiguousarray(vectors[own], np.float32)
    count = min(NEIGHBORS, len(rows) - 1)
    moved = np.zeros(vectors.shape, np.float32)
    near = nearest_rows(rows, count) if count > 0 else np.zeros((len(rows), 0), np.int64)
    for part in blocks(len(rows)):
        sums = rows[part].astype(np.float64)
        for neighbor in near[part].T:
            sums += rows[neighbor] * (SHARE / count)
        moved[own[part]] = normalize_rows(sums, np.linalg.norm(sums, axis=1))
    return moved
