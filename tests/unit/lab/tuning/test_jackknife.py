"""Areas with each unit left out, and the standard error of a gain."""

import math

import numpy as np
import pytest

from deltavec.errors import InputError
from deltavec.lab.tuning.jackknife import Gain, JackknifedAuc, LabeledPairs, jackknife_auc


def all_pairs(groups):
    """All pairs of documents, those of one group positive; groups are the units."""
    group_of = np.asarray(groups, np.int32)
    first, second = (side.astype(np.int32) for side in np.triu_indices(len(group_of), 1))
    return LabeledPairs(first, second, group_of[first] == group_of[second], group_of)


def test_areas_by_hand():
    # Two documents in each of three groups; the pairs within score 0.9, 0.5 and 0.1.
    pairs = all_pairs([0, 0, 1, 1, 2, 2])
    scores = np.where(pairs.positive, [0.0], [0.3]).astype(np.float32)
    scores[pairs.positive] = [0.9, 0.5, 0.1]
    found = jackknife_auc(scores, pairs)
    # 12 pairs across, all at 0.3: above 2 of the 3.
    assert found.whole == pytest.approx(2 / 3)
    assert found.without == pytest.approx([1 / 2, 1 / 2, 1.0])


def test_a_tie_counts_half():
    pairs = all_pairs([0, 0, 1, 1, 2, 2])
    found = jackknife_auc(np.zeros(len(pairs.first), np.float32), pairs)
    assert found.whole == 0.5
    assert found.without.tolist() == [0.5, 0.5, 0.5]


def test_pairs_of_one_label_are_refused():
    pairs = all_pairs([0, 0, 0])
    with pytest.raises(InputError, match="3 and 0"):
        jackknife_auc(np.zeros(3, np.float32), pairs)


def test_cosines_are_inner_products_for_any_number_of_threads():
    pairs = all_pairs(np.arange(40) % 7)
    vectors = np.random.default_rng(0).standard_normal((40, 9)).astype(np.float32)
    expected = (vectors @ vectors.T)[pairs.first, pairs.second]
    one, three = (pairs.cosines(vectors, threads) for threads in (1, 3))
    assert one == pytest.approx(expected, abs=1e-5)
    assert one.tolist() == three.tolist()


def test_the_standard_error_by_hand():
    better = JackknifedAuc(0.9, np.array([0.8, 0.9, 1.0]))
    worse = JackknifedAuc(0.6, np.array([0.6, 0.6, 0.6]))
    gain = Gain.between(better, worse)
    assert gain.value == pytest.approx(0.3)
    # Differences without each unit: .2, .3, .4; (3 - 1) / 3 of the sum of squares .02.
    assert gain.standard_error == pytest.approx(math.sqrt(2 / 3 * 0.02))
    # Student's t for two degrees of freedom at 97.5 per cent.
    assert gain.noise == pytest.approx(4.30265 * gain.standard_error, rel=1e-5)


def test_a_recipe_gains_nothing_over_itself():
    same = JackknifedAuc(0.7, np.array([0.6, 0.7, 0.8]))
    assert Gain.between(same, same) == (0.0, 0.0, 0.0)


def test_the_standard_error_is_the_spread_over_collections():
    """Groups drawn anew each time: the mean of the errors is near the spread of the gains."""
    rng = np.random.default_rng(0)
    pairs = all_pairs(np.repeat(np.arange(30), 4))
    gains, errors = [], []
    for _ in range(120):
        # Some groups hang together better than others, and two scores see it differently.
        strengths = rng.gamma(2.0, 0.4, size=(2, 30))
        both = []
        for strength in strengths:
            scores = rng.standard_normal(len(pairs.first))
            scores[pairs.positive] += strength[pairs.unit_of[pairs.first[pairs.positive]]]
            both.append(jackknife_auc(scores.astype(np.float32), pairs))
        gain = Gain.between(*both)
        gains.append(gain.value)
        errors.append(gain.standard_error)
    # 120 draws know a spread to 6.5 per cent; the jackknife itself is a little too large.
    assert np.mean(errors) == pytest.approx(np.std(gains), rel=0.2)
