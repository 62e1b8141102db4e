"""A top-k threshold to start with, from documents that contain the heaviest query terms.

The lowest score of k such documents is a threshold before the search begins. It changes how much is
scored, never what is found.
"""

from __future__ import annotations

import numpy as np

from deltavec.core.arrays import Int32s, Int64s
from deltavec.core.jit import compiled
from deltavec.search.hybrid.bounds import Candidates
from deltavec.search.hybrid.maxscore import narrow
from deltavec.search.kernels import Queries, Rows, TopK, cosine
from deltavec.search.lexical.kernels import QueryTerms, lexical_score

SAMPLED = 512  # documents of each query
MOST = 64  # largest k; beyond it the threshold costs as much as it saves
HEAVIEST = 3  # terms that choose the documents


@compiled
def seed_thresholds(rows: Rows, queries: Queries, terms: QueryTerms, best: TopK) -> None:
    """Fill the empty heaps of queries with the lowest score of k seed documents.

    They are places to be taken: any document with this score or a higher one is better. Terms that
    may be left out are, since no term contribution is negative: the full scores are no lower.
    """
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
def heaviest_terms(terms: QueryTerms, query: int, k: int, heaviest: Int64s) -> int:
    """Write a query's heaviest terms, first one with at least k postings; return how many."""
    found = 0
    begin, end = terms.begins[query], terms.ends[query]
    while found < heaviest.size:
        best = -1
        for place in range(begin, end):
            term = terms.terms[place]
            if found == 0 and terms.postings.begins[term + 1] - terms.postings.begins[term] < k:
                continue
            taken = False
            for other in range(found):
                taken = taken or heaviest[other] == place
            if not taken and (best < 0 or terms.weights[place] > terms.weights[best]):
                best = place
        if best < 0:
            break
        heaviest[found] = best
        found += 1
    return found


@compiled
def sample_postings(rows: Rows, listed: Int32s) -> Int64s:
    """Some documents of a posting list that may be found, from all over it."""
    kept, count = np.empty(listed.size if rows.allowed.size > 0 else 0, np.int64), 0
    for place in range(kept.size):
        if 0 <= listed[place] < rows.allowed.size and rows.allowed[listed[place]] > 0:
            kept[count] = listed[place]
            count += 1
    count = count if rows.allowed.size > 0 else listed.size
    documents = np.empty(min(SAMPLED, count), np.int64)
    for index in range(documents.size):
        place = index * count // documents.size
        documents[index] = kept[place] if rows.allowed.size > 0 else listed[place]
    return documents


@compiled
def write_seeds(rows: Rows, terms: QueryTerms, query: int, seeds: Int64s) -> bool:
    """Write k distinct seed documents; return whether there are so many."""
    heaviest = np.empty(HEAVIEST, np.int64)
    count = heaviest_terms(terms, query, seeds.size, heaviest)
    if count == 0:
        return False
    begins, term = terms.postings.begins, terms.terms[heaviest[0]]
    documents = sample_postings(rows, terms.postings.documents[begins[term] : begins[term + 1]])
    if documents.size < seeds.size:
        return False
    if documents.min() < 0 or documents.max() >= terms.norms.size:  # a file from elsewhere
        return False
    sums = np.zeros(documents.size)
    known = Candidates(documents, sums, sums)
    for place in heaviest[:count]:
        narrow(terms, place, 0.0, known, documents.size)
    for found in range(seeds.size):
        best = np.argmax(sums)
        if sums[best] <= 0:  # only deleted documents are left
            return False
        sums[best] = -1.0
        seeds[found] = documents[best]
    return True
