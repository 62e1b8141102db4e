r"""Rows in two dimensions: t-SNE on the neighbors of each, from principal components on.

Each row is linked with its nearest neighbors: :math:`p_{ij}` is the number of
links between two rows over the number of all. Places :math:`y` are moved so that neighbors are
near (van der Maaten and Hinton 2008): downhill along

.. math:: \rho \sum_j p_{ij} \frac{y_i - y_j}{1 + |y_i - y_j|^2}
          - \frac{1}{Z} \sum_j \frac{y_i - y_j}{(1 + |y_i - y_j|^2)^2},

what pulls a point to its neighbors and what pushes it from all. At first :math:`\rho = 12`, so
that groups find each other; then less. Nothing is drawn at random, and all points move at once:
the same rows give the same map, on however many cores. Equal rows are one point.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from deltavec.core.arrays import Float32s, Float64s, Int64s, blocks, fix_signs, read_only
from deltavec.core.threads import equal_shares, one_blas_thread, parallel_map, thread_count
from deltavec.search.neighbors import neighbors
from deltavec.search.tsne import kernels
from deltavec.search.tsne.fft_repulsion import repulsion
from deltavec.search.tsne.kernels import Affinities, OptimizerState
from deltavec.search.tsne.knn import approximate_neighbors

NEIGHBORS = 15  # of few rows fewer: one in so many,
ROWS_A_NEIGHBOR = 10  # for among few all would be neighbors, and pull into one point
START = 1e-4  # the spread of the first places: nothing is far from anything yet
FEWEST = 20  # points; fewer stand as they do in principal components
WORTH_THREADS = 20_000  # points; of fewer, a step is done before threads have begun
MOST_EXACT = 30_000  # rows whose neighbors are looked for among all
SEARCHED = 0.5  # the share of the work that looking for neighbors is shown as


class Phase(NamedTuple):
    """Some steps, with how strongly neighbors pull and how much of its speed a point keeps."""

    steps: int
    pull: float
    momentum: float


PHASES = (Phase(150, 12.0, 0.5), Phase(350, 1.5, 0.8))


def neighbor_layout(
    vectors: Float32s,
    *,
    threads: int | None = None,
    on_progress: Callable[[float], None] | None = None,
) -> Float64s:
    """Where rows stand, near those that they are near to.

    Parameters
    ----------
    vectors
        Rows of unit length, or zero.
    threads
        How many cores; all of them by default. The result is the same.
    on_progress
        Called with the share of the work that is done.

    Returns
    -------
    ndarray of float64, shape (rows, 2)
        NaN for a row of zeros, which is near nothing.
    """
    tell = on_progress or (lambda share: None)
    there = np.flatnonzero(rows_with_direction(vectors))
    firsts, members = different_rows(vectors, there)
    rows = np.ascontiguousarray(vectors[firsts], np.float32)
    places = np.full((len(vectors), 2), np.nan)
    with one_blas_thread():
        start = project(rows, *principal_axes(rows)[:2])
    if len(rows) >= FEWEST:
        count = min(NEIGHBORS, max(3, len(rows) // ROWS_A_NEIGHBOR))
        near = nearest_rows(rows, count, threads, lambda share: tell(SEARCHED * share))
        start = optimize(
            start, affinities(near), threads, lambda share: tell(SEARCHED + (1 - SEARCHED) * share)
        )
    places[there] = start[members]
    tell(1.0)
    return places


def nearest_rows(
    rows: Float32s,
    count: int,
    threads: int | None = None,
    on_progress: Callable[[float], None] | None = None,
) -> Int64s:
    """The nearest neighbors of each row: exactly, or most of them where rows are very many."""
    if len(rows) > MOST_EXACT:
        return approximate_neighbors(rows, count, threads=threads, on_progress=on_progress)
    found: Int64s = neighbors(rows, count, threads=threads, on_progress=on_progress).ids
    return found


def rows_with_direction(vectors: Float32s) -> npt.NDArray[np.bool_]:
    """Which rows are not zero."""
    return np.concatenate(
        [np.zeros(0, bool), *(vectors[part].any(axis=1) for part in blocks(len(vectors)))]
    )


def different_rows(vectors: Float32s, there: Int64s) -> tuple[Int64s, Int64s]:
    """The first of each set of equal rows, in order, and to which of them each row belongs."""
    kept = np.ascontiguousarray(vectors[there], np.float32) + np.float32(0)  # no minus before zeros
    whole = kept.view(np.dtype((np.void, kept.dtype.itemsize * kept.shape[1]))).reshape(-1)
    _, firsts, members = np.unique(whole, return_index=True, return_inverse=True)
    order = np.argsort(firsts)
    numbers = np.empty(len(order), np.int64)
    numbers[order] = np.arange(len(order))
    return there[firsts[order]], numbers[members.reshape(-1)]


def principal_axes(rows: Float32s) -> tuple[Float64s, Float64s, Float64s]:
    """The mean of rows, their first two principal axes, one per column, and all variances."""
    mean = rows.sum(axis=0, dtype=np.float64) / max(len(rows), 1)
    moments = np.zeros((rows.shape[1], rows.shape[1]))
    for part in blocks(len(rows)):
        centered = rows[part] - mean
        moments += centered.T @ centered
    variances, directions = np.linalg.eigh(moments)
    return mean, fix_signs(directions[:, ::-1][:, :2], axis=0), variances[::-1]


def project(rows: Float32s, mean: Float64s, axes: Float64s) -> Float64s:
    """The coordinates of rows along two axes that cross in their mean."""
    places = np.zeros((len(rows), 2))
    for part in blocks(len(rows)):
        places[part, : axes.shape[1]] = (rows[part] - mean) @ axes
    return places


def affinities(near: Int64s) -> Affinities:
    """The links of rows with their neighbors, both ways, all together of weight 1."""
    from scipy import sparse

    rows, k = near.shape
    ones = np.ones(near.size)
    one_way = sparse.csr_matrix((ones, near.ravel(), np.arange(0, near.size + 1, k)), (rows, rows))
    both = (one_way + one_way.T).tocsr()
    both.sort_indices()
    weights = (both.data / both.data.sum()).astype(np.float32)
    return Affinities(
        read_only(both.indptr.astype(np.int64)),
        read_only(both.indices.astype(np.int32)),
        read_only(weights),
    )


def optimize(
    start: Float64s,
    links: Affinities,
    threads: int | None,
    tell: Callable[[float], None],
    phases: tuple[Phase, ...] = PHASES,
) -> Float64s:
    """Where the points come to rest."""
    cores = thread_count(threads) if len(start) >= WORTH_THREADS else 1
    spread = float(start.std(axis=0).max())
    places = start * (START / spread if spread > 0 else 0.0)
    motion = OptimizerState(places, np.zeros_like(places), np.ones_like(places))
    pulls = np.empty_like(places)
    rate = len(places) / phases[0].pull  # Belkina et al. 2019
    shares = equal_shares(links.begins, cores)
    steps, done = sum(phase.steps for phase in phases), 0

    def pull(share: tuple[int, int]) -> None:
        kernels.attract(places, links, *share, pulls)

    for phase in phases:
        for _ in range(phase.steps):
            for _ in parallel_map(pull, shares, cores):
                pass
            pushes, total = repulsion(places, cores)
            kernels.step(motion, phase.pull * pulls - pushes / total, rate, phase.momentum)
            done += 1
            tell(done / steps)
    return places
