r"""The inverted index of a collection, in segments.

Words are indexed by their stems (`deltavec.core.learning.stemming`): all forms of a word are one
*term*, and a term has the same number in all segments. What a query term adds to a document is
:math:`q_i W_{di}` (`deltavec.search.lexical.bm25`). The sum is divided by its standard deviation
over the documents, :math:`\sigma_b^2 = \sum_i q_i^2 v_i`, with :math:`v_i` the variance of
:math:`W_{di}`, so that it can be added to a cosine that is scaled in the same way.

Nothing that depends on other documents is stored. The statistics of a term are taken from its
postings when a query first has it, those of deleted documents left out, and kept. So they are those
of a fresh build, to the last bit, whatever segments the documents are in (docs/decisions/0031).
"""

from __future__ import annotations

import functools
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from deltavec.core.arrays import (
    Float32s,
    Float64s,
    Int32s,
    Int64s,
    UInt8s,
    offsets_of,
    read_only,
    require_mapped,
)
from deltavec.core.jit import BUDGET
from deltavec.core.kernels.count import COUNTS
from deltavec.core.learning.stemming import LEAST_LETTERS, Rules
from deltavec.core.text.rules import is_marked
from deltavec.core.vocabulary import Vocabulary
from deltavec.search.lexical.bm25 import burstiness_weights, idf, norms_of, saturate
from deltavec.search.lexical.kernels import Postings, measure_postings

LEAST_SPREAD = 1e-3
NUMBERS_A_POSTING = 8  # a posting costs as much as this many multiplications


NO_NUMBERS = read_only(np.zeros(0, np.int64))
NO_WEIGHTS = read_only(np.zeros(0))


class HybridQuery(NamedTuple):
    r"""A query with a lexical part, a semantic part or both.

    Attributes
    ----------
    words : list of str
        The distinct words that occur in the collection, in their order.
    counts : ndarray of int64
        How often each stands in the query.
    places : ndarray of int64
        The place of each word's term in the next three.
    terms : ndarray of int64
        The different terms.
    weights : ndarray of float64
        What each term adds at most: :math:`q_i \mathrm{idf}_i / \sigma_b`.
    highest : ndarray of float64
        The highest saturated frequency of each term.
    unknown : list of str
        The words that occur in no document.
    vector : ndarray of float64
        The query vector, of unit length or zero.
    scale : float
        The factor of the cosine; 0 for keyword search.
    """

    words: Sequence[str] = ()
    counts: Int64s = NO_NUMBERS
    places: Int64s = NO_NUMBERS
    terms: Int64s = NO_NUMBERS
    weights: Float64s = NO_WEIGHTS
    highest: Float64s = NO_WEIGHTS
    unknown: Sequence[str] = ()
    vector: Float64s = NO_WEIGHTS
    scale: float = 0.0

    def shares(self, values: Float64s) -> Float64s:
        """What each word adds, where terms have these saturated frequencies; forms share it."""
        totals = np.bincount(self.places, self.counts, minlength=len(self.terms))
        each: Float64s = (self.weights * values)[self.places] * self.counts
        return each / totals[self.places]


@dataclass(frozen=True, eq=False)
class PostingsSegment:
    """The postings of a segment; they never change.

    Attributes
    ----------
    words : Vocabulary
        The words that no earlier segment has, in order of first occurrence. Single ASCII characters
        have no postings.
    groups : ndarray of int32
        The term of each of these words.
    rules : Rules
        What tells the forms of words; none but in the first segment.
    terms : ndarray of int32
        The terms with postings here, ascending.
    postings : Postings
        Their posting lists, and an empty one behind them.
    lengths : ndarray of int32
        The number of words of each document.
    """

    words: Vocabulary
    groups: Int32s
    rules: Rules
    terms: Int32s
    postings: Postings
    lengths: Int32s

    @functools.cached_property
    def prefixes(self) -> Int32s:
        """The beginnings of the words."""
        return word_prefixes(self.words)

    def locate(self, terms: Int64s) -> Int64s:
        """The place of each term's posting list, that of the empty list for a term not here."""
        wanted = terms.astype(self.terms.dtype)  # of another type, all terms would be converted
        places = self.terms.searchsorted(wanted)
        if len(self.terms):
            places[self.terms.take(places, mode="clip") != wanted] = len(self.terms)
        return places

    def postings_at(self, place: int) -> tuple[Int32s, UInt8s]:
        """The documents and counts at a place; entries out of range are dropped."""
        begin, end = self.postings.begins[place], self.postings.begins[place + 1]
        documents, counts = self.postings.documents[begin:end], self.postings.counts[begin:end]
        inside = (documents >= 0) & (documents < len(self.lengths))
        return (documents, counts) if inside.all() else (documents[inside], counts[inside])


def word_prefixes(words: Vocabulary) -> Int32s:
    """The first four bytes of each word: words that differ there are no forms of one."""
    places = words.offsets[:-1, None] + np.arange(LEAST_LETTERS)
    padded = np.append(words.data, np.uint8(0))
    found = padded[np.where(places < words.offsets[1:, None], places, len(padded) - 1)]
    return np.ascontiguousarray(found).view("<i4").ravel()


class SegmentPart(NamedTuple):
    """A segment as a search sees it: its posting lists, and the norms of its documents."""

    segment: PostingsSegment
    norms: Float32s  # infinite for deleted documents


class TermStatistics(ABC):
    """What the weights of a query depend on: statistics of documents and of terms."""

    @property
    @abstractmethod
    def documents(self) -> int:
        """How many documents there are, without deleted ones."""

    @property
    @abstractmethod
    def length_sums(self) -> tuple[int, int]:
        """The sums of all lengths and of their squares."""

    @abstractmethod
    def terms_of(self, words: Sequence[str]) -> Int64s:
        """The term of each word; -1 for a word that is not here."""

    @abstractmethod
    def statistics(self, terms: Int64s) -> Float64s:
        """A row for each term: see `deltavec.search.lexical.kernels.measure_postings`."""

    @property
    def mean_length(self) -> float:
        """The mean length of a document; at least 1."""
        return max(self.length_sums[0] / max(self.documents, 1), 1.0)

    def query(self, words: Sequence[str], *, ngrams: bool = False) -> HybridQuery:
        """The terms and weights of a query; single ASCII characters are ignored.

        If the index has n-grams beside words, each of the two is divided by its own deviation.
        """
        counts: dict[str, int] = {}
        for word in words:
            if len(word.encode("utf-8", "replace")) > 1:
                counts[word] = counts.get(word, 0) + 1
        groups = self.terms_of(list(counts))
        different = np.unique(groups[groups >= 0])
        held = self.statistics(different)
        terms, held = different[held[:, 0] > 0], held[held[:, 0] > 0]
        there = np.isin(groups, terms).tolist()
        known = [word for word, is_there in zip(counts, there, strict=True) if is_there]
        often = np.array([counts[word] for word in known], np.int64)
        places = np.searchsorted(terms, groups[there])
        totals = np.bincount(places, often, minlength=len(terms))
        documents = max(self.documents, 1)
        bursts = burstiness_weights(held[:, 1:4], *self.length_sums)
        worth: Float64s = totals * bursts * idf(documents, held[:, 0])
        variances = np.maximum(held[:, 5] / documents - (held[:, 4] / documents) ** 2, 0)
        part = np.zeros(len(terms), np.int64)
        if ngrams:
            part[places] = [is_marked(word) for word in known]
        spread = np.sqrt(np.bincount(part, worth**2 * variances, minlength=2))
        spread = np.maximum(spread, LEAST_SPREAD)[part]
        unknown = [word for word, is_there in zip(counts, there, strict=True) if not is_there]
        return HybridQuery(known, often, places, terms, worth / spread, held[:, 6], unknown)

    def burstiness_of(self, words: Sequence[str]) -> Float64s:
        """:math:`a_i / (a_i + .7)` of the terms of these words; 1 for a word that is not there."""
        held = self.statistics(np.maximum(terms := self.terms_of(words), 0))
        weights = burstiness_weights(held[:, 1:4], *self.length_sums)
        return np.where((terms >= 0) & (held[:, 0] > 0), weights, 1.0)


@dataclass(frozen=True, eq=False)
class InvertedIndex(TermStatistics):
    r"""The inverted index of a collection.

    Attributes
    ----------
    segments : tuple of PostingsSegment
        The segments; documents are numbered through all of them, deleted ones too.
    deleted : tuple of ndarray of int64
        The deleted documents of each segment, ascending.
    measured : dict
        The statistics of the terms that were asked for.
    """

    segments: tuple[PostingsSegment, ...]
    deleted: tuple[Int64s, ...]
    measured: dict[int, Float64s] = field(default_factory=dict)

    @functools.cached_property
    def begins(self) -> Int64s:
        """The number of the first document of each segment, and of all documents at the end."""
        return offsets_of([len(segment.lengths) for segment in self.segments])

    @property
    def documents(self) -> int:
        """How many documents there are, without deleted ones."""
        return int(self.begins[-1]) - sum(map(len, self.deleted))

    @functools.cached_property
    def length_sums(self) -> tuple[int, int]:
        """The sums of all lengths and of their squares."""
        total = squares = 0
        for segment, deleted in zip(self.segments, self.deleted, strict=True):
            for sign, some in ((1, segment.lengths), (-1, segment.lengths[deleted])):
                wide = some.astype(np.int64)
                total += sign * int(wide.sum())
                squares += sign * int(wide @ wide)
        return total, squares

    @functools.cached_property
    def parts(self) -> tuple[SegmentPart, ...]:
        """The segments with the norms :math:`K_d` of their documents."""
        return tuple(
            SegmentPart(segment, norms_of(segment.lengths, self.mean_length, deleted))
            for segment, deleted in zip(self.segments, self.deleted, strict=True)
        )

    @functools.cached_property
    def words(self) -> Vocabulary:
        """The words of all segments."""
        if len(self.segments) == 1:
            return self.segments[0].words
        offsets = offsets_of(np.concatenate([np.diff(s.words.offsets) for s in self.segments]))
        return Vocabulary(np.concatenate([s.words.data for s in self.segments]), offsets)

    @functools.cached_property
    def groups(self) -> Int32s:
        """The term of each of these words."""
        return np.concatenate([segment.groups for segment in self.segments])

    @functools.cached_property
    def terms(self) -> int:
        """How many terms there are."""
        return 1 + max(int(segment.groups.max(initial=-1)) for segment in self.segments)

    def terms_of(self, words: Sequence[str]) -> Int64s:
        """The term of each word; -1 for a word that is not here."""
        found = np.full(len(words), -1, np.int64)
        for segment in self.segments:
            left = np.flatnonzero(found < 0)
            if not len(left):
                break
            if len(segment.words):
                ids = segment.words.ids([words[place] for place in left.tolist()])
                found[left[ids >= 0]] = segment.groups[ids[ids >= 0]]
        return found

    def statistics(self, terms: Int64s) -> Float64s:
        """A row for each term: see `deltavec.search.lexical.kernels.measure_postings`."""
        require_mapped(*(segment.lengths for segment in self.segments))
        for term in terms.tolist():
            if term not in self.measured:
                self.measured[term] = self._measure(term)
        return np.array([self.measured[term] for term in terms.tolist()]).reshape(-1, 7)

    def _measure(self, term: int) -> Float64s:
        sums = np.zeros(7)
        for segment, norms in self.parts:
            [place] = segment.locate(np.array([term])).tolist()
            begin, end = segment.postings.begins[place : place + 2].tolist()
            if begin == end:
                continue
            if BUDGET.allows((end - begin) * NUMBERS_A_POSTING):
                add_statistics(*segment.postings_at(place), segment.lengths, norms, sums)
                continue
            documents, counts = segment.postings.documents[begin:end], segment.postings.counts
            measure_postings(documents, counts[begin:end], segment.lengths, norms, sums)
        return sums

    def shares(self, query: HybridQuery, document: int) -> Float64s:
        """What each query word adds to a document's score; forms of one word share it."""
        number = int(np.searchsorted(self.begins, document, side="right")) - 1
        segment, norms = self.parts[number]
        here = document - int(self.begins[number])
        values, (begins, documents, counts) = np.zeros(len(query.terms)), segment.postings
        wanted = documents.dtype.type(here)  # of another type, all documents would be converted
        for place, listed in enumerate(segment.locate(query.terms).tolist()):
            begin, end = begins[listed : listed + 2].tolist()
            found = begin + int(documents[begin:end].searchsorted(wanted))
            if found < end and documents[found] == here:
                values[place] = saturate(counts[found], norms[here])
        return query.shares(values)

    def holding(self, words: Sequence[str]) -> npt.NDArray[np.bool_]:
        """A mask of the documents that contain all of these words, in any form."""
        terms = self.terms_of(words)
        all_of_them = np.full(self.begins[-1], len(terms) > 0 and terms.min() >= 0)
        for number, segment in enumerate(self.segments):
            here = all_of_them[self.begins[number] : self.begins[number + 1]]
            for place in segment.locate(np.unique(terms[terms >= 0])).tolist():
                marks = np.zeros(len(here), bool)
                marks[segment.postings_at(place)[0]] = True
                here &= marks
        return all_of_them

    def forms(self, limit: int) -> list[list[str]]:
        """Examples of stems: the words of the most frequent terms that have several forms."""
        sizes, held = np.bincount(self.groups, minlength=self.terms), np.zeros(self.terms, np.int64)
        for segment in self.segments:
            held[segment.terms] += np.diff(segment.postings.begins)[:-1]
        several = np.flatnonzero(sizes > 1)
        chosen = several[np.argsort(-held[several], kind="stable")[:limit]]
        return [
            sorted(
                word[1:-1] if is_marked(word) else word
                for word in map(self.words.word, np.flatnonzero(self.groups == term).tolist())
            )
            for term in chosen.tolist()
        ]


def add_statistics(
    documents: Int32s, counts: UInt8s, lengths: Int32s, norms: Float32s, sums: Float64s
) -> None:
    """What `measure_postings` does, to the last bit, without the compiler."""
    live = norms[documents] < np.inf
    documents, n = documents[live], COUNTS[counts[live]]
    if not len(n):
        return
    values = saturate(counts[live], norms[documents])
    for place, added in enumerate(
        (np.ones(len(n)), n, n * n, n * lengths[documents], values, values * values)
    ):
        sums[place] = np.add.accumulate(np.append(sums[place], added))[-1]
    sums[6] = max(sums[6], values.max())
