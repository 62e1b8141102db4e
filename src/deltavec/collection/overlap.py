"""Duplicates in a collection and overlap with another corpus: what to remove, and at which cosine.

All matches are found, and the other corpus is read once, in bounded memory.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from deltavec.collection.ids import as_ids, number_rows, require_id_type
from deltavec.core.arrays import Int64s, blocks
from deltavec.errors import InputError
from deltavec.io.corpus.corpus import read_corpus
from deltavec.io.output.tables import require_table_name, writing_table
from deltavec.search.cross_match import best_matches
from deltavec.search.duplicates import require_threshold
from deltavec.search.keeping import KeepFirst
from deltavec.search.matrix import ChunkedMatrix
from deltavec.search.pairs import RowPairs, row_pairs

if TYPE_CHECKING:
    from deltavec.collection.collection import Collection

DOCUMENTS_AT_ONCE = 8192
ROWS_AT_ONCE = 16_384
THRESHOLDS = (0.8, 0.85, 0.9, 0.95, 0.98, 0.99, 0.999)
TEXT_LENGTH = 200  # characters of an example
FROM = "expected the corpus that the collection was built from"


@dataclass(frozen=True, eq=False)
class Overlap:
    """Documents of a collection that are in another corpus too.

    Attributes
    ----------
    threshold : float
        The cosine asked for.
    documents : int
        How many documents the other corpus has.
    table : pyarrow.Table
        A row for each document that is there: ``id``; ``match``, the id of the most similar
        document of the other corpus, the first of several; ``score``, their cosine.
    removed : ndarray of int64
        The rows of these documents, ascending: what to remove so that the rest is new.
    """

    threshold: float
    documents: int
    table: pa.Table
    removed: Int64s

    def __len__(self) -> int:
        return len(self.removed)


def find_overlap(
    collection: Collection,
    other: Any,
    threshold: float = 0.95,
    *,
    id_column: str | None = None,
    threads: int | None = None,
    on_progress: Callable[[int], None] | None = None,
) -> Overlap:
    """The documents of a collection that are in another corpus; see `Collection.against`."""
    cosine = require_threshold(threshold)
    pieces = collection.index.pieces.in_one()
    ids: list[pa.Array] = []

    def others() -> Iterator[ChunkedMatrix]:
        for names, vectors in embedded_blocks(collection, other, id_column, threads):
            ids.append(names)
            yield ChunkedMatrix.of(vectors, "vectors", threads)

    matches = best_matches(pieces, others(), cosine, threads=threads, on_progress=on_progress)
    named = pa.chunked_array(ids, pa.string())
    found = np.flatnonzero(matches.rows >= 0)
    table = pa.table(
        {
            "id": collection.ids.take(pa.array(found)),
            "match": named.take(pa.array(matches.rows[found])),
            "score": pa.array(matches.scores[found], pa.float32()),
        }
    )
    return Overlap(cosine, len(named), table, found)


def embedded_blocks(
    collection: Collection, other: Any, id_column: str | None, threads: int | None
) -> Iterator[tuple[pa.Array, Any]]:
    """The ids of the other documents, and their vectors in the collection's model, in blocks."""
    from deltavec.collection.collection import Collection

    if isinstance(other, Collection):
        if id_column is not None:
            raise InputError("id_column is for a corpus; a collection has ids")
        same = other.model.fingerprint == collection.model.fingerprint
        for part in blocks(len(other), DOCUMENTS_AT_ONCE):
            rows = np.arange(len(other))[part]
            names = other.ids.slice(part.start, len(rows))
            if same:
                yield names, other.index.vectors[rows]
            else:
                texts = other.store.rows(rows).column("text")
                yield names, collection.model.embed(texts, threads=threads)
        return
    corpus = read_corpus(other)
    columns = [] if id_column is None else [id_column]
    schema = corpus.schema(columns)  # an unknown column is an error before any reading
    if id_column is not None:
        require_id_type(id_column, schema.field(id_column).type)
    row = 0
    for batch in corpus.batches(columns):
        for first in range(0, len(batch), DOCUMENTS_AT_ONCE):
            part = batch.slice(first, DOCUMENTS_AT_ONCE)
            if id_column is None:
                names = number_rows(row, len(part))
            else:
                names = as_ids(part.column(id_column), id_column, row)
            row += len(part)
            yield names, collection.model.embed(part.column(0), threads=threads)


class Example(NamedTuple):
    """Two documents that a threshold only just takes for duplicates."""

    a: str
    b: str
    score: float
    text_a: str
    text_b: str


class Step(NamedTuple):
    """What a threshold finds.

    Attributes
    ----------
    threshold : float
        The cosine.
    pairs : int
        How many pairs are at or above it.
    removed : int
        How many documents would be removed.
    example : Example or None
        The least similar pair of those below the next threshold; None if there is none.
    """

    threshold: float
    pairs: int
    removed: int
    example: Example | None


def duplicate_steps(
    collection: Collection,
    thresholds: Sequence[float] = THRESHOLDS,
    *,
    threads: int | None = None,
    on_progress: Callable[[float], None] | None = None,
) -> list[Step]:
    """What each threshold finds in a collection, from one pass over its pairs."""
    pieces = collection.index.pieces.in_one()
    keepings = [KeepFirst(len(pieces), threshold) for threshold in thresholds]

    def pairs() -> Iterator[RowPairs]:
        for part in row_pairs(pieces, thresholds[0], threads=threads, on_progress=on_progress):
            for keeping in keepings:
                keeping.add(part)
            yield part

    counts, least = count_pairs(thresholds, pairs())
    steps = []
    for threshold, keeping, count, pair in zip(thresholds, keepings, counts, least, strict=True):
        example = None
        if pair:
            table = collection.documents(pair[1:])
            a, b = table["id"].to_pylist()
            text_a, text_b = (text[:TEXT_LENGTH] for text in table["text"].to_pylist())
            example = Example(a, b, pair[0], text_a, text_b)
        steps.append(Step(threshold, count, len(keeping.removed), example))
    return steps


def overlap_steps(
    collection: Collection, found: Overlap, thresholds: Sequence[float] = THRESHOLDS
) -> list[Step]:
    """What each threshold finds of a collection in another corpus; matches are pairs."""
    score = found.table["score"].to_numpy()
    rows = np.arange(len(score))
    counts, least = count_pairs(thresholds, [RowPairs(rows, rows, score)])
    steps = []
    for threshold, count, pair in zip(thresholds, counts, least, strict=True):
        example = None
        if pair:
            own, match = (found.table[name][pair[1]].as_py() for name in ("id", "match"))
            example = Example(own, match, pair[0], collection.text(own)[:TEXT_LENGTH], "")
        steps.append(Step(threshold, count, count, example))
    return steps


def count_pairs(
    thresholds: Sequence[float], parts: Iterable[RowPairs]
) -> tuple[list[int], list[tuple[float, int, int] | None]]:
    """How many pairs are at or above each threshold, and the lowest of those below the next."""
    bounds = np.array(thresholds, np.float32)
    counts = np.zeros(len(bounds), np.int64)
    least: list[tuple[float, int, int] | None] = [None] * len(bounds)
    for a, b, score in parts:
        steps = np.searchsorted(bounds, score, side="right") - 1
        for step in np.unique(steps[steps >= 0]).tolist():
            inside = np.flatnonzero(steps == step)
            counts[step] += len(inside)
            place = inside[np.argmin(score[inside])]
            before = least[step]
            if before is None or score[place] < before[0]:
                least[step] = float(score[place]), int(a[place]), int(b[place])
    return counts[::-1].cumsum()[::-1].tolist(), least


def write_unique(
    collection: Collection, removed: Int64s, output: str | os.PathLike[str], *, corpus: Any = None
) -> int:
    """How many documents were left to write; see `Collection.write_without`."""
    path = Path(output)
    require_table_name(path)
    left = left_of_collection(collection, removed)
    tables = left if corpus is None else left_of_corpus(collection, removed, corpus)
    first = next(tables)  # without rows, for its columns
    written = 0
    with writing_table(path, first.schema) as write:
        write(first)
        for table in tables:
            write(table)
            written += len(table)
    return written


def left_of_collection(collection: Collection, removed: Int64s) -> Iterator[pa.Table]:
    """What is left of the collection: id, text and the columns kept."""
    yield collection.store.schema.empty_table()
    left = np.setdiff1d(np.arange(len(collection)), removed)
    for part in blocks(len(left), ROWS_AT_ONCE):
        yield collection.store.rows(left[part])


def left_of_corpus(collection: Collection, removed: Int64s, corpus: Any) -> Iterator[pa.Table]:
    """What is left of the corpus, with all its columns; documents are known by their ids."""
    source = read_corpus(corpus)
    columns = source.columns
    id_column = collection.description.id_column
    if id_column and id_column not in columns:
        known = ", ".join(map(repr, columns))
        raise InputError(f"{FROM}, with the id column {id_column!r}, got the columns {known}")
    gone = collection.ids.take(pa.array(removed))
    whole = source.schema(columns)
    yield pa.schema([whole.field(name) for name in columns]).empty_table()
    row = 0
    for batch in source.batches(columns):
        table = pa.Table.from_batches([batch]).select(columns)
        if id_column:
            ids = table.column(id_column).cast(pa.string())
        else:
            ids = number_rows(row, len(table))
        row += len(table)
        yield table.filter(pc.invert(pc.is_in(ids, gone)))
    if row != len(collection):
        raise InputError(f"{FROM}, {len(collection):,} documents, got {row:,}")
