"""Documents in memory: Arrow, pandas and polars columns, and iterables of strings."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Sized
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from deltavec.core.text.batches import Once, as_arrow, describe, replace_missing, string_array
from deltavec.errors import CorpusError
from deltavec.io.corpus.columns import (
    CHUNK_BYTES,
    CHUNK_DOCUMENTS,
    Piece,
    checked_columns,
    checked_text_type,
    missing_column,
)
from deltavec.io.corpus.sources import Corpus


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class ColumnCorpus(Corpus):
    """Documents in an Arrow column in memory, with the columns beside it, if any."""

    text: pa.ChunkedArray
    names: list[str]
    others: Callable[[list[str]], pa.Table]

    @classmethod
    def checked(
        cls,
        name: str,
        column: str,
        names: list[str],
        documents: Callable[[str], Any],
        others: Callable[[list[str]], pa.Table] = pa.table,
    ) -> ColumnCorpus:
        """A table's columns, the documents' checked to be there and to be text."""
        checked_columns(name, [column], pa.schema([(each, pa.null()) for each in names]))
        text = _text_column(name, column, documents(column))
        checked_text_type(name, column, text.type)
        return cls(
            name=name, column=column, documents=len(text), text=text, names=names, others=others
        )

    @property
    def columns(self) -> list[str]:
        """The names of the table's columns."""
        return self.names

    def read_schema(self, keep: Sequence[str]) -> pa.Schema:
        """The types the columns have, text for the documents."""
        kept = self._table(keep).schema.remove_metadata()
        return kept.set(0, pa.field(self.column, pa.string()))

    def read_pieces(self, keep: Sequence[str]) -> Iterator[Piece]:
        """The rows, and the fraction of them given."""
        done = 0
        for batch in self._table(keep).to_batches(max_chunksize=CHUNK_DOCUMENTS):
            done += batch.num_rows
            yield Piece(batch, done / len(self.text))

    def _table(self, keep: Sequence[str]) -> pa.Table:
        beside = pa.schema([(each, pa.null()) for each in self.names])
        checked_columns(self.name, keep, beside)
        kept = self.others(list(keep)).columns if keep else []
        return pa.table([self.text, *kept], names=[self.column, *keep])


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class StringCorpus(Corpus):
    """Documents that an iterable gives as Python strings."""

    texts: Iterable[Any]

    @property
    def columns(self) -> list[str]:
        """The documents' column."""
        return [self.column]

    def read_schema(self, keep: Sequence[str]) -> pa.Schema:
        """One column of text."""
        for column in keep:
            raise missing_column(self.name, column, self.columns)
        return pa.schema([(self.column, pa.string())])

    def read_pieces(self, keep: Sequence[str]) -> Iterator[Piece]:
        """The documents, and the fraction given if their number is known."""
        texts: list[str | None] = []
        size = done = 0
        for document in self.texts:
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
        batch = pa.record_batch([string_array(texts, pa.string())], names=self.columns)
        return Piece(batch, done / self.documents if self.documents else None)


def _no_text(name: str, place: int, document: Any) -> CorpusError:
    advice = ""
    if isinstance(document, list | tuple):
        advice = "; documents that are lists of words are passed to deltavec as they are"
    elif isinstance(document, bytes):
        advice = "; decode it first"
    return CorpusError(
        f"{name}: every document must be a string, "
        f"found {describe(document)} at place {place}{advice}"
    )


def from_memory(source: Any, column: str) -> Corpus:
    """The documents of a column, a table, a frame or an iterable of strings."""
    kind = kind_of(source)
    if kind.startswith("polars") and not hasattr(source, "to_arrow"):
        raise CorpusError(f"{kind}: nothing has been read yet; call collect() first")
    if isinstance(source, pa.RecordBatch):
        source = pa.Table.from_batches([source])
    if isinstance(source, pa.Table):
        names = source.schema.names
        return ColumnCorpus.checked(kind, column, names, source.column, source.select)
    if kind.endswith(" DataFrame"):
        names = [name for name in source.columns if isinstance(name, str)]
        kept = _from_pandas if kind.startswith("pandas") else _from_polars
        return ColumnCorpus.checked(
            kind, column, names, source.__getitem__, lambda wanted: kept(source, wanted)
        )
    if kind.startswith(("pandas", "polars")) or isinstance(source, pa.Array | pa.ChunkedArray):
        return ColumnCorpus.checked(kind, column, [column], lambda _: source)
    if not isinstance(source, Iterable) or isinstance(source, bytes | Mapping | set | frozenset):
        raise CorpusError(
            f"expected a path, a table, a column or an iterable of strings, got {kind}"
        )
    if isinstance(source, np.ndarray):
        source = replace_missing(source.tolist())
    return StringCorpus(
        name=kind,
        column=column,
        documents=len(source) if isinstance(source, Sized) else None,
        once=Once(kind) if iter(source) is source else None,
        texts=source,
    )


def kind_of(source: Any) -> str:
    """What people call an object: its type, with the package for columns and tables."""
    package = type(source).__module__.partition(".")[0]
    name = type(source).__name__
    return f"{package} {name}" if package in ("pandas", "polars", "pyarrow") else name


def _text_column(name: str, column: str, documents: Any) -> pa.ChunkedArray:
    try:
        array = as_arrow(documents)
    except CorpusError as error:
        raise CorpusError(f"{name}: column {column!r} mixes types ({error})") from error
    return array if isinstance(array, pa.ChunkedArray) else pa.chunked_array([array])


def _from_polars(frame: Any, names: list[str]) -> pa.Table:
    return frame.select(names).to_arrow()


def _from_pandas(frame: Any, names: list[str]) -> pa.Table:
    try:
        return pa.table({name: pa.Array.from_pandas(frame[name]) for name in names})
    except pa.ArrowException as error:
        raise CorpusError(f"pandas DataFrame: a column to keep mixes types ({error})") from error
