"""Merges of segments: which ones, and the segment that becomes of them.

A change writes a small segment. Segments are merged with their neighbors, so that each has more
live documents than all behind it together: there are at most as many as the logarithm of the
documents, and each document is written again only so often. A segment that has lost a quarter of
its documents is written without them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path

import numpy as np

from deltavec.collection.manifest import StoredSegment, WordsFile, file_path, next_number
from deltavec.collection.map.storage import StoredMap, read_map, write_map
from deltavec.collection.segment import TEXT, Documents, OpenSegment, map_vectors
from deltavec.collection.segment_writer import (
    SegmentWriter,
    VectorsWriter,
    split_groups,
    write_rows,
)
from deltavec.core.arrays import Int64s, blocks, read_only
from deltavec.io.artifacts.atomic import on_disk
from deltavec.io.corpus.columns import text_sizes
from deltavec.io.output.shards import EmbeddedRows
from deltavec.search.lexical.writer import merge_postings
from deltavec.search.matrix import ChunkedMatrix

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
    folder: Path,
    parts: Sequence[OpenSegment],
    deleted: Sequence[Int64s],
    length_error: float,
    *,
    whole: bool,
    threads: int | None = None,
) -> StoredSegment:
    """The live documents of successive segments in a new one.

    Parameters
    ----------
    folder
        Where the files go.
    parts, deleted
        The segments, and the deleted documents of each.
    length_error
        How far the length of a vector is from 1 at most.
    whole
        Whether these are all segments of the collection.
    threads
        How many cores to use; all of them by default.
    """
    number = next_number(folder)
    pieces = ChunkedMatrix(tuple(one.vectors for one in parts), length_error, (), tuple(deleted))
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
    with VectorsWriter(path, pieces.dimensions) as vectors:
        for some in blocks(len(live)):
            vectors.append(pieces.at(live[some]), 0, length_error)
        stored = vectors.finish()
    hashes = np.empty(len(pieces), np.uint64)
    for begin, one in zip(pieces.begins.tolist(), parts, strict=False):
        hashes[begin + one.id_rows] = one.id_hashes
    mapped = map_vectors(folder, stored, pieces.dimensions)
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
