"""A collection written anew without some documents, and with others behind the rest.

Vectors and words are written whole: they are mapped, so they must lie in one piece, and copying
them is as fast as the disk. Of the files of documents only those are written again that lose some,
or that are joined. So nothing of a document that was removed is left, and a search reads only what
is there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from deltavec.collection.folder import documents_name, next_number, vectors_name
from deltavec.collection.manifest import CollectionManifest, StoredFile
from deltavec.collection.map.storage import carry_map
from deltavec.collection.segment_writer import Segment
from deltavec.collection.store import TEXT, DocumentStore
from deltavec.collection.vectors import VectorsWriter, map_vectors
from deltavec.collection.words import write_postings
from deltavec.core.arrays import blocks
from deltavec.core.model import EmbeddingModel
from deltavec.core.statistics import TextCounts
from deltavec.search.lexical.storage import StoredPostings
from deltavec.search.lexical.writer import PostingsWriter

COUNTED_AT_ONCE = 1_024

Mask = npt.NDArray[np.bool_]


class Before(NamedTuple):
    """A collection that changes: what is there.

    Attributes
    ----------
    folder : Path
        Where it is.
    description : Description
        What it says it is.
    store : DocumentStore
        Its documents.
    words : StoredWords or None
        Its words.
    """

    folder: Path
    description: CollectionManifest
    store: DocumentStore
    words: StoredPostings | None


def rewrite(
    before: Before,
    model: EmbeddingModel,
    keep: Mask | None,
    *,
    writer: PostingsWriter | None,
    fresh: Segment | None = None,
    threads: int | None = None,
) -> CollectionManifest:
    """What the collection is after a change, all files of it on disk.

    Parameters
    ----------
    before
        What is there.
    model
        The collection's model.
    keep
        Which documents stay; None keeps all.
    writer
        What took in the words of the new documents; None if words are left out.
    fresh
        New documents, written already; none by default.
    threads
        How many cores to use; all of them by default.
    """
    folder, stated = before.folder, before.description
    number = next_number(folder)
    with VectorsWriter(folder / vectors_name(number), stated.dimensions) as vectors:
        there = map_vectors(folder, stated.vectors, stated.dimensions)
        vectors.copy(there, stated, keep)
        if fresh:
            vectors.extend(map_vectors(folder, fresh.vectors, stated.dimensions), fresh)
        stored = vectors.finished()
    listed = None
    if writer:
        listed = write_postings(
            writer, folder, number, model, lambda: stored,
            before=before.words, keep=keep, threads=threads,
        )  # fmt: skip
    sources = [*sources_of(stated.segments, keep)]
    if fresh:
        sources.append(Source(fresh.documents))
    built, added = counts_left(before, model, keep, threads)
    return replace(
        stated,
        vectors=stored,
        segments=arrange(folder, sources, stated.columns),
        zero_rows=vectors.zero_rows,
        length_error=vectors.length_error,
        built=built,
        added=added + fresh.counts if fresh else added,
        additions=stated.additions + (fresh is not None),
        removed=stated.removed + (0 if keep is None else int((~keep).sum())),
        words=listed,
        map=carry_map(folder, stated, keep, stored),
    )


class Source(NamedTuple):
    """A file of documents, and which of them to keep; None keeps all."""

    stored: StoredFile
    keep: Mask | None = None

    @property
    def mask(self) -> Mask:
        """Which documents are kept."""
        return np.ones(self.stored.documents, bool) if self.keep is None else self.keep


def sources_of(segments: Sequence[StoredFile], keep: Mask | None) -> Iterator[Source]:
    """The files that documents are kept of, each with its own part of the mask."""
    first = 0
    for segment in segments:
        own = None if keep is None else keep[first : first + segment.documents]
        first += segment.documents
        if own is None or own.all():
            yield Source(segment)
        elif own.any():
            yield Source(segment, own)


def arrange(
    folder: Path, sources: Sequence[Source], columns: Sequence[str]
) -> tuple[StoredFile, ...]:
    """The documents in files, of which those are made one that stand before no smaller one.

    So there are never more of them than twice the logarithm of the documents, however often some
    are added, and each document is written again for that only so often.
    """
    runs: list[list[Source]] = []
    sizes: list[int] = []
    for source in sources:
        runs.append([source])
        sizes.append(int(source.mask.sum()))
        while len(runs) > 1 and sizes[-2] <= sizes[-1]:
            runs[-2:] = [runs[-2] + runs[-1]]
            sizes[-2:] = [sizes[-2] + sizes[-1]]
    return tuple(merge_segments(folder, run, columns) for run in runs)


def merge_segments(folder: Path, sources: Sequence[Source], columns: Sequence[str]) -> StoredFile:
    """The documents in one file: the one they are in, if nothing changes."""
    if len(sources) == 1 and sources[0].keep is None:
        return sources[0].stored
    store = DocumentStore(folder, [source.stored for source in sources], columns)
    keep = np.concatenate([source.mask for source in sources])
    return store.merged(folder / documents_name(next_number(folder)), keep)


def counts_left(
    before: Before, model: EmbeddingModel, keep: Mask | None, threads: int | None
) -> tuple[TextCounts, TextCounts]:
    """The words of the documents built and of those added, without those of what goes."""
    stated = before.description
    left = [stated.built, stated.added]
    gone = np.zeros(0, np.int64) if keep is None else np.flatnonzero(~keep)
    begun = np.searchsorted(gone, stated.built.documents)
    for which, rows in enumerate((gone[:begun], gone[begun:])):
        for some in blocks(len(rows), COUNTED_AT_ONCE):
            texts = before.store.rows(rows[some]).column(TEXT)
            left[which] -= model.embed_and_count(texts, threads=threads).counts
    return left[0], left[1]
