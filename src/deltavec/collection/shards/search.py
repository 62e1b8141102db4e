"""Several collections searched as one, with the scores of one collection of all documents.

Each collection finds its best documents with the statistics of all, and the best of these are
taken. The collections must have the same model. Scores are those of one collection if words have
the same stems in all of them; a word form that is joined with another in one collection only is
scored as joined, to the precision of its counts.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import reduce
from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from deltavec.collection.answers import HitList, SearchExplanation
from deltavec.collection.collection import Collection
from deltavec.collection.open import open_collection
from deltavec.collection.query import Query, parse_query
from deltavec.collection.shards.statistics import (
    NO_STATISTICS,
    Forms,
    SharedStatistics,
    Sums,
    forms_of,
    local_terms,
    measure_cosines,
    measure_terms,
    share_statistics,
    words_of,
    words_of_term,
)
from deltavec.errors import InputError
from deltavec.search.hybrid.score_scale import ScoreScale
from deltavec.search.lexical.index import InvertedIndex
from deltavec.search.lexical.storage import StoredPostings


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
        found = forms_of(index, list(wanted))
        return Forms(model.fingerprint, index.documents, index.length_sums, found)

    def measure(self, query: str, terms: list[list[str]], mean_length: float) -> Sums:
        """The sums of terms, each given by its words, if documents have this mean length."""
        stored = self.collection.words
        rows = measure_terms(shard_index(stored.words, mean_length), terms)
        return Sums(rows, measure_cosines(query, self.collection.model, stored.spread))


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


def merge_statistics(collections: Sequence[Collection]) -> MergedStatistics:
    """The statistics of several collections as one.

    Parameters
    ----------
    collections
        Collections with the same model.
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
    """
    opened = tuple(open_collection(path, verify=verify, trust=trust) for path in paths)
    return Shards(opened, merge_statistics(opened))
