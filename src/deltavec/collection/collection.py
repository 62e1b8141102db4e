"""A collection: documents, their vectors and the model between them, opened from a folder."""

from __future__ import annotations

import difflib
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from deltavec.collection import building
from deltavec.collection.clusters import Clusters, clustered
from deltavec.collection.description import Description
from deltavec.collection.documents import ID, TEXT, DocumentStore
from deltavec.collection.facts import facts
from deltavec.collection.filters import Filter
from deltavec.collection.found import Found, Keyword
from deltavec.collection.writing import OnProgress
from deltavec.core.explain import Explanation, dissected, shares
from deltavec.core.model import EmbeddingModel
from deltavec.errors import InputError
from deltavec.search import Index

if TYPE_CHECKING:
    from deltavec.search import Duplicates

IDS_TO_COMPARE = 20_000  # for a suggestion
FILTERS_KEPT = 16


@dataclass(frozen=True, eq=False, repr=False)
class Collection:
    """Documents on disk with their vectors, to be searched, compared and explained.

    Opened by `deltavec.open_collection`, made by `deltavec.build_collection`. Vectors are mapped
    into memory, texts read as they are shown. What is opened stays as it is; `add` gives the
    collection with more documents.

    Attributes
    ----------
    path : Path
        Its folder.
    description : Description
        What the folder says of itself.
    model : EmbeddingModel
        The model of the collection: documents and queries are embedded with it.
    index : Index
        The vectors; rows are numbered as the documents are.
    store : DocumentStore
        The documents on disk.
    """

    path: Path
    description: Description
    model: EmbeddingModel
    index: Index
    store: DocumentStore
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

    def row(self, id: str) -> int:
        """The place of the document with this id.

        Raises
        ------
        InputError
            If there is none.
        """
        import pyarrow.compute as pc

        if not isinstance(id, str):
            raise InputError(f"an id is a string, got {type(id).__name__} ({id!r:.60})")
        place = -1
        if not any("\ud800" <= character <= "\udfff" for character in id):  # nothing stored has one
            place = pc.index(self.ids, id).as_py()
        if place < 0:
            raise InputError(
                f"{self.path}: no document has the id {id!r:.60}{self._suggestion(id)}"
            )
        return int(place)

    def _suggestion(self, id: str) -> str:
        if not self.description.id_column:
            return f"; documents are numbered from 0 to {len(self) - 1}"
        close = []
        if len(self) <= IDS_TO_COMPARE:
            close = difflib.get_close_matches(id[:100], self.ids.to_pylist(), n=1, cutoff=0.5)
        return f"; did you mean {close[0]!r}?" if close else f"; one is {self.ids[0].as_py()!r:.60}"

    def documents(self, which: Sequence[str] | Sequence[int] | npt.NDArray[np.int64]) -> pa.Table:
        """The documents with these ids, or at these places, in this order.

        Parameters
        ----------
        which
            Strings are ids, whole numbers are places from 0 on.

        Returns
        -------
        pyarrow.Table
            ``id``, ``text``, and the columns kept.
        """
        if isinstance(which, str):
            raise InputError(f"expected a list of ids or places, got the string {which!r:.60}")
        wanted = list(which)
        if any(isinstance(one, str) for one in wanted):
            rows = np.array([self.row(one) for one in wanted], np.int64)
        else:
            rows = np.asarray(wanted, np.int64).reshape(-1)
        outside = rows[(rows < 0) | (rows >= len(self))]
        if len(outside):
            raise InputError(f"places are from 0 to {len(self) - 1}, got {int(outside[0])}")
        return self.store.rows(rows)

    def text(self, id: str) -> str:
        """The text of the document with this id."""
        return str(self.documents([id]).column(TEXT)[0].as_py())

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
        ``or``, brackets and ``is null`` are known too. A missing value fulfils no comparison.

        Raises
        ------
        InputError
            If it is not in the language, names an unknown column, or compares what cannot be.
        """
        known = self.masks.get(filter) if isinstance(filter, str) else None
        if known is not None:
            return known
        parsed = Filter.of(filter, [ID, *self.columns])
        mask = parsed.mask(self.store.columns(parsed.columns))
        mask.flags.writeable = False
        if len(self.masks) >= FILTERS_KEPT:
            self.masks.clear()
        self.masks[filter] = mask
        return mask

    def search(
        self, query: str | Sequence[str], k: int = 10, *, filter: str | None = None
    ) -> list[Found]:
        """The documents most alike to a query, best first.

        Parameters
        ----------
        query
            A text, or a list of words.
        k
            How many to find; fewer come back if there are fewer.
        filter
            Which documents may be found, by their columns: see `mask`.

        Returns
        -------
        list of Found
            Empty if the query has no known word: it has no direction, so nothing is near it.
        """
        if not isinstance(query, str | list | tuple):
            raise InputError(f"a query is a text or a list of words, got {type(query).__name__}")
        vector = self.model.embed([query])[0]
        return self._nearest(vector, k, filter)

    def similar(self, id: str, k: int = 10, *, filter: str | None = None) -> list[Found]:
        """The documents most alike to one of the collection, best first, itself left out.

        Empty if that one has no vector; otherwise as `search`.
        """
        row = self.row(id)
        return self._nearest(self.index.vectors[row], k, filter, without=row)

    def _nearest(
        self,
        vector: npt.NDArray[np.float32],
        k: int,
        filter: str | None,
        without: int | None = None,
    ) -> list[Found]:
        mask = None if filter is None else self.mask(filter)
        more = 0 if without is None else 1
        require_count("k", k)
        if not vector.any():
            return []
        hits = self.index.search(vector, k + more, where=mask)
        rows, scores = hits.ids[0], hits.scores[0]
        others = np.flatnonzero(rows != without)[:k] if more else slice(None)
        return self._found(rows[others], scores[others])

    def _found(self, rows: npt.NDArray[np.int64], scores: npt.NDArray[np.float32]) -> list[Found]:
        found = []
        for entry, score in zip(self.store.rows(rows).to_pylist(), scores.tolist(), strict=True):
            id, text = entry.pop(ID), entry.pop(TEXT)
            found.append(Found(id, score, text, entry))
        return found

    def explain(self, a: str, b: str, *, pairs: int = 10) -> Explanation:
        """Which words make two texts alike, in the collection's own model.

        Texts, not ids: for a document of the collection pass ``collection.text(id)``.
        """
        return self.model.explain(a, b, pairs=pairs)

    def keywords(self, id: str, n: int = 10) -> list[Keyword]:
        """The words that a document is about: those that make its direction, largest share first.

        The shares of all its words (and of the offset, in a model that has one) add up to 1.
        """
        require_count("n", n)
        model = self.model
        apart = dissected(model.words(self.text(id)), model.vocabulary, model.folded)
        return [Keyword(word.word, word.share) for word in shares(apart, apart)[:n]]

    def duplicates(
        self,
        threshold: float = 0.95,
        *,
        threads: int | None = None,
        on_progress: Callable[[float], None] | None = None,
        output: str | os.PathLike[str] | None = None,
    ) -> Duplicates:
        """All pairs of documents with a cosine of at least the threshold, and groups of them.

        See `deltavec.duplicates`; the ids are those of the documents.
        """
        from deltavec.search import duplicates

        return duplicates(
            self.index.vectors,
            threshold,
            ids=self.ids,
            threads=threads,
            on_progress=on_progress,
            output=output,
        )

    def cluster(self, n: int, *, seed: int = 0, words: int = 5) -> Clusters:
        """The documents in n groups of like ones, each named by the words that pull it together.

        Parameters
        ----------
        n
            How many groups; no more than there are documents with a vector.
        seed
            For the random part: the same seed gives the same groups.
        words
            How many words name a group.
        """
        require_count("n", n)
        require_count("words", words)
        return clustered(self, n, seed=seed, words=words)

    def add(
        self,
        corpus: Any,
        *,
        threads: int | None = None,
        on_progress: OnProgress | None = None,
    ) -> Collection:
        """The collection with the documents of a corpus at its end, on disk too.

        The model stays as it is, and so do the vectors of the documents before. Whoever is stopped
        halfway leaves the collection as it was. `info` says how well the model knows the words of
        what was added, and when it should be fitted anew.

        Parameters
        ----------
        corpus
            A `Corpus`, or whatever `deltavec.read_corpus` reads, with the id column and the kept
            columns that the collection was built with.
        threads
            How many cores to use; all of them by default.
        on_progress
            Called after each chunk of documents.
        """
        from deltavec.collection.opening import open_collection

        building.append(self.path, self.model, corpus, threads=threads, on_progress=on_progress)
        return open_collection(self.path, verify=False)

    def info(self) -> dict[str, Any]:
        """What the collection is: sizes, columns, model, coverage, and whether a refit is due."""
        return facts(self.description, self.model, self.store.schema)


def require_count(name: str, value: int) -> None:
    """Refuse a number of things that is none."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
        raise InputError(f"{name} must be a whole number from 1 on, got {value!r}")
