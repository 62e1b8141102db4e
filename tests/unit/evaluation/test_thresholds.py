"""Precision and recall at thresholds, and the one that separates best."""

from __future__ import annotations

import numpy as np
import pytest

from deltavec.evaluation.pairs import AtThreshold, at_thresholds, best_threshold

COSINES = np.array([0.9, 0.8, 0.8, 0.6, 0.4, 0.1], np.float32)
POSITIVE = np.array([True, True, False, True, False, False])


def test_each_threshold_says_what_it_finds_and_how_much_is_right() -> None:
    found = at_thresholds(COSINES, POSITIVE, (0.05, 0.8, 0.85, 0.99))
    assert found == (
        AtThreshold(0.05, 6, 0.5, 1.0),
        AtThreshold(0.8, 3, pytest.approx(2 / 3), pytest.approx(2 / 3)),
        AtThreshold(0.85, 1, 1.0, pytest.approx(1 / 3)),
        AtThreshold(0.99, 0, None, 0.0),
    )


def test_the_best_threshold_has_the_highest_f1() -> None:
    # F1 at .9: 1/2, at .8: 2/3, at .6: 6/7, at .4: 3/4
    assert best_threshold(COSINES, POSITIVE) == np.float32(0.6)
    rng = np.random.default_rng(0)
    cosines = rng.integers(0, 9, 60).astype(np.float32) / 8
    positive = rng.random(60) < cosines
    best = best_threshold(cosines, positive)

    def f1(threshold: float) -> float:
        above = cosines >= np.float32(threshold)
        return 2 * (above & positive).sum() / (above.sum() + positive.sum())

    assert f1(best) == max(f1(one) for one in cosines)
