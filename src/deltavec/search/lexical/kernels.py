"""Loops over postings: building, measuring and scoring.

The *postings* of a term are the documents that contain it, ascending, and its counts. A document's
BM25 score (`deltavec.search.lexical.bm25`) is summed over the query terms in their order, in
float64, by one thread, so no split of the documents changes a bit of it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from deltavec.core.arrays import Float32s, Float64s, Int32s, Int64s, UInt8s
from deltavec.core.jit import compiled
from deltavec.core.kernels.count import COUNTS, packed_count
from deltavec.search.lexical.bm25 import saturation


class Postings(NamedTuple):
    """Posting lists: term i has entries ``begins[i]`` to ``begins[i + 1]``."""

    begins: Int64s
    documents: Int32s
    counts: UInt8s


class QueryTerms(NamedTuple):
    """Terms of queries: query j has terms ``begins[j]`` to ``ends[j]``."""

    postings: Postings
    norms: Float32s
    begins: Int64s
    ends: Int64s
    terms: Int64s
    weights: Float64s
    limits: Float64s  # what each term adds at most
    nonessential: UInt8s  # 1 for terms that may be left out at first (MaxScore)
    most: Float64s  # (queries,): the most that these terms can add


@compiled
def count_documents(
    ids: Int32s, ends: Int64s, groups: Int32s, first: int, counts: Int64s, latest: Int32s
) -> None:
    """Add the documents of this batch, the first of them ``first``, to each term's document count.

    ``latest`` is the last document that each term was seen in.
    """
    begin = 0
    for index in range(ends.size):
        for place in range(begin, ends[index]):
            term = groups[ids[place]]
            if latest[term] != first + index:
                latest[term] = first + index
                counts[term] += 1
        begin = ends[index]


@compiled
def new_number(numbers: Int32s, document: int) -> int:
    """The new number of a document; -1 if it is deleted or out of range."""
    return numbers[document] if 0 <= document < numbers.size else -1


@compiled
def count_kept(old: Postings, numbers: Int32s, counts: Int64s) -> None:
    """Write the document count of each term after a merge.

    ``numbers`` are the new document numbers, -1 for deleted documents.
    """
    for term in range(counts.size):
        counts[term] = 0
        for place in range(old.begins[term], old.begins[term + 1]):
            counts[term] += new_number(numbers, old.documents[place]) >= 0


@compiled
def copy_postings(
    old: Postings, terms: Int64s, numbers: Int32s, begins: Int64s, new: Postings
) -> None:
    """Copy the postings of some terms and write to ``begins`` where each list continues.

    ``terms`` are their places in ``old``; ``numbers`` are the new document numbers, -1 for deleted
    documents. ``begins`` has an entry for each term of ``new``.
    """
    for index in range(terms.size):
        target = begins[index]
        for place in range(old.begins[terms[index]], old.begins[terms[index] + 1]):
            document = new_number(numbers, old.documents[place])
            if document >= 0:
                new.documents[target] = document
                new.counts[target] = old.counts[place]
                target += 1
        begins[index] = target


@compiled
def distribute(
    ids: Int32s,
    counts: UInt8s,
    ends: Int64s,
    groups: Int32s,
    first_document: int,
    first: int,
    last: int,
    begins: Int64s,
    new: Postings,
) -> None:
    """Append documents to the postings of terms ``first`` to ``last``.

    Words of one term in a document make one posting. ``begins`` as in `copy_postings`.
    """
    begin = 0
    for index in range(ends.size):
        document = first_document + index
        for place in range(begin, ends[index]):
            term = groups[ids[place]]
            if term < first or term >= last:
                continue
            target = begins[term - first]
            if target > new.begins[term - first] and new.documents[target - 1] == document:
                before = new.counts[target - 1]
                both = int(COUNTS[before] + COUNTS[counts[place]])
                new.counts[target - 1] = packed_count(both, before % 4 + counts[place] % 4)
                continue
            new.documents[target] = document
            new.counts[target] = counts[place]
            begins[term - first] = target + 1
        begin = ends[index]


@compiled
def measure_postings(
    documents: Int32s, counts: UInt8s, lengths: Int32s, norms: Float32s, sums: Float64s
) -> None:
    """Add the postings of a term to its statistics, those of deleted documents left out.

    ``sums`` are the documents, and the sums of n, n squared, n times the length, the saturated
    frequency and its square; the last number is the highest saturated frequency.
    """
    for place in range(documents.size):
        document = documents[place]
        if document < 0 or document >= norms.size or norms[document] == np.inf:
            continue  # not there: a file from elsewhere, or deleted
        n = COUNTS[counts[place]]
        value = saturation(counts[place], norms[document])
        sums[0] += 1
        sums[1] += n
        sums[2] += n * n
        sums[3] += n * lengths[document]
        sums[4] += value
        sums[5] += value * value
        sums[6] = max(sums[6], value)


@compiled
def add_query_scores(
    words: QueryTerms, query: int, essential_only: bool, first: int, scores: Float64s
) -> None:
    """Write the lexical scores of documents from ``first`` on, perhaps of essential terms only."""
    scores[:] = 0
    lists, stop = words.postings, first + scores.size
    for index in range(words.begins[query], words.ends[query]):
        if essential_only and words.nonessential[index]:
            continue
        term, weight = words.terms[index], words.weights[index]
        begin, end = lists.begins[term], lists.begins[term + 1]
        documents, counts = lists.documents[begin:end], lists.counts[begin:end]
        place = np.searchsorted(documents, first)
        while place < documents.size and documents[place] < stop:
            document = documents[place]
            place += 1
            if document < first:  # not ascending: a file from elsewhere
                continue
            scores[document - first] += weight * saturation(
                counts[place - 1], words.norms[document]
            )


@compiled
def first_posting_from(documents: Int32s, place: int, document: int) -> int:
    """The first position from ``place`` on with at least this document, by galloping search.

    A list that is not ascending, from a file from elsewhere, gives any position in it.
    """
    if place >= documents.size or documents[place] >= document:
        return place
    step = 1
    while place + step < documents.size and documents[place + step] < document:
        place += step
        step *= 2
    end = min(place + step, documents.size)
    while end - place > 1:
        middle = (place + end) // 2
        if documents[middle] < document:
            place = middle
        else:
            end = middle
    return end


@compiled
def impact(lists: Postings, norms: Float32s, term: int, document: int) -> float:
    """The saturated frequency of a term in one document, 0 where it does not occur."""
    begin, end = lists.begins[term], lists.begins[term + 1]
    place = begin + np.searchsorted(lists.documents[begin:end], document)
    if place < end and lists.documents[place] == document:
        value: float = saturation(lists.counts[place], norms[document])
        return value
    return 0.0


@compiled
def lexical_score(words: QueryTerms, query: int, document: int, essential_only: bool) -> float:
    """The lexical score of one document: the same bits as `add_query_scores`."""
    total = 0.0
    for index in range(words.begins[query], words.ends[query]):
        if essential_only and words.nonessential[index]:
            continue
        share = impact(words.postings, words.norms, words.terms[index], document)
        total += words.weights[index] * share
    return total
