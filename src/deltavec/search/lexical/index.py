r"""Which documents hold each word, and how much it says: the words of a collection, to be searched.

Words are searched by their stems (`deltavec.core.learning.stemming`): all forms of a word are one
*term*. What a term of the query adds to a document is :math:`q_i W_{di}` (see
`deltavec.search.lexical.kernels`), with

.. math:: \mathrm{idf}_i = \ln\left(1 + \frac{D - D_i + .5}{D_i + .5}\right), \quad
          q_i = n_i\, \frac{a_i}{a_i + .7}, \quad
          a_i = \frac{\sum_d (n_{di} - \mu_{di})^2 - \mu_{di} + 1}{\sum_d \mu_{di}^2 + .2}, \quad
          \mu_{di} = p_i L_d.

:math:`a_i` is how much more a term clumps than if it were strewn over the documents at random: near
0 for *the* and *with*, which say nothing although they are in the query, and above 1 for words that
documents are about. So no list of stop words is needed (docs/decisions/0019). The sum is divided by
its own spread over the documents, :math:`\sigma_b^2 = \sum_i q_i^2 v_i`, with :math:`v_i` the
variance of :math:`W_{di}`: two constants of the query away from the cosine it is added to.
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
from deltavec.core.vocabulary import Vocabulary
from deltavec.search.lexical.kernels import Postings, max_impacts

SATURATION = 1.5  # k1
LENGTH_SHARE = 0.75  # b
EVEN = 0.7  # the clumping of a term that counts half
LEAST_CLUMPING = 0.01  # so that a query of nothing but *the* finds something
LEAST_SPREAD = 1e-3


class LexicalQuery(NamedTuple):
    r"""What the words of a query are worth.

    Attributes
    ----------
    words : list of str
        The different words that occur in the collection, in their order.
    counts : ndarray of int64
        How often each stands in the query.
    places : ndarray of int64
        The place of each word's term in the next two.
    terms : ndarray of int64
        The different terms.
    weights : ndarray of float64
        What each term adds at most: :math:`q_i \mathrm{idf}_i / \sigma_b`.
    unknown : list of str
        The words that no document holds.
    """

    words: list[str]
    counts: Int64s
    places: Int64s
    terms: Int64s
    weights: Float64s
    unknown: list[str]


class MaxImpacts:
    """The most of each term's shares n / (n + K), where they are known; 1 is more than any."""

    def __init__(self) -> None:
        self.made: Float64s | None = None

    def make(self, lists: Postings, norms: Float32s) -> None:
        """Look at all postings once: for who will search many times."""
        if self.made is None:
            peaks = np.zeros(len(lists.begins) - 1)
            max_impacts(lists, norms, peaks)
            self.made = read_only(peaks)

    def of(self, terms: Int64s) -> Float64s:
        """Those of some terms."""
        return np.ones(len(terms)) if self.made is None else self.made[terms]


@dataclass(frozen=True, eq=False)
class InvertedIndex:
    r"""The words of a collection.

    Attributes
    ----------
    words : Vocabulary
        All words, in the order in which they first came. Single ASCII characters have no postings.
    stems : Stems
        The term of each word.
    lists : Lists
        The documents of each term.
    lengths : ndarray of int32
        How many words each document holds.
    tellings : ndarray of float64
        :math:`a_i / (a_i + .7)` of each term.
    variances : ndarray of float64
        :math:`v_i / \mathrm{idf}_i^2` of each term.
    peaks : Peaks
        How much of its weight each term adds at most.
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
        """How rare these terms are."""
        return idf(self.documents, self.postings.begins[terms + 1] - self.postings.begins[terms])

    def query(self, words: Sequence[str]) -> LexicalQuery:
        """What these words are worth; single ASCII characters are passed over."""
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
        spread = max(float(np.sqrt(worth**2 @ self.variances[terms])), LEAST_SPREAD)
        unknown = [word for word, is_there in zip(counts, there, strict=True) if not is_there]
        return LexicalQuery(known, often, places, terms, worth / spread, unknown)

    def shares(self, query: LexicalQuery, document: int) -> Float64s:
        """What each word of the query adds to a document's score; forms of one word share it."""
        values = np.array([self._value(term, document) for term in query.terms.tolist()], float)
        totals = np.bincount(query.places, query.counts, minlength=len(query.terms))
        each: Float64s = (query.weights * values)[query.places] * query.counts
        return each / totals[query.places]

    def holding(self, words: Sequence[str]) -> npt.NDArray[np.bool_]:
        """Which documents hold all of these words, in whatever form."""
        ids = self.words.ids(list(words))
        all_of_them = np.full(self.documents, len(ids) > 0 and ids.min() >= 0)
        for term in np.unique(self.stems.groups[ids[ids >= 0]]).tolist():
            marks = np.zeros(self.documents, bool)
            marks[self.postings_of(term)[0]] = True
            all_of_them &= marks
        return all_of_them

    def postings_of(self, term: int) -> tuple[Int32s, UInt8s]:
        """The documents that hold a term, and how often; what leads elsewhere is left out."""
        begin, end = self.postings.begins[term], self.postings.begins[term + 1]
        documents, counts = self.postings.documents[begin:end], self.postings.counts[begin:end]
        inside = (documents >= 0) & (documents < self.documents)
        return (documents, counts) if inside.all() else (documents[inside], counts[inside])

    def _value(self, term: int, document: int) -> float:
        """N / (n + K) of a term in a document, 0 where it does not occur."""
        documents, counts = self.postings_of(term)
        place = int(np.searchsorted(documents, document))
        if place == len(documents) or documents[place] != document:
            return 0.0
        n = float(counts[place])
        return n / (n + float(self.norms[document]))

    def forms(self, limit: int) -> list[list[str]]:
        """The words of the terms with most forms that most documents hold, as examples."""
        sizes = np.bincount(self.stems.groups, minlength=len(self.stems))
        several = np.flatnonzero(sizes > 1)
        held = np.diff(self.postings.begins)[several]
        chosen = several[np.argsort(-held, kind="stable")[:limit]]
        return [
            sorted(self.words.word(int(w)) for w in np.flatnonzero(self.stems.groups == term))
            for term in chosen.tolist()
        ]


def norms_of(lengths: npt.NDArray[np.integer]) -> Float32s:
    """:math:`K_d = k_1 (1 - b + b L_d / mean L)` of documents of these lengths."""
    mean = max(float(lengths.mean(dtype=np.float64)), 1.0) if len(lengths) else 1.0
    norms = SATURATION * (1 - LENGTH_SHARE + LENGTH_SHARE * (lengths / mean))
    return read_only(norms.astype(np.float32))


def idf(documents: int, holding: Int64s) -> Float64s:
    """How rare terms are that so many of the documents hold."""
    rarity: Float64s = np.log(1 + (documents - holding + 0.5) / (holding + 0.5))
    return rarity


def burstiness_weights(sums: Float64s, lengths: npt.NDArray[np.integer]) -> Float64s:
    """How much each term says, from the sums of n, n squared, and n times the length."""
    wide = lengths.astype(np.float64)
    p = sums[:, 0] / max(wide.sum(), 1.0)
    expected = p**2 * (wide**2).sum()
    excess = sums[:, 1] - 2 * p * sums[:, 2] + expected - sums[:, 0]
    clumping = np.maximum((excess + 1) / (expected + 0.2), LEAST_CLUMPING)
    tellings: Float64s = clumping / (clumping + EVEN)
    return tellings
