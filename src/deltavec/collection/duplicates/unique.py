"""The documents that are left of a collection, or of the corpus it was built from, in a file."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from deltavec.collection.ids import number_rows
from deltavec.core.arrays import Int64s
from deltavec.errors import InputError
from deltavec.io.corpus.corpus import read_corpus
from deltavec.io.output.tables import require_table_name, writing_table

if TYPE_CHECKING:
    from deltavec.collection.collection import Collection

ROWS_AT_ONCE = 16_384
FROM = "expected the corpus that the collection was built from"


def write_unique(
    collection: Collection,
    removed: Int64s,
    output: str | os.PathLike[str],
    *,
    corpus: Any = None,
) -> int:
    """How many documents were left to write; see `Collection.write_without`."""
    path = Path(output)
    require_table_name(path)
    tables = stored(collection, removed) if corpus is None else read(collection, removed, corpus)
    first = next(tables)
    written = 0
    with writing_table(path, first.schema) as write:
        write(first)
        written += len(first)
        for table in tables:
            write(table)
            written += len(table)
    return written


def stored(collection: Collection, removed: Int64s) -> Iterator[pa.Table]:
    """What is left of the collection: id, text and the columns kept."""
    yield collection.store.schema.empty_table()
    keep = np.ones(len(collection), bool)
    keep[removed] = False
    for first in range(0, len(keep), ROWS_AT_ONCE):
        rows = first + np.flatnonzero(keep[first : first + ROWS_AT_ONCE])
        if len(rows):
            yield collection.store.rows(rows)


def read(collection: Collection, removed: Int64s, corpus: Any) -> Iterator[pa.Table]:
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
        first, row = row, row + len(table)
        ids = (
            table.column(id_column).cast(pa.string())
            if id_column
            else number_rows(first, len(table))
        )
        yield table.filter(pc.invert(pc.is_in(ids, gone)))
    if row != len(collection):
        raise InputError(f"{FROM}, {len(collection):,} documents, got {row:,}")
