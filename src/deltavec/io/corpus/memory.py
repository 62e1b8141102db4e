"""Documents in memory: Arrow, pandas and polars columns and tables, and iterables of strings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

import pyarrow as pa

from deltavec.core.text.batches import as_arrow, describe, string_array
from deltavec.errors import CorpusError
from deltavec.io.corpus.columns import CHUNK_DOCUMENTS, Piece, require_text

STRINGS_AT_ONCE = 1024


def describe_type(source: Any) -> str:
    """The type of an object, with the package for columns and tables."""
    package, name = type(source).__module__.partition(".")[0], type(source).__name__
    return f"{package} {name}" if package in ("pandas", "polars", "pyarrow") else name


def document_column(source: Any, column: str, name: str) -> pa.ChunkedArray:
    """The column of a table that holds the documents."""
    try:
        array = as_arrow(source[column])
    except CorpusError as error:
        raise CorpusError(f"{name}: column {column!r} mixes types ({error})") from error
    require_text(name, column, array.type)
    return array if isinstance(array, pa.ChunkedArray) else pa.chunked_array([array])


def select_columns(source: Any, names: Sequence[str]) -> pa.Table:
    """Some columns of a table in memory."""
    if describe_type(source) == "polars DataFrame":
        return source.select(names).to_arrow()
    if isinstance(source, pa.Table):
        return source.select(names)
    try:
        return pa.table({name: pa.Array.from_pandas(source[name]) for name in names})
    except pa.ArrowException as error:
        raise CorpusError(f"pandas DataFrame: a column to keep mixes types ({error})") from error


def table_pieces(table: pa.Table) -> Iterator[Piece]:
    """The rows of a table, and the fraction of them given."""
    done = 0
    for batch in table.to_batches(max_chunksize=CHUNK_DOCUMENTS):
        done += batch.num_rows
        yield Piece(batch, done / len(table))


def string_pieces(
    texts: Iterable[Any], name: str, column: str, documents: int | None
) -> Iterator[Piece]:
    """Documents that are Python strings, and the fraction given if their number is known."""
    source, done = iter(texts), 0
    while chunk := list(islice(source, STRINGS_AT_ONCE)):
        for position, document in enumerate(chunk, done):
            if not (document is None or isinstance(document, str)):
                advice = "; documents that are lists of words are passed to deltavec as they are"
                raise CorpusError(
                    f"{name}: every document must be a string, found {describe(document)} at "
                    f"position {position}{advice if isinstance(document, list | tuple) else ''}"
                )
        done += len(chunk)
        batch = pa.record_batch([string_array(chunk, pa.string())], names=[column])
        yield Piece(batch, done / documents if documents else None)
