"""Likely documents of a query: those that hold its heaviest words, and how low they score."""

import numpy as np

from deltavec.search.hybrid.threshold import (
    SAMPLED,
    heaviest_terms,
    seed_thresholds,
    write_seeds,
)
from deltavec.search.lexical.kernels import lexical_score
from support import quantized_rows
from support.quantized_rows import nothing_found, queries_of, rows_of

HELD = [[0, 1, 2, 3, 4, 5], [1, 3], [3, 5], [5]]


def words_of(held, weights):
    """One query that has all terms."""
    norms = np.ones(1 + max(map(max, held)), np.float32)
    return quantized_rows.words_of(held, weights, norms)


def seeds_of(words, k, allowed=()):
    """The documents that a threshold comes from; None if there are too few."""
    seeds = np.empty(k, np.int64)
    rows = rows_of(np.zeros((words.norms.size, 2), np.float32), allowed=allowed)
    return seeds.tolist() if write_seeds(rows, words, 0, seeds) else None


def test_the_heaviest_term_that_enough_documents_hold_comes_first():
    words, heaviest = words_of(HELD, [1.0, 5.0, 4.0, 9.0]), np.empty(3, np.int64)
    assert heaviest_terms(words, 0, 2, heaviest) == 3
    assert heaviest.tolist() == [1, 3, 2]
    assert heaviest_terms(words, 0, 7, heaviest) == 0
    few = np.empty(5, np.int64)
    assert heaviest_terms(words, 0, 1, few) == 4
    assert few[:4].tolist() == [3, 1, 2, 0]


def test_likely_documents_hold_the_heaviest_words():
    assert sorted(seeds_of(words_of(HELD, [3.0, 2.0, 2.5, 0.5]), 2)) == [3, 5]


def test_where_no_word_is_in_enough_documents_none_are_likely():
    assert seeds_of(words_of(HELD, [1.0, 1.0, 1.0, 1.0]), 7) is None


def test_of_a_long_list_documents_from_all_over_it_are_looked_at():
    likely = seeds_of(words_of([range(3 * SAMPLED)], [1.0]), SAMPLED)
    assert len(set(likely)) == SAMPLED
    assert max(likely) > 2 * SAMPLED


def test_deleted_documents_are_not_likely():
    words = words_of([[0, 1, 2]], [1.0])
    words.norms[1:] = np.inf
    assert seeds_of(words, 2) is None


def test_documents_that_a_filter_leaves_out_are_not_likely():
    words = words_of([[0, 1, 2, 3]], [1.0])
    assert seeds_of(words, 2, allowed=[0, 1, 0, 1]) == [1, 3]
    assert seeds_of(words, 3, allowed=[0, 1, 0, 1]) is None


def test_documents_that_do_not_exist_are_not_likely():
    words = words_of([[0, 1, 2]], [1.0])
    for number in (-1, 9):
        documents = np.array([0, number, 2], np.int32)
        changed = words._replace(postings=words.postings._replace(documents=documents))
        assert seeds_of(changed, 2) is None


def test_the_threshold_is_the_score_of_the_worst_likely_document():
    words = words_of(HELD, [3.0, 2.0, 2.5, 0.5])
    vectors = np.array([[0, 1]] * 3 + [[1, 0]] + [[0, 1]] * 2, np.float32)
    rows, queries = rows_of(vectors), queries_of(vectors[3:4], 0.25)
    sums = [lexical_score(words, 0, document, False) for document in (3, 5)]
    best = nothing_found(1, 2)
    seed_thresholds(rows, queries, words, best)
    assert best.scores.tolist() == [[min(0.25 + sums[0], sums[1])] * 2]
    assert best.sizes.tolist() == [2]
    lighter = words._replace(nonessential=np.array([0, 1, 0, 0], np.uint8))
    best = nothing_found(1, 2)
    seed_thresholds(rows, queries, lighter, best)
    assert best.scores.tolist() == [[min(0.25 + sums[0] - 1.0, sums[1])] * 2]
    best = nothing_found(1, 2)
    seed_thresholds(rows, queries_of(vectors[3:4], 0.0), words, best)
    assert best.scores.tolist() == [[min(sums)] * 2]
    best = nothing_found(1, 9)
    seed_thresholds(rows, queries, words, best)
    assert best.sizes.tolist() == [0]
