"""The loops of a map, against sums over all pairs."""

from __future__ import annotations

import numpy as np
import pytest

from deltavec.core.arrays import read_only
from deltavec.search.tsne import kernels
from deltavec.search.tsne.kernels import Affinities, OptimizerState


def test_the_weights_of_nodes_are_exact_for_cubic_functions() -> None:
    weights = np.empty(4)
    nodes = np.array([-1.0, 0.0, 1.0, 2.0])
    for offset in (0.0, 0.3, 0.75):
        kernels.node_weights(offset, weights)
        for power in range(4):
            assert weights @ nodes**power == pytest.approx(offset**power, abs=1e-12)


def test_mass_is_shared_among_sixteen_nodes_and_none_is_lost() -> None:
    grid = np.zeros((8, 8))
    places = np.array([[0.0, 0.0], [1.3, 0.6]])
    kernels.spread(places, np.zeros(2), 0.5, grid)
    assert grid.sum() == pytest.approx(2)
    # The center of mass is that of the points; node 1, 1 is at 0, 0.
    nodes = 0.5 * (np.arange(8) - 1)
    assert grid.sum(axis=0) @ nodes == pytest.approx(1.3)
    assert grid.sum(axis=1) @ nodes == pytest.approx(0.6)


def test_what_is_read_off_is_the_field_where_the_point_is() -> None:
    nodes = 0.5 * (np.arange(8) - 1)
    x, y = nodes[None, :], nodes[:, None]
    fields = np.stack([x + 0 * y, y**3 + 0 * x, x * y**2])
    values = np.empty((1, 3))
    kernels.interpolate(np.array([[1.3, 0.6]]), np.zeros(2), 0.5, fields, values)
    assert values[0] == pytest.approx([1.3, 0.6**3, 1.3 * 0.6**2])


def test_neighbors_pull_by_their_weight_and_distance() -> None:
    links = Affinities(
        read_only(np.array([0, 2, 3, 4])),
        read_only(np.array([1, 2, 0, 0], np.int32)),
        read_only(np.array([0.25, 0.25, 0.25, 0.25], np.float32)),
    )
    places = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 2.0]])
    pulls = np.zeros((3, 2))
    kernels.attract(places, links, 0, 2, pulls)
    assert pulls[0] == pytest.approx([-0.25 / 2, -0.25 * 2 / 5])
    assert pulls[1] == pytest.approx([0.25 / 2, 0])
    assert (pulls[2] == 0).all()  # not asked for


def test_points_go_downhill_and_faster_the_longer_they_do() -> None:
    motion = OptimizerState(np.zeros((1, 2)), np.zeros((1, 2)), np.ones((1, 2)))
    slopes = np.array([[1.0, -1.0]])
    kernels.step(motion, slopes, 0.5, 0.0)
    first = motion.places.copy()
    kernels.step(motion, slopes, 0.5, 0.0)
    assert first[0, 0] < 0 < first[0, 1]
    assert abs(motion.places[0, 0] - first[0, 0]) > abs(first[0, 0])
    assert motion.gains[0, 0] > 1
    kernels.step(motion, -slopes, 0.5, 0.0)  # it has turned: more carefully
    assert motion.gains[0, 0] < 1.4
    for _ in range(60):
        motion.speeds[:] = slopes
        kernels.step(motion, slopes, 0.0, 0.0)
    assert motion.gains[0, 0] == pytest.approx(0.01)
