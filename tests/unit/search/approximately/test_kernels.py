"""The rows of some lists, searched: the same rows and scores as when only those are there."""

import numpy as np
import pytest

from deltavec.search import kernels
from deltavec.search.approximately.kernels import Shelf, nearest_lists, sift_lists
from deltavec.search.kernels import Best, Queries, Rows, cosine
from deltavec.search.quantized.build import coded_queries, made_sieve
from deltavec.search.topk import NOBODY, NONE
from support.search_strategies import unit_rows

COUNT, LISTS, K = 300, 4, 5


@pytest.mark.parametrize("filtered", [False, True])
@pytest.mark.parametrize("numbers", [[2, 0], [1], [3], [0, 1, 2, 3]])
def test_the_best_of_the_lists_are_found(numbers, filtered):
    rng = np.random.default_rng(0)
    vectors = unit_rows(rng.standard_normal((COUNT, 6)))
    query = unit_rows(rng.standard_normal((1, 6)))
    homes = rng.integers(0, LISTS - 1, COUNT)  # the last list is empty
    order = np.argsort(homes, kind="stable")
    begins = np.searchsorted(homes[order], np.arange(LISTS + 1))
    made = made_sieve(vectors, 1, order)
    margin = kernels.margin(6, 1e-6, 1e-6)
    coded = coded_queries(query, 1e-6, 1e-6, made, margin)
    best = Best(
        np.full((1, K), -np.inf, np.float32), np.full((1, K), NOBODY), np.zeros(1, np.int64)
    )
    allowed = (rng.random(COUNT) < 0.5).astype(np.uint8) if filtered else np.zeros(0, np.uint8)
    sift_lists(
        Rows(vectors, 0, NONE, NONE), allowed, Shelf(order, begins, made.sieve),
        np.array([numbers], np.int64), Queries(query, np.full(1, margin, np.float32)), coded,
        0, 1, best,
    )  # fmt: skip
    there = np.isin(homes, numbers) & (allowed > 0 if filtered else True)
    scores = np.array([cosine(query[0], row) for row in vectors])
    expected = [row for row in np.lexsort((np.arange(COUNT), -scores)) if there[row]][:K]
    assert sorted(best.ranks[0, : best.sizes[0]].tolist()) == sorted(expected)
    assert sorted(best.scores[0, : best.sizes[0]]) == sorted(scores[expected])


def test_the_nearest_lists_come_first_and_that_of_the_zeros_last():
    centres = np.eye(4, dtype=np.float32)
    queries = unit_rows(np.array([[9, 9, 9, 9], [1, 4, 3, 2], [-2, -1, -4, -3.0]]))
    near = np.full((3, 3), -1)
    nearest_lists(centres, queries, 1, 3, near)
    assert near.tolist() == [[-1, -1, -1], [1, 2, 4], [1, 0, 4]]
