import numpy as np
import pytest

from deltavec.evaluation.pairs import bootstrap_error, measured


def test_measures_by_hand():
    found = measured(["a", "x", "b", "y"], {"a": 2, "b": 1, "c": 3, "d": 0})
    gained = 2 / 1 + 1 / 2  # log2 of 2 and 4
    best = 3 / 1 + 2 / np.log2(3) + 1 / 2
    assert found.ndcg_10 == pytest.approx(gained / best)
    assert found.recall_100 == pytest.approx(2 / 3)
    assert found.average_precision == pytest.approx((1 + 2 / 3) / 3)
    assert found.reciprocal_rank == 1


def test_only_the_first_hundred_count_for_recall_and_ten_for_ndcg():
    ranked = (
        [f"x{place}" for place in range(10)] + ["a"] + [f"y{place}" for place in range(100)] + ["b"]
    )
    found = measured(ranked, {"a": 1, "b": 1})
    assert (found.ndcg_10, found.recall_100, found.reciprocal_rank) == (0, 0.5, 1 / 11)


def test_nothing_found_is_nothing():
    assert measured([], {"a": 1}) == (0, 0, 0, 0)


def test_the_error_of_a_mean():
    differences = np.random.default_rng(1).standard_normal(400)
    assert bootstrap_error(differences) == pytest.approx(0.05, rel=0.15)
    assert bootstrap_error([0.5, 0.5]) == 0
