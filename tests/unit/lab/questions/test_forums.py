from itertools import combinations

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics import roc_auc_score

from deltavec.errors import InputError
from deltavec.lab.questions.forums import Forum, QuestionPairs, draw, pair_offsets


def as_set(pairs):
    return set(zip(pairs.first.tolist(), pairs.second.tolist(), strict=True))


def forum(questions, duplicates, others=None):
    texts = tuple(map(str, range(questions)))
    return Forum("f", texts, np.array(duplicates), others)


def compared_pairs(questions, duplicates, most=10_000, seed=0):
    return forum(questions, duplicates).pairs(most, seed)


def test_numbers_are_exact_in_large_forums():
    offsets = pair_offsets(100_000)
    assert offsets[-1] == 100_000 * 99_999 // 2
    assert offsets[99_998] == offsets[-1] - 1
    assert (np.diff(offsets) >= 0).all()


def test_few_pairs_are_all_compared():
    duplicates = np.array([[0, 1], [2, 3]])
    pairs = compared_pairs(5, duplicates, most=10)
    assert as_set(pairs) == set(combinations(range(5), 2))
    assert pairs.positive.sum() == 2
    assert as_set_of_positives(pairs) == {(0, 1), (2, 3)}
    assert pairs.possible == 10


def as_set_of_positives(pairs):
    both = zip(
        pairs.first[pairs.positive].tolist(), pairs.second[pairs.positive].tolist(), strict=True
    )
    return set(both)


@pytest.mark.parametrize("most", [5, 50, 300, 1000])
def test_a_sample_keeps_every_duplicate(most):
    duplicates = np.array([[0, 1], [5, 30], [10, 49]])
    pairs = compared_pairs(50, duplicates, most, seed=1)
    assert len(pairs.first) == len(as_set(pairs)) == most
    assert as_set_of_positives(pairs) == {(0, 1), (5, 30), (10, 49)}
    assert all(one < other for one, other in as_set(pairs))


def test_duplicates_are_kept_beyond_the_number_asked_for():
    duplicates = np.array([[0, 1], [0, 2], [0, 3]])
    assert len(compared_pairs(4, duplicates, most=2).first) == 3


def test_the_sample_is_that_of_the_seed():
    def sample(seed):
        return as_set(compared_pairs(60, [[0, 1]], 40, seed))

    assert sample(1) == sample(1)
    assert sample(1) != sample(2)


@pytest.mark.parametrize("size", [30, 1000])
def test_every_number_is_drawn_equally_often(size):
    times = np.zeros(size)
    rng = np.random.default_rng(0)
    for _ in range(4000):
        times[draw(size, np.array([3, 3, 7]), 10, rng)] += 1
    assert times[[3, 7]].sum() == 0
    expected = 4000 * 10 / (size - 2)
    others = np.delete(times, [3, 7])
    # six standard deviations of a binomial count
    assert np.abs(others - expected).max() < 6 * np.sqrt(expected)


def test_listed_pairs_are_sampled_beyond_the_number_asked_for():
    listed = forum(30, [[0, 1]], np.array([[0, row] for row in range(2, 30)]))
    assert len(listed.pairs(100, 0).first) == 29
    some = listed.pairs(10, 0)
    assert len(some.first) == 10
    assert as_set_of_positives(some) == {(0, 1)}
    assert some.possible == 29


@pytest.fixture
def scored():
    rng = np.random.default_rng(5)
    vectors = rng.standard_normal((40, 6)).astype(np.float32)
    vectors[vectors < 0.3] = 0  # zeros, and ties among the scores
    vectors[7] = 0
    duplicates = np.array([[0, 1], [4, 9], [7, 8], [3, 39]])
    return vectors, compared_pairs(40, duplicates)


@pytest.mark.parametrize("threads", [1, 3])
def test_the_area_is_that_of_scikit_learn(scored, threads):
    vectors, pairs = scored
    scores = (vectors @ vectors.T)[pairs.first, pairs.second]
    assert pairs.auc(vectors, threads=threads) == pytest.approx(
        roc_auc_score(pairs.positive, scores), abs=1e-9
    )


def test_sparse_rows_have_the_same_area(scored):
    vectors, pairs = scored
    assert pairs.auc(sparse.csr_matrix(vectors)) == pytest.approx(pairs.auc(vectors), abs=1e-9)


def test_pairs_of_one_class_are_refused():
    with pytest.raises(InputError, match="pairs that belong together and pairs that do not"):
        QuestionPairs(*np.array([[0], [1]]), np.array([True]), 1).auc(np.eye(2, dtype=np.float32))
