"""Documents that are likely to be among the best, found by the heaviest words of a query.

How low the k-th of them scores is known before the search begins: no document below it has to be
looked at, whatever comes first. It is no more than a beginning; what is found is the same.
"""

from __future__ import annotations

import numpy as np

from deltavec.core.arrays import Float32s, Float64s, Int64s
from deltavec.core.jit import compiled
from deltavec.search.kernels import cosine
from deltavec.search.lexical.kernels import QueryTerms, first_posting_from, lexical_score

LOOKED_AT = 512  # documents of each query
MOST = 64  # documents wanted; to look for more takes as long as it saves
HEAVIEST = 3  # words by which the documents are chosen


@compiled
def heaviest_terms(words: QueryTerms, query: int, k: int, heaviest: Int64s) -> int:
    """Write the places of a query's heaviest terms, first one that k documents hold; how many."""
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
def seed_documents(words: QueryTerms, likely: Int64s) -> None:
    """Write likely documents of each query, as many as there is room for; -1 if there are fewer."""
    for query in range(likely.shape[0]):
        if not write_seeds(words, query, likely[query]):
            likely[query] = -1


@compiled
def write_seeds(words: QueryTerms, query: int, likely: Int64s) -> bool:
    """Write as many different documents as there is room for; whether there are so many."""
    k = likely.size
    heaviest = np.empty(HEAVIEST, np.int64)
    count = heaviest_terms(words, query, k, heaviest)
    if count == 0:
        return False
    term = words.terms[heaviest[0]]
    begin, end = words.postings.begins[term], words.postings.begins[term + 1]
    looked_at = min(LOOKED_AT, end - begin)
    documents = np.empty(looked_at, np.int64)
    for index in range(looked_at):
        documents[index] = words.postings.documents[begin + index * (end - begin) // looked_at]
    if documents.min() < 0 or documents.max() >= words.norms.size:  # not our own file
        return False
    sums = np.zeros(looked_at)
    for place in heaviest[:count]:
        add_shares(words, place, documents, sums)
    for found in range(k):
        best = np.argmax(sums)
        sums[best] = -1.0
        likely[found] = documents[best]
    return True


@compiled
def add_shares(words: QueryTerms, index: int, documents: Int64s, sums: Float64s) -> None:
    """Add what a term adds to each of some documents, ascending, to their sums."""
    term, weight = words.terms[index], words.weights[index]
    begin, end = words.postings.begins[term], words.postings.begins[term + 1]
    listed, counts = words.postings.documents[begin:end], words.postings.counts[begin:end]
    place = 0
    for number in range(documents.size):
        document = documents[number]
        place = first_posting_from(listed, place, document)
        if place < listed.size and listed[place] == document:
            n = np.float64(counts[place])
            sums[number] += weight * (n / (n + np.float64(words.norms[document])))


@compiled
def seed_thresholds(
    words: QueryTerms,
    queries: Float32s,
    scales: Float64s,
    likely: Int64s,
    vectors: Float32s,
    lowest: Float64s,
) -> None:
    """Write the lowest score of each query's likely documents, without what light words add.

    ``likely`` are their numbers, -1 where there are none; ``vectors`` are theirs. No term takes
    anything from a sum, rounded or not: the scores themselves are no lower.
    """
    k = likely.shape[1]
    for query in range(likely.shape[0]):
        lowest[query] = -np.inf if likely[query, 0] < 0 else np.inf
        for index in range(k):
            if likely[query, index] < 0:
                break
            score = scales[query] * np.float64(cosine(queries[query], vectors[query * k + index]))
            score += lexical_score(words, query, likely[query, index], True)
            lowest[query] = min(lowest[query], score)
