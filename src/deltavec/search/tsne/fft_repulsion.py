r"""What pushes points apart, for all pairs at once: a convolution on a grid.

The push on point i, and the sum that sets its measure, are

.. math:: F_i = \sum_j \frac{y_i - y_j}{(1 + |y_i - y_j|^2)^2} \qquad
          Z = \sum_{i \ne j} \frac{1}{1 + |y_i - y_j|^2},

sums of functions of the difference of two places. So the points' mass is shared among the nodes of
a grid, folded there with these functions by way of the Fourier transform, and read off where the
points are (Linderman et al. 2019). Time grows with the points and with the area, not with pairs.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from deltavec.core.arrays import Float64s, blocks
from deltavec.core.threads import parallel_map
from deltavec.search.tsne import kernels

STEP = 0.5  # between two nodes, where the functions above have a width of 1
FEWEST_NODES = 48  # on an axis; on a smaller map they stand nearer together
SMALLEST = 1e-6  # a map that is smaller still is as good as one point
MOST_NODES = 1024  # on an axis; on a larger map they stand further apart
ROUNDED = 16  # nodes by which a grid grows, so that its functions need not be computed each time
PIECES = 4  # of the points that are shared out side by side; their sum has a fixed order

Complexes = npt.NDArray[np.complexfloating]


class Repulsion(NamedTuple):
    """The push on each point, not yet divided by the sum over all pairs."""

    pushes: Float64s  # (points, 2)
    total: float


def repulsion(places: Float64s, threads: int = 1) -> Repulsion:
    """What pushes each of these points away from all others."""
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
    return Repulsion(values[:, 1:], max(float(values[:, 0].sum()) - len(places), 1e-12))


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
