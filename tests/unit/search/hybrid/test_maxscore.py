"""Documents that hold weighty words, and no others: the same are found.

Likely documents of a query: those that hold its heaviest words, and how low they score.
"""

import numpy as np
import pytest

from deltavec.search.hybrid import maxscore
from deltavec.search.hybrid.bounds import Candidates, Search
from deltavec.search.hybrid.maxscore import (
    SAMPLED,
    heaviest_terms,
    seed_thresholds,
    write_seeds,
)
from deltavec.search.lexical.kernels import first_posting_from, lexical_score
from deltavec.search.topk import NO_ROW, NONE, no_rows
from support.quantized_rows import nothing_found, queries_of, rows_of, words_of

DOCUMENTS = 60
ALIKE = np.ones(DOCUMENTS, np.float32)


def candidates(documents, sums):
    return Candidates(documents, sums, sums)


def chosen_for(words, scale, floor):
    order = np.empty(len(words.terms), np.int64)
    return maxscore.choose_essential(words, 0, scale, floor, order), order.tolist()


def test_terms_that_add_less_than_is_missing_are_not_essential():
    words = words_of([[1, 2], range(50), range(9), [3]], [4.0, 1.0, 2.0, 5.0], ALIKE)
    # 6.5 are missing: those that spare most postings by weight are left out first.
    assert chosen_for(words, 2.0, 8.5) == (2, [0, 3, 2, 1])
    assert chosen_for(words, 2.0, 9.1) == (1, [3, 0, 2, 1])


@pytest.mark.parametrize("floor", [2.0, 1.0, -np.inf])
def test_where_the_cosine_alone_is_enough_no_term_is_essential(floor):
    assert chosen_for(words_of([[1], [2]], [1.0, 1.0], ALIKE), 2.0, floor)[0] == -1


def test_in_keyword_search_all_terms_are_essential_while_there_is_no_threshold():
    assert chosen_for(words_of([range(40), range(40)], [1.0, 1.0], ALIKE), 0.0, -np.inf)[0] == 2


def test_more_postings_than_documents_are_not_gone_through():
    words = words_of([range(40), range(40)], [5.0, 5.0], ALIKE)
    assert chosen_for(words, 1.0, 4.0)[0] == -1
    assert chosen_for(words, 1.0, 7.0)[0] == 1


def test_a_list_that_is_not_ascending_leads_nowhere_else():
    documents = np.array([3, 9, -5, 70, 2, 9, 1], np.int32)
    for begin in range(8):
        for document in range(-2, 80):
            assert begin <= first_posting_from(documents, begin, document) <= max(begin, 7)
    words = words_of([documents, [1, 3]], [1.0, 2.0], ALIKE)
    known, wider = (
        candidates(np.empty(9, int), np.empty(9)),
        candidates(np.empty(9, int), np.empty(9)),
    )
    rows = rows_of(np.ones((DOCUMENTS, 1), np.float32))
    count = maxscore.merge(rows, words, 0, 0, DOCUMENTS, known, 0, wider)
    assert wider.places[:count].tolist() == [3, 9]
    masked = rows._replace(allowed=np.arange(DOCUMENTS).astype(np.uint8) % 2)
    words = words._replace(terms=np.array([0, 1]))
    assert maxscore.merge(masked, words, 0, 0, 9, known, 0, known) == 1
    count = maxscore.merge(rows, words, 1, 0, DOCUMENTS, wider, count, known)
    assert known.places[:count].tolist() == [1, 3, 9]
    assert known.added[:count].tolist() == [1.0, 1.5, 0.5]


def test_terms_are_added_and_documents_below_a_sum_left_out():
    words = words_of([[2, 4, 6], [4, 5, 9]], [2.0, 4.0], ALIKE)
    known = candidates(np.array([2, 4, 6, 8]), np.array([1.0, 1.0, 1.0, 3.0]))
    assert maxscore.narrow(words, 1, 2.5, known, 4) == 2
    assert known.places[:2].tolist() == [4, 8]
    assert known.added[:2].tolist() == [3.0, 3.0]


def searched(words, scale, floor, k=2, chosen=NONE, documents=DOCUMENTS):
    """What is found where all documents have the direction of the query."""
    vectors = np.ones((documents, 1), np.float32)
    best, given_up = no_rows(1, k), np.zeros(1, np.uint8)
    best.scores[:], best.sizes[:] = floor, k if floor > -np.inf else 0
    for _ in range(1 + (documents > DOCUMENTS)):  # what was given up is left alone
        maxscore.search_candidates(
            Search(rows_of(vectors), queries_of(vectors[:1], scale), words, best),
            0,
            documents,
            chosen,
            given_up,
        )
    return best, given_up.tolist()


def test_a_query_for_which_many_documents_are_left_is_given_up():
    many = np.ones(200, np.float32)
    words = words_of([range(100)], [9.0], many)
    best, given_up = searched(words, 1.0, 5.4, documents=200)
    assert given_up == [1]
    assert (best.ranks == NO_ROW).all()
    best, given_up = searched(words_of([[4]], [9.0], ALIKE), 1.0, 5.4)
    assert given_up == [0]
    assert sorted(best.ranks[0].tolist()) == [4, NO_ROW]
    assert best.scores.max() == 1 + 9 / 2


def test_terms_that_add_less_than_a_look_up_costs_are_not_looked_up():
    best, given_up = searched(words_of([[4], [4, 5]], [9.0, 0.1], ALIKE), 2.0, 6.0, k=1)
    assert given_up == [0]
    assert best.ranks.tolist() == [[4]]
    assert best.scores[0, 0] == pytest.approx(2 + 9.1 / 2)


def test_a_query_without_essential_terms_is_left_alone():
    best, given_up = searched(words_of([[4]], [9.0], ALIKE), 2.0, 1.0)
    assert given_up == [1]
    assert (best.ranks == NO_ROW).all()


@pytest.mark.parametrize("scale", [0.0, 2.0])
def test_of_chosen_rows_no_other_is_looked_at(scale):
    words = words_of([[4, 5], [5, 6, 7], [7]], [3.0, 2.0, 4.0], ALIKE)
    chosen = np.array([1, 5, 7])
    best, given_up = searched(words, scale, -np.inf, k=3, chosen=chosen)
    assert given_up == [0]
    expected = {5: scale + 2.5, 7: scale + 3.0} | ({1: scale} if scale else {})
    found = zip(best.ranks[0].tolist(), best.scores[0].tolist(), strict=True)
    assert {rank: score for rank, score in found if rank < NO_ROW} == expected


def test_the_lightest_words_of_each_query_add_a_tenth_at_most():
    weights = np.array([0.5, 9.0, 0.4, 1.0, 1.0, 1.0])
    terms, most = maxscore.lightest_terms(np.array([0, 4, 6, 6]), weights)
    assert terms.tolist() == [1, 0, 1, 0, 0, 0]
    assert most.tolist() == [pytest.approx(0.9), 0, 0]
    assert most[0] > 0.9


HELD = [[0, 1, 2, 3, 4, 5], [1, 3], [3, 5], [5]]


def terms_held(held, weights):
    """One query that has all terms."""
    norms = np.ones(1 + max(map(max, held)), np.float32)
    return words_of(held, weights, norms)


def seeds_of(words, k, allowed=()):
    """The documents that a threshold comes from; None if there are too few."""
    seeds = np.empty(k, np.int64)
    rows = rows_of(np.zeros((words.norms.size, 2), np.float32), allowed=allowed)
    return seeds.tolist() if write_seeds(rows, words, 0, seeds) else None


def test_the_heaviest_term_that_enough_documents_hold_comes_first():
    words = terms_held(HELD, [1.0, 5.0, 4.0, 9.0])
    assert heaviest_terms(words, 0, 2).tolist() == [1, 3, 2]
    assert heaviest_terms(words, 0, 7).tolist() == []
    assert heaviest_terms(words, 0, 1).tolist() == [3, 1, 2]


def test_likely_documents_hold_the_heaviest_words():
    assert sorted(seeds_of(terms_held(HELD, [3.0, 2.0, 2.5, 0.5]), 2)) == [3, 5]


def test_where_no_word_is_in_enough_documents_none_are_likely():
    assert seeds_of(terms_held(HELD, [1.0, 1.0, 1.0, 1.0]), 7) is None


def test_of_a_long_list_documents_from_all_over_it_are_looked_at():
    likely = seeds_of(terms_held([range(3 * SAMPLED)], [1.0]), SAMPLED)
    assert len(set(likely)) == SAMPLED
    assert max(likely) > 2 * SAMPLED


def test_deleted_documents_are_not_likely():
    words = terms_held([[0, 1, 2]], [1.0])
    words.norms[1:] = np.inf
    assert seeds_of(words, 2) is None


def test_documents_that_a_filter_leaves_out_are_not_likely():
    words = terms_held([[0, 1, 2, 3]], [1.0])
    assert seeds_of(words, 2, allowed=[0, 1, 0, 1]) == [1, 3]
    assert seeds_of(words, 3, allowed=[0, 1, 0, 1]) is None


def test_documents_that_do_not_exist_are_not_likely():
    words = terms_held([[0, 1, 2]], [1.0])
    for number in (-1, 9):
        documents = np.array([0, number, 2], np.int32)
        changed = words._replace(postings=words.postings._replace(documents=documents))
        assert seeds_of(changed, 2) is None


def test_the_threshold_is_the_score_of_the_worst_likely_document():
    words = terms_held(HELD, [3.0, 2.0, 2.5, 0.5])
    vectors = np.array([[0, 1]] * 3 + [[1, 0]] + [[0, 1]] * 2, np.float32)
    rows, queries = rows_of(vectors), queries_of(vectors[3:4], 0.25)
    sums = [lexical_score(words, 0, document, False) for document in (3, 5)]
    best = nothing_found(1, 2)
    seed_thresholds(Search(rows, queries, words, best))
    assert best.scores.tolist() == [[min(0.25 + sums[0], sums[1])] * 2]
    assert best.sizes.tolist() == [2]
    lighter = words._replace(nonessential=np.array([0, 1, 0, 0], np.uint8))
    best = nothing_found(1, 2)
    seed_thresholds(Search(rows, queries, lighter, best))
    assert best.scores.tolist() == [[min(0.25 + sums[0] - 1.0, sums[1])] * 2]
    best = nothing_found(1, 2)
    seed_thresholds(Search(rows, queries_of(vectors[3:4], 0.0), words, best))
    assert best.scores.tolist() == [[min(sums)] * 2]
    best = nothing_found(1, 9)
    seed_thresholds(Search(rows, queries, words, best))
    assert best.sizes.tolist() == [0]
