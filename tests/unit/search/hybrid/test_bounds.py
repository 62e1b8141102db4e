"""The scan of codes and products, on rows that can be checked by hand."""

import numpy as np
import pytest

from deltavec.search.hybrid import bounds
from deltavec.search.hybrid.bounds import FEWER_BLOCKS, Candidates, Search
from deltavec.search.kernels import TopK
from deltavec.search.lexical.kernels import Postings, QueryTerms
from deltavec.search.quantized.build import quantize, quantize_queries
from deltavec.search.quantized.kernels import ROWS
from support.quantized_rows import (
    ALL,
    VECTORS,
    asked,
    hits,
    no_terms,
    nothing_found,
    rows_of,
)

NO_SCORES = np.empty(0)


def candidates(codes, rows, worst, scale, added=NO_SCORES):
    high = Candidates(np.empty(ROWS, np.int64), np.empty(ROWS), np.empty(ROWS))
    found = bounds.candidate_rows(rows_of(rows), codes, 0, 1, 0, worst, scale, added, high, 0)
    return Candidates(*(column[:found] for column in high))


def test_only_rows_that_can_reach_a_score_are_candidates():
    codes, _ = asked(VECTORS[:1])
    high = candidates(codes, VECTORS, 0.5, 1.0)
    assert high.places.tolist() == [0, 2]
    assert (high.bounds >= [1, 0.6]).all()
    assert high.bounds.tolist() == pytest.approx([1, 0.6], abs=0.01)


def test_only_rows_that_can_reach_a_sum_are_candidates():
    codes, _ = asked(VECTORS[:1])
    added = np.array([0, 0.7, 0, 0.1])
    for worst, expected in [(1.6, [1]), (1.8, []), (1.0, [0, 1, 2, 3])]:
        found = candidates(codes, VECTORS, worst, 1.0, added).places
        assert found.tolist() == expected  # few can by their words: all of those


def test_where_many_rows_can_reach_a_sum_by_their_words_codes_are_read():
    many = np.tile(VECTORS, (2, 1))
    codes, _ = asked(VECTORS[:1], many)
    added = np.tile([0, 0.7, 0, 0.1], 2)
    assert candidates(codes, many, 0.5, 1.0, added).places.tolist() == [0, 1, 2, 4, 5, 6]
    assert candidates(codes, many, 1.05, 1.1, added).places.tolist() == [0, 4]
    unlike = np.tile(VECTORS[1:2], (8, 1))
    codes, _ = asked(VECTORS[:1], unlike)
    assert not len(candidates(codes, unlike, 0.5, 1.0, np.zeros(8)).places)


@pytest.mark.parametrize("added", [NO_SCORES, np.zeros(8)])
def test_where_heads_let_many_rows_pass_the_whole_codes_are_read(added):
    # The head of a row sees its first number, and how long the rest is: (0, 1) could be (0, -1).
    directions = np.eye(2)[:, :1]
    query = np.array([[0.6, -0.8]], np.float32)
    alike, unlike, opposite = query, VECTORS[1:2], -VECTORS[:1]
    for first, others, expected in [
        (alike, unlike, [0]),  # all could be alike by their heads
        (alike, opposite, [0]),  # by their heads only one is
        (unlike, opposite, [0]),  # so that no more is looked at
        (alike, alike, list(range(8))),
    ]:
        rows = np.concatenate([first, np.tile(others, (7, 1))])
        made = quantize(rows, 1, directions=directions)
        codes = quantize_queries(query, 1e-6, 1e-6, made, 1e-5)
        assert candidates(codes, rows, 0.5, 2.0, added).places.tolist() == expected


# One query of two terms: the first is in rows 1 (three times) and 2, the second in 2 and 3.
LISTS = Postings(
    np.array([0, 2, 4, 4]), np.array([1, 2, 2, 3], np.int32), np.array([8, 0, 0, 0], np.uint8)
)
WEIGHTS = np.array([4.0, 0.5])
WORDS = QueryTerms(
    LISTS,
    np.ones(4, np.float32),
    np.array([0]),
    np.array([2]),
    np.array([0, 1]),
    WEIGHTS,
    WEIGHTS,
    np.array([0, 1], np.uint8),
    np.array([0.5]),
)
ADDED = [0.0, 3.0, 2.25, 0.25]


def sums_found(scale, k=2, allowed=ALL, by_products=False, best=None, rows=VECTORS, words=WORDS):
    codes, wanted = asked(VECTORS[:1], rows, scale)
    best = nothing_found(1, k) if best is None else best
    there = rows_of(rows, 10, allowed)
    if by_products:
        products, room = wanted.vectors @ rows.T, np.empty(len(rows))
        bounds.scan_products(Search(there, wanted, words, best), 0, products, room)
    else:
        room = np.empty(ROWS)
        bounds.scan_codes(Search(there, wanted, words, best), codes, 0, len(rows), room)
    return hits(best)


@pytest.mark.parametrize("by_products", [False, True])
def test_the_best_sums_of_a_cosine_and_what_words_add(by_products):
    how = {"by_products": by_products}
    near = 2 * np.float64(np.float32(0.6)) + 2.25
    assert sums_found(2.0, **how) == [(near, 12), (3.0, 11)]
    assert sums_found(0.5, **how)[0] == (3.0, 11)
    assert sums_found(2.0, allowed=[1, 1, 0, 1], **how) == [(3.0, 11), (2.0, 10)]
    assert len(sums_found(2.0, k=9, **how)) == 4


@pytest.mark.parametrize("by_products", [False, True])
def test_light_words_that_were_left_out_are_looked_up(by_products):
    # The second word is light, and the worst of the best is more than twice what it can add.
    best = TopK(np.full((1, 2), 1.5), np.full((1, 2), 999), np.full(1, 2))
    near = 2 * np.float64(np.float32(0.6)) + 2.25
    assert sums_found(2.0, by_products=by_products, best=best) == [(near, 12), (3.0, 11)]


@pytest.mark.parametrize("by_products", [False, True])
def test_sums_that_cannot_be_reached_are_passed_over(by_products):
    best = TopK(np.full((1, 1), 9.0), np.full((1, 1), 77), np.ones(1, np.int64))
    assert sums_found(1.0, by_products=by_products, best=best) == [(9.0, 77)]


@pytest.mark.parametrize(("worst", "expected"), [(0.5, ADDED), (9.0, [0.0, 3.0, 2.0, 0.0])])
def test_light_words_are_left_out_where_the_best_are_far_above_them(worst, expected):
    best = TopK(np.full((1, 1), worst), np.zeros((1, 1), np.int64), np.ones(1, np.int64))
    added = np.empty(4)
    assert bounds.add_lexical(WORDS, best, 0, 0, added) == (0.5 if worst == 9 else 0)
    assert added.tolist() == expected


def test_in_keyword_search_a_row_without_a_term_is_no_hit():
    _, wanted = asked(VECTORS[:1], scale=0.0)
    best = nothing_found(1, 4)
    for place, added in enumerate(ADDED):
        bounds.rescore(Search(rows_of(VECTORS), wanted, WORDS, best), place, 0, added, 0.0)
    assert hits(best) == [(3.0, 1), (2.25, 2), (0.25, 3)]


def test_rows_looked_through_part_by_part_have_the_same_best_sums():
    many = np.tile(VECTORS, (ROWS, 1))
    words = WORDS._replace(norms=np.ones(len(many), np.float32))
    expected = [(2 * np.float64(np.float32(0.6)) + 2.25, 12), (3.0, 11)]
    assert sums_found(2.0, rows=many, words=words) == expected


@pytest.mark.parametrize("by_products", [False, True])
@pytest.mark.parametrize("queries", [1, 2])
@pytest.mark.parametrize("allowed", [ALL, [0, 1, 1, 1]])
def test_queries_without_terms_find_the_highest_cosines(queries, allowed, by_products):
    codes, wanted = asked(VECTORS[:queries])
    best, rows = nothing_found(queries, 2), rows_of(VECTORS, 10, allowed)
    terms = no_terms(queries)
    if by_products:
        products = wanted.vectors @ VECTORS.T
        bounds.scan_products(Search(rows, wanted, terms, best), 0, products, np.empty(4))
    else:
        bounds.scan_codes(Search(rows, wanted, terms, best), codes, 0, 4, np.empty(0))
    left = [(1.0, 10), (np.float32(0.6), 12)]
    assert hits(best) == (left if len(allowed) == 0 else [(np.float32(0.6), 12), (0.0, 11)])


def test_many_blocks_are_looked_through():
    many = np.tile(VECTORS, (3 * ROWS, 1))
    codes, wanted = asked(VECTORS[2:3], many)
    best = nothing_found(1, 3)
    for first in (0, ROWS):  # the second time heaps are full, and blocks are taken many at once
        last = ROWS if first == 0 else len(many)
        search = Search(rows_of(many), wanted, no_terms(1), best)
        bounds.scan_codes(search, codes, first, last, np.empty(0))
    assert hits(best) == [(1.0, 2), (1.0, 6), (1.0, 10)]


def test_rows_for_which_there_is_no_more_room_are_scored_and_none_is_lost():
    room = 2 * FEWER_BLOCKS * ROWS  # where there are two queries
    equals = np.tile(VECTORS[2:3], (room + ROWS, 1))
    ranks = np.arange(len(equals))[::-1].copy()  # the last row comes before all others
    codes, wanted = asked(VECTORS[[2, 2]], equals)
    best = nothing_found(2, 3)
    rows = rows_of(equals, ranks=ranks)
    bounds.scan_codes(Search(rows, wanted, no_terms(2), best), codes, 0, len(equals), np.empty(0))
    assert hits(best, 0) == hits(best, 1) == [(1.0, 0), (1.0, 1), (1.0, 2)]


def test_what_is_no_number_is_not_found():
    rows = VECTORS.copy()
    rows[0] = np.nan
    _, wanted = asked(VECTORS[:1])
    best, products = nothing_found(1, 4), wanted.vectors @ rows.T
    search = Search(rows_of(rows), wanted, no_terms(1), best)
    bounds.scan_products(search, 0, products, np.empty(4))
    assert [rank for _, rank in hits(best)] == [2, 1, 3]
