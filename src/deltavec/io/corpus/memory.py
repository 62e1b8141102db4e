"""Documents in memory: Arrow, pandas and polars columns and tables, and iterables of strings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import pyarrow as pa

from deltavec.core.text.batches import as_arrow, describe, string_array
from deltavec.errors import CorpusError
from deltavec.io.corpus.columns import CHUNK_BYTES, CHUNK_DOCUMENTS, Piece, require_text

PACKAGES = ("pandas", "polars", "pyarrow")


def package_of(source: Any) -> str:
    """The package that an object's type comes from."""
    return type(source).__module__.partition(".")[0]


def describe_type(source: Any) -> str:
    """The type of an object, with the package for columns and tables."""
    name = type(source).__name__
    return f"{package_of(source)} {name}" if package_of(source) in PACKAGES else name


def is_table(source: Any) -> bool:
    """Whether an object in memory has named columns."""
    return isinstance(source, pa.Table) or describe_type(source).endswith(" DataFrame")


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
    if package_of(source) == "polars":
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
    chunk: list[str | None] = []
    size = done = 0
    for document in texts:
        if not (document is None or isinstance(document, str)):
            raise not_a_string(name, done, document)
        chunk.append(document)
        done += 1
        size += len(document or "")
        if size >= CHUNK_BYTES or len(chunk) == CHUNK_DOCUMENTS:
            yield string_piece(chunk, column, done, documents)
            chunk, size = [], 0
    if chunk:
        yield string_piece(chunk, column, done, documents)


def string_piece(chunk: list[str | None], column: str, done: int, documents: int | None) -> Piece:
    """Some strings as a batch."""
    batch = pa.record_batch([string_array(chunk, pa.string())], names=[column])
    return Piece(batch, done / documents if documents else None)


def not_a_string(name: str, position: int, document: Any) -> CorpusError:
    """The error for a document that is not a string."""
    advice = ""
    if isinstance(document, list | tuple):
        advice = "; documents that are lists of words are passed to deltavec as they are"
    elif isinstance(document, bytes):
        advice = "; decode it first"
    return CorpusError(
        f"{name}: every document must be a string, "
        f"found {describe(document)} at position {position}{advice}"
    )
