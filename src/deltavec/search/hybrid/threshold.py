"""A top-k threshold to start with, from documents that contain the heaviest query terms.

The lowest score of k such documents is a threshold before the search begins. It changes how much is
scored, never what is found.
"""

from __future__ import annotations

import numpy as np

from deltavec.core.arrays import Float32s, Float64s, Int64s
from deltavec.core.jit import compiled
from deltavec.search.hybrid.bounds import HybridTerms
from deltavec.search.kernels import cosine
from deltavec.search.lexical.bm25 import saturation
from deltavec.search.lexical.kernels import QueryTerms, first_posting_from, lexical_score

SAMPLED = 512  # documents of each query
MOST = 64  # largest k; beyond it the threshold costs as much as it saves
HEAVIEST = 3  # terms that choose the documents


@compiled
def heaviest_terms(words: QueryTerms, query: int, k: int, heaviest: Int64s) -> int:
    """Write a query's heaviest terms, first one with at least k postings; return how many."""
    found = 0
    begin, end = words.begins[query], words.begins[query + 1]
    while found < heaviest.size:
        best = -1
        for place in range(begin, end):
            term = words.terms[place]
            if found == 0 and words.postings.begins[term + 1] - words.postings.begins[term] < k:
                continue
            taken = False
            for other in range(found):
                taken = taken or heaviest[other] == place
            if not taken and (best < 0 or words.weights[place] > words.weights[best]):
                best = place
        if best < 0:
            break
        heaviest[found] = best
        found += 1
    return found


@compiled
def seed_documents(words: QueryTerms, seeds: Int64s) -> None:
    """Write k seed documents of each query; -1 if there are fewer."""
    for query in range(seeds.shape[0]):
        if not write_seeds(words, query, seeds[query]):
            seeds[query] = -1


@compiled
def write_seeds(words: QueryTerms, query: int, seeds: Int64s) -> bool:
    """Write k distinct seed documents; return whether there are so many."""
    k = seeds.size
    heaviest = np.empty(HEAVIEST, np.int64)
    count = heaviest_terms(words, query, k, heaviest)
    if count == 0:
        return False
    term = words.terms[heaviest[0]]
    begin, end = words.postings.begins[term], words.postings.begins[term + 1]
    sampled = min(SAMPLED, end - begin)
    documents = np.empty(sampled, np.int64)
    for index in range(sampled):
        documents[index] = words.postings.documents[begin + index * (end - begin) // sampled]
    if documents.min() < 0 or documents.max() >= words.norms.size:  # a file from elsewhere
        return False
    sums = np.zeros(sampled)
    for place in heaviest[:count]:
        add_shares(words, place, documents, sums)
    for found in range(k):
        best = np.argmax(sums)
        if sums[best] <= 0:  # only deleted documents are left
            return False
        sums[best] = -1.0
        seeds[found] = documents[best]
    return True


@compiled
def add_shares(words: QueryTerms, index: int, documents: Int64s, sums: Float64s) -> None:
    """Add a term's scores to the sums of some documents, which are ascending."""
    term, weight = words.terms[index], words.weights[index]
    begin, end = words.postings.begins[term], words.postings.begins[term + 1]
    listed, counts = words.postings.documents[begin:end], words.postings.counts[begin:end]
    place = 0
    for number in range(documents.size):
        document = documents[number]
        place = first_posting_from(listed, place, document)
        if place < listed.size and listed[place] == document:
            sums[number] += weight * saturation(counts[place], words.norms[document])


@compiled
def seed_thresholds(
    terms: HybridTerms, queries: Float32s, seeds: Int64s, vectors: Float32s, lowest: Float64s
) -> None:
    """Write the lowest score of each query's seed documents, without non-essential terms.

    ``seeds`` are their numbers, -1 where there are none, and ``vectors`` their vectors. No term
    contribution is negative, so the full scores are no lower.
    """
    k = seeds.shape[1]
    for query in range(seeds.shape[0]):
        lowest[query] = -np.inf if seeds[query, 0] < 0 else np.inf
        for index in range(k):
            if seeds[query, index] < 0:
                break
            score = np.float64(cosine(queries[query], vectors[query * k + index]))
            score *= terms.scales[query]
            score += lexical_score(terms.words, query, seeds[query, index], True)
            lowest[query] = min(lowest[query], score)
