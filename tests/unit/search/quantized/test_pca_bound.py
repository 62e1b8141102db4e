"""Heads of rows: what few numbers tell of their products."""

import numpy as np
import pytest

from deltavec.search.quantized.kernels import TOGETHER
from deltavec.search.quantized.pca_bound import principal_axes, project_heads
from support.search_strategies import unit_rows

RNG = np.random.default_rng(0)
STEEP = unit_rows(RNG.standard_normal((500, 64)) / np.arange(1, 65))


def test_a_head_is_what_the_directions_see_and_how_long_the_rest_is():
    rows = np.array([[0.6, 0, 0.8], [0, 1, 0], [0, 0, 0]], np.float32)
    heads = project_heads(rows, np.eye(3)[:, :1])
    np.testing.assert_allclose(heads, [[0.6, 0.8], [0, 1], [0, 0]], atol=1e-4)


def test_the_product_of_heads_is_no_lower_than_that_of_rows():
    directions = principal_axes(STEEP)
    heads = project_heads(STEEP, directions).astype(float)
    assert (heads @ heads.T >= STEEP.astype(float) @ STEEP.T - 1e-6).all()


def test_directions_leave_a_sixth_of_the_squared_lengths_and_fill_whole_groups():
    directions = principal_axes(STEEP)
    count = directions.shape[1]
    assert (count + 1) % TOGETHER == 0
    np.testing.assert_allclose(directions.T @ directions, np.eye(count), atol=1e-12)
    left = 1 - ((STEEP @ directions) ** 2).sum() / (STEEP**2).sum()
    assert 0 < left <= 1 / 6


@pytest.mark.parametrize(
    "rows",
    [
        unit_rows(RNG.standard_normal((500, 64))),  # as long in one direction as in another
        unit_rows(RNG.standard_normal((500, 20)) / np.arange(1, 21)),  # short anyway
        np.zeros((500, 64), np.float32),
        np.zeros((0, 64), np.float32),
    ],
)
def test_rows_for_which_heads_gain_nothing_have_none(rows):
    assert principal_axes(rows).shape == (rows.shape[1], 0)
