"""The loops of exact search, on numbers that can be checked by hand."""

import numpy as np
import pytest

from deltavec.search import kernels
from deltavec.search.kernels import TopK

NONE = np.empty(0, np.int64)


def as_rows(*rows):
    return np.array(rows, np.float32)


def nothing_found(queries, k):
    return TopK(
        np.full((queries, k), -np.inf),
        np.full((queries, k), 99),
        np.zeros(queries, np.int64),
    )


def sorted_hits(best, query=0):
    size = best.sizes[query]
    pairs = zip(best.scores[query, :size].tolist(), best.ranks[query, :size].tolist(), strict=True)
    return sorted(pairs, key=lambda pair: (-pair[0], pair[1]))


def test_equal_rows_have_the_cosine_one_whatever_their_rounding():
    for seed in range(20):
        row = np.random.default_rng(seed).standard_normal(50).astype(np.float32)
        assert kernels.cosine(row, row) == 1
        assert kernels.cosine(row, -row) == -1


def test_a_row_of_zeros_has_the_score_zero():
    zeros, row = np.zeros(3, np.float32), as_rows([1, 0, 0])[0]
    assert kernels.cosine(zeros, row) == kernels.cosine(row, zeros) == 0
    assert kernels.cosine(zeros, zeros) == 0


def test_a_cosine_is_the_same_from_either_side():
    a, b = np.random.default_rng(0).standard_normal((2, 70)).astype(np.float32)
    assert kernels.cosine(a, b) == kernels.cosine(b, a)


def test_squared_lengths_tell_numbers_that_are_none():
    squares = np.empty(3)
    kernels.squared_lengths(as_rows([3, 4], [np.nan, 0], [np.inf, 0]), squares)
    assert squares[0] == 25
    assert np.isnan(squares[1])
    assert np.isinf(squares[2])


def test_the_margin_grows_with_dimensions_and_with_lengths_that_are_off():
    assert kernels.margin(100, 0, 0) == pytest.approx(108 * 2**-24 * 1.01)
    assert kernels.margin(100, 1e-3, 1e-4) - kernels.margin(100, 0, 0) == pytest.approx(1.111e-3)


def test_a_heap_keeps_the_best_and_of_equals_the_lowest_ranks():
    best = nothing_found(1, 3)
    for rank, score in enumerate([0.5, 0.1, 0.5, 0.9, 0.5, 0.5, 0.1]):
        better = best.sizes[0] < 3 or kernels.is_better(
            score, rank, best.scores[0, 0], best.ranks[0, 0]
        )
        if better:
            kernels.keep(best, 0, np.float32(score), rank)
    assert [rank for _, rank in sorted_hits(best)] == [3, 0, 2]


def test_pairs_are_appended_until_there_is_no_room():
    vectors = as_rows([1, 0], [0.6, 0.8], [1, 0], [0.6, 0.8])
    products = vectors @ vectors.T

    def pairs(room, threshold):
        found = np.empty(room, np.int64), np.empty(room, np.int64), np.empty(room, np.float32)
        least = np.float32(threshold)
        count = kernels.pairs_in_products(
            vectors, 0, 0, products, least - np.float32(1e-6), least, *found, 0
        )
        return count, list(zip(found[0][:count].tolist(), found[1][:count].tolist(), strict=True))

    assert pairs(6, 0.9) == (2, [(0, 2), (1, 3)])
    assert pairs(6, 0.6)[0] == 6
    assert pairs(6, 0.61)[0] == 2
    assert pairs(1, 0.9)[0] == -1


def test_a_product_above_the_bound_is_no_pair_if_its_score_is_below_the_threshold():
    vectors = as_rows([1, 0], [0.6, 0.8])
    found = np.empty(1, np.int64), np.empty(1, np.int64), np.empty(1, np.float32)
    products = np.full((2, 2), 0.7, np.float32)
    assert (
        kernels.pairs_in_products(
            vectors, 0, 0, products, np.float32(0.69), np.float32(0.7), *found, 0
        )
        == 0
    )


def test_stretches_without_a_pair_are_passed_over():
    vectors = np.zeros((200, 2), np.float32)
    vectors[:, 0] = 1
    vectors[:199, 1] = 0
    found = np.empty(1, np.int64), np.empty(1, np.int64), np.empty(1, np.float32)
    products = np.zeros((1, 200), np.float32)
    products[0, 199] = 1
    bound, least = np.float32(0.9), np.float32(0.91)
    assert kernels.pairs_in_products(vectors, 0, 0, products, bound, least, *found, 0) == 1
    assert (found[0][0], found[1][0]) == (0, 199)


def test_the_first_of_duplicates_stays():
    nearest, scores = np.full(5, -1), np.zeros(5, np.float32)
    a, b = np.array([0, 0, 1, 1]), np.array([1, 3, 2, 3])
    score = np.array([0.9, 0.9, 0.95, 0.99], np.float32)
    kernels.keep_first(nearest, scores, a, b, score)
    # 2 is like 1 alone, which went for 0.
    assert nearest.tolist() == [-1, 0, -1, 0, -1]
    kernels.keep_first(nearest, scores, np.array([2]), np.array([3]), score[2:3])
    assert nearest.tolist() == [-1, 0, -1, 2, -1]
    assert scores[3] == np.float32(0.95)
