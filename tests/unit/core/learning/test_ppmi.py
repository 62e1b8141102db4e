import numpy as np
import pytest

from deltavec.core.learning.cooccurrence import Cooccurrence, cooccurrence, count_blocks
from deltavec.core.learning.kernels import CACHED_BYTES
from deltavec.core.learning.ppmi import LOGS, Ppmi
from deltavec.errors import CorpusError
from deltavec.training import train_vectors
from support.pair_counts import dense as dense_counts

IDS = np.array([0, 1, 0, 1, -1, 2, 3, 2, 3, -1, 0, 2, -1], np.int32)


def dense_ppmi(counts):
    rows, contexts = counts.sum(axis=1), counts.sum(axis=0) ** 0.75
    with np.errstate(divide="ignore", invalid="ignore"):
        information = np.log(counts / np.outer(rows, contexts / contexts.sum()))
    return np.maximum(information, 0)


def test_products_are_those_of_the_dense_matrix():
    counts = cooccurrence(IDS, 4, 2)
    dense = dense_ppmi(dense_counts(counts))
    matrix = np.eye(4, dtype=np.float32)
    ppmi = Ppmi(counts, 0.75)
    assert ppmi.times(matrix) == pytest.approx(dense, abs=1e-6)
    assert ppmi.transposed_times(matrix) == pytest.approx(dense.T, abs=1e-6)


def test_a_matrix_beyond_the_cache_is_multiplied_in_parts():
    rng = np.random.default_rng(0)
    words = 700
    counts = cooccurrence(rng.integers(-1, words, 9_000).astype(np.int32), words, 4)
    matrix = rng.integers(-4, 5, (words, 1_000)).astype(np.float32)
    assert matrix.nbytes > 2 * CACHED_BYTES
    dense = dense_ppmi(dense_counts(counts))
    assert Ppmi(counts, 0.75).times(matrix) == pytest.approx(dense @ matrix, abs=1e-3)


def test_counts_of_a_part_are_taken_off():
    counted = count_blocks(IDS, 5, 4, 2, np.empty, 1, 1 << 20)
    whole, front = (Cooccurrence(4, rows) for rows in zip(*counted, strict=True))
    rest = dense_ppmi(dense_counts(cooccurrence(IDS[5:], 4, 2)))
    ppmi = Ppmi(whole, 0.75, without=front)
    matrix = np.eye(4, dtype=np.float32)
    assert ppmi.times(matrix) == pytest.approx(np.nan_to_num(rest), abs=1e-6)
    assert ppmi.transposed_times(matrix) == pytest.approx(np.nan_to_num(rest).T, abs=1e-6)
    norms = np.linalg.norm(np.nan_to_num(rest), axis=1)
    assert ppmi.row_norms() == pytest.approx(norms, abs=1e-6)


def test_counts_beyond_the_listed_logarithms():
    ids = np.array([0, 1] * (len(LOGS) + 5) + [-1, 2, 3, -1], np.int32)
    counts = cooccurrence(ids, 4, 1)
    assert dense_counts(counts).max() > len(LOGS)
    dense = dense_ppmi(dense_counts(counts))
    assert Ppmi(counts, 0.75).times(np.eye(4, dtype=np.float32)) == pytest.approx(dense, abs=1e-6)


def test_words_of_one_topic_are_closer_to_each_other():
    vectors = train_vectors(["sea wave beach"] * 9 + ["room bed lamp"] * 9 + ["sea room"])
    assert vectors["wave"] @ vectors["beach"] > vectors["wave"] @ vectors["lamp"]


def test_dimensions_are_at_most_those_asked_for():
    corpus = ["a b c d e f", "a c e b d f", "f e d a"] * 5
    assert train_vectors(corpus, dimensions=2).dimensions <= 2
    assert train_vectors(corpus, dimensions=300).dimensions <= 6


def test_a_word_without_neighbors_has_no_vector():
    vectors = train_vectors(["sea wave", "sea wave", "room bed", "alone"])
    assert "alone" not in vectors
    assert vectors.dropped == {"zero rows": 1}


def test_a_corpus_without_pairs_is_refused():
    with pytest.raises(CorpusError, match="no two words of the corpus occur together"):
        train_vectors(["a", "b", "c"])
