r"""MaxScore: candidates from the postings of essential terms only (Turtle and Flood 1995).

A term adds less to a document than its weight. If the lightest terms of a query and the highest
possible cosine together stay below the threshold, a document without any of the other terms, the
*essential* ones, is not among the k best. So only the postings of essential terms are traversed.
The contributions of the others are looked up in the remaining candidates, heaviest first; with each
term a document can gain less, and fewer candidates remain. The last ones are scored exactly.

Sums are taken in a different order than in `deltavec.search.lexical.kernels`; the difference is
below `TINY` of the sum of weights, which is always granted.

A search starts with a threshold: the lowest score of k documents that contain the heaviest query
terms. It changes how much is scored, never what is found.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from deltavec.core.arrays import Float64s, Int32s, Int64s, UInt8s, read_only
from deltavec.core.jit import compiled
from deltavec.search.hybrid.bounds import (
    HIGHEST_SCORE,
    Candidates,
    Search,
    rescore_rest,
    rescore_top,
)
from deltavec.search.kernels import Rows, cosine, kth_best
from deltavec.search.lexical.bm25 import saturation
from deltavec.search.lexical.kernels import QueryTerms, first_posting_from, lexical_score

TINY = 1e-9
SCORED = 32  # at most one in so many rows is scored alone; scanning blocks beats more
FEW = 64  # rows that are scored alone in any case
LATER = 1  # non-essential terms before the likely best are scored
FINE = 0.25  # of the highest cosine part: looking up less takes longer than scoring

NONESSENTIAL = 0.1  # the most that non-essential terms of a scan may add, as a share of all


def lightest_terms(begins: Int64s, weights: Float64s) -> tuple[UInt8s, Float64s]:
    """Which terms of queries add a tenth at most, and the most that they add, for each query.

    A scan may leave them out at first.
    """
    is_light, most = np.zeros(len(weights), np.uint8), np.zeros(len(begins) - 1)
    for query, (begin, end) in enumerate(pairwise(begins.tolist())):
        order = begin + np.argsort(weights[begin:end], kind="stable")
        sums, total = np.cumsum(weights[order]), weights[begin:end].sum()
        count = int((sums <= NONESSENTIAL * total).sum())
        is_light[order[:count]] = 1
        # A saturated frequency is below 1. The second term exceeds all rounding.
        most[query] = sums[count - 1] + 1e-9 * total if count else 0
    return read_only(is_light), read_only(most)


@compiled
def choose_essential(
    terms: QueryTerms, query: int, scale: float, threshold: float, order: Int64s
) -> int:
    """Write a query's terms, the essential ones first, then the others, heaviest first.

    How many are essential, given a score that k documents reach; -1 if any document may be among
    the best, or the postings of essential terms are more than the documents.

    Terms are made non-essential in the order of postings saved per weight.
    """
    begins, first, last = terms.postings.begins, terms.begins[query], terms.ends[query]
    limits = terms.limits[first:last]
    lengths = begins[terms.terms[first:last] + 1] - begins[terms.terms[first:last]]
    missing = threshold - scale * HIGHEST_SCORE - TINY * limits.sum()
    is_left = np.zeros(limits.size, np.uint8)
    for place in np.argsort(limits / np.maximum(lengths, 1)):
        if limits[place] < missing:
            missing -= limits[place]
            is_left[place] = 1
    count = 0
    for place in range(limits.size):
        if is_left[place] == 0:
            order[count] = first + place
            count += 1
    essential = count
    for place in np.argsort(-limits):
        if is_left[place] == 1:
            order[count] = first + place
            count += 1
    # In keyword search a document without any term is not a hit, whatever the threshold.
    is_enough = missing > 0 or scale == 0
    few = scale == 0 or (lengths * (1 - is_left)).sum() <= terms.norms.size
    return essential if is_enough and few else -1


@compiled
def merge(
    rows: Rows,
    terms: QueryTerms,
    index: int,
    first: int,
    stop: int,
    known: Candidates,
    count: int,
    wider: Candidates,
) -> int:
    """Merge a term's postings in [first, stop) into partial scores; return how many there are."""
    term, weight = terms.terms[index], terms.weights[index]
    begin, end = terms.postings.begins[term], terms.postings.begins[term + 1]
    documents, counts = terms.postings.documents[begin:end], terms.postings.counts[begin:end]
    latest, before, found = first - 1, 0, 0
    for place in range(first_posting_from(documents, 0, first), documents.size):
        document = documents[place]
        if document >= stop:
            break
        if document <= latest:  # not ascending: a file from elsewhere
            continue
        latest = document
        if rows.allowed.size > 0 and rows.allowed[document] == 0:
            continue
        while before < count and known.places[before] < document:
            wider.places[found] = known.places[before]
            wider.added[found] = known.added[before]
            before += 1
            found += 1
        added = weight * saturation(counts[place], terms.norms[document])
        if before < count and known.places[before] == document:
            added += known.added[before]
            before += 1
        wider.places[found], wider.added[found] = document, added
        found += 1
    for place in range(before, count):
        wider.places[found], wider.added[found] = known.places[place], known.added[place]
        found += 1
    return found


@compiled
def narrow(terms: QueryTerms, index: int, least: float, known: Candidates, count: int) -> int:
    """Add a term's scores and drop documents below ``least``; return how many remain.

    Documents with the score minus infinity are dropped, too.
    """
    term, weight = terms.terms[index], terms.weights[index]
    begin, end = terms.postings.begins[term], terms.postings.begins[term + 1]
    documents, counts = terms.postings.documents[begin:end], terms.postings.counts[begin:end]
    place, left = 0, 0
    for number in range(count):
        document, total = known.places[number], known.added[number]
        place = first_posting_from(documents, place, document)
        if place < documents.size and documents[place] == document:
            total += weight * saturation(counts[place], terms.norms[document])
        if total >= least and total > -np.inf:
            known.places[left], known.added[left] = document, total
            left += 1
    return left


@compiled
def search_candidates(
    search: Search, first: int, last: int, chosen: Int64s, given_up: UInt8s
) -> None:
    """Search rows ``first`` to ``last`` by the postings of essential terms, or only some rows.

    ``chosen`` are the only rows to look at, if there are any. A query with too many candidates is
    marked in ``given_up``; some of its best rows may be found, and must be dropped.
    """
    rows, queries, terms, best = search
    documents, sums = np.empty((2, last - first), np.int64), np.empty((2, last - first))
    for query in range(queries.scales.size):
        if given_up[query] > 0:
            continue
        begin, end, scale = terms.begins[query], terms.ends[query], queries.scales[query]
        known = Candidates(documents[0], sums[0], sums[0])
        wider = Candidates(documents[1], sums[1], sums[1])
        order, essential, count = np.empty(end - begin, np.int64), 0, 0
        if chosen.size > 0:
            here = chosen[np.searchsorted(chosen, first) : np.searchsorted(chosen, last)]
            count = here.size
            order[:] = begin + np.argsort(-terms.limits[begin:end])
            known.places[:count], known.added[:count] = here, 0.0
        else:
            essential = choose_essential(terms, query, scale, kth_best(best, query), order)
        for place in range(essential):
            count = merge(rows, terms, order[place], first, last, known, count, wider)
            known, wider = wider, known
        any_number = chosen.size > 0 or scale == 0
        if essential < 0 or not finish_candidates(
            search, query, order[essential:], known, count, any_number
        ):
            given_up[query] = 1


@compiled
def finish_candidates(
    search: Search, query: int, others: Int64s, known: Candidates, count: int, any_number: bool
) -> bool:
    """Look up the other terms of candidates, and score those that are left if they are few."""
    terms, best = search.terms, search.best
    highest = search.queries.scales[query] * HIGHEST_SCORE
    rest = TINY * terms.limits[terms.begins[query] : terms.ends[query]].sum()
    rest += terms.limits[others].sum()
    for place in range(others.size):
        if rest <= FINE * highest:
            break
        if place == LATER:
            rescore_top(search, query, rest, known, 0, count)
        rest -= terms.limits[others[place]]
        count = narrow(terms, others[place], kth_best(best, query) - highest - rest, known, count)
    if not any_number and count > max(FEW, terms.norms.size // SCORED):
        return False
    rescore_rest(search, query, rest, known, count, highest)
    return True


SAMPLED = 512  # documents of each query
MOST = 64  # largest k; beyond it the threshold costs as much as it saves
HEAVIEST = 3  # terms that choose the documents


@compiled
def seed_thresholds(search: Search) -> None:
    """Fill the empty heaps of queries with the lowest score of k seed documents.

    They are places to be taken: any document with this score or a higher one is better. Terms that
    may be left out are, since no term contribution is negative: the full scores are no lower.
    """
    rows, queries, terms, best = search
    k = best.scores.shape[1]
    seeds = np.empty(k, np.int64)
    for query in range(queries.scales.size):
        if best.sizes[query] > 0 or not write_seeds(rows, terms, query, seeds):
            continue
        lowest = np.inf
        for place in range(k):
            score = lexical_score(terms, query, seeds[place], True)
            if queries.scales[query] > 0:
                near = cosine(queries.vectors[query], rows.vectors[seeds[place]])
                score += queries.scales[query] * np.float64(near)
            lowest = min(lowest, score)
        if lowest > -np.inf:
            best.scores[query] = lowest
            best.sizes[query] = k


@compiled
def heaviest_terms(terms: QueryTerms, query: int, k: int) -> Int64s:
    """A query's heaviest terms, first one with at least k postings; none if no term has so many."""
    begin, lists = terms.begins[query], terms.postings.begins
    order: Int64s = begin + np.argsort(-terms.weights[begin : terms.ends[query]])
    for nth in range(order.size):
        term = terms.terms[order[nth]]
        if lists[term + 1] - lists[term] >= k:
            first = order[nth]
            for place in range(nth, 0, -1):
                order[place] = order[place - 1]
            order[0] = first
            return order[:HEAVIEST]
    return order[:0]


@compiled
def sample_postings(rows: Rows, listed: Int32s) -> Int64s:
    """Some documents of a posting list that may be found, from all over it."""
    kept, count = np.empty(listed.size if rows.allowed.size > 0 else 0, np.int32), 0
    for place in range(kept.size):
        if 0 <= listed[place] < rows.allowed.size and rows.allowed[listed[place]] > 0:
            kept[count] = listed[place]
            count += 1
    source = kept[:count] if rows.allowed.size > 0 else listed
    documents = np.empty(min(SAMPLED, source.size), np.int64)
    for index in range(documents.size):
        documents[index] = source[index * source.size // documents.size]
    return documents


@compiled
def write_seeds(rows: Rows, terms: QueryTerms, query: int, seeds: Int64s) -> bool:
    """Write k distinct seed documents; return whether there are so many."""
    heaviest = heaviest_terms(terms, query, seeds.size)
    if heaviest.size == 0:
        return False
    begins, term = terms.postings.begins, terms.terms[heaviest[0]]
    documents = sample_postings(rows, terms.postings.documents[begins[term] : begins[term + 1]])
    if documents.size < seeds.size:
        return False
    if documents.min() < 0 or documents.max() >= terms.norms.size:  # a file from elsewhere
        return False
    sums = np.zeros(documents.size)
    known = Candidates(documents, sums, sums)
    for place in heaviest:
        narrow(terms, place, 0.0, known, documents.size)
    for found in range(seeds.size):
        best = np.argmax(sums)
        if sums[best] <= 0:  # only deleted documents are left
            return False
        sums[best] = -1.0
        seeds[found] = documents[best]
    return True
