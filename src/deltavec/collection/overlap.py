"""Duplicates in a collection and overlap with another corpus: what to remove, and why.

The other corpus is read once, in bounded memory.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from deltavec.collection.ids import as_ids, number_rows, require_id_type
from deltavec.collection.segment import TEXT
from deltavec.core.arrays import Int64s, blocks
from deltavec.errors import InputError
from deltavec.io.corpus.corpus import read_corpus
from deltavec.io.output.tables import require_table_name, writing_table
from deltavec.search.duplicates import DUPLICATE, Duplicates
from deltavec.search.pairs import require_threshold
from deltavec.search.shingles import Shingles, text_matches

if TYPE_CHECKING:
    from deltavec.collection.collection import Collection

DOCUMENTS_AT_ONCE = 8192
ROWS_AT_ONCE = 16_384
THRESHOLDS = (0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
CONTAINED = 0.8  # of a document in another one: leakage, even if the other is much longer
FROM = "expected the corpus that the collection was built from"


@dataclass(frozen=True, eq=False, repr=False)
class Overlap:
    """Documents of a collection that are in another corpus too.

    Attributes
    ----------
    threshold : float
        The least share of the longer text that both have.
    documents : int
        How many documents the other corpus has.
    table : pyarrow.Table
        A row for each document that is there: ``id``; ``match``, the id of the document of the
        other corpus that has most of it; ``shared``, the share of the longer text that both have;
        ``contained``, the share of this document that is in the other.
    removed : ndarray of int64
        The rows of these documents, ascending: what to remove so that the rest is new.

    Examples
    --------
    >>> found = news.against(["Shares fell as interest rates rose", "Snow in the Alps"])
    >>> found.table.to_pylist()
    [{'id': 's11', 'match': '0', 'shared': 1.0, 'contained': 1.0}]
    """

    threshold: float
    documents: int
    table: pa.Table
    removed: Int64s

    def __len__(self) -> int:
        return len(self.removed)

    def __repr__(self) -> str:
        return f"Overlap({len(self):,} documents are among the {self.documents:,} others)"


def find_overlap(
    collection: Collection,
    other: Any,
    threshold: float = DUPLICATE,
    *,
    id_column: str | None = None,
    threads: int | None = None,
    on_progress: Callable[[int], None] | None = None,
) -> Overlap:
    """The documents of a collection that are in another corpus; see `Collection.against`."""
    share = require_threshold(threshold, "share")
    ids: list[pa.Array] = []

    def others() -> Iterator[Shingles]:
        for names, texts in text_blocks(other, id_column):
            ids.append(names)
            yield Shingles.of([texts], threads)
            if on_progress is not None:
                on_progress(sum(map(len, ids)))

    own = Shingles.of(collection.column(TEXT).chunks, threads)
    matches = text_matches(own, others(), share, CONTAINED)
    named = pa.chunked_array(ids, pa.string())
    found = np.flatnonzero(matches.rows >= 0)
    table = pa.table(
        {
            "id": collection.ids.take(pa.array(found)),
            "match": named.take(pa.array(matches.rows[found])),
            "shared": pa.array(matches.shared[found]),
            "contained": pa.array(matches.contained[found]),
        }
    )
    return Overlap(share, len(named), table, found)


def text_blocks(other: Any, id_column: str | None) -> Iterator[tuple[pa.Array, pa.Array]]:
    """The ids and texts of the other documents, in blocks."""
    from deltavec.collection.collection import Collection

    if isinstance(other, Collection):
        if id_column is not None:
            raise InputError("id_column is for a corpus; a collection has ids")
        for part in blocks(len(other), DOCUMENTS_AT_ONCE):
            rows = np.arange(len(other))[part]
            texts = other.store.rows(rows).column(TEXT).combine_chunks()
            yield other.ids.slice(part.start, len(rows)), texts
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
            yield names, part.column(0)


class Step(NamedTuple):
    """How many pairs share at least a threshold, and how many documents would go."""

    threshold: float
    pairs: int
    removed: int


class Example(NamedTuple):
    """Two documents and how much of their texts is the same."""

    a: str
    b: str
    shared: float
    contained: float


class Report(NamedTuple):
    """What to look at before documents are removed.

    Attributes
    ----------
    steps : list of Step
        What other thresholds find.
    clear, border : Example or None
        Pairs of distinct texts in the middle of those found, and the one that shares least.
    largest : list of str
        The ids of the largest group.
    """

    steps: list[Step]
    clear: Example | None
    border: Example | None
    largest: list[str]


def duplicate_report(found: Duplicates, threshold: float) -> Report:
    """What to look at before duplicates are removed at a threshold; found at a lower one."""
    steps = []
    for least in sorted({threshold, *THRESHOLDS}):
        if least >= found.threshold:
            step = found.at(least)
            steps.append(Step(least, len(step), len(step.removed)))
    chosen = found.at(threshold)
    # Equal texts need no look, unless there is nothing else.
    pairs = chosen.pairs
    order = np.argsort(pairs.shared, kind="stable")[: len(chosen.rows.a) or len(pairs.a)]
    examples = [
        Example(str(pairs.a[at]), str(pairs.b[at]), *(float(one[at]) for one in pairs[2:]))
        for at in (order[len(order) // 2 :][:1].tolist() + order[:1].tolist())
    ]
    clear, border = examples or (None, None)
    groups = chosen.groups
    return Report(steps, clear, border, [str(one) for one in groups[0]] if groups else [])


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
