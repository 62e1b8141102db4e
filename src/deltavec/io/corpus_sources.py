"""Where documents come from: what any source offers, and files and streams as sources.

Each source says what columns it has and gives its documents piece by piece; what is common to
all of them (bounded chunks, progress) is the corpus's affair.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Protocol

import pyarrow as pa

from deltavec.errors import CorpusError
from deltavec.io.corpus_files import CorpusFile
from deltavec.io.corpus_formats import TEXT_FORMATS, Wanted, parquet_file, parquet_pieces
from deltavec.io.documents import Piece, checked_columns, checked_text_type
from deltavec.io.records import ByteStream, opened, whole_records

HEAD_BYTES = 256 << 10  # what is read of a file to learn its columns


class Source(Protocol):
    """Where the documents of a corpus come from."""

    @property
    def name(self) -> str:
        """What people call it."""

    @property
    def one_shot(self) -> bool:
        """Whether it can be read only once."""

    @property
    def documents(self) -> int | None:
        """How many documents there are, if that is known without reading them."""

    @property
    def identity(self) -> str | None:
        """A text that changes when the documents may have; None if that cannot be told."""

    @property
    def columns(self) -> list[str]:
        """The names of the columns, the documents' own among them."""

    def schema(self, keep: Sequence[str]) -> pa.Schema:
        """The documents' column, then those to keep, with their types."""

    def pieces(self, keep: Sequence[str]) -> Iterator[Piece]:
        """The documents, the columns to keep beside them."""


@dataclass(frozen=True)
class Files:
    """Documents in one file or several, read one after the other."""

    name: str
    column: str
    files: tuple[CorpusFile, ...]
    schemas: tuple[pa.Schema, ...] = field(repr=False)
    documents: int | None
    one_shot: bool = False

    @classmethod
    def checked(cls, name: str, column: str, files: tuple[CorpusFile, ...]) -> Files:
        """The same files, each opened once to see that it has the documents' column."""
        heads = [_head(file, Wanted(str(file.path), column)) for file in files]
        counts = [documents for _, documents in heads]
        known = [count for count in counts if count is not None]
        total = sum(known) if len(known) == len(counts) else None
        return cls(name, column, files, tuple(schema for schema, _ in heads), total)

    @property
    def identity(self) -> str:
        """A digest of the files' places, sizes and times, and of the column read."""
        facts = [[str(f.path.resolve()), f.format, f.size, f.modified] for f in self.files]
        return hashlib.sha256(json.dumps([self.column, facts]).encode()).hexdigest()

    @property
    def columns(self) -> list[str]:
        """The columns that every file has."""
        return [
            name
            for name in dict.fromkeys(self.schemas[0].names)
            if all(name in schema.names for schema in self.schemas)
        ]

    def schema(self, keep: Sequence[str]) -> pa.Schema:
        """The types that hold the values of every file."""
        for file, schema in zip(self.files, self.schemas, strict=True):
            checked_columns(str(file.path), keep, schema)
        kept = [pa.schema([schema.field(name) for name in keep]) for schema in self.schemas]
        try:
            together = pa.unify_schemas(
                [schema.remove_metadata() for schema in kept], promote_options="permissive"
            )
        except pa.ArrowTypeError as error:
            raise CorpusError(
                f"{self.name}: a column to keep has other types in other files ({error}); "
                "write the files with the same types"
            ) from error
        return pa.schema([(self.column, pa.string()), *zip(keep, together.types, strict=True)])

    def pieces(self, keep: Sequence[str]) -> Iterator[Piece]:
        """The documents of all files, and the fraction of their bytes read."""
        types = self.schema(keep).types
        total = max(1, sum(file.size for file in self.files))
        before = 0
        for file in self.files:
            wanted = Wanted(str(file.path), self.column, tuple(keep))
            for batch, consumed in _file_pieces(file, wanted):
                done = before + (consumed or 0.0) * file.size
                yield Piece(_with_types(batch, types), done / total)
            before += file.size


def _with_types(batch: pa.RecordBatch, types: Sequence[pa.DataType]) -> pa.RecordBatch:
    kept = [column.cast(kind) for column, kind in zip(batch.columns[1:], types[1:], strict=True)]
    return pa.record_batch([batch.column(0), *kept], names=batch.schema.names)


def _head(file: CorpusFile, wanted: Wanted) -> tuple[pa.Schema, int | None]:
    """The columns of a file, the documents' checked, and their number if the file says it."""
    documents = None
    if file.format == "parquet":
        with parquet_file(file.path) as opened_file:
            schema, documents = opened_file.schema_arrow, opened_file.metadata.num_rows
    else:
        form = TEXT_FORMATS[file.format]
        with opened(file.path, file.compression) as stream:
            first = next(whole_records(stream, form.last_end, HEAD_BYTES), b"")
        schema = form.schema(first, wanted)
    checked_columns(wanted.where, [wanted.column], schema)
    checked_text_type(wanted.where, wanted.column, schema.field(wanted.column).type)
    return schema, documents


def _file_pieces(file: CorpusFile, wanted: Wanted) -> Iterator[Piece]:
    if file.format == "parquet":
        yield from parquet_pieces(file.path, wanted)
        return
    form = TEXT_FORMATS[file.format]
    with opened(file.path, file.compression) as stream:
        for batch in form.batches(whole_records(stream, form.last_end), wanted):
            yield Piece(batch, stream.position())


class Once:
    """Something that may be taken once."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._taken = False

    def take(self) -> None:
        """Nothing the first time, a CorpusError after that."""
        if self._taken:
            raise CorpusError(
                f"this corpus ({self._name}) can be read only once, and this needs to read it "
                "again; write it to a file, or pass a list"
            )
        self._taken = True


class Stream:
    """Documents that arrive as bytes and are gone once read: standard input, a pipe."""

    one_shot = True
    documents = None
    identity = None

    def __init__(self, stream: ByteStream, column: str, form: str) -> None:
        self.name = stream.name
        self._form = TEXT_FORMATS[form]
        self._wanted = Wanted(stream.name, column)
        self._blocks = whole_records(stream, self._form.last_end)
        self._first: bytes | None = None
        self._once = Once(stream.name)

    @property
    def columns(self) -> list[str]:
        """The columns, read from the first block and no further."""
        names: list[str] = self._form.schema(self._peek(), self._wanted).names
        return names

    def schema(self, keep: Sequence[str]) -> pa.Schema:
        """Text, all of it."""
        seen = self._form.schema(self._peek(), self._wanted)
        checked_columns(self.name, [self._wanted.column, *keep], seen)
        return pa.schema([(name, pa.string()) for name in [self._wanted.column, *keep]])

    def pieces(self, keep: Sequence[str]) -> Iterator[Piece]:
        """The documents, once; how much is left of a stream is unknown."""
        self._once.take()
        self.schema(keep)
        blocks = chain([self._first] if self._first else [], self._blocks)
        wanted = self._wanted._replace(keep=tuple(keep))
        return (Piece(batch, None) for batch in self._form.batches(blocks, wanted))

    def _peek(self) -> bytes:
        if self._first is None:
            self._first = next(self._blocks, b"")
        return self._first
