"""The sieve for sums of two scores, on rows that can be checked by hand."""

import numpy as np
import pytest

from deltavec.search.hybrid import bounds as sifting
from deltavec.search.hybrid.bounds import HybridTerms, ScoreBounds
from deltavec.search.kernels import Rows, TopK
from deltavec.search.lexical.kernels import Postings, QueryTerms
from deltavec.search.quantized.build import quantize, quantize_queries
from deltavec.search.quantized.kernels import ROWS
from support.quantized_rows import ALL, NONE, VECTORS, asked, hits, nothing_found


def test_only_rows_that_can_reach_a_sum_are_looked_at():
    codes, _ = asked(VECTORS[:1])
    places = np.empty(ROWS, np.int64)
    added = np.array([0, 0.7, 0, 0.1])
    for worst, expected in [(1.6, [1]), (1.8, []), (1.0, [0, 1, 2, 3])]:
        count = sifting.find_candidates(codes, 0, 1, 0, worst, 1.0, added, places)
        assert places[:count].tolist() == expected  # few can by their words: all of those


def test_where_many_rows_can_reach_a_sum_by_their_words_codes_are_read():
    many = np.tile(VECTORS, (2, 1))
    codes, _ = asked(VECTORS[:1], many)
    places = np.empty(ROWS, np.int64)
    added = np.tile([0, 0.7, 0, 0.1], 2)
    count = sifting.find_candidates(codes, 0, 1, 0, 0.5, 1.0, added, places)
    assert places[:count].tolist() == [0, 1, 2, 4, 5, 6]
    count = sifting.find_candidates(codes, 0, 1, 0, 1.05, 1.1, added, places)
    assert places[:count].tolist() == [0, 4]
    codes, _ = asked(VECTORS[:1], np.tile(VECTORS[1:2], (8, 1)))
    assert sifting.find_candidates(codes, 0, 1, 0, 0.5, 1.0, np.zeros(8), places) == 0


def test_where_heads_let_many_rows_pass_the_whole_codes_are_read():
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
        codes = quantize_queries(query, 1e-6, 1e-6, made, 1e-5, ALL)
        places = np.empty(ROWS, np.int64)
        found = sifting.find_candidates(codes, 0, 1, 0, 0.5, 2.0, np.zeros(8), places)
        assert places[:found].tolist() == expected


# One query of two terms: the first is in documents 11 (three times) and 12, the second in 12 and
# 13.
LISTS = Postings(
    np.array([0, 2, 4]), np.array([11, 12, 12, 13], np.int32), np.array([8, 0, 0, 0], np.uint8)
)
NORMS = np.ones(14, np.float32)
WORDS = QueryTerms(
    LISTS,
    NORMS,
    np.array([0, 2]),
    np.array([0, 1]),
    np.array([4.0, 0.5]),
    np.array([0, 1], np.uint8),
)
ADDED = [0.0, 3.0, 2.25, 0.25]


def sums_of(scale, light=False):
    """What the words add; without the second, lightest one if asked for."""
    added, rest = ([0.0, 3.0, 2.0, 0.0], 0.5) if light else (ADDED, 0.0)
    terms = HybridTerms(WORDS, np.array([0.5]), np.array([scale]))
    return ScoreBounds(0, np.array([added]), np.array([rest]), terms)


def sums_found(scale, k=2, chosen=(), by_products=False, light=False):
    codes, wanted = asked(VECTORS[:1])
    best = nothing_found(1, k, np.float64)
    rows = Rows(VECTORS, 10, np.array(chosen, np.int64), NONE)
    sums = sums_of(scale, light)
    if not scale:
        sifting.search_added(rows, 0, len(chosen) or 4, sums, best)
    elif by_products:
        part = VECTORS[list(chosen)] if chosen else VECTORS
        products = wanted.vectors @ part.T
        sifting.rescore_products(rows, 0, products, wanted, sums, best)
    else:
        mask = np.isin(np.arange(4), chosen).astype(np.uint8) if chosen else ALL
        codes = codes._replace(allowed=mask)
        sifting.scan_sums(rows._replace(chosen=NONE), codes, 0, 4, wanted, sums, best)
    return hits(best)


@pytest.mark.parametrize("light", [False, True])
@pytest.mark.parametrize("by_products", [False, True])
def test_the_best_sums_of_a_cosine_and_what_words_add(by_products, light):
    how = {"by_products": by_products, "light": light}
    near = 2 * np.float64(np.float32(0.6)) + 2.25
    assert sums_found(2.0, **how) == [(near, 12), (3.0, 11)]
    assert sums_found(0.5, **how)[0] == (3.0, 11)
    assert sums_found(2.0, chosen=(0, 1, 3), **how) == [(3.0, 11), (2.0, 10)]
    assert len(sums_found(2.0, k=9, **how)) == 4


@pytest.mark.parametrize("light", [False, True])
def test_the_best_of_what_words_add_and_nothing_else(light):
    assert sums_found(0.0, light=light) == [(3.0, 11), (2.25, 12)]
    assert sums_found(0.0, k=4, light=light) == [(3.0, 11), (2.25, 12), (0.25, 13)]
    assert sums_found(0.0, chosen=(0, 3), light=light) == [(0.25, 13)]


@pytest.mark.parametrize("way", ["sieve", "products", "words"])
def test_sums_that_cannot_be_reached_are_passed_over(way):
    codes, wanted = asked(VECTORS[:1])
    rows, sums = Rows(VECTORS, 10, NONE, NONE), sums_of(1.0)
    best = TopK(np.full((1, 1), 9.0), np.full((1, 1), 77), np.ones(1, np.int64))
    if way == "products":
        sifting.rescore_products(rows, 0, wanted.vectors @ VECTORS.T, wanted, sums, best)
    elif way == "words":
        sifting.search_added(rows, 0, 4, sums, best)
    else:
        sifting.scan_sums(rows, codes, 0, 4, wanted, sums, best)
        sifting.rescore(rows, 0, wanted, 0, sums, best)
    assert hits(best) == [(9.0, 77)]


@pytest.mark.parametrize(("worst", "expected"), [(0.5, ADDED), (9.0, [0.0, 3.0, 2.0, 0.0])])
def test_light_words_are_left_out_where_the_best_are_far_above_them(worst, expected):
    best = TopK(np.full((1, 1), worst), np.zeros((1, 1), np.int64), np.ones(1, np.int64))
    terms = HybridTerms(WORDS, np.array([0.5]), np.ones(1))
    sums = ScoreBounds(0, np.empty((1, 4)), np.full(1, 7.0), terms)
    sifting.add_lexical(best, 10, sums)
    assert sums.added.tolist() == [expected]
    assert sums.rests.tolist() == [0.5 if worst == 9 else 0]


def test_rows_looked_through_part_by_part_have_the_same_best_sums():
    many = np.tile(VECTORS, (ROWS, 1))
    codes, wanted = asked(VECTORS[:1], many)
    best = nothing_found(1, 2, np.float64)
    words = WORDS._replace(norms=np.resize(WORDS.norms, 10 + len(many)))
    rows, terms = Rows(many, 10, NONE, NONE), HybridTerms(words, np.zeros(1), np.array([2.0]))
    sifting.search_blocks(rows, codes, 0, len(many), wanted, terms, np.empty(ROWS), best)
    assert hits(best) == [(2 * np.float64(np.float32(0.6)) + 2.25, 12), (3.0, 11)]
