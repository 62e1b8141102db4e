"""Updates of a collection: add, replace and remove documents, add postings, merge segments.

Vectors and postings are written anew, since they are mapped and must lie in one piece. Of the
segments only those are written again that lose documents, or that are merged. So nothing of a
removed document is left, and a search reads only live documents.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from deltavec.collection import ids as identities
from deltavec.collection.collection import Collection
from deltavec.collection.manifest import (
    StoredFile,
    file_path,
    next_number,
    remove_unnamed,
    save_manifest,
    writing,
)
from deltavec.collection.map.storage import carry_map
from deltavec.collection.open import refresh
from deltavec.collection.segment import ID, TEXT, Documents, map_vectors, open_postings
from deltavec.collection.segment_writer import (
    Mask,
    OnProgress,
    SegmentWriter,
    StoredColumns,
    VectorsWriter,
    WrittenSegment,
    postings_writer,
    split_groups,
    write_postings,
    write_segment,
)
from deltavec.core.arrays import blocks
from deltavec.core.statistics import TextCounts
from deltavec.core.text.batches import as_text_batch
from deltavec.errors import InputError
from deltavec.io.corpus.columns import text_sizes
from deltavec.io.corpus.corpus import open_corpus
from deltavec.io.corpus.files import Reading
from deltavec.io.output.embed_to_file import Progress
from deltavec.io.output.shards import EmbeddedRows, zero_rows
from deltavec.search.lexical.writer import PostingsWriter

COUNTED_AT_ONCE = 1_024  # documents


@contextmanager
def updating(opened: Collection) -> Iterator[Collection]:
    """The collection as it is on disk now, with the lock for writing held.

    Files that the manifest does not name are removed before and after.
    """
    with writing(opened.path) as exclusive:
        current = refresh(opened)
        if current.description.model != opened.description.model:
            raise InputError(f"{opened.path} was built anew since it was opened: open it again")
        remove_unnamed(opened.path, exclusive=exclusive)
        stated = current.description
        if stated.words:  # they are copied: a changed bit must not be copied on
            words = open_postings(opened.path, stated.words, stated.dimensions, verify=True)
            current = replace(current, words=words)
        try:
            yield current
        finally:
            remove_unnamed(opened.path, stated, exclusive=exclusive)


def add(
    opened: Collection,
    corpus: Any,
    *,
    update: bool = False,
    threads: int | None = None,
    on_progress: OnProgress | None = None,
) -> None:
    """Add documents to a collection; see `Collection.add`."""
    with updating(opened) as current:
        stated = current.description
        documents = open_corpus(corpus, Reading(expected=stated.text_column))
        if update and not stated.id_column:
            raise InputError(
                f"{current.path}: its documents are numbered, none has an id to be updated by: "
                "build the collection with an id column, or add without updating"
            )
        columns = StoredColumns.of(
            documents, stated.id_column or None, stated.columns, current.store.schema
        )
        with postings_writer(current.path, current.words is not None, current.words) as writer:
            fresh = write_segment(
                current.model, columns, current.path, next_number(current.path), postings=writer,
                first=stated.documents + stated.removed, threads=threads, on_progress=on_progress,
            )  # fmt: skip
            keep = None
            if stated.id_column:
                there = current.store.columns([ID]).column(0)
                identities.require_unique(fresh.ids if update else [*there.chunks, *fresh.ids])
                keep = identities.unknown_id(there, fresh.ids) if update else None
            rewrite(current, keep, writer=writer, fresh=fresh, threads=threads)


def remove(
    opened: Collection,
    ids: Sequence[str] | pa.Array | None,
    *,
    filter: str | None = None,
    missing_ok: bool = False,
    threads: int | None = None,
) -> None:
    """Remove documents from a collection; see `Collection.remove`."""
    if (ids is None) == (filter is None):
        given = "neither" if ids is None else "both"
        raise InputError(f"expected either ids or a filter of what to remove, got {given}")
    with updating(opened) as current:
        if filter is not None:
            keep = ~current.mask(filter)
        else:
            keep = np.ones(len(current), bool)
            keep[rows_to_remove(current, ids, missing_ok)] = False
        if keep.all():
            return
        if not keep.any():
            raise InputError(
                f"{current.path}: all {len(current):,} documents would be removed, and a "
                "collection has at least one: delete the folder instead"
            )
        with postings_writer(current.path, current.words is not None, current.words) as writer:
            rewrite(current, keep, writer=writer, threads=threads)


def rows_to_remove(current: Collection, ids: Any, missing_ok: bool) -> Any:
    """The rows of the documents with these ids."""
    wanted = identities.as_list(ids)
    rows = identities.places_of(current.ids, wanted)
    missing = np.flatnonzero(rows < 0)
    if len(missing) and not missing_ok:
        first = wanted[missing[0]]
        advice = identities.suggestion(first, current.ids, current.description.id_column)
        others = f", nor {len(missing) - 1:,} others" if len(missing) > 1 else ""
        raise InputError(
            f"{current.path}: no document has the id {first!r:.60}{others}{advice}; nothing was "
            "removed"
        )
    return rows[rows >= 0]


def compact(opened: Collection) -> None:
    """Merge all segments into one; see `Collection.compact`."""
    with updating(opened) as current:
        stated = current.description
        if len(stated.segments) > 1:
            merged = merge([*live_parts(stated.segments, None)], current)
            save_manifest(current.path, replace(stated, segments=(merged,)), stated)


def add_postings(
    opened: Collection,
    *,
    stems: bool = True,
    threads: int | None = None,
    on_progress: OnProgress | None = None,
) -> None:
    """Add postings to a collection, from its texts; see `Collection.with_words`."""
    with updating(opened) as current, PostingsWriter(current.path) as writer:
        done = 0
        for batch in current.store.batches():
            writer.add(as_text_batch(batch.column(TEXT), current.model.tokenizer))
            done += len(batch)
            if on_progress:
                on_progress(Progress(done, done / len(current)))
        path = file_path(current.path, "words", next_number(current.path))
        vectors = current.description.vectors
        written = write_postings(
            writer, path, current.model, lambda: vectors, stems=stems, threads=threads
        )
        stated = current.description
        save_manifest(current.path, replace(stated, words=written), stated)


def rewrite(
    current: Collection,
    keep: Mask | None,
    *,
    writer: PostingsWriter | None,
    fresh: WrittenSegment | None = None,
    threads: int | None = None,
) -> None:
    """Write the collection after a change, and replace its manifest.

    Parameters
    ----------
    current
        The collection before the change.
    keep
        Which documents stay; None keeps all.
    writer
        What counted the terms of the new documents; None if there are no postings.
    fresh
        New documents, which are written already.
    threads
        How many cores to use; all of them by default.
    """
    folder, stated = current.path, current.description
    if keep is not None and keep.all():
        keep = None
    number = next_number(folder)
    there = map_vectors(folder, stated.vectors, stated.dimensions, verify=True)
    with VectorsWriter(file_path(folder, "vectors", number), stated.dimensions) as vectors:
        for part in blocks(len(there)):
            kept = there[part] if keep is None else there[part][keep[part]]
            vectors.append(kept, zero_rows(kept), stated.length_error)
        if fresh:
            added = map_vectors(folder, fresh.vectors, stated.dimensions)
            vectors.append(added, fresh.zero_rows, fresh.length_error)
        stored = vectors.finish()
    words = None
    if writer:
        words = write_postings(
            writer, file_path(folder, "words", number), current.model, lambda: stored,
            before=current.words, keep=keep, threads=threads,
        )  # fmt: skip
    parts = [*live_parts(stated.segments, keep)]
    if fresh:
        parts.append(Part(fresh.documents))
    built, added_counts = counts_left(current, keep, threads)
    after = replace(
        stated,
        vectors=stored,
        segments=merge_small(parts, current),
        zero_rows=vectors.zero_rows,
        length_error=vectors.length_error,
        built=built,
        added=added_counts + fresh.counts if fresh else added_counts,
        additions=stated.additions + (fresh is not None),
        removed=stated.removed + (0 if keep is None else int((~keep).sum())),
        words=words,
        map=carry_map(folder, stated, keep, stored),
    )
    save_manifest(folder, after, stated)
    if fresh:
        (folder / fresh.vectors.name).unlink()  # they are in the new file


class Part(NamedTuple):
    """A segment, and which of its documents stay; None keeps all."""

    stored: StoredFile
    keep: Mask | None = None

    @property
    def mask(self) -> Mask:
        """Which documents stay."""
        return np.ones(self.stored.documents, bool) if self.keep is None else self.keep


def live_parts(segments: Sequence[StoredFile], keep: Mask | None) -> Iterator[Part]:
    """The segments with documents that stay, each with its own part of the mask."""
    first = 0
    for segment in segments:
        own = None if keep is None else keep[first : first + segment.documents]
        first += segment.documents
        if own is None or own.any():
            yield Part(segment, None if own is None or own.all() else own)


def merge_small(parts: Sequence[Part], current: Collection) -> tuple[StoredFile, ...]:
    """The segments after a change: one that is no larger than the next is merged with it.

    So there are at most twice as many as the logarithm of the documents, however often some are
    added, and each document is written again only so often.
    """
    runs: list[list[Part]] = []
    sizes: list[int] = []
    for part in parts:
        runs.append([part])
        sizes.append(int(part.mask.sum()))
        while len(runs) > 1 and sizes[-2] <= sizes[-1]:
            runs[-2:] = [runs[-2] + runs[-1]]
            sizes[-2:] = [sizes[-2] + sizes[-1]]
    return tuple(merge(run, current) for run in runs)


def merge(parts: Sequence[Part], current: Collection) -> StoredFile:
    """The documents of some segments in one; nothing is written if nothing changes."""
    if len(parts) == 1 and parts[0].keep is None:
        return parts[0].stored
    folder = current.path
    documents = Documents(folder, [part.stored for part in parts], current.columns)
    keep = np.concatenate([part.mask for part in parts])

    def rows() -> Iterator[EmbeddedRows]:
        first = 0
        for group in documents.batches():
            batch = group.filter(pa.array(keep[first : first + len(group)]))
            first += len(group)
            no_vectors = np.zeros((len(batch), 0), np.float32)
            yield EmbeddedRows(batch, text_sizes(batch.column(TEXT)), no_vectors)

    path = file_path(folder, "documents", next_number(folder))
    with SegmentWriter(path, documents.schema) as writer:
        for group in split_groups(rows()):
            writer.write(group)
        return writer.finish()


def counts_left(
    current: Collection, keep: Mask | None, threads: int | None
) -> tuple[TextCounts, TextCounts]:
    """The counts of the documents built and of those added, without those that are removed."""
    stated = current.description
    left = [stated.built, stated.added]
    gone = np.zeros(0, np.int64) if keep is None else np.flatnonzero(~keep)
    split = np.searchsorted(gone, stated.built.documents)
    for which, rows in enumerate((gone[:split], gone[split:])):
        for some in blocks(len(rows), COUNTED_AT_ONCE):
            texts = current.store.rows(rows[some]).column(TEXT)
            left[which] -= current.model.embed_and_count(texts, threads=threads).counts
    return left[0], left[1]
