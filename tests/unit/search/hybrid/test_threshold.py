"""Likely documents of a query: those that hold its heaviest words, and how low they score."""

import numpy as np

from deltavec.search.hybrid.threshold import (
    SAMPLED,
    heaviest_terms,
    seed_documents,
    seed_thresholds,
)
from deltavec.search.lexical.kernels import Postings, QueryTerms, lexical_score
from support.quantized_rows import hybrid_terms

HELD = [[0, 1, 2, 3, 4, 5], [1, 3], [3, 5], [5]]


def words_of(held, weights):
    """One query that has all terms."""
    documents = np.array([number for one in held for number in one], np.int32)
    begins = np.cumsum([0, *map(len, held)])
    lists = Postings(begins, documents, np.zeros(len(documents), np.uint8))
    terms = np.arange(len(held))
    norms = np.ones(1 + documents.max(), np.float32)
    return QueryTerms(
        lists, norms, np.array([0, len(held)]), terms, np.array(weights, float),
        np.zeros(len(held), np.uint8),
    )  # fmt: skip


def test_the_heaviest_term_that_enough_documents_hold_comes_first():
    words, heaviest = words_of(HELD, [1.0, 5.0, 4.0, 9.0]), np.empty(3, np.int64)
    assert heaviest_terms(words, 0, 2, heaviest) == 3
    assert heaviest.tolist() == [1, 3, 2]
    assert heaviest_terms(words, 0, 7, heaviest) == 0
    few = np.empty(5, np.int64)
    assert heaviest_terms(words, 0, 1, few) == 4
    assert few[:4].tolist() == [3, 1, 2, 0]


def test_likely_documents_hold_the_heaviest_words():
    words, likely = words_of(HELD, [3.0, 2.0, 2.5, 0.5]), np.empty((1, 2), np.int64)
    seed_documents(words, likely)
    assert sorted(likely[0]) == [3, 5]


def test_where_no_word_is_in_enough_documents_none_are_likely():
    likely = np.empty((1, 7), np.int64)
    seed_documents(words_of(HELD, [1.0, 1.0, 1.0, 1.0]), likely)
    assert likely.tolist() == [[-1] * 7]


def test_of_a_long_list_documents_from_all_over_it_are_looked_at():
    held = list(range(3 * SAMPLED))
    likely = np.empty((1, SAMPLED), np.int64)
    seed_documents(words_of([held], [1.0]), likely)
    assert len(set(likely[0])) == SAMPLED
    assert likely.max() > 2 * SAMPLED


def test_deleted_documents_are_not_likely():
    words = words_of([[0, 1, 2]], [1.0])
    words.norms[1:] = np.inf
    words.postings.counts[:] = 1
    likely = np.empty((1, 2), np.int64)
    seed_documents(words, likely)
    assert likely.tolist() == [[-1, -1]]


def test_documents_that_do_not_exist_are_not_likely():
    words = words_of([[0, 1, 2]], [1.0])
    for number in (-1, 9):
        changed = words._replace(
            postings=words.postings._replace(documents=np.array([0, number, 2], np.int32))
        )
        likely = np.empty((1, 2), np.int64)
        seed_documents(changed, likely)
        assert likely.tolist() == [[-1, -1]]


def test_the_lowest_sum_is_that_of_the_worst_likely_document():
    words = words_of(HELD, [3.0, 2.0, 2.0, 0.5])
    vectors = np.array([[1, 0], [0, 1]], np.float32)
    lowest = np.empty(1)
    query = np.array([[1, 0]], np.float32)
    seed_thresholds(hybrid_terms(words, 0.25), query, np.array([[3, 5]]), vectors, lowest)
    sums = [lexical_score(words, 0, document, False) for document in (3, 5)]
    assert lowest[0] == min(0.25 + sums[0], sums[1])
    lighter = words._replace(nonessential=np.array([0, 1, 0, 0], np.uint8))
    seed_thresholds(hybrid_terms(lighter, 0.25), query, np.array([[3, 5]]), vectors, lowest)
    assert lowest[0] == min(0.25 + sums[0] - 1.0, sums[1])
    seed_thresholds(hybrid_terms(words, 0.25), query, np.array([[-1, -1]]), vectors, lowest)
    assert lowest[0] == -np.inf
