"""Several collections searched as one, with the scores of one collection of all documents.

Each collection finds its best documents with the statistics of all, and the best of these are
taken. The collections must have the same model. Scores are those of one collection if words have
the same stems in all of them; a word form that is joined with another in one collection only is
scored as joined, to the precision of its counts.

A query is weighed with sums over documents, so those of collections on several machines add up to
those of one collection (docs/decisions/0035). Each collection, or the server that has it, is asked
twice: for the forms of the query's words, and then for the sums of each term, which need the mean
length of all documents.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property, partial, reduce
from typing import Any, NamedTuple, Protocol
from weakref import WeakKeyDictionary

import numpy as np

from deltavec.collection.answers import HitList, SearchExplanation
from deltavec.collection.collection import Collection
from deltavec.collection.open import open_collection
from deltavec.collection.query import Query, parse_query, split_operators
from deltavec.core.arrays import Float64s, Int64s
from deltavec.core.explain import query_sum
from deltavec.core.model import EmbeddingModel
from deltavec.errors import InputError
from deltavec.search.hybrid.score_scale import LEAST_SPREAD, ScoreScale
from deltavec.search.lexical.index import InvertedIndex, TermStatistics
from deltavec.search.lexical.writer import StoredPostings

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


def words_of_term(index: InvertedIndex, term: int) -> list[str]:
    """The words of a term."""
    return [index.words.word(place) for place in np.flatnonzero(index.groups == term).tolist()]


def local_terms(index: InvertedIndex, words: Sequence[str]) -> Int64s:
    """The different terms of an index that these words have."""
    terms = index.terms_of(words)
    return np.unique(terms[terms >= 0])


@dataclass(frozen=True, eq=False)
class ShardIndex(InvertedIndex):
    """The inverted index of one of several collections, with the mean length of all."""

    mean: float = 1.0

    @property
    def mean_length(self) -> float:
        """The mean length of the documents of all collections."""
        return self.mean


INDEXES: WeakKeyDictionary[InvertedIndex, ShardIndex] = WeakKeyDictionary()
"""The last one of each index: the norms of its documents are computed once."""


def shard_index(index: InvertedIndex, mean: float) -> ShardIndex:
    """An index in which documents are compared with another mean length."""
    kept = INDEXES.get(index)
    if kept is None or kept.mean != mean:
        kept = INDEXES[index] = ShardIndex(index.segments, index.deleted, {}, mean)
    return kept


@dataclass(frozen=True, eq=False, repr=False)
class ShardCollection(Collection):
    """A collection whose queries are weighed with the statistics of several collections."""

    shared: SharedStatistics = NO_STATISTICS

    @classmethod
    def of(cls, collection: Collection, shared: SharedStatistics) -> ShardCollection:
        """A collection with these statistics."""
        stored = collection.words
        index = shard_index(stored.words, shared.words.mean_length)
        own = {one.name: getattr(collection, one.name) for one in fields(collection)}
        return cls(**{**own, "words": StoredPostings(index, stored.spread), "shared": shared})

    def query(
        self,
        query: str | Sequence[str],
        k: int = 10,
        *,
        by: str | None = None,
        filter: str | None = None,
    ) -> Query:
        """A parsed query, with the terms of this collection; one that it does not have is -1."""
        parsed = parse_query(query, by, self.model, self.shared, k, filter)
        index, lexical = self.words.words, parsed.lexical
        held = [
            local_terms(index, self.shared.terms[term]).tolist() for term in lexical.terms.tolist()
        ]
        first = [some[0] if some else -1 for some in held]
        others = [(row, term) for row, some in enumerate(held) for term in some[1:]]
        rows = np.array([*range(len(held)), *(row for row, _ in others)], np.int64)
        local = lexical._replace(
            terms=np.array([*first, *(term for _, term in others)], np.int64),
            weights=lexical.weights[rows],
            highest=lexical.highest[rows],
        )
        negated = [[self._form(index, word) for word in some] for some in parsed.negated]
        return replace(parsed, lexical=local, negated=negated)

    def _form(self, index: InvertedIndex, word: str) -> str:
        """A word of this collection that has the term of a word."""
        [number] = self.shared.words.terms_of([word]).tolist()
        held = local_terms(index, self.shared.terms[number] if number >= 0 else [word])
        return words_of_term(index, int(held[0]))[0] if len(held) else word


class LocalShard(NamedTuple):
    """A collection on this machine, as one of several."""

    collection: Collection

    def find_forms(self, query: str, words: list[str]) -> Forms:
        """The forms of the words of a query, and of more words."""
        model, index = self.collection.model, self.collection.words.words
        wanted = dict.fromkeys([*words_of(query, model), *words])
        terms = zip(wanted, index.terms_of(list(wanted)).tolist(), strict=True)
        found = {word: words_of_term(index, term) for word, term in terms if term >= 0}
        return Forms(model.fingerprint, index.documents, index.length_sums, found)

    def measure(self, query: str, terms: list[list[str]], mean_length: float) -> Sums:
        """The sums of terms, each given by its words, if documents have this mean length."""
        stored = self.collection.words
        index, model = shard_index(stored.words, mean_length), self.collection.model
        rows = np.zeros((len(terms), SUMS))
        for row, words in zip(rows, terms, strict=True):
            for part in index.statistics(local_terms(index, words)):
                row[:-1] += part[:-1]
                row[-1] = max(row[-1], part[-1])
        text, _, _ = split_operators(query, model)
        vector = query_sum(model.tokenize(text), model.vocabulary, model.table).vector
        total, moment = stored.spread.total @ vector, stored.spread.moment
        squares = float(np.einsum("ij,j->i", moment, vector) @ vector)
        return Sums(rows.tolist(), (float(stored.spread.rows), float(total), squares))


class MergedStatistics(NamedTuple):
    """Statistics of all documents of several collections.

    Attributes
    ----------
    documents : int
        How many there are.
    mean_length : float
        How many words a document has.
    spread : ScoreScale
        How their vectors are spread.
    """

    documents: int
    mean_length: float
    spread: ScoreScale

    def __repr__(self) -> str:
        return f"MergedStatistics({self.documents:,} documents, {self.mean_length:.1f} words each)"


def merge_statistics(collections: Sequence[Collection]) -> MergedStatistics:
    """The statistics of several collections as one.

    Parameters
    ----------
    collections
        Collections with the same model.

    Examples
    --------
    >>> dv.merge_statistics([news, news]).documents
    24
    """
    if not collections:
        raise InputError("expected at least one collection")
    stored = [one.words for one in collections]
    for one in collections:
        if one.model.fingerprint != collections[0].model.fingerprint:
            raise InputError(
                f"{one.path} has another model than {collections[0].path}: build all of them with "
                "one model, and as_collection=False (--no-collection-model)"
            )
    documents = sum(one.words.documents for one in stored)
    lengths = sum(one.words.length_sums[0] for one in stored)
    spread = reduce(ScoreScale.plus, (one.spread for one in stored))
    return MergedStatistics(documents, max(lengths / max(documents, 1), 1.0), spread)


@dataclass(frozen=True, eq=False, repr=False)
class Shards:
    """Several collections, searched as one; opened by `deltavec.open_collections`.

    Attributes
    ----------
    collections : tuple of Collection
        The collections.
    statistics : MergedStatistics
        Their statistics, added up.
    """

    collections: tuple[Collection, ...]
    statistics: MergedStatistics

    def __len__(self) -> int:
        return sum(map(len, self.collections))

    def __repr__(self) -> str:
        return f"Shards({len(self.collections)} collections, {len(self):,} documents)"

    def shards(self, query: str) -> list[ShardCollection]:
        """The collections, with the statistics of all for one query."""
        shared = share_statistics([LocalShard(one) for one in self.collections], query)
        return [ShardCollection.of(one, shared) for one in self.collections]

    def search(
        self, query: str, k: int = 10, *, filter: str | None = None, by: str | None = None
    ) -> HitList:
        """The documents of all collections that match best: see `Collection.search`."""
        found = [one.search(query, k, filter=filter, by=by) for one in self.shards(query)]
        hits = [hit for some in found for hit in some]
        return HitList(sorted(hits, key=lambda hit: -hit.score)[:k])

    def why(self, query: str, id: str | int, *, by: str | None = None) -> SearchExplanation:
        """Explain the score of the first document with this id: see `Collection.why`."""
        for shard in self.shards(query):
            if shard.find_row(id) is not None:
                return shard.why(query, id, by=by)
        raise InputError(f"no document of {self!r} has the id {id!r:.60}")


def open_collections(
    paths: Sequence[str | os.PathLike[str]], *, verify: bool = True, trust: bool = False
) -> Shards:
    """Several collections, to be searched as one.

    Parameters
    ----------
    paths
        Their folders. They must have the same model: see `merge_statistics`.
    verify, trust
        As for `deltavec.open_collection`.

    Examples
    --------
    >>> both = dv.open_collections(["news.idx", "news.idx"])
    >>> both
    Shards(2 collections, 24 documents)
    >>> [hit.id for hit in both.search("cricket test", k=2)]
    ['s7', 's7']
    """
    opened = tuple(open_collection(path, verify=verify, trust=trust) for path in paths)
    return Shards(opened, merge_statistics(opened))
