r"""The loops over postings, compiled by numba: lists made, measured and added up.

A term's *postings* are the documents that hold it, ascending, and how often each does. What a
document adds for a term is

.. math:: W_{di} = \mathrm{idf}_i\, \frac{n}{n + K_d}, \qquad
          K_d = k_1 \left(1 - b + b\, \frac{L_d}{\bar L}\right),

(Robertson and Zaragoza 2009, with the idf of Lucene). A document's sum is taken over the terms of a
query in their order, in float64, by one thread: no split of the documents changes a bit of it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from deltavec.core.arrays import Float32s, Float64s, Int32s, Int64s, UInt8s
from deltavec.core.jit import compiled
from deltavec.core.kernels.count import MOST_COUNTED


class Postings(NamedTuple):
    """Postings: term i has entries ``begins[i]`` to ``begins[i + 1]``."""

    begins: Int64s
    documents: Int32s
    counts: UInt8s


class QueryTerms(NamedTuple):
    """Words of queries to be looked up: query j has terms ``begins[j]`` to ``begins[j + 1]``."""

    postings: Postings
    norms: Float32s
    begins: Int64s
    terms: Int64s
    weights: Float64s
    nonessential: UInt8s  # 1 for terms that may be left out at first


@compiled
def count_documents(
    ids: Int32s, ends: Int64s, groups: Int32s, first: int, counts: Int64s, latest: Int32s
) -> None:
    """Add to each term's count the documents that hold it; the first has this number.

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
    """The new number of a document, -1 if it goes, or is none: files may say anything."""
    return numbers[document] if 0 <= document < numbers.size else -1


@compiled
def count_kept(old: Postings, numbers: Int32s, counts: Int64s) -> None:
    """Write how many of the documents that hold each term stay.

    ``numbers`` are the new ones of documents, -1 of those that go.
    """
    for term in range(old.begins.size - 1):
        counts[term] = 0
        for place in range(old.begins[term], old.begins[term + 1]):
            counts[term] += new_number(numbers, old.documents[place]) >= 0


@compiled
def copy_postings(
    old: Postings, terms: Int64s, numbers: Int32s, begins: Int64s, new: Postings
) -> None:
    """Copy the postings of some terms; where each goes on is written to begins.

    ``terms`` are their numbers in ``old``, or beyond it for terms that are new; ``numbers`` are the
    new ones of documents, -1 of those that go. ``begins`` has a place for each of the terms in
    ``new``, whose own begin at 0.
    """
    for index in range(terms.size):
        if terms[index] >= old.begins.size - 1:
            continue
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
    """Append documents to the postings of the terms ``first`` to ``last`` that they hold.

    Words of one term in a document are one posting. ``begins`` as in `copy_postings`.
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
                both = np.int64(new.counts[target - 1]) + counts[place]
                new.counts[target - 1] = min(both, MOST_COUNTED)
                continue
            new.documents[target] = document
            new.counts[target] = counts[place]
            begins[term - first] = target + 1
        begin = ends[index]


@compiled
def measure_terms(
    lists: Postings,
    first: int,
    last: int,
    lengths: Int32s,
    norms: Float32s,
    clumping: Float64s,
    variances: Float64s,
) -> None:
    """Write how the occurrences of terms ``first`` to ``last`` vary over the documents.

    ``clumping`` has a row for each term: the sums of n, of n squared and of n times the length of
    the document. ``variances`` are those of n / (n + K), over all documents.
    """
    documents = lengths.size
    for term in range(first, last):
        total = squares = by_length = mean = square = 0.0
        for place in range(lists.begins[term], lists.begins[term + 1]):
            document = lists.documents[place]
            if document < 0 or document >= documents:  # not our own file: see `mapped_words`
                continue
            n = float(lists.counts[place])
            total += n
            squares += n * n
            by_length += n * lengths[document]
            value = n / (n + float(norms[document]))
            mean += value
            square += value * value
        clumping[term, 0], clumping[term, 1], clumping[term, 2] = total, squares, by_length
        mean /= documents
        variances[term] = max(0.0, square / documents - mean * mean)


@compiled
def max_impacts(lists: Postings, norms: Float32s, highest: Float64s) -> None:
    """Write the highest share n / (n + K) of each term."""
    for term in range(lists.begins.size - 1):
        for place in range(lists.begins[term], lists.begins[term + 1]):
            document = lists.documents[place]
            if 0 <= document < norms.size:  # else not our own file
                n = np.float64(lists.counts[place])
                highest[term] = max(highest[term], n / (n + np.float64(norms[document])))


@compiled
def add_query_scores(
    words: QueryTerms, query: int, heavy_only: bool, first: int, scores: Float64s
) -> None:
    """Write what a query adds to documents from ``first`` on, with its light terms or without."""
    scores[:] = 0
    lists, stop = words.postings, first + scores.size
    for index in range(words.begins[query], words.begins[query + 1]):
        if heavy_only and words.nonessential[index]:
            continue
        term, weight = words.terms[index], words.weights[index]
        begin, end = lists.begins[term], lists.begins[term + 1]
        documents, counts = lists.documents[begin:end], lists.counts[begin:end]
        place = np.searchsorted(documents, first)
        while place < documents.size and documents[place] < stop:
            document = documents[place]
            place += 1
            if document < first:  # not ascending: not our own file
                continue
            n = np.float64(counts[place - 1])
            scores[document - first] += weight * (n / (n + np.float64(words.norms[document])))


@compiled
def first_posting_from(documents: Int32s, place: int, document: int) -> int:
    """The first place from this one on of a document that is no earlier: soon found if it is near.

    A list that is not ascending, which is not our own, gives some place of it.
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
    """The share n / (n + K) of a term in one document, 0 where it does not occur."""
    begin, end = lists.begins[term], lists.begins[term + 1]
    place = begin + np.searchsorted(lists.documents[begin:end], document)
    if place < end and lists.documents[place] == document:
        n = np.float64(lists.counts[place])
        return n / (n + np.float64(norms[document]))
    return 0.0


@compiled
def lexical_score(words: QueryTerms, query: int, document: int, heavy_only: bool) -> float:
    """What the terms of a query add to one document: the same bits as `add_query_scores` gives."""
    total = 0.0
    for index in range(words.begins[query], words.begins[query + 1]):
        if heavy_only and words.nonessential[index]:
            continue
        share = impact(words.postings, words.norms, words.terms[index], document)
        total += words.weights[index] * share
    return total
