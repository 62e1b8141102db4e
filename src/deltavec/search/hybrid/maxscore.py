r"""MaxScore: candidates from the postings of essential terms only (Turtle and Flood 1995).

A term adds less to a document than its weight. If the lightest terms of a query and the highest
possible cosine together stay below the threshold, a document without any of the other terms, the
*essential* ones, is not among the k best. So only the postings of essential terms are traversed.
The contributions of the others are looked up in the remaining candidates, heaviest first; with each
term a document can gain less, and fewer candidates remain. The last ones are scored exactly.

Sums are taken in a different order than in `deltavec.search.lexical.kernels`; the difference is
below `TINY` of the sum of weights, which is always granted.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from deltavec.core.arrays import Float64s, Int64s, UInt8s
from deltavec.core.jit import compiled
from deltavec.search.hybrid.bounds import HIGHEST_SCORE, HybridTerms, rescore_with
from deltavec.search.kernels import Queries, Rows, TopK, keep
from deltavec.search.lexical.bm25 import saturation
from deltavec.search.lexical.kernels import QueryTerms, first_posting_from
from deltavec.search.quantized.kernels import kth_best

TINY = 1e-9
SCORED = 32  # at most one in so many documents is scored alone; scanning blocks beats more
LATER = 1  # non-essential terms before the likely best are scored
FINE = 0.25  # of the highest cosine part: looking up less takes longer than scoring

NONESSENTIAL = 0.1  # the most that non-essential terms of a scan may add, as a share of all


class EssentialTerms(NamedTuple):
    """The essential terms of queries."""

    order: Int64s  # terms by query: the essential ones, then the others, heaviest first
    counts: Int64s  # essential terms of each query; 0 if MaxScore does not apply


@compiled
def write_nonessential(begins: Int64s, weights: Float64s, terms: UInt8s, most: Float64s) -> None:
    """Write the lightest terms of each query, and the most that they add: a tenth of all.

    A scan may leave them out at first. Both arrays hold zeros before.
    """
    for query in range(most.size):
        own = weights[begins[query] : begins[query + 1]]
        total, light = own.sum(), 0.0
        for place in np.argsort(own, kind="mergesort"):
            if light + own[place] > NONESSENTIAL * total:
                break
            light += own[place]
            terms[begins[query] + place] = 1
            # A saturated frequency is below 1. The second term exceeds all rounding.
            most[query] = light + 1e-9 * total


class PartialScores(NamedTuple):
    """Documents, ascending, and partial lexical scores."""

    documents: Int64s
    sums: Float64s


@compiled
def choose_essential(
    terms: HybridTerms, most: Float64s, thresholds: Float64s, chosen: EssentialTerms
) -> None:
    """Write the essential terms of queries, given scores that k documents reach.

    Terms are made non-essential in the order of postings saved per weight.
    """
    words, scales = terms.words, terms.scales
    begins, many = words.postings.begins, words.norms.size
    for query in range(scales.size):
        first, last = words.begins[query], words.begins[query + 1]
        weights = most[first:last]
        lengths = begins[words.terms[first:last] + 1] - begins[words.terms[first:last]]
        missing = thresholds[query] - scales[query] * HIGHEST_SCORE - TINY * weights.sum()
        is_left = np.zeros(weights.size, np.uint8)
        for place in np.argsort(weights / np.maximum(lengths, 1)):
            if weights[place] < missing:
                missing -= weights[place]
                is_left[place] = 1
        count = 0
        for place in range(weights.size):
            if is_left[place] == 0:
                chosen.order[first + count] = first + place
                count += 1
        postings = (lengths * (1 - is_left)).sum()
        chosen.counts[query] = count if missing > 0 and postings <= many else 0
        for place in np.argsort(-weights):
            if is_left[place] == 1:
                chosen.order[first + count] = first + place
                count += 1


@compiled
def merge(
    words: QueryTerms,
    index: int,
    first: int,
    stop: int,
    known: PartialScores,
    count: int,
    wider: PartialScores,
) -> int:
    """Merge a term's postings in [first, stop) into partial scores; return how many there are."""
    term, weight = words.terms[index], words.weights[index]
    begin, end = words.postings.begins[term], words.postings.begins[term + 1]
    documents, counts = words.postings.documents[begin:end], words.postings.counts[begin:end]
    latest, before, found = first - 1, 0, 0
    for place in range(first_posting_from(documents, 0, first), documents.size):
        document = documents[place]
        if document >= stop:
            break
        if document <= latest:  # not ascending: a file from elsewhere
            continue
        latest = document
        while before < count and known.documents[before] < document:
            wider.documents[found] = known.documents[before]
            wider.sums[found] = known.sums[before]
            before += 1
            found += 1
        added = weight * saturation(counts[place], words.norms[document])
        if before < count and known.documents[before] == document:
            added += known.sums[before]
            before += 1
        wider.documents[found], wider.sums[found] = document, added
        found += 1
    for place in range(before, count):
        wider.documents[found], wider.sums[found] = known.documents[place], known.sums[place]
        found += 1
    return found


@compiled
def narrow(words: QueryTerms, index: int, least: float, known: PartialScores, count: int) -> int:
    """Add a term's scores and drop documents below ``least``; return how many remain."""
    term, weight = words.terms[index], words.weights[index]
    begin, end = words.postings.begins[term], words.postings.begins[term + 1]
    documents, counts = words.postings.documents[begin:end], words.postings.counts[begin:end]
    place, left = 0, 0
    for number in range(count):
        document, total = known.documents[number], known.sums[number]
        place = first_posting_from(documents, place, document)
        if place < documents.size and documents[place] == document:
            total += weight * saturation(counts[place], words.norms[document])
        if total >= least:
            known.documents[left], known.sums[left] = document, total
            left += 1
    return left


@compiled
def rescore_highest(
    rows: Rows,
    queries: Queries,
    query: int,
    rest: float,
    terms: HybridTerms,
    known: PartialScores,
    count: int,
    best: TopK,
) -> None:
    """Score the k documents with the highest partial scores, to raise the threshold.

    Their partial scores become minus infinity, so that they are dropped.
    """
    k = best.scores.shape[1]
    likely = TopK(np.empty((1, k), np.float64), np.empty((1, k), np.int64), np.zeros(1, np.int64))
    for number in range(count):
        if likely.sizes[0] < k or known.sums[number] > likely.scores[0, 0]:
            keep(likely, 0, known.sums[number], number)
    for number in likely.ranks[0, : likely.sizes[0]]:
        place = known.documents[number] - rows.begin
        rescore_with(rows, place, queries, query, known.sums[number], rest, terms, best)
        known.sums[number] = -np.inf


@compiled
def search_essential(
    rows: Rows,
    first: int,
    last: int,
    queries: Queries,
    terms: HybridTerms,
    most: Float64s,
    chosen: EssentialTerms,
    best: TopK,
    given_up: UInt8s,
) -> None:
    """Search rows ``first`` to ``last`` for queries with essential terms.

    A query with too many candidates is marked in ``given_up``.
    """
    words, scales = terms.words, terms.scales
    for query in range(scales.size):
        essential = chosen.counts[query]
        if essential == 0 or given_up[query] > 0:
            continue
        begin, end = words.begins[query], words.begins[query + 1]
        room = 0
        for index in chosen.order[begin : begin + essential]:
            term = words.terms[index]
            room += words.postings.begins[term + 1] - words.postings.begins[term]
        known = PartialScores(np.empty(room, np.int64), np.empty(room))
        wider = PartialScores(np.empty(room, np.int64), np.empty(room))
        count = 0
        for place in range(begin, begin + essential):
            index = chosen.order[place]
            count = merge(words, index, rows.begin + first, rows.begin + last, known, count, wider)
            known, wider = wider, known
        rest = TINY * most[begin:end].sum()
        for place in range(begin + essential, end):
            rest += most[chosen.order[place]]
        highest = scales[query] * HIGHEST_SCORE
        for place in range(begin + essential, end):
            if rest <= FINE * highest:
                break
            if place == begin + essential + LATER:
                rescore_highest(rows, queries, query, rest, terms, known, count, best)
            index = chosen.order[place]
            rest -= most[index]
            least = kth_best(best, query) - highest - rest
            count = narrow(words, index, least, known, count)
        if count > words.norms.size // SCORED:
            given_up[query] = 1
            continue
        for number in range(count):
            added = known.sums[number]
            if added + rest + highest >= kth_best(best, query):
                place = known.documents[number] - rows.begin
                rescore_with(rows, place, queries, query, added, rest, terms, best)
