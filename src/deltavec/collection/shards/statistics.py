"""The statistics of several collections, added up for one query.

A query is weighed with sums over documents, so those of collections on several machines add up to
those of one collection (docs/decisions/0035). Each collection, or the server that has it, is asked
twice: for the forms of the query's words, and then for the sums of each term, which need the mean
length of all documents.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, NamedTuple, Protocol

import numpy as np

from deltavec.collection.query import split_operators
from deltavec.core.arrays import Float64s, Int64s
from deltavec.core.explain import query_sum
from deltavec.core.model import EmbeddingModel
from deltavec.errors import InputError
from deltavec.search.hybrid.score_scale import LEAST_SPREAD, ScoreScale
from deltavec.search.lexical.index import InvertedIndex, TermStatistics

SUMS = 7  # of a term: see `deltavec.search.lexical.kernels.measure_postings`


class Forms(NamedTuple):
    """What a collection says first: its size, and the forms of each word it has."""

    model: str
    documents: int
    lengths: tuple[int, int]
    forms: dict[str, list[str]]


class Sums(NamedTuple):
    """What it says then: the sums of each term, and those of the cosines with the query."""

    rows: list[list[float]]
    cosines: tuple[float, float, float]


class Shard(Protocol):
    """A collection that is searched with others, here or on another machine."""

    def find_forms(self, query: str, words: list[str]) -> Forms:
        """The forms of the words of a query, and of more words."""

    def measure(self, query: str, terms: list[list[str]], mean_length: float) -> Sums:
        """The sums of terms, each given by its words, if documents have this mean length."""


@dataclass(frozen=True)
class SharedStatistics:
    """What a query over several collections is weighed with.

    Attributes
    ----------
    documents : int
        How many documents there are in all.
    lengths : tuple of int
        The sums of their lengths and of the squares of these.
    terms : list of list of str
        The words of each term of the query.
    rows : list of list of float
        The sums of each term: see `deltavec.search.lexical.kernels.measure_postings`.
    cosines : tuple of float
        The number of vectors, and the sums of their cosines with the query and of the squares.
    """

    documents: int
    lengths: tuple[int, int]
    terms: list[list[str]]
    rows: list[list[float]]
    cosines: tuple[float, float, float]

    @cached_property
    def words(self) -> SharedTerms:
        """The statistics of the terms."""
        return SharedTerms(self)

    @property
    def spread(self) -> SharedStatistics:
        """The statistics of the cosines, which are those of one query."""
        return self

    def cosine_std(self, vector: Float64s) -> float:
        """How the cosines of all documents with the query vary."""
        rows, total, squares = self.cosines
        variance = squares / max(rows, 1) - (total / max(rows, 1)) ** 2
        return max(math.sqrt(max(variance, 0.0)), LEAST_SPREAD)


NO_STATISTICS = SharedStatistics(0, (0, 0), [], [], (0.0, 0.0, 0.0))


@dataclass(frozen=True, eq=False)
class SharedTerms(TermStatistics):
    """The terms of `SharedStatistics`."""

    shared: SharedStatistics

    @property
    def documents(self) -> int:
        """How many documents there are in all."""
        return self.shared.documents

    @property
    def length_sums(self) -> tuple[int, int]:
        """The sums of all lengths and of their squares."""
        return self.shared.lengths

    @cached_property
    def numbers(self) -> dict[str, int]:
        """The number of each word's term."""
        return {word: n for n, words in enumerate(self.shared.terms) for word in words}

    def terms_of(self, words: Sequence[str]) -> Int64s:
        """The term of each word; -1 for a word that no collection has."""
        return np.array([self.numbers.get(word, -1) for word in words], np.int64)

    def statistics(self, terms: Int64s) -> Float64s:
        """A row for each term; the last one for -1."""
        rows = np.array([*self.shared.rows, [0.0] * SUMS])
        found: Float64s = rows[np.minimum(terms, len(rows) - 1)]
        return found


def share_statistics(
    shards: Sequence[Shard],
    query: str,
    each: Callable[[Callable[[Shard], Any], Sequence[Shard]], Iterable[Any]] = map,
) -> SharedStatistics:
    """The statistics of all shards for one query.

    Parameters
    ----------
    shards
        The collections; they must have the same model.
    query
        The text to look for.
    each
        Calls a function with every shard, as ``map`` does; threads do it at once.
    """
    words: list[str] = []
    while True:  # a form of a word may have another form in another collection
        found: list[Forms] = list(each(partial(ask_forms, query, words), shards))
        known = {word for one in found for word in one.forms}
        forms = {form for one in found for held in one.forms.values() for form in held}
        if forms <= known:
            break
        words = sorted(forms | known)
    if len({one.model for one in found}) > 1:
        raise InputError("the collections have different models: build all of them with one model")
    documents = sum(one.documents for one in found)
    lengths = sum(one.lengths[0] for one in found), sum(one.lengths[1] for one in found)
    terms, mean = join_forms(found), max(lengths[0] / max(documents, 1), 1.0)
    sums: list[Sums] = list(each(lambda one: one.measure(query, terms, mean), shards))
    rows = np.array([one.rows for one in sums]).reshape(len(sums), -1, SUMS)
    merged = np.column_stack([rows[:, :, :-1].sum(axis=0), rows[:, :, -1].max(axis=0)])
    count, total, squares = np.sum([one.cosines for one in sums], axis=0).tolist()
    return SharedStatistics(documents, lengths, terms, merged.tolist(), (count, total, squares))


def ask_forms(query: str, words: list[str], shard: Shard) -> Forms:
    """What a shard says first."""
    return shard.find_forms(query, words)


def join_forms(found: Sequence[Forms]) -> list[list[str]]:
    """The words of each term: words that are forms of one in any collection."""
    groups: dict[str, set[str]] = {}
    for one in found:
        for forms in one.forms.values():
            joined: set[str] = set().union(*(groups.get(form, {form}) for form in forms))
            groups.update(dict.fromkeys(joined, joined))
    return [list(group) for group in sorted({tuple(sorted(one)) for one in groups.values()})]


def words_of(query: str, model: EmbeddingModel) -> list[str]:
    """All words and units of a query whose statistics a search needs, in any mode."""
    text, negated, _ = split_operators(query, model)
    units = [model.terms(text).units, model.terms(query).units, model.tokenize(query).units]
    return list(dict.fromkeys(unit for some in (*units, *negated) for unit in some))


def forms_of(index: InvertedIndex, words: Sequence[str]) -> dict[str, list[str]]:
    """The words that are one term with each of these, itself too; none for one that is not here."""
    found = zip(words, index.terms_of(words).tolist(), strict=True)
    return {word: words_of_term(index, term) for word, term in found if term >= 0}


def words_of_term(index: InvertedIndex, term: int) -> list[str]:
    """The words of a term."""
    return [index.words.word(place) for place in np.flatnonzero(index.groups == term).tolist()]


def measure_terms(index: InvertedIndex, terms: Sequence[Sequence[str]]) -> list[list[float]]:
    """The sums of terms, each given by its words."""
    rows = np.zeros((len(terms), SUMS))
    for row, words in zip(rows, terms, strict=True):
        for part in index.statistics(local_terms(index, words)):
            row[:-1] += part[:-1]
            row[-1] = max(row[-1], part[-1])
    return rows.tolist()


def local_terms(index: InvertedIndex, words: Sequence[str]) -> Int64s:
    """The different terms of an index that these words have."""
    terms = index.terms_of(words)
    return np.unique(terms[terms >= 0])


def measure_cosines(
    query: str, model: EmbeddingModel, spread: ScoreScale
) -> tuple[float, float, float]:
    """How many vectors there are, and the sums of their cosines with a query and of the squares."""
    text, _, _ = split_operators(query, model)
    vector = query_sum(model.tokenize(text), model.vocabulary, model.table).vector
    squares = float(np.einsum("ij,j->i", spread.moment, vector) @ vector)
    return float(spread.rows), float(spread.total @ vector), squares
