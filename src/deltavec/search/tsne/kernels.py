r"""The loops of a map, compiled by numba: points onto a grid, and what pulls and pushes each.

A point has the mass 1, and shares it among the 4 x 4 nodes around it, by Lagrange's weights for
four nodes: what is computed at the nodes is read off at the point with the same weights. They are
exact for polynomials up to the third degree.

Each point is moved by itself, from places that all have before: so neither threads nor the order
of points change a bit.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from deltavec.core.arrays import Float32s, Float64s, Int32s, Int64s
from deltavec.core.jit import compiled

REACH = 4  # nodes that a point reaches on each axis


class Affinities(NamedTuple):
    """The neighbors of each point, both ways: those of point i from begins[i] on."""

    begins: Int64s
    points: Int32s
    weights: Float32s  # of all together: 1


class OptimizerState(NamedTuple):
    """How points move: where they are, how fast, and how willingly."""

    places: Float64s  # (points, 2)
    speeds: Float64s
    gains: Float64s


@compiled
def node_weights(offset: float, weights: Float64s) -> None:
    """Lagrange's weights of the nodes -1, 0, 1 and 2 for a place between 0 and 1."""
    a, b, c = offset + 1, offset - 1, offset - 2
    weights[0] = -offset * b * c / 6
    weights[1] = a * b * c / 2
    weights[2] = -a * offset * c / 2
    weights[3] = a * offset * b / 6


@compiled
def spread(places: Float64s, low: Float64s, step: float, grid: Float64s) -> None:
    """Share the mass of each point among the nodes around it; node 1, 1 of the grid is at low."""
    across, up = np.empty(REACH), np.empty(REACH)
    for point in range(len(places)):
        x, y = (places[point, 0] - low[0]) / step, (places[point, 1] - low[1]) / step
        column, row = int(x), int(y)
        node_weights(x - column, across)
        node_weights(y - row, up)
        for i in range(REACH):
            for j in range(REACH):
                grid[row + i, column + j] += up[i] * across[j]


@compiled
def interpolate(
    places: Float64s, low: Float64s, step: float, fields: Float64s, values: Float64s
) -> None:
    """The values of some fields at each point, from those at the nodes around it."""
    across, up = np.empty(REACH), np.empty(REACH)
    for point in range(len(places)):
        x, y = (places[point, 0] - low[0]) / step, (places[point, 1] - low[1]) / step
        column, row = int(x), int(y)
        node_weights(x - column, across)
        node_weights(y - row, up)
        for field in range(len(fields)):
            total = 0.0
            for i in range(REACH):
                line = 0.0
                for j in range(REACH):
                    line += fields[field, row + i, column + j] * across[j]
                total += line * up[i]
            values[point, field] = total


@compiled
def attract(places: Float64s, links: Affinities, first: int, last: int, pulls: Float64s) -> None:
    r"""What pulls points towards their neighbors.

    .. math:: \sum_j p_{ij} \frac{y_i - y_j}{1 + |y_i - y_j|^2}
    """
    for point in range(first, last):
        x, y = places[point, 0], places[point, 1]
        total_x, total_y = 0.0, 0.0
        for link in range(links.begins[point], links.begins[point + 1]):
            other = links.points[link]
            dx, dy = x - places[other, 0], y - places[other, 1]
            strength = links.weights[link] / (1 + dx * dx + dy * dy)
            total_x += strength * dx
            total_y += strength * dy
        pulls[point, 0] = total_x
        pulls[point, 1] = total_y


@compiled
def step(motion: OptimizerState, slopes: Float64s, rate: float, momentum: float) -> None:
    """Move all points downhill; those that keep their direction go faster (Jacobs 1988)."""
    places, speeds, gains = motion
    for point in range(len(places)):
        for axis in range(2):
            slope = slopes[point, axis]
            turned = (slope > 0) == (speeds[point, axis] > 0)
            gain = gains[point, axis] * 0.8 if turned else gains[point, axis] + 0.2
            gains[point, axis] = max(gain, 0.01)
            speeds[point, axis] = momentum * speeds[point, axis] - rate * gains[point, axis] * slope
            places[point, axis] += speeds[point, axis]
