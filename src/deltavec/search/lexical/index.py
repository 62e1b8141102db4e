r"""The inverted index of a collection.

Words are indexed by their stems (`deltavec.core.learning.stemming`): all forms of a word are one
*term*. What a query term adds to a document is :math:`q_i W_{di}` (`deltavec.search.lexical.bm25`).
The sum is divided by its standard deviation over the documents, :math:`\sigma_b^2 = \sum_i q_i^2
v_i`, with :math:`v_i` the variance of :math:`W_{di}`, so that it can be added to a cosine that is
scaled in the same way.
"""

from __future__ import annotations

import functools
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
    read_only,
    require_mapped,
)
from deltavec.core.learning.stemming import Stems
from deltavec.core.text.rules import is_marked
from deltavec.core.vocabulary import Vocabulary
from deltavec.search.lexical.bm25 import idf, norms_of, saturate
from deltavec.search.lexical.kernels import Postings, max_impacts

LEAST_SPREAD = 1e-3


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
        The place of each word's term in the next two.
    terms : ndarray of int64
        The different terms.
    weights : ndarray of float64
        What each term adds at most: :math:`q_i \mathrm{idf}_i / \sigma_b`.
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
    unknown: Sequence[str] = ()
    vector: Float64s = NO_WEIGHTS
    scale: float = 0.0


class MaxImpacts:
    """The highest saturated frequency of each term, for MaxScore; 1 until it is computed."""

    def __init__(self) -> None:
        self.made: Float64s | None = None

    def make(self, lists: Postings, norms: Float32s) -> None:
        """Compute them from all postings; servers call this at start-up."""
        if self.made is None:
            highest = np.zeros(len(lists.begins) - 1)
            max_impacts(lists, norms, highest)
            self.made = read_only(highest)

    def of(self, terms: Int64s) -> Float64s:
        """The upper bounds of these terms."""
        return np.ones(len(terms)) if self.made is None else self.made[terms]


@dataclass(frozen=True, eq=False)
class InvertedIndex:
    r"""The inverted index of a collection.

    Attributes
    ----------
    words : Vocabulary
        All words, in order of first occurrence. Single ASCII characters have no postings.
    stems : Stems
        The term of each word.
    postings : Postings
        The posting lists.
    lengths : ndarray of int32
        The number of words of each document.
    burstiness : ndarray of float64
        :math:`a_i / (a_i + .7)` of each term.
    variances : ndarray of float64
        :math:`v_i / \mathrm{idf}_i^2` of each term.
    max_impacts : MaxImpacts
        Upper bounds of saturated frequencies.
    """

    words: Vocabulary
    stems: Stems
    postings: Postings
    lengths: Int32s
    burstiness: Float64s
    variances: Float64s
    max_impacts: MaxImpacts = field(default_factory=MaxImpacts)

    @functools.cached_property
    def norms(self) -> Float32s:
        """:math:`K_d` of each document."""
        return norms_of(self.lengths)

    @property
    def documents(self) -> int:
        """How many documents there are."""
        return len(self.lengths)

    def idf(self, terms: Int64s) -> Float64s:
        """Inverse document frequencies of these terms."""
        return idf(self.documents, self.postings.begins[terms + 1] - self.postings.begins[terms])

    def query(self, words: Sequence[str], *, ngrams: bool = False) -> HybridQuery:
        """The terms and weights of a query; single ASCII characters are ignored.

        If the index has n-grams beside words, each of the two is divided by its own deviation.
        """
        require_mapped(self.lengths)
        counts: dict[str, int] = {}
        for word in words:
            if len(word.encode("utf-8", "replace")) > 1:
                counts[word] = counts.get(word, 0) + 1
        ids = self.words.ids(list(counts))
        there = (ids >= 0).tolist()
        known = [word for word, is_there in zip(counts, there, strict=True) if is_there]
        often = np.array([counts[word] for word in known], np.int64)
        groups = self.stems.groups[ids[ids >= 0]].tolist()
        different = sorted(set(groups))
        place_of = {term: place for place, term in enumerate(different)}
        terms = np.array(different, np.int64)
        places = np.array([place_of[term] for term in groups], np.int64)
        totals = np.bincount(places, often, minlength=len(terms))
        worth = totals * self.burstiness[terms] * self.idf(terms)
        part = np.zeros(len(terms), np.int64)
        if ngrams:
            part[places] = [is_marked(word) for word in known]
        spread = np.sqrt(np.bincount(part, worth**2 * self.variances[terms], minlength=2))
        spread = np.maximum(spread, LEAST_SPREAD)[part]
        unknown = [word for word, is_there in zip(counts, there, strict=True) if not is_there]
        return HybridQuery(known, often, places, terms, worth / spread, unknown)

    def burstiness_of(self, words: Sequence[str]) -> Float64s:
        """:math:`a_i / (a_i + .7)` of the terms of these words; 1 for a word that is not there."""
        ids = self.words.ids(list(words))
        return np.where(ids >= 0, self.burstiness[self.stems.groups[ids]], 1.0)

    def shares(self, query: HybridQuery, document: int) -> Float64s:
        """What each query word adds to a document's score; forms of one word share it."""
        values = np.array([self._value(term, document) for term in query.terms.tolist()], float)
        totals = np.bincount(query.places, query.counts, minlength=len(query.terms))
        each: Float64s = (query.weights * values)[query.places] * query.counts
        return each / totals[query.places]

    def holding(self, words: Sequence[str]) -> npt.NDArray[np.bool_]:
        """A mask of the documents that contain all of these words, in any form."""
        ids = self.words.ids(list(words))
        all_of_them = np.full(self.documents, len(ids) > 0 and ids.min() >= 0)
        for term in np.unique(self.stems.groups[ids[ids >= 0]]).tolist():
            marks = np.zeros(self.documents, bool)
            marks[self.postings_of(term)[0]] = True
            all_of_them &= marks
        return all_of_them

    def postings_of(self, term: int) -> tuple[Int32s, UInt8s]:
        """The documents of a term and its counts; entries out of range are dropped."""
        begin, end = self.postings.begins[term], self.postings.begins[term + 1]
        documents, counts = self.postings.documents[begin:end], self.postings.counts[begin:end]
        inside = (documents >= 0) & (documents < self.documents)
        return (documents, counts) if inside.all() else (documents[inside], counts[inside])

    def _value(self, term: int, document: int) -> float:
        """The saturated frequency of a term in a document, 0 where it does not occur."""
        documents, counts = self.postings_of(term)
        place = int(np.searchsorted(documents, document))
        if place == len(documents) or documents[place] != document:
            return 0.0
        return float(saturate(counts[place], self.norms[document]))

    def forms(self, limit: int) -> list[list[str]]:
        """Examples of stems: the words of the most frequent terms that have several forms."""
        sizes = np.bincount(self.stems.groups, minlength=len(self.stems))
        several = np.flatnonzero(sizes > 1)
        held = np.diff(self.postings.begins)[several]
        chosen = several[np.argsort(-held, kind="stable")[:limit]]
        return [
            sorted(
                word[1:-1] if is_marked(word) else word
                for word in map(self.words.word, np.flatnonzero(self.stems.groups == term).tolist())
            )
            for term in chosen.tolist()
        ]
