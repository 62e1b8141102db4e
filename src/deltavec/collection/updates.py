"""Updates of a collection: add, replace and remove documents, merge segments.

An update writes a segment of the new documents, and for each segment that loses documents a file
of those that are deleted. Then the manifest is replaced. So an update costs what it changes, not
what is there (docs/decisions/0031).

Segments are merged with their neighbors, so that each has more live documents than all behind it
together: there are at most as many as the logarithm of the documents, and each document is written
again only so often. A segment that has lost a quarter of its documents is written without them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

from deltavec.collection import ids as identities
from deltavec.collection.collection import Collection
from deltavec.collection.manifest import (
    StoredSegment,
    WordsFile,
    file_path,
    next_number,
    remove_unnamed,
    save_manifest,
    writing,
)
from deltavec.collection.map.storage import StoredMap, place_fresh, read_map, write_map
from deltavec.collection.open import refresh
from deltavec.collection.segment import TEXT, Documents, OpenSegment, map_vectors
from deltavec.collection.segment_writer import (
    OnProgress,
    SegmentWriter,
    StoredColumns,
    VectorsWriter,
    WrittenSegment,
    further_terms,
    split_groups,
    write_deleted,
    write_rows,
    write_scale,
    write_segment,
    write_words,
)
from deltavec.core.arrays import Int64s, blocks, read_only
from deltavec.core.statistics import TextCounts
from deltavec.errors import InputError
from deltavec.io.artifacts.atomic import on_disk
from deltavec.io.corpus.columns import text_sizes
from deltavec.io.corpus.corpus import open_corpus
from deltavec.io.corpus.files import Reading
from deltavec.io.output.shards import EmbeddedRows
from deltavec.search.hybrid.score_scale import ScoreScale
from deltavec.search.lexical.writer import PostingsWriter, merge_postings
from deltavec.search.matrix import ChunkedMatrix

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
        try:
            yield current
        finally:
            remove_unnamed(opened.path, current.description, exclusive=exclusive)


def add(
    opened: Collection,
    corpus: Any,
    *,
    update: bool = False,
    purge: bool = False,
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
            documents, stated.id_column or None, stated.columns, current.store.schema,
            stated.title_column or None,
        )  # fmt: skip
        number = next_number(current.path)
        with PostingsWriter(current.path) as writer:
            fresh = write_segment(
                current.model, columns, current.path, number, dtype=stated.dtype, postings=writer,
                first=stated.documents + stated.removed, threads=threads, on_progress=on_progress,
            )  # fmt: skip
            gone = np.zeros(0, np.int64)
            if stated.id_column:
                identities.require_unique(fresh.ids)
                new = pa.concat_arrays(fresh.ids)
                places, gone = current.rows_of(new)
                if len(gone) and not update:
                    place = int(places.min())
                    row = int(current.index.pieces.logical(gone[places.argmin()]))
                    raise InputError(
                        f"ids must be unique, got {new[place].as_py()!r:.60} in row "
                        f"{len(current) + place:,} and before in row {row:,}"
                    )
            terms = partial(further_terms, current.model, current.words.words)
            words = write_words(writer, file_path(current.path, "words", number), terms)
        drawn = place_fresh(current, fresh.files[1], file_path(current.path, "map", number))
        segment = StoredSegment(*fresh.files, words, drawn)
        commit(current, np.sort(gone), fresh, segment, purge=purge, threads=threads)


def remove(
    opened: Collection,
    ids: Sequence[str] | pa.Array | None,
    *,
    filter: str | None = None,
    missing_ok: bool = False,
    purge: bool = False,
    threads: int | None = None,
) -> None:
    """Remove documents from a collection; see `Collection.remove`."""
    if (ids is None) == (filter is None):
        given = "neither" if ids is None else "both"
        raise InputError(f"expected either ids or a filter of what to remove, got {given}")
    with updating(opened) as current:
        if filter is not None:
            gone, live = np.flatnonzero(current.mask(filter)), current.index.pieces.live
            gone = gone if live is None else live[gone]
        else:
            gone = rows_to_remove(current, ids, missing_ok)
        if not len(gone):
            return
        if len(gone) == len(current):
            raise InputError(
                f"{current.path}: all {len(current):,} documents would be removed, and a "
                "collection has at least one: delete the folder instead"
            )
        commit(current, gone, purge=purge, threads=threads)


def rows_to_remove(current: Collection, ids: Any, missing_ok: bool) -> Int64s:
    """The rows of the documents with these ids, ascending; see `Collection.rows_of`."""
    wanted = identities.as_list(ids)
    places, rows = current.rows_of(identities.as_array(wanted))
    missing = np.setdiff1d(np.arange(len(wanted)), places)
    if len(missing) and not missing_ok:
        first = wanted[missing[0]]
        advice = identities.suggestion(first, current.ids, current.description.id_column)
        others = f", nor {len(missing) - 1:,} others" if len(missing) > 1 else ""
        raise InputError(
            f"{current.path}: no document has the id {first!r:.60}{others}{advice}; nothing was "
            "removed"
        )
    return np.unique(rows)


def compact(opened: Collection) -> None:
    """Merge all segments into one; see `Collection.compact`."""
    with updating(opened) as current:
        if len(current.segments) > 1 or current.description.segments[0].deleted:
            commit(current, np.zeros(0, np.int64), purge=True)


def commit(
    current: Collection,
    gone: Int64s,
    fresh: WrittenSegment | None = None,
    segment: StoredSegment | None = None,
    *,
    purge: bool = False,
    threads: int | None = None,
) -> None:
    """Write what a change needs beside its new segment, and replace the manifest.

    Parameters
    ----------
    current
        The collection before the change.
    gone
        The rows that are deleted, ascending, numbered through all segments.
    fresh, segment
        New documents, and the segment that they are in.
    purge
        Whether to merge all segments, so that nothing of deleted documents is left.
    threads
        How many cores to use; all of them by default.
    """
    folder, stated = current.path, current.description
    vectors = current.index.pieces.at(gone)
    segments, deleted = [*stated.segments], deleted_rows(current, gone)
    if segment:
        segments.append(segment)
        deleted.append(np.zeros(0, np.int64))
    if segments[-1].map is None:
        segments = [replace(one, map=None) for one in segments]
    error = max(stated.length_error, fresh.length_error if fresh else 0.0)
    sizes = [one.documents.documents for one in segments]
    live = [size - len(rows) for size, rows in zip(sizes, deleted, strict=True)]
    after = []
    for run in [range(len(segments))] if purge else plan_merges(live):
        lost = sum(len(deleted[n]) for n in run)
        if len(run) > 1 or lost > MOST_DELETED * sizes[run[0]] or (purge and lost):
            some, whole = slice(run.start, run.stop), len(run) == len(segments)
            after.append(
                merge_segments(current, segments[some], deleted[some], whole=whole, threads=threads)
            )
            continue
        [number] = run
        stored = segments[number]
        if lost > (stored.deleted.documents if stored.deleted else 0):
            path = file_path(folder, "deleted", next_number(folder))
            stored = replace(stored, deleted=write_deleted(path, deleted[number]))
        after.append(stored)
    scale = stated.scale
    if fresh or len(gone):
        spread = current.words.spread.plus(ScoreScale.of(vectors, 1), -1)
        if fresh:
            fresh_vectors = map_vectors(folder, fresh.files[1], stated.dimensions, stated.dtype)
            spread = spread.plus(ScoreScale.of(fresh_vectors, threads))
        scale = write_scale(file_path(folder, "scale", next_number(folder)), spread)
    built, added = counts_left(current, gone, threads)
    state = replace(
        stated,
        segments=tuple(after),
        scale=scale,
        zero_rows=stated.zero_rows
        + (fresh.zero_rows if fresh else 0)
        - int((~vectors.any(axis=1)).sum()),
        length_error=error,
        built=built,
        added=added + fresh.counts if fresh else added,
        additions=stated.additions + (fresh is not None),
        removed=stated.removed + len(gone),
    )
    save_manifest(folder, state, stated)
    if segment:
        named = {file.name for file in state.files}
        for file in segment.files:
            if file.name not in named:  # it was merged at once
                (folder / file.name).unlink()


def deleted_rows(current: Collection, gone: Int64s) -> list[Int64s]:
    """The deleted rows of each segment after these are gone, too."""
    pieces = current.index.pieces
    ends = np.searchsorted(gone, pieces.begins)
    return [
        np.union1d(rows, gone[ends[number] : ends[number + 1]] - pieces.begins[number])
        for number, rows in enumerate(pieces.deleted)
    ]


def counts_left(
    current: Collection, gone: Int64s, threads: int | None
) -> tuple[TextCounts, TextCounts]:
    """The counts of the documents built and of those added, without those that are deleted."""
    stated, pieces = current.description, current.index.pieces
    left = [stated.built, stated.added]
    rows = gone if pieces.live is None else np.searchsorted(pieces.live, gone)
    split = np.searchsorted(rows, stated.built.documents)
    for which, some in enumerate((rows[:split], rows[split:])):
        for part in blocks(len(some), COUNTED_AT_ONCE):
            texts = current.store.rows(some[part]).column(TEXT)
            left[which] -= current.model.embed_and_count(texts, threads=threads).counts
    return left[0], left[1]


SMALL = 64  # documents; smaller neighbors are one segment
MOST_DELETED = 0.25  # of a segment


def plan_merges(live: Sequence[int]) -> list[range]:
    """The successive segments that become one, as ranges of their numbers.

    The last ones are merged, from the first that has no more live documents than all behind it.

    Examples
    --------
    >>> plan_merges([1000, 100, 70, 40])
    [range(0, 1), range(1, 4)]
    """
    behind, first = 0, len(live) - 1
    for number in reversed(range(len(live))):
        if live[number] <= max(behind, SMALL - behind):
            first = number
        behind += live[number]
    if first and not sum(live[first:]):  # later segments may use its words
        first -= 1
    return [*(range(number, number + 1) for number in range(first)), range(first, len(live))]


def merge_segments(
    current: Collection,
    segments: Sequence[StoredSegment],
    deleted: Sequence[Int64s],
    *,
    whole: bool,
    threads: int | None = None,
) -> StoredSegment:
    """The live documents of successive segments in a new one.

    Parameters
    ----------
    current
        The collection.
    segments, deleted
        The segments, and the deleted documents of each.
    whole
        Whether these are all segments of the collection.
    threads
        How many cores to use; all of them by default.
    """
    folder, stated = current.path, current.description
    # Checksums first: a changed bit must not be copied on.
    parts = [OpenSegment.of(folder, one, stated, verify=True) for one in segments]
    number = next_number(folder)
    pieces = ChunkedMatrix(tuple(one.vectors for one in parts), 0.0, (), tuple(deleted))
    store = Documents([one.documents for one in parts], pieces)

    def rows() -> Iterator[EmbeddedRows]:
        for batch in store.batches():
            no_vectors = np.zeros((len(batch), 0), np.float32)
            yield EmbeddedRows(batch, text_sizes(batch.column(TEXT)), no_vectors)

    with SegmentWriter(file_path(folder, "documents", number), store.schema) as documents:
        for group in split_groups(rows()):
            documents.write(group)
        written = documents.finish()
    live = np.arange(len(pieces)) if pieces.live is None else pieces.live
    path = file_path(folder, "vectors", number)
    with VectorsWriter(path, pieces.dimensions, stated.dtype) as vectors:
        for some in blocks(len(live)):
            vectors.write(pieces.at(live[some]))
        stored = vectors.finish()
    hashes = np.empty(len(pieces), np.uint64)
    for begin, one in zip(pieces.begins.tolist(), parts, strict=False):
        hashes[begin + one.id_rows] = one.id_hashes
    mapped = map_vectors(folder, stored, pieces.dimensions, stated.dtype)
    codes = write_rows(file_path(folder, "rows", number), mapped, hashes[live], threads)
    target = file_path(folder, "words", number)
    numbers = np.full(len(pieces), -1, np.int32)
    numbers[live] = np.arange(len(live))
    own = [read_only(part) for part in np.split(numbers, pieces.begins[1:-1])]
    postings = [one.postings for one in parts]
    sizes = merge_postings(target, [*zip(postings, own, strict=True)], whole=whole)
    words = WordsFile(name=target.name, **on_disk(target)._asdict(), **asdict(sizes))
    drawn = None
    maps = [one.stored.map for one in parts if one.stored.map]
    if maps:
        places = [read_map(folder, file) for file in maps]
        kept = [np.delete(one.places, gone, 0) for one, gone in zip(places, deleted, strict=True)]
        joined = StoredMap(np.concatenate(kept), places[0].names)
        drawn = write_map(file_path(folder, "map", number), joined, maps[0].drawn)
    return StoredSegment(written, stored, codes, words, drawn)
