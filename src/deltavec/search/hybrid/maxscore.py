r"""The best sums found among the documents that hold weighty words, without a look at the others.

What a term adds to a document is below its weight. Where the lightest terms of a query together,
and the highest cosine there is, stay below a score that k documents are known to reach, a document
that holds none of its other terms, the *essential* ones, is not among the k best (Turtle and Flood
1995). So only the postings of essential terms are gone through. What the others add is looked up
in the documents that are left, the weightiest first; with each a document can gain less, and fewer
are left. The last of them are scored as everywhere.

Sums are taken in another order here than `deltavec.search.lexical.kernels` takes them, and are off
by less than `TINY` of all weights: that much is always granted.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from deltavec.core.arrays import Float64s, Int64s, UInt8s
from deltavec.core.jit import compiled
from deltavec.search.hybrid.bounds import HIGHEST_SCORE, rescore_with
from deltavec.search.kernels import Queries, Rows, TopK, keep
from deltavec.search.lexical.kernels import QueryTerms, first_posting_from
from deltavec.search.quantized.kernels import margin_of

TINY = 1e-9
SCORED = 32  # one in so many documents, at most, is scored by itself: more are sooner sifted
LATER = 1  # of the others, before the likely best are scored
FINE = 0.25  # of what the cosine can add: to look up words that add less takes longer than scoring


class EssentialTerms(NamedTuple):
    """Which terms of queries are essential."""

    order: Int64s  # places of terms, query after query: those that are, then others, heaviest first
    counts: Int64s  # of each query; 0 if documents that hold none may be among the best


class PartialScores(NamedTuple):
    """Documents, ascending, and what some of the words add to each."""

    documents: Int64s
    sums: Float64s


@compiled
def choose_essential(
    words: QueryTerms, most: Float64s, scales: Float64s, floors: Float64s, chosen: EssentialTerms
) -> None:
    """Write which terms are essential to queries of which k documents reach these scores.

    Of terms that add less than is missing, those are left out that spare most postings by weight.
    """
    begins, many = words.postings.begins, words.norms.size
    for query in range(scales.size):
        first, last = words.begins[query], words.begins[query + 1]
        weights = most[first:last]
        lengths = begins[words.terms[first:last] + 1] - begins[words.terms[first:last]]
        missing = floors[query] - scales[query] * HIGHEST_SCORE - TINY * weights.sum()
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
    """Write documents and what a term adds to them, those it is new to as well; how many they are.

    Documents are those from ``first`` on, before ``stop``.
    """
    term, weight = words.terms[index], words.weights[index]
    begin, end = words.postings.begins[term], words.postings.begins[term + 1]
    documents, counts = words.postings.documents[begin:end], words.postings.counts[begin:end]
    latest, before, found = first - 1, 0, 0
    for place in range(first_posting_from(documents, 0, first), documents.size):
        document = documents[place]
        if document >= stop:
            break
        if document <= latest:  # not ascending: not our own file
            continue
        latest = document
        while before < count and known.documents[before] < document:
            wider.documents[found], wider.sums[found] = (
                known.documents[before],
                known.sums[before],
            )
            before += 1
            found += 1
        n = np.float64(counts[place])
        added = weight * (n / (n + np.float64(words.norms[document])))
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
    """Add what a term adds, and leave out documents below a sum then; how many are left."""
    term, weight = words.terms[index], words.weights[index]
    begin, end = words.postings.begins[term], words.postings.begins[term + 1]
    documents, counts = words.postings.documents[begin:end], words.postings.counts[begin:end]
    place, left = 0, 0
    for number in range(count):
        document, total = known.documents[number], known.sums[number]
        place = first_posting_from(documents, place, document)
        if place < documents.size and documents[place] == document:
            n = np.float64(counts[place])
            total += weight * (n / (n + np.float64(words.norms[document])))
        if total >= least:
            known.documents[left], known.sums[left] = document, total
            left += 1
    return left


@compiled
def rescore_highest(
    rows: Rows,
    queries: Queries,
    query: int,
    scale: float,
    rest: float,
    words: QueryTerms,
    known: PartialScores,
    count: int,
    best: TopK,
) -> None:
    """Score the documents with the highest sums: then more of the others are passed over.

    Their sums are minus infinity then, so that they are left out.
    """
    k = best.scores.shape[1]
    likely = TopK(np.empty((1, k), np.float64), np.empty((1, k), np.int64), np.zeros(1, np.int64))
    for number in range(count):
        if likely.sizes[0] < k or known.sums[number] > likely.scores[0, 0]:
            keep(likely, 0, known.sums[number], number)
    for number in likely.ranks[0, : likely.sizes[0]]:
        place = known.documents[number] - rows.begin
        rescore_with(rows, place, queries, query, scale, known.sums[number], rest, words, best)
        known.sums[number] = -np.inf


@compiled
def search_essential(
    rows: Rows,
    first: int,
    last: int,
    queries: Queries,
    words: QueryTerms,
    most: Float64s,
    scales: Float64s,
    chosen: EssentialTerms,
    best: TopK,
    given_up: UInt8s,
) -> None:
    """Look among rows ``first`` to ``last`` for the best sums of queries with essential terms.

    A query is given up, and so written, where too many documents would have to be scored.
    """
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
                rescore_highest(
                    rows, queries, query, scales[query], rest, words, known, count, best
                )
            index = chosen.order[place]
            rest -= most[index]
            least = margin_of(best, query) - highest - rest
            count = narrow(words, index, least, known, count)
        if count > words.norms.size // SCORED:
            given_up[query] = 1
            continue
        for number in range(count):
            added = known.sums[number]
            if added + rest + highest >= margin_of(best, query):
                place = known.documents[number] - rows.begin
                rescore_with(rows, place, queries, query, scales[query], added, rest, words, best)
