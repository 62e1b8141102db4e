import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

import deltavec as dv
from deltavec.evaluation.auc import pairs_auc


def all_pairs(vectors, labels):
    first, second = np.triu_indices(len(labels), 1)
    scores = (vectors @ vectors.T)[first, second]
    return scores, np.asarray(labels)[first] == np.asarray(labels)[second]


@pytest.mark.parametrize("groups", [2, 7, 200])
@pytest.mark.parametrize("size", [3, 50, 600])
def test_all_pairs_agree_with_scikit_learn(size, groups):
    rng = np.random.default_rng(size + groups)
    # Small whole numbers: products are exact in any order, and many scores are tied.
    vectors = rng.integers(-3, 4, (size, 4)).astype(np.float32)
    labels = np.concatenate([[0, 0, 1], rng.integers(0, groups, size - 3)])
    scores, same = all_pairs(vectors, labels)
    assert dv.pairwise_auc(vectors, labels) == pytest.approx(roc_auc_score(same, scores), abs=1e-9)


def test_scores_that_are_all_equal_are_worth_half():
    assert dv.pairwise_auc(np.ones((40, 2), np.float32), [0] * 20 + [1] * 20) == 0.5
    assert pairs_auc([1, 1, 1], [1, 0, 0]) == 0.5


def test_groups_far_apart_are_told_apart():
    vectors = np.repeat(np.eye(3, dtype=np.float32), 5, axis=0)
    assert dv.pairwise_auc(vectors, list("aaaaabbbbbccccc")) == 1
    assert dv.pairwise_auc(vectors, list("abcabcabcabcabc")) < 0.5


def test_more_positives_than_negatives():
    rng = np.random.default_rng(0)
    vectors = rng.integers(-3, 4, (60, 4)).astype(np.float32)
    labels = [0] * 58 + [1] * 2
    scores, same = all_pairs(vectors, labels)
    assert dv.pairwise_auc(vectors, labels) == pytest.approx(roc_auc_score(same, scores), abs=1e-9)


def test_any_number_of_threads_gives_the_same_area():
    rng = np.random.default_rng(0)
    vectors = rng.standard_normal((700, 5)).astype(np.float32)
    labels = rng.integers(0, 9, 700)
    assert len({dv.pairwise_auc(vectors, labels, threads=threads) for threads in (1, 2, 3)}) == 1


def test_explicit_pairs_agree_with_scikit_learn():
    rng = np.random.default_rng(0)
    scores, labels = rng.integers(0, 50, 2000) / 50, rng.integers(0, 2, 2000)
    assert pairs_auc(scores, labels) == pytest.approx(roc_auc_score(labels, scores), abs=1e-12)


@pytest.mark.parametrize(
    ("vectors", "labels", "message"),
    [
        (np.eye(3), [1, 1, 1], "got 3 and 0"),
        (np.eye(3), [1, 2, 3], "got 0 and 3"),
        (np.eye(3), [1, 2], "one label for each row"),
        ([[1.0], [np.nan], [1.0]], [1, 1, 2], "vectors must be finite"),
    ],
)
def test_what_has_no_area_is_refused(vectors, labels, message):
    with pytest.raises(dv.InputError, match=message):
        dv.pairwise_auc(vectors, labels)


@pytest.mark.parametrize(
    ("scores", "labels", "message"),
    [
        ([1.0, 2.0], [1], "one label for each score"),
        ([1.0, np.inf], [1, 0], "scores must be finite"),
        ([1.0, 2.0], [0, 0], "got 0 and 2"),
    ],
)
def test_pairs_that_have_no_area_are_refused(scores, labels, message):
    with pytest.raises(dv.InputError, match=message):
        pairs_auc(scores, labels)
