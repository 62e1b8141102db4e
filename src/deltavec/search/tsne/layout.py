r"""Rows in two dimensions: t-SNE on the neighbors of each, from principal components on.

Each row is linked with its nearest neighbors: :math:`p_{ij}` is the number of links between two
rows over the number of all. Places :math:`y` are moved so that neighbors are near (van der Maaten
and Hinton 2008): downhill along

.. math:: \rho \sum_j p_{ij} \frac{y_i - y_j}{1 + |y_i - y_j|^2}
          - \frac{1}{Z} \sum_j \frac{y_i - y_j}{(1 + |y_i - y_j|^2)^2},

what pulls a point to its neighbors and what pushes it from all. At first :math:`\rho = 12`, so that
groups find each other; then less. Nothing is drawn at random, and all points move at once: the same
rows give the same map, on however many cores. Equal rows are one point.

Neighbors of very many rows are looked for in the groups around each row. All pairs of 200,000 rows
take a quarter of an hour of a core. Rows are clustered into groups of some hundreds, and each is
compared with those of the groups nearest to its own: a map loses nothing by a neighbor that it
misses now and then. Groups begin with rows at even distances in their order: nothing is drawn at
random.

Pushes are computed for all pairs at once, as a convolution on a grid. The push on point i, and the
sum that sets its measure, are

.. math:: F_i = \sum_j \frac{y_i - y_j}{(1 + |y_i - y_j|^2)^2} \qquad
          Z = \sum_{i \ne j} \frac{1}{1 + |y_i - y_j|^2},

sums of functions of the difference of two places. So the points' mass is shared among the nodes of
a grid, folded there with these functions by way of the Fourier transform, and read off where the
points are (Linderman et al. 2019). Time grows with the points and with the area, not with pairs.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from deltavec.core.arrays import (
    Float32s,
    Float64s,
    Int64s,
    blocks,
    fix_signs,
    offsets_of,
    read_only,
)
from deltavec.core.threads import equal_shares, one_blas_thread, parallel_map, thread_count
from deltavec.search.pairs import neighbors
from deltavec.search.tsne import kernels
from deltavec.search.tsne.kernels import Affinities, OptimizerState

STEP = 0.5  # between two nodes, where the functions above have a width of 1
FEWEST_NODES = 48  # on an axis; on a smaller map they stand nearer together
SMALLEST = 1e-6  # a map that is smaller still is as good as one point
MOST_NODES = 1024  # on an axis; on a larger map they stand further apart
ROUNDED = 16  # nodes by which a grid grows, so that its functions need not be computed each time
PIECES = 4  # of the points that are shared out side by side; their sum has a fixed order

Complexes = npt.NDArray[np.complexfloating]


def repulsion(places: Float64s, threads: int = 1) -> tuple[Float64s, float]:
    """The push on each point, not yet divided by the sum over all pairs, and that sum."""
    low, high = places.min(axis=0), places.max(axis=0)
    reach = float((high - low).max())
    step = step_for(reach)
    nodes = kernels.REACH + ROUNDED * (1 + int(reach / step) // ROUNDED)
    shares = [places[rows] for rows in blocks(len(places), -(-len(places) // PIECES))]

    def spread(share: Float64s) -> Float64s:
        grid = np.zeros((nodes, nodes))
        kernels.spread(share, low, step, grid)
        return grid

    mass = sum(parallel_map(spread, shares, threads), np.zeros((nodes, nodes)))
    fields = fold_grid(mass, step, threads)

    def read_off(share: Float64s) -> Float64s:
        values = np.empty((len(share), 3))
        kernels.interpolate(share, low, step, fields, values)
        return values

    values = np.concatenate(list(parallel_map(read_off, shares, threads)))
    return values[:, 1:], max(float(values[:, 0].sum()) - len(places), 1e-12)


def step_for(reach: float) -> float:
    """How far nodes stand apart on a map of this size: half as far on a small one.

    There only a few numbers, so that the functions need not be computed at each step.
    """
    if reach >= STEP * FEWEST_NODES:
        return max(STEP, reach / (MOST_NODES - kernels.REACH))
    halvings = math.floor(math.log2(STEP * FEWEST_NODES / max(reach, SMALLEST)))
    return STEP * 0.5**halvings


def fold_grid(mass: Float64s, step: float, threads: int) -> Float64s:
    """The three functions summed over all mass, at each node."""
    from scipy import fft  # a server that shows no map takes no memory for it

    nodes = len(mass)
    size, functions = transform(nodes, step)
    spectrum = fft.rfft2(mass, (size, size), workers=threads)
    fields = fft.irfft2(functions * spectrum, (size, size), workers=threads)
    return np.ascontiguousarray(fields[:, :nodes, :nodes])


@lru_cache(maxsize=4)
def transform(nodes: int, step: float) -> tuple[int, Complexes]:
    """The Fourier transforms of the three functions, on a grid that is twice as large."""
    from scipy import fft

    size = fft.next_fast_len(2 * nodes, real=True)
    numbers = np.arange(size)
    apart = step * np.where(numbers < nodes, numbers, numbers - size)
    x, y = apart[None, :], apart[:, None]
    near = 1 / (1 + x * x + y * y)
    return size, fft.rfft2(np.stack([near, x * near**2, y * near**2]))


ROWS_A_GROUP = 400
LEARNED_FROM = 40  # rows for each group, from which it learns where it is
ROUNDS = 4
LEAST_GROUPS = 12  # that are looked through for each row; of many groups,
SHARE_OF_GROUPS = 25  # one in so many
PRODUCTS = 16_000_000  # at a time


class Groups(NamedTuple):
    """Rows in groups: those of group g are ``order[begins[g] : begins[g + 1]]``."""

    order: Int64s
    begins: Int64s
    nearest: Int64s  # (groups, groups): the groups by their distance from each, itself first

    def members(self, group: int) -> Int64s:
        """The rows of a group."""
        return self.order[self.begins[group] : self.begins[group + 1]]


@one_blas_thread()
def approximate_neighbors(
    rows: Float32s,
    k: int,
    *,
    threads: int | None = None,
    on_progress: Callable[[float], None] | None = None,
) -> Int64s:
    """The k rows nearest to each, as far as groups tell; there are more than k others."""
    groups = cluster(rows)
    count = len(groups.begins) - 1
    found = np.empty((len(rows), k), np.int64)

    def look(group: int) -> None:
        mine = groups.members(group)
        others = search_groups(groups, group, k)
        for part in blocks(len(mine), max(1, PRODUCTS // len(others))):
            products = rows[mine[part]] @ rows[others].T
            products[mine[part][:, None] == others[None, :]] = -np.inf
            best = np.argpartition(-products, k - 1, axis=1)[:, :k]
            found[mine[part]] = np.sort(others[best], axis=1)

    for done, _ in enumerate(parallel_map(look, range(count), thread_count(threads)), 1):
        if on_progress:
            on_progress(done / count)
    return found


def search_groups(groups: Groups, group: int, k: int) -> Int64s:
    """The rows of the groups around one: so many groups, and more if they are too small."""
    count = len(groups.begins) - 1
    wanted = min(count, max(LEAST_GROUPS, count // SHARE_OF_GROUPS))
    while True:
        near = groups.nearest[group, :wanted].tolist()
        rows = np.sort(np.concatenate([groups.members(one) for one in near]))
        if len(rows) > k or wanted == count:
            return rows
        wanted = min(count, 2 * wanted)


def cluster(rows: Float32s) -> Groups:
    """The rows in groups of like ones."""
    count = max(1, len(rows) // ROWS_A_GROUP)
    sample = rows[sample_evenly(len(rows), min(len(rows), LEARNED_FROM * count))]
    centers = sample[sample_evenly(len(sample), count)].copy()
    for _ in range(ROUNDS):
        labels = nearest_center(sample, centers)
        order = np.argsort(labels, kind="stable")
        there, firsts = np.unique(labels[order], return_index=True)
        sums = np.add.reduceat(sample[order], firsts, axis=0)
        centers[there] = sums / np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), 1e-12)
    labels = nearest_center(rows, centers)
    nearest = np.argsort(-(centers @ centers.T) - 2 * np.eye(count), axis=1, kind="stable")
    begins = offsets_of(np.bincount(labels, minlength=count))
    return Groups(np.argsort(labels, kind="stable"), begins, nearest)


def sample_evenly(rows: int, count: int) -> Int64s:
    """So many of the numbers below another, at even distances."""
    return (np.arange(count) * rows) // count


def nearest_center(rows: Float32s, centers: Float32s) -> Int64s:
    """The center that each row is nearest to."""
    return np.concatenate([(rows[part] @ centers.T).argmax(axis=1) for part in blocks(len(rows))])


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
