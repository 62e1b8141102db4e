"""A collection: documents, their vectors and the model between them, opened from a folder."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from deltavec.collection import ids as identities
from deltavec.collection.answers import Excerpt, Hit, HitList, Keyword, Match, SearchExplanation
from deltavec.collection.info import collection_info
from deltavec.collection.manifest import CollectionManifest
from deltavec.collection.map.storage import StoredMap, draw_map, store_map
from deltavec.collection.query import (
    NO_TERMS,
    NO_TOKENS,
    Query,
    find_best,
    find_broad,
    find_quoted,
    parse_query,
    whole_terms,
)
from deltavec.collection.segment import ID, TEXT, Documents, OpenSegment
from deltavec.core.arguments import require_whole
from deltavec.core.explain import Explanation, query_sum, shares
from deltavec.core.model import EmbeddingModel
from deltavec.core.threads import stop_if_cancelled
from deltavec.errors import InputError
from deltavec.search import Index
from deltavec.search.lexical.writer import StoredPostings
from deltavec.search.topk import TopDocuments

if TYPE_CHECKING:
    from deltavec.collection.export.encoder import QueryEncoder
    from deltavec.collection.overlap import Overlap
    from deltavec.collection.segment_writer import OnProgress
    from deltavec.collection.topics.clusters import Clusters
    from deltavec.search import Duplicates, Pairs

FREQUENT = 0.2  # of the documents: a word that more of them contain distinguishes none
MASKS_KEPT = 16  # of filters: a page asks many times with the same one

# Updates are imported by the methods that make them: most programs only search.


@dataclass(frozen=True, eq=False, repr=False)
class Collection:
    """Documents on disk with their vectors, to be searched, compared and explained.

    Opened by `deltavec.open_collection`, made by `deltavec.build_collection`. Vectors are mapped
    into memory, and texts are read when they are shown. An open collection never changes: `add` and
    `remove` return the collection after the change.

    Attributes
    ----------
    path : Path
        Its folder.
    model : EmbeddingModel
        The model that embeds documents and queries.
    index : Index
        The vectors of the documents, in their order.
    map : StoredMap or None
        Coordinates of the documents in two dimensions; None if no map was drawn.

    Examples
    --------
    >>> news = dv.open_collection("news.idx")
    >>> news.search("cricket test", k=2)
    [Hit(id='s7', score=5.06, text='Australia won the first cricket test by ten wickets'),
     Hit(id='s8', score=4.72, text='Rain stopped play in the second cricket test')]
    >>> news.search("cricket", k=1, filter="year == 2000")
    [Hit(id='s9', score=..., text='The captain made a hundred in the cricket final')]
    >>> news.why("cricket test", "s7")
    SearchExplanation(hybrid score 5.06: test 3.45, cricket 1.65)
    >>> news.similar("s4", k=1)[0].id
    's6'
    >>> news.cluster(3)
    Clusters(3 clusters: 6 fires, homes, bush; 3 shares, interest, rose; 3 cricket, test, play)
    >>> len(news.vectors(["s1", "s2"]))
    2
    """

    path: Path
    description: CollectionManifest
    model: EmbeddingModel
    index: Index
    store: Documents
    words: StoredPostings
    map: StoredMap | None = None
    segments: tuple[OpenSegment, ...] = ()
    masks: dict[str, npt.NDArray[np.bool_]] = field(default_factory=dict)

    def __len__(self) -> int:
        return self.description.documents

    def __repr__(self) -> str:
        return f"Collection({str(self.path)!r}, {len(self):,} documents)"

    @property
    def columns(self) -> list[str]:
        """The columns kept beside id and text."""
        return list(self.description.columns)

    @cached_property
    def ids(self) -> pa.Array:
        """The ids of all documents, as an Arrow array of strings."""
        return pa.concat_arrays(self.store.columns([ID]).column(0).chunks)

    def row(self, id: str | int) -> int:
        """The row of the document with this id.

        Raises
        ------
        InputError
            If there is none.
        """
        row = self.find_row(id)
        if row is None:
            advice = identities.suggestion(str(id), self.ids, self.description.id_column)
            raise InputError(f"{self.path}: no document has the id {id!r:.60}{advice}")
        return row

    def find_row(self, id: str | int) -> int | None:
        """The row of the document with this id; None if there is none."""
        _, rows = self.rows_of(identities.as_array(identities.as_list([id])))
        return int(self.index.pieces.logical(rows)[0]) if len(rows) else None

    def rows_of(self, ids: pa.Array) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Which of these ids are here, by their places, and the row of each.

        Rows are numbered through all segments, with those of deleted documents.
        """
        hashes, pieces = identities.hash_ids(ids), self.index.pieces
        found = [np.zeros((2, 0), np.int64)]
        for number, segment in enumerate(self.segments):
            places, rows = segment.rows_of(ids, hashes)
            live = ~np.isin(rows, pieces.deleted[number])
            found.append(np.array([places[live], rows[live] + pieces.begins[number]]))
        places, rows = np.concatenate(found, axis=1)
        return places, rows

    def documents(self, which: Sequence[str] | Sequence[int] | npt.NDArray[np.int64]) -> pa.Table:
        """The documents with these ids, or in these rows, in this order.

        Parameters
        ----------
        which
            Strings are ids, whole numbers are rows from 0 on.

        Returns
        -------
        pyarrow.Table
            ``id``, ``text``, and the columns kept.
        """
        return self.store.rows(self._places(which))

    def entries(
        self, which: Sequence[str] | Sequence[int] | npt.NDArray[np.int64]
    ) -> list[dict[str, Any]]:
        """The same documents, each as a dict; a date that Python does not have is text."""
        return self.store.entries(self._places(which))

    def _places(
        self, which: Sequence[str] | Sequence[int] | npt.NDArray[np.int64]
    ) -> npt.NDArray[np.int64]:
        if isinstance(which, str):
            raise InputError(f"expected a list of ids or places, got the string {which!r:.60}")
        are_rows = isinstance(which, np.ndarray) and which.dtype == np.int64
        wanted = [] if are_rows else list(which)
        if any(isinstance(one, str) for one in wanted):
            rows = np.array([self.row(one) for one in wanted], np.int64)
        else:
            rows = np.asarray(which if are_rows else wanted, np.int64).reshape(-1)
        outside = rows[(rows < 0) | (rows >= len(self))]
        if len(outside):
            raise InputError(f"places are from 0 to {len(self) - 1}, got {int(outside[0])}")
        return rows

    def text(self, id: str | int) -> str:
        """The text of the document with this id."""
        return str(self.documents([identities.as_id(id)]).column(TEXT)[0].as_py())

    def column(self, name: str) -> pa.ChunkedArray:
        """A column of all documents: ``id``, ``text``, or one that was kept."""
        if name not in (ID, TEXT, *self.columns):
            known = ", ".join(map(repr, (ID, TEXT, *self.columns)))
            raise InputError(f"no column {name!r}; the columns are {known}")
        return self.store.columns([name]).column(0)

    def mask(self, filter: str) -> npt.NDArray[np.bool_]:
        """Which documents a filter lets through, such as ``rating >= 4 and city == 'Rome'``.

        Numbers are compared with numbers, text with text, dates with text in ISO form; a column of
        text beside a number is read as numbers, if all of it can be. ``in (...)``, ``not``,
        ``or``, brackets and ``is null`` are known too. A missing value fulfils no comparison. What
        is not in the language, or compares what cannot be, is an `InputError`.
        """
        from deltavec.collection.filters.masks import Filter

        mask = self.masks.get(filter) if isinstance(filter, str) else None
        if mask is None:
            parsed = Filter.of(filter, [ID, *self.columns])
            mask = parsed.mask(self.store.columns(parsed.columns))
            mask.flags.writeable = False
            if len(self.masks) >= MASKS_KEPT:
                self.masks.clear()
            self.masks[filter] = mask
        return mask

    @overload
    def search(
        self,
        query: str,
        k: int = 10,
        *,
        filter: str | None = None,
        by: str | None = None,
        broad: bool = False,
    ) -> HitList: ...

    @overload
    def search(
        self,
        query: list[str] | list[list[str]],
        k: int = 10,
        *,
        filter: str | None = None,
        by: str | None = None,
        broad: bool = False,
    ) -> list[HitList]: ...

    def search(
        self,
        query: str | list[str] | list[list[str]],
        k: int = 10,
        *,
        filter: str | None = None,
        by: str | None = None,
        broad: bool = False,
    ) -> HitList | list[HitList]:
        """The documents that match a query best, best first.

        Parameters
        ----------
        query
            A text, or a list of queries, for each of which a list of hits is returned. A query in
            a list may itself be a list of words. In a text of up to 8 words, one between quotation
            marks (``"storms"``) must occur in a result as written; one with a hyphen before it
            (``-flood``) must not occur in any form. Semantic search ignores both. There are no
            phrase queries.
        k
            How many to find; there are fewer results if fewer match.
        filter
            Which documents may be found, by their columns: see `mask`.
        by
            ``hybrid`` adds BM25 and the cosine similarity of the embeddings; ``keyword`` is BM25
            alone, over words in any of their forms; ``semantic`` is the cosine alone. By default
            ``hybrid``.
        broad
            Whether .2 of the mean score of a document's ten nearest neighbors is added to its own:
            for questions about a topic, where many documents are relevant. It takes a search for
            the neighbors of each candidate.

        Nothing is found if all words of the query are out of vocabulary.

        Examples
        --------
        >>> for hit in news.search("storm and flooding", k=3):  # doctest: +SKIP
        ...     print(f"{hit.score:.2f}", hit.text[:60])
        """
        queries = query if isinstance(query, list | tuple) else [query]
        parsed = [self.query(one, k, by=by, filter=filter) for one in queries]
        found = self.best([replace(one, broad=broad) for one in parsed])
        hits = [HitList(self.hits(one)) for one in found]
        return hits if isinstance(query, list | tuple) else hits[0]

    def query(
        self,
        query: str | Sequence[str],
        k: int = 10,
        *,
        by: str | None = None,
        filter: str | None = None,
    ) -> Query:
        """A parsed query: its terms, their weights and its vector."""
        return parse_query(query, by, self.model, self.words, k, filter)

    def count_matches(self, query: Query) -> int | None:
        """How many documents contain a word of a query, in any form; None if it is semantic.

        Words that more than a fifth of the documents contain do not count, unless all are such.
        """
        if query.by == "semantic":
            return None
        terms = dict.fromkeys(whole_terms(query.terms, self.model))
        masks = [self.words.words.holding([word]) for word in terms]
        rare = [mask for mask in masks if mask.mean() <= FREQUENT] or masks
        mask = np.any(rare, axis=0) if rare else np.zeros(len(self.index.pieces), bool)
        live = self.index.pieces.live
        kept = mask if live is None else mask[live]
        return int((kept & self.mask(query.filter)).sum() if query.filter else kept.sum())

    def vector_query(
        self,
        vector: npt.NDArray[np.floating],
        k: int = 10,
        *,
        row: int | None = None,
        filter: str | None = None,
    ) -> Query:
        """A semantic query for a vector; if it is that of a row, the row is not found."""
        require_whole("k", k)
        whole = query_sum(NO_TOKENS, self.model.vocabulary, self.model.table)
        unit, scale = vector.astype(np.float64), float(vector.any())
        return Query(
            "semantic", NO_TOKENS, NO_TOKENS, NO_TERMS, whole, unit, scale, [], self.model, k, row,
            filter,
        )  # fmt: skip

    def best(self, queries: Sequence[Query], *, threads: int | None = None) -> list[TopDocuments]:
        """The rows that match each query best, found in one pass over all documents."""
        masks = {one.filter: self.mask(one.filter) for one in queries if one.filter is not None}
        find = partial(find_best, index=self.index, words=self.words, masks=masks, threads=threads)

        found = iter(find([query for query in queries if not (query.quoted or query.broad)]))
        return [
            self._best_of(query, find) if query.quoted or query.broad else next(found)
            for query in queries
        ]

    def _best_of(
        self, query: Query, find: Callable[[Sequence[Query]], list[TopDocuments]]
    ) -> TopDocuments:
        """The rows that match a broad query, or one with quoted words, best."""
        if query.broad:
            narrow = partial(self._best_of, find=find)
            return find_broad(replace(query, broad=False), narrow, self.index, self.words)
        if query.quoted:
            return find_quoted(query, find, self.store)
        return find([query])[0]

    def hits(
        self,
        found: TopDocuments,
        query: Query | None = None,
        *,
        length: int | None = None,
        longest: int | None = None,
        pairs: int | None = None,
    ) -> list[Hit]:
        """The documents in the rows found, with excerpts and explanations if asked for.

        Parameters
        ----------
        found
            The rows and their scores.
        query
            The query they were found for; without one, excerpts are the beginnings of the texts.
        length
            How many characters an excerpt has; by default there is none.
        longest
            Longer texts are not analyzed: their excerpts are their beginnings.
        pairs
            How many pairs of related words an explanation has; by default there is none.
        """
        hits = []
        rows, scores = found.numbers.tolist(), found.scores.tolist()
        for row, score, entry in zip(rows, scores, self.entries(rows), strict=True):
            stop_if_cancelled()
            hit = Hit(entry.pop(ID), score, entry.pop(TEXT) or "", entry)
            match = self.match(query, row, hit.text) if query else None
            if length is not None:
                is_long = longest is not None and len(hit.text) > longest
                passage = match.excerpt(length) if match and not is_long else None
                hit = replace(hit, excerpt=passage or Excerpt(0, hit.text[:length]))
            if match and pairs is not None:
                added = shares(match.contributions, match.query.vector)
                hit = replace(hit, contributions=added, why=match.explain(pairs))
            hits.append(hit)
        return hits

    def match(self, query: Query, row: int, text: str) -> Match:
        """A query and the document in a row, whose text is given, to be explained."""
        physical = int(self.index.pieces.physical(np.array([row]))[0])
        vector = self.index.take([row])[0]
        return Match(self.model, text, query, self.words, physical, vector)

    def why(
        self, query: str | Sequence[str], id: str | int, *, by: str | None = None, pairs: int = 10
    ) -> SearchExplanation:
        """Explain a search score: how much each word of the query contributed.

        Parameters
        ----------
        query
            A text, or a list of words.
        id
            The id of the document.
        by
            The search mode, as for `search`.
        pairs
            How many pairs of a word of the query and a related word of the document to list.

        Returns
        -------
        SearchExplanation
            The shares of its ``words`` and its ``center`` add up to its ``score``.

        Examples
        --------
        >>> news.why("storm in wales", "264").words[0].word  # doctest: +SKIP
        'storm'
        """
        return self.match(self.query(query, by=by), self.row(id), self.text(id)).explain(pairs)

    def similar(
        self,
        id: str | int | Sequence[str | int] | None = None,
        k: int = 10,
        *,
        text: str | None = None,
        filter: str | None = None,
    ) -> HitList:
        """The nearest neighbors of documents of the collection, or of a text, best first.

        Parameters
        ----------
        id
            The id of a document, or several: their mean vector is compared. They are left out.
        k
            How many to find.
        text
            A text to compare instead of documents of the collection.
        filter
            Which documents may be found, by their columns: see `mask`.

        Empty if there is no vector to compare with.
        """
        if (id is None) == (text is None):
            raise InputError("expected an id, several ids or text=, and only one of them")
        ids: list[Any] = list(id) if isinstance(id, list | tuple | np.ndarray) else [id]
        rows = [] if text is not None else [self.row(one) for one in ids]
        vectors = self.index.take(rows) if text is None else self.model.embed([text])
        vector = vectors[0]
        if len(vectors) > 1:
            mean = vectors.astype(np.float64).sum(axis=0)
            vector = np.asarray(mean / (np.linalg.norm(mean) or 1.0), np.float32)
        require_whole("k", k)
        [best] = self.best([self.vector_query(vector, k + len(rows), filter=filter)])
        kept = np.flatnonzero(~np.isin(best.numbers, rows))[:k]
        return HitList(self.hits(TopDocuments(best.scores[kept], best.numbers[kept])))

    def vectors(self, ids: Sequence[str | int] | None = None) -> npt.NDArray[np.float32]:
        """The vectors of these documents, or of all, one row each."""
        rows = range(len(self)) if ids is None else [self.row(one) for one in ids]
        return self.index.take(rows)

    def explain(self, a: str, b: str, *, pairs: int = 10) -> Explanation:
        """Which words make two texts similar, in the collection's own model.

        Texts, not ids: for a document of the collection pass ``collection.text(id)``.
        """
        return self.model.explain(a, b, pairs=pairs)

    def keywords(self, id: str | int, n: int = 10) -> list[Keyword]:
        """The words that a document is about: those that make its direction, largest share first.

        The shares of all its words (and of the offset, in a model that has one) add up to 1.
        """
        require_whole("n", n)
        apart = self.model.decompose(self.text(id))
        words = shares(apart, apart.vector).words
        return [Keyword(word.word, word.share) for word in words[:n]]

    def duplicates(
        self,
        threshold: float = 0.5,
        *,
        keep: str = "first",
        threads: int | None = None,
        on_progress: Callable[[float], None] | None = None,
    ) -> Duplicates:
        """All pairs of documents that share text, and which documents to remove.

        See `deltavec.duplicates`; the ids are those of the documents.
        """
        from deltavec.search import duplicates

        how: Any = {"keep": keep, "threads": threads, "on_progress": on_progress}
        return duplicates(self.column(TEXT), threshold, ids=self.ids, **how)

    def similar_pairs(
        self,
        threshold: float = 0.95,
        *,
        threads: int | None = None,
        on_progress: Callable[[float], None] | None = None,
    ) -> Pairs:
        """All pairs of documents with a cosine of at least the threshold.

        See `deltavec.similar_pairs`; the ids are those of the documents.
        """
        from deltavec.search import similar_pairs

        how: Any = {"threads": threads, "on_progress": on_progress}
        return similar_pairs(self.index.vectors, threshold, ids=self.ids, **how)

    def against(
        self,
        other: Any,
        threshold: float = 0.5,
        *,
        id_column: str | None = None,
        threads: int | None = None,
        on_progress: Callable[[int], None] | None = None,
    ) -> Overlap:
        """The documents whose text is in another corpus too, each with its best match there.

        A match shares at least the threshold with the document, as for `duplicates`, or contains
        four fifths of it. All documents with a match are found. The other corpus is read once, in
        bounded memory.

        Parameters
        ----------
        other
            A `Collection`, or whatever `deltavec.read_corpus` reads.
        threshold
            The least share of the longer text, above 0 and up to 1.
        id_column
            Which column of a corpus holds ids; by default documents are numbered from 0 on.
        threads
            How many cores to use; all of them by default.
        on_progress
            Called with the number of documents of the other corpus that are done.
        """
        from deltavec.collection.overlap import find_overlap

        return find_overlap(
            self, other, threshold, id_column=id_column, threads=threads, on_progress=on_progress
        )

    def write_without(
        self, removed: npt.NDArray[np.int64], output: str | os.PathLike[str], *, corpus: Any = None
    ) -> int:
        """Write the documents that are left without some; how many they are.

        Parameters
        ----------
        removed
            The places of those that go: ``removed`` of what `duplicates` or `against` found.
        output
            A ``.csv``, ``.tsv``, ``.jsonl`` or ``.parquet`` file, which is there when all of it is.
        corpus
            What the collection was built from, to write all its columns; by default ``id``,
            ``text`` and the columns that were kept.
        """
        from deltavec.collection.overlap import write_unique

        return write_unique(self, removed, output, corpus=corpus)

    def cluster(
        self, n: int | None = None, *, levels: int = 1, seed: int = 0, words: int = 5
    ) -> Clusters:
        """The documents in groups of like ones, each named by the words that tell it from others.

        Parameters
        ----------
        n
            How many groups; no more than there are documents with a vector. By default a number
            that suits the documents: see `deltavec.collection.topics.clusters`.
        levels
            2 or 3 to join like groups to wider ones: ``wider`` of the result, and of that.
        seed
            For the random part: the same seed gives the same groups.
        words
            How many words name a group.
        """
        from deltavec.collection.topics.clusters import cluster

        return cluster(self, n, levels=levels, seed=seed, words=words)

    def add(
        self,
        corpus: Any,
        *,
        update: bool = False,
        purge: bool = False,
        threads: int | None = None,
        on_progress: OnProgress | None = None,
    ) -> Collection:
        """The collection with the documents of a corpus at its end, on disk too.

        The model does not change, nor do the vectors of earlier documents. An update that is
        interrupted leaves the collection as it was. `info` says how well the model covers the
        added documents, and when it should be fitted anew.

        Parameters
        ----------
        corpus
            A `Corpus`, or whatever `deltavec.read_corpus` reads, with the id column and the kept
            columns that the collection was built with.
        update
            Whether documents take the place of those with their ids, instead of being refused.
        purge
            Whether to delete the data of replaced documents from disk now: see `remove`.
        threads
            How many cores to use; all of them by default.
        on_progress
            Called after each chunk of documents.
        """
        from deltavec.collection.updates import add

        add(self, corpus, update=update, purge=purge, threads=threads, on_progress=on_progress)
        return self._reopened()

    def remove(
        self,
        ids: Sequence[str] | pa.Array | None = None,
        *,
        filter: str | None = None,
        missing_ok: bool = False,
        purge: bool = False,
        threads: int | None = None,
    ) -> Collection:
        """The collection without some documents, on disk too.

        They are marked as deleted; their data is deleted when their segment is merged.

        Parameters
        ----------
        ids
            Those with these ids; or give a filter.
        filter
            Those that it lets through: see `mask`.
        missing_ok
            Whether ids that are not there are passed over; by default nothing is removed then.
        purge
            Whether to delete their data from disk now, which writes the whole collection anew.
        threads
            How many cores to use; all of them by default.
        """
        from deltavec.collection.updates import remove

        remove(self, ids, filter=filter, missing_ok=missing_ok, purge=purge, threads=threads)
        return self._reopened()

    def compact(self) -> Collection:
        """The collection in one segment, without the data of deleted documents."""
        from deltavec.collection.updates import compact

        compact(self)
        return self._reopened()

    def refit(
        self,
        *,
        threads: int | None = None,
        on_progress: OnProgress | None = None,
        on_stage: Callable[[str], None] | None = None,
    ) -> Collection:
        """The collection with a model fitted on the documents it holds now; on disk too.

        The old version is there until the new one is complete. Documents that are written while the
        model is fitted are kept; during the build that follows, writers wait.

        Parameters
        ----------
        threads
            How many cores to use; all of them by default.
        on_progress
            Called after each chunk of documents.
        on_stage
            Called with a word or two when each stage begins.
        """
        from deltavec.collection.build import refit

        return refit(self, threads=threads, on_progress=on_progress, on_stage=on_stage)

    def backup(self, path: str | os.PathLike[str]) -> None:
        """Copy the collection, as it is on disk at one moment, to another folder.

        Others may write to it meanwhile. Files are hard links where the file system allows it.
        """
        from deltavec.collection.manifest import backup

        backup(self.path, path)

    def export(
        self,
        target: Any,
        format: str = "parquet",
        *,
        name: str = "documents",
        dtype: str = "float32",
        encoder: str | os.PathLike[str] | None = None,
    ) -> QueryEncoder:
        """Write the documents to another store, where inner products give the score of `search`.

        Parameters
        ----------
        target
            A folder for ``parquet`` and ``opensearch``. An address or an open connection for
            ``pgvector`` and ``qdrant``; a folder or a connection for ``lancedb``.
        format
            The kind of store.
        name
            The name of the table, index or collection there. One of ours is replaced.
        dtype
            ``float32`` or ``float16``, the type of the embeddings; for ``parquet`` also ``int8``.
        encoder
            A folder for what encodes queries. Terms keep the ids that they have in there.

        Returns
        -------
        QueryEncoder
            What encodes queries; files have it in their folder, under ``encoder``.
        """
        from deltavec.collection.export.encoder import export

        return export(self, target, format, name, dtype, encoder)

    def with_map(
        self,
        *,
        threads: int | None = None,
        on_stage: Callable[[str], None] | None = None,
        on_progress: Callable[[float], None] | None = None,
    ) -> Collection:
        """The collection with a map, drawn now, on disk too; an earlier map is replaced.

        Parameters
        ----------
        threads
            How many cores to use; all of them by default. The map is the same.
        on_stage
            Called with a word or two when each part of the work begins.
        on_progress
            Called with the share of the drawing that is done.
        """
        drawn = draw_map(self, threads=threads, on_stage=on_stage, on_progress=on_progress)
        store_map(self, drawn)
        return self._reopened()

    def _reopened(self) -> Collection:
        from deltavec.collection.open import refresh

        return refresh(self)

    def info(self) -> dict[str, Any]:
        """What the collection is: sizes, columns, model, coverage, and whether a refit is due."""
        return collection_info(self)
