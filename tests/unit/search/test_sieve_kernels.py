"""The sieve of exact search, on rows that can be checked by hand."""

import numpy as np
import pytest

from deltavec.search import sieve_kernels
from deltavec.search.kernels import Best, Queries, Rows
from deltavec.search.sieve import coded_queries, made_sieve
from deltavec.search.sieve_kernels import ROWS, Sums
from deltavec.search.words.kernels import Lists, Words
from search_strategies import unit_rows

NONE = np.empty(0, np.int64)
ALL = np.empty(0, np.uint8)
VECTORS = np.array([[1, 0], [0, 1], [0.6, 0.8], [0, 0]], np.float32)


def nothing_found(queries, k, kind=np.float32):
    return Best(
        np.full((queries, k), -np.inf, kind),
        np.full((queries, k), 999),
        np.zeros(queries, np.int64),
    )


def hits(best, query=0):
    size = best.sizes[query]
    found = zip(best.scores[query, :size].tolist(), best.ranks[query, :size].tolist(), strict=True)
    return sorted(found, key=lambda pair: (-pair[0], pair[1]))


def asked(vectors, rows=VECTORS):
    made = made_sieve(rows, 1)
    queries = Queries(vectors, np.full(len(vectors), 1e-5, np.float32))
    return made.sieve, queries, coded_queries(vectors, 1e-6, 1e-6, made.farthest, 1e-5)


def test_codes_are_the_numbers_in_steps_of_the_largest():
    sieve = made_sieve(VECTORS, 1).sieve
    assert sieve.codes.shape == (1, 4, ROWS)
    assert sieve.codes[0, :, :4].T.tolist() == [
        [127, 0, 0, 0], [0, 127, 0, 0], [95, 127, 0, 0], [0, 0, 0, 0],
    ]  # fmt: skip
    steps = np.array([1, 1, 0.8, 0], np.float32) / 127
    assert sieve.steps[0, :4].tolist() == pytest.approx(steps.tolist())
    # .6 is 95.25 steps: a quarter of a step is lost, and nothing else
    assert sieve.slacks[0] == pytest.approx(0.25, abs=1e-3)


def test_a_query_of_zeros_has_codes_of_zeros():
    coded = coded_queries(np.zeros((1, 2), np.float32), 0, 0, 0.01, 1e-5)
    assert not coded.codes.any()
    assert coded.steps[0] == 0
    assert coded.slacks[0] > 1e-5


def test_only_rows_that_can_reach_a_score_are_looked_at():
    sieve, _, coded = asked(VECTORS[:1])
    places = np.empty(ROWS, np.int64)
    count = sieve_kernels.high_rows(sieve, 0, 1, coded, 0, np.float32(0.5), places)
    assert places[:count].tolist() == [0, 2]
    added = np.array([0, 0.7, 0, 0.1])
    for worst, expected in [(1.6, [1]), (1.8, []), (1.0, [0, 1, 2, 3])]:
        count = sieve_kernels.high_sums(sieve, 0, 1, coded, 0, worst, 1.0, added, places)
        assert places[:count].tolist() == expected  # few can by their words: all of those


def test_where_many_rows_can_reach_a_sum_by_their_words_codes_are_read():
    many = np.tile(VECTORS, (2, 1))
    sieve, _, coded = asked(VECTORS[:1], many)
    places = np.empty(ROWS, np.int64)
    added = np.tile([0, 0.7, 0, 0.1], 2)
    count = sieve_kernels.high_sums(sieve, 0, 1, coded, 0, 0.5, 1.0, added, places)
    assert places[:count].tolist() == [0, 1, 2, 4, 5, 6]
    count = sieve_kernels.high_sums(sieve, 0, 1, coded, 0, 1.05, 1.1, added, places)
    assert places[:count].tolist() == [0, 4]
    sieve, _, coded = asked(VECTORS[:1], np.tile(VECTORS[1:2], (8, 1)))
    assert sieve_kernels.high_sums(sieve, 0, 1, coded, 0, 0.5, 1.0, np.zeros(8), places) == 0


@pytest.mark.parametrize("queries", [1, 2])
@pytest.mark.parametrize("allowed", [[], [0, 1, 1, 1]])
def test_the_best_rows_pass_the_sieve(queries, allowed):
    sieve, wanted, coded = asked(VECTORS[:queries])
    best = nothing_found(queries, 2)
    rows = Rows(VECTORS, 10, NONE, NONE)
    mask = np.array(allowed, np.uint8)
    sieve_kernels.sift_rows(rows, mask, sieve, 0, 4, wanted, coded, best)
    expected = [(np.float32(0.6), 12), (0.0, 11)] if allowed else [(1.0, 10), (np.float32(0.6), 12)]
    assert hits(best) == expected


def test_many_blocks_are_looked_through():
    many = np.tile(VECTORS, (3 * ROWS, 1))
    sieve, wanted, coded = asked(VECTORS[2:3], many)
    best = nothing_found(1, 3)
    for first in (0, ROWS):  # the second time there is no room, and blocks are taken many at once
        last = ROWS if first == 0 else len(many)
        sieve_kernels.sift_rows(
            Rows(many, 0, NONE, NONE), ALL, sieve, first, last, wanted, coded, best
        )
    assert hits(best) == [(1.0, 2), (1.0, 6), (1.0, 10)]


# One query of two terms: the first is in documents 11 and 12, the second in 12 and 13.
LISTS = Lists(
    np.array([0, 2, 4]), np.array([11, 12, 12, 13], np.int32), np.array([3, 1, 1, 1], np.uint8)
)
NORMS = np.ones(14, np.float32)
WORDS = Words(
    LISTS,
    NORMS,
    np.array([0, 2]),
    np.array([0, 1]),
    np.array([4.0, 0.5]),
    np.array([0, 1], np.uint8),
)
ADDED = [0.0, 3.0, 2.25, 0.25]


def sums_of(scale, light=False):
    """What the words add; without the second, lightest one if asked for."""
    added, rest = ([0.0, 3.0, 2.0, 0.0], 0.5) if light else (ADDED, 0.0)
    return Sums(0, np.array([added]), np.array([rest]), np.array([scale]), WORDS)


def sums_found(scale, k=2, chosen=(), by_products=False, light=False):
    sieve, wanted, coded = asked(VECTORS[:1])
    best = nothing_found(1, k, np.float64)
    rows = Rows(VECTORS, 10, np.array(chosen, np.int64), NONE)
    sums = sums_of(scale, light)
    if not scale:
        sieve_kernels.search_added(rows, 0, len(chosen) or 4, sums, best)
    elif by_products:
        part = VECTORS[list(chosen)] if chosen else VECTORS
        products = wanted.vectors @ part.T
        sieve_kernels.sums_in_products(rows, 0, products, wanted, sums, best)
    else:
        mask = np.isin(np.arange(4), chosen).astype(np.uint8) if chosen else ALL
        sieve_kernels.sift_sums(
            rows._replace(chosen=NONE), mask, sieve, 0, 4, wanted, coded, sums, best
        )
    return hits(best)


@pytest.mark.parametrize("light", [False, True])
@pytest.mark.parametrize("by_products", [False, True])
def test_the_best_sums_of_a_cosine_and_what_words_add(by_products, light):
    how = {"by_products": by_products, "light": light}
    near = 2 * np.float64(np.float32(0.6)) + 2.25
    assert sums_found(2.0, **how) == [(near, 12), (3.0, 11)]
    assert sums_found(0.5, **how)[0] == (3.0, 11)
    assert sums_found(2.0, chosen=(0, 1, 3), **how) == [(3.0, 11), (2.0, 10)]
    assert len(sums_found(2.0, k=9, **how)) == 4


@pytest.mark.parametrize("light", [False, True])
def test_the_best_of_what_words_add_and_nothing_else(light):
    assert sums_found(0.0, light=light) == [(3.0, 11), (2.25, 12)]
    assert sums_found(0.0, k=4, light=light) == [(3.0, 11), (2.25, 12), (0.25, 13)]
    assert sums_found(0.0, chosen=(0, 3), light=light) == [(0.25, 13)]


@pytest.mark.parametrize("way", ["sieve", "products", "words"])
def test_sums_that_cannot_be_reached_are_passed_over(way):
    sieve, wanted, coded = asked(VECTORS[:1])
    rows, sums = Rows(VECTORS, 10, NONE, NONE), sums_of(1.0)
    best = Best(np.full((1, 1), 9.0), np.full((1, 1), 77), np.ones(1, np.int64))
    if way == "products":
        sieve_kernels.sums_in_products(rows, 0, wanted.vectors @ VECTORS.T, wanted, sums, best)
    elif way == "words":
        sieve_kernels.search_added(rows, 0, 4, sums, best)
    else:
        sieve_kernels.sift_sums(rows, ALL, sieve, 0, 4, wanted, coded, sums, best)
        sieve_kernels.consider_sum(rows, 0, wanted, 0, sums, best)
    assert hits(best) == [(9.0, 77)]


@pytest.mark.parametrize(("worst", "expected"), [(0.5, ADDED), (9.0, [0.0, 3.0, 2.0, 0.0])])
def test_light_words_are_left_out_where_the_best_are_far_above_them(worst, expected):
    best = Best(np.full((1, 1), worst), np.zeros((1, 1), np.int64), np.ones(1, np.int64))
    sums = Sums(0, np.empty((1, 4)), np.full(1, 7.0), np.ones(1), WORDS)
    sieve_kernels.add_words(WORDS, np.array([0.5]), best, 10, sums)
    assert sums.added.tolist() == [expected]
    assert sums.rests.tolist() == [0.5 if worst == 9 else 0]


def test_rows_in_another_order_have_the_codes_of_rows_that_were_put_into_it():
    rows = unit_rows(np.random.default_rng(3).standard_normal((ROWS + 3, 5)))
    order = np.random.default_rng(4).permutation(len(rows))
    found, expected = made_sieve(rows, 1, order), made_sieve(rows[order], 1)
    for own, other in zip(found.sieve, expected.sieve, strict=True):
        np.testing.assert_array_equal(own, other)
    assert found.farthest == expected.farthest
