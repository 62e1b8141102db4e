"""When rows get a sieve: the second time they are searched, if they are many.

Heads of rows: what few numbers tell of their products.
"""

import threading

import numpy as np
import pytest

import deltavec as dv
from deltavec.search.quantized import build
from deltavec.search.quantized.build import LazyQuantizer, principal_axes, project_heads
from deltavec.search.quantized.kernels import TOGETHER
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


ROWS = unit_rows(np.random.default_rng(0).standard_normal((300, 8)))


@pytest.fixture
def few_are_enough(monkeypatch):
    monkeypatch.setattr(build, "FEWEST_NUMBERS", 1)


def made(index):
    return [lazy.made is not None for lazy in index.pieces.quantized]


def test_a_small_index_has_no_sieve():
    index = dv.Index(ROWS)
    for _ in range(3):
        index.search(ROWS[0])
    assert made(index) == [False]


@pytest.mark.usefixtures("few_are_enough")
def test_the_second_search_makes_the_sieve_and_finds_the_same():
    index = dv.Index(ROWS)
    first = index.search(ROWS[:2], k=7)
    assert made(index) == [False]
    second = index.search(ROWS[:2], k=7)
    assert made(index) == [True]
    third = index.search(ROWS[:2], k=7)
    for hits in (second, third):
        assert np.array_equal(hits.ids, first.ids)
        assert np.array_equal(hits.scores, first.scores)


@pytest.mark.usefixtures("few_are_enough")
def test_filters_that_leave_many_rows_are_sifted_and_those_that_leave_few_are_not():
    index = dv.Index(ROWS)
    few = np.arange(300) % 100 == 0
    for _ in range(3):
        assert index.search(ROWS[0], k=300, where=few).ids[0, 0] == 0
    assert made(index) == [False]
    many = np.arange(300) % 2 == 1
    plain = index.search(ROWS[0], k=9, where=many)
    index.search(ROWS[0], k=9, where=many)
    assert made(index) == [True]
    assert np.array_equal(index.search(ROWS[0], k=9, where=many).ids, plain.ids)


@pytest.mark.usefixtures("few_are_enough")
def test_rows_that_stay_keep_their_sieve():
    index = dv.Index(unit_rows(np.random.default_rng(1).standard_normal((5000, 8))))
    index.search(ROWS[0])
    index.search(ROWS[0])
    index.add(ROWS)
    assert made(index) == [True, False]
    index.remove([5001])
    assert made(index) == [True, False]
    index.remove([0])
    assert made(index) == [False, False]


@pytest.mark.usefixtures("few_are_enough")
def test_who_needs_it_at_once_waits_and_others_go_on_without():
    lazy = LazyQuantizer()
    with lazy.making:
        assert lazy.of(ROWS, 1) is None
        assert lazy.of(ROWS, 1) is None
        waiting = threading.Thread(target=lambda: lazy.of(ROWS, 1, now=True))
        waiting.start()
    waiting.join()
    assert lazy.made is not None
    assert lazy.of(ROWS, 1) is lazy.made
