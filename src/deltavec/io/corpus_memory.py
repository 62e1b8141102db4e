"""Documents in memory: Arrow, pandas and polars columns, and iterables of strings."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Sized
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from deltavec.errors import CorpusError
from deltavec.io.corpus_sources import Once
from deltavec.io.documents import (
    CHUNK_BYTES,
    CHUNK_DOCUMENTS,
    Piece,
    checked_columns,
    checked_text_type,
    missing_column,
    string_array,
)


@dataclass(frozen=True)
class Columns:
    """Documents in an Arrow column in memory, with the columns beside it, if any."""

    name: str
    column: str
    text: pa.ChunkedArray = field(repr=False)
    columns: list[str]
    others: Callable[[list[str]], pa.Table] = field(repr=False)
    one_shot: bool = False
    identity: str | None = None

    @classmethod
    def checked(
        cls,
        name: str,
        column: str,
        columns: list[str],
        table: Callable[[list[str]], pa.Table],
    ) -> Columns:
        """A table's columns, the documents' checked to be there and to be text."""
        checked_columns(name, [column], pa.schema([(each, pa.null()) for each in columns]))
        text = table([column]).column(0)
        checked_text_type(name, column, text.type)
        return cls(name, column, text, columns, table)

    @property
    def documents(self) -> int:
        """The rows."""
        return len(self.text)

    def schema(self, keep: Sequence[str]) -> pa.Schema:
        """The types the columns have, text for the documents."""
        kept = self._table(keep).schema.remove_metadata()
        return kept.set(0, pa.field(self.column, pa.string()))

    def pieces(self, keep: Sequence[str]) -> Iterator[Piece]:
        """The rows, and the fraction of them given."""
        done = 0
        for batch in self._table(keep).to_batches(max_chunksize=CHUNK_DOCUMENTS):
            done += batch.num_rows
            yield Piece(batch, done / self.documents)

    def _table(self, keep: Sequence[str]) -> pa.Table:
        beside = pa.schema([(each, pa.null()) for each in self.columns])
        checked_columns(self.name, keep, beside)
        kept = self.others(list(keep)).columns if keep else []
        return pa.table([self.text, *kept], names=[self.column, *keep])


class Strings:
    """Documents that an iterable gives as Python strings."""

    identity = None

    def __init__(self, name: str, column: str, texts: Iterable[Any]) -> None:
        self.name = name
        self.columns = [column]
        self.one_shot = iter(texts) is texts
        self.documents = len(texts) if isinstance(texts, Sized) else None
        self._texts = texts
        self._once = Once(name)

    def schema(self, keep: Sequence[str]) -> pa.Schema:
        """One column of text."""
        for column in keep:
            raise missing_column(self.name, column, self.columns)
        return pa.schema([(self.columns[0], pa.string())])

    def pieces(self, keep: Sequence[str]) -> Iterator[Piece]:
        """The documents, and the fraction given if their number is known."""
        self.schema(keep)
        if self.one_shot:
            self._once.take()
        return self._chunks()

    def _chunks(self) -> Iterator[Piece]:
        texts: list[str | None] = []
        size = done = 0
        for document in self._texts:
            if not (document is None or isinstance(document, str)):
                raise _no_text(self.name, done + len(texts), document)
            texts.append(document)
            size += len(document or "")
            if size >= CHUNK_BYTES or len(texts) == CHUNK_DOCUMENTS:
                done += len(texts)
                yield self._piece(texts, done)
                texts, size = [], 0
        if texts:
            yield self._piece(texts, done + len(texts))

    def _piece(self, texts: list[str | None], done: int) -> Piece:
        batch = pa.record_batch([string_array(texts)], names=self.columns)
        return Piece(batch, done / self.documents if self.documents else None)


def _no_text(name: str, place: int, document: Any) -> CorpusError:
    advice = ""
    if isinstance(document, list | tuple):
        advice = "; documents that are lists of words are passed to deltavec as they are"
    elif isinstance(document, bytes):
        advice = "; decode it first"
    return CorpusError(
        f"{name}: every document must be a string, "
        f"found {type(document).__name__} ({repr(document)[:40]}) at place {place}{advice}"
    )


def from_memory(source: Any, column: str) -> Columns | Strings:
    """The documents of a column, a table, a frame or an iterable of strings."""
    kind = kind_of(source)
    if isinstance(source, pa.Array | pa.ChunkedArray):
        return _one_column(kind, column, source)
    if isinstance(source, pa.Table | pa.RecordBatch):
        return Columns.checked(
            kind, column, source.schema.names, lambda names: _as_table(source.select(names))
        )
    if kind.startswith("polars"):
        return _from_polars(kind, source, column)
    if kind.startswith("pandas"):
        return _from_pandas(kind, source, column)
    if not isinstance(source, Iterable) or isinstance(source, bytes | Mapping | set | frozenset):
        raise CorpusError(
            f"expected a path, a table, a column or an iterable of strings, got {kind}"
        )
    return Strings(kind, column, source)


def kind_of(source: Any) -> str:
    """What people call an object: its type, with the package for columns and tables."""
    package = type(source).__module__.partition(".")[0]
    name = type(source).__name__
    return f"{package} {name}" if package in ("pandas", "polars", "pyarrow") else name


def _one_column(kind: str, column: str, array: pa.Array | pa.ChunkedArray) -> Columns:
    chunked = array if isinstance(array, pa.ChunkedArray) else pa.chunked_array([array])
    return Columns.checked(kind, column, [column], lambda _: pa.table([chunked], names=[column]))


def _as_table(source: pa.Table | pa.RecordBatch) -> pa.Table:
    return source if isinstance(source, pa.Table) else pa.Table.from_batches([source])


def _from_polars(kind: str, source: Any, column: str) -> Columns:
    if not hasattr(source, "to_arrow"):
        raise CorpusError(f"{kind}: nothing has been read yet; call collect() first")
    if not kind.endswith("DataFrame"):
        return _one_column(kind, column, source.to_arrow())
    return Columns.checked(
        kind, column, list(source.columns), lambda names: source.select(names).to_arrow()
    )


def _from_pandas(kind: str, source: Any, column: str) -> Columns:
    if not kind.endswith("DataFrame"):
        return _one_column(kind, column, _pandas_array(kind, column, source))
    names = [name for name in source.columns if isinstance(name, str)]
    return Columns.checked(
        kind,
        column,
        names,
        lambda wanted: pa.table({name: _pandas_array(kind, name, source[name]) for name in wanted}),
    )


def _pandas_array(kind: str, column: str, series: Any) -> pa.Array | pa.ChunkedArray:
    try:
        return pa.Array.from_pandas(series)
    except pa.ArrowException as error:
        raise CorpusError(f"{kind}: column {column!r} mixes types ({error})") from error
