"""Several collections searched as one, with the scores of one collection of all documents.

Statistics of collections add up: documents, lengths, document counts, moments of vectors. A query
is weighed with the sums, each collection finds its best documents with these weights, and the best
of all are taken. The collections must have the same model. Scores are those of one collection if
words have the same stems in all of them; a word form that is joined with another in one collection
only is scored as joined, to the precision of its counts.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, reduce
from typing import Any, NamedTuple

import numpy as np

from deltavec.collection.answers import HitList, SearchExplanation
from deltavec.collection.collection import Collection
from deltavec.collection.open import open_collection
from deltavec.collection.query import Query, parse_query, search_mode
from deltavec.core.arrays import Float64s, Int64s
from deltavec.errors import InputError
from deltavec.search.hybrid.score_scale import ScoreScale
from deltavec.search.lexical.index import InvertedIndex, TermStatistics
from deltavec.search.lexical.storage import StoredPostings

Places = tuple[tuple[int, ...], ...]
"""The terms of each collection that are one term of all."""


@dataclass(frozen=True, eq=False)
class ShardIndex(InvertedIndex):
    """The inverted index of one of several collections, with the mean length of all."""

    mean: float = 1.0

    @property
    def mean_length(self) -> float:
        """The mean length of the documents of all collections."""
        return self.mean


@dataclass(frozen=True, eq=False)
class MergedTerms(TermStatistics):
    """The statistics of several inverted indexes, added up as queries ask for them."""

    indexes: tuple[InvertedIndex, ...]
    known: dict[Places, int] = field(default_factory=dict)

    @property
    def documents(self) -> int:
        """How many documents there are in all."""
        return sum(index.documents for index in self.indexes)

    @property
    def length_sums(self) -> tuple[int, int]:
        """The sums of all lengths and of their squares."""
        lengths, squares = zip(*(index.length_sums for index in self.indexes), strict=True)
        return sum(lengths), sum(squares)

    @cached_property
    def shards(self) -> tuple[ShardIndex, ...]:
        """The indexes, with the mean length of all documents."""
        mean = self.mean_length
        return tuple(ShardIndex(one.segments, one.deleted, {}, mean) for one in self.indexes)

    def terms_of(self, words: Sequence[str]) -> Int64s:
        """The term of each word; -1 for a word that is in no collection."""
        found = [self.places_of(word) for word in words]
        numbers = [self.known.setdefault(one, len(self.known)) if any(one) else -1 for one in found]
        return np.array(numbers, np.int64)

    def places_of(self, word: str) -> Places:
        """The terms of each collection with this word, or a form of it in another collection."""
        terms: list[set[int]] = [set() for _ in self.indexes]
        seen, left = {word}, [word]
        while left:
            one = left.pop()
            for index, held in zip(self.indexes, terms, strict=True):
                [term] = index.terms_of([one]).tolist()
                if term >= 0 and term not in held:
                    held.add(term)
                    forms = set(words_of(index, term)) - seen
                    seen |= forms
                    left += forms
        return tuple(tuple(sorted(held)) for held in terms)

    def statistics(self, terms: Int64s) -> Float64s:
        """A row for each term: sums over all collections."""
        places, rows = list(self.known), np.zeros((len(terms), 7))
        for row, term in zip(rows, terms.tolist(), strict=True):
            for shard, held in zip(self.shards, places[term] if places else (), strict=False):
                for part in shard.statistics(np.array(held, np.int64)):
                    row[:6] += part[:6]
                    row[6] = max(row[6], part[6])
        return rows


def words_of(index: InvertedIndex, term: int) -> list[str]:
    """The words of a term."""
    return [index.words.word(place) for place in np.flatnonzero(index.groups == term).tolist()]


class MergedStatistics(NamedTuple):
    """What queries over several collections are weighed with."""

    words: MergedTerms
    spread: ScoreScale


def merge_statistics(collections: Sequence[Collection]) -> MergedStatistics:
    """The statistics of several collections as one: of terms, and of vectors.

    Parameters
    ----------
    collections
        Collections with the same model, and with postings.
    """
    if not collections:
        raise InputError("expected at least one collection")
    for one in collections:
        if one.words is None:
            raise InputError(f"{one.path} has no postings: add them with `deltavec index words`")
        if one.model.fingerprint != collections[0].model.fingerprint:
            raise InputError(
                f"{one.path} has another model than {collections[0].path}: build all of them with "
                "one model, and as_collection=False (--no-collection-model)"
            )
    stored: list[Any] = [one.words for one in collections]
    spread = reduce(ScoreScale.plus, (one.spread for one in stored))
    return MergedStatistics(MergedTerms(tuple(one.words for one in stored)), spread)


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

    @cached_property
    def shards(self) -> tuple[Collection, ...]:
        """The collections, with the statistics of all."""
        words, spread = self.statistics
        pairs = zip(self.collections, words.shards, strict=True)
        return tuple(replace(one, words=StoredPostings(index, spread)) for one, index in pairs)

    def query(
        self, query: str, k: int = 10, *, by: str | None = None, filter: str | None = None
    ) -> list[Query]:
        """A query as each collection sees it."""
        mode = search_mode(by, self.statistics, self)
        model = self.collections[0].model
        parsed = parse_query(query, mode, model, self.statistics, k, filter)
        return [self._local(parsed, number) for number in range(len(self.collections))]

    def _local(self, query: Query, number: int) -> Query:
        """A query with the terms of one collection; a term that it does not have is -1."""
        words, lexical = self.statistics.words, query.lexical
        places = list(words.known)
        held = [places[term][number] for term in lexical.terms.tolist()]
        first = [some[0] if some else -1 for some in held]
        others = [(row, term) for row, some in enumerate(held) for term in some[1:]]
        rows = np.array([*range(len(held)), *(row for row, _ in others)], np.int64)
        terms = np.array([*first, *(term for _, term in others)], np.int64)
        local = lexical._replace(
            terms=terms, weights=lexical.weights[rows], highest=lexical.highest[rows]
        )
        negated = [[self._form(word, number) for word in some] for some in query.negated]
        return replace(query, lexical=local, negated=negated)

    def _form(self, word: str, number: int) -> str:
        """A word of one collection that has the term of a word."""
        held = self.statistics.words.places_of(word)[number]
        return words_of(self.collections[number].words.words, held[0])[0] if held else word  # type: ignore[union-attr]

    def search(
        self, query: str, k: int = 10, *, filter: str | None = None, by: str | None = None
    ) -> HitList:
        """The documents of all collections that match best: see `Collection.search`."""
        hits = []
        for shard, local in zip(
            self.shards, self.query(query, k, by=by, filter=filter), strict=True
        ):
            hits += shard.hits(shard.best([local])[0])
        return HitList(sorted(hits, key=lambda hit: -hit.score)[:k])

    def why(self, query: str, id: str | int, *, by: str | None = None) -> SearchExplanation:
        """Explain the score of the first document with this id: see `Collection.why`."""
        for shard, local in zip(self.shards, self.query(query, by=by), strict=True):
            row = shard.find_row(id)
            if row is not None:
                return shard.match(local, row, shard.text(id)).explain(10)
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
    """
    opened = tuple(open_collection(path, verify=verify, trust=trust) for path in paths)
    return Shards(opened, merge_statistics(opened))
