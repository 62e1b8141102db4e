"""Which documents of a collection are in another corpus too: exactly, and read as it comes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa

from deltavec.collection.ids import as_ids, number_rows, require_id_type
from deltavec.core.arrays import Int64s
from deltavec.errors import InputError
from deltavec.io.corpus.corpus import read_corpus
from deltavec.search.cross_match import best_matches
from deltavec.search.duplicates import require_threshold
from deltavec.search.matrix import ChunkedMatrix

if TYPE_CHECKING:
    from deltavec.collection.collection import Collection

DOCUMENTS_AT_ONCE = 8192


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
        A row for each document that is there: ``id``; ``match``, the id of the document of the
        other corpus that is most alike, the first of several; ``score``, their cosine.
    removed : ndarray of int64
        The places of these documents, ascending: what goes if the rest is to be new.
    """

    threshold: float
    documents: int
    table: pa.Table
    removed: Int64s

    def __len__(self) -> int:
        return len(self.removed)


class Block(NamedTuple):
    """Some documents of the other corpus: their ids and vectors."""

    ids: pa.Array
    rows: ChunkedMatrix


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
        for block in blocks_of(collection, other, id_column, threads):
            ids.append(block.ids)
            yield block.rows

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


def blocks_of(
    collection: Collection, other: Any, id_column: str | None, threads: int | None
) -> Iterator[Block]:
    """The other documents with vectors of the collection's model, some at a time."""
    from deltavec.collection.collection import Collection

    if isinstance(other, Collection):
        if id_column is not None:
            raise InputError("id_column is for a corpus; a collection has ids")
        yield from blocks_of_collection(collection, other, threads)
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
            names = (
                number_rows(row, len(part))
                if id_column is None
                else as_ids(part.column(id_column), id_column, row)
            )
            row += len(part)
            vectors = collection.model.embed(part.column(0), threads=threads)
            yield Block(names, ChunkedMatrix.of(vectors, "vectors", threads))


def blocks_of_collection(
    collection: Collection, other: Collection, threads: int | None
) -> Iterator[Block]:
    """The documents of a collection; embedded anew, unless both have one model."""
    same = other.model.fingerprint == collection.model.fingerprint
    for first in range(0, len(other), DOCUMENTS_AT_ONCE):
        rows = np.arange(first, min(first + DOCUMENTS_AT_ONCE, len(other)))
        ids = other.ids.slice(first, len(rows))
        if same:
            vectors = other.index.vectors[rows]
        else:
            texts = other.store.rows(rows).column("text")
            vectors = collection.model.embed(texts, threads=threads)
        yield Block(ids, ChunkedMatrix.of(vectors, "vectors", threads))
