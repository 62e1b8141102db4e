"""When rows get a sieve: the second time they are searched, if they are many."""

import threading

import numpy as np
import pytest

import deltavec as dv
from deltavec.search.quantized import build
from deltavec.search.quantized.build import LazyQuantizer
from support.search_strategies import unit_rows

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
