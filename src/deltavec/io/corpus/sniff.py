"""Sniffing a file before it is read: its columns, its delimiter, some of its rows."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa

from deltavec.errors import CorpusError
from deltavec.io.corpus.blocks import BLOCK_BYTES, ByteStream, byte_stream, whole_records
from deltavec.io.corpus.columns import Piece
from deltavec.io.corpus.encodings import as_utf8, checked_blocks
from deltavec.io.corpus.excel import excel_head, excel_pieces
from deltavec.io.corpus.files import CorpusFile, Reading
from deltavec.io.corpus.formats import (
    DELIMITED,
    TEXT,
    TextFormat,
    Wanted,
    settled_delimiter,
    text_format,
)
from deltavec.io.corpus.parquet import parquet_file, parquet_pieces

# The formats that are read from a file, not from a stream of text.
PIECES: dict[str, Callable[[Path, Wanted], Generator[Piece]]] = {
    "parquet": parquet_pieces,
    "xlsx": excel_pieces,
}

HEAD_BYTES = 256 << 10  # what is read of a file to learn its columns


class Head(NamedTuple):
    """The beginning of a file.

    Attributes
    ----------
    file : CorpusFile
        The file, its delimiter found if it has one.
    schema : pyarrow.Schema
        Its columns.
    documents : int or None
        How many documents it has, if it says so.
    note : str or None
        What is left out of it.
    """

    file: CorpusFile
    schema: pa.Schema
    documents: int | None = None
    note: str | None = None


class Parsing(NamedTuple):
    """Text on its way: how it is parsed, its blocks of whole records."""

    form: TextFormat
    delimiter: str | None
    blocks: Iterator[bytes]


def parsing(
    stream: ByteStream,
    form: str,
    encoding: str | None,
    delimiter: str | None,
    block_bytes: int = BLOCK_BYTES,
) -> Parsing:
    """The text of a stream, once its first bytes have shown how its rows are separated."""
    text = as_utf8(stream, encoding)
    if form in DELIMITED and delimiter is None:
        head = text.read(HEAD_BYTES)
        delimiter = settled_delimiter(form, delimiter, head)
        text = text.after(head)
    parsed = text_format(form, delimiter)
    records = whole_records(text, parsed.last_end, block_bytes)
    return Parsing(parsed, delimiter, checked_blocks(records, stream.name, encoding))


@contextmanager
def parsed_file(file: CorpusFile, block_bytes: int) -> Iterator[tuple[Parsing, ByteStream]]:
    """The text of a file, and where in the file it is, while the context lasts."""
    with byte_stream(file.path, file.compression) as stream:
        yield parsing(stream, file.format, file.encoding, file.delimiter, block_bytes), stream


def head_of(file: CorpusFile, column: str | None) -> Head:
    """The beginning of a file; a text file's only column is called as the documents' is."""
    if file.format == "parquet":
        with parquet_file(file.path) as opened:
            return Head(file, opened.schema_arrow, opened.metadata.num_rows)
    if file.format == "xlsx":
        schema, note = excel_head(file.path)
        return Head(file, schema, note=note)
    with parsed_file(file, HEAD_BYTES) as (parsed, _):
        schema = parsed.form.schema(next(parsed.blocks, b""), Wanted(str(file.path), column))
        return Head(replace(file, delimiter=parsed.delimiter), schema)


def first_rows(file: CorpusFile, columns: Sequence[str]) -> pa.RecordBatch | None:
    """Some columns of the first rows of a file; None if it has no rows."""
    wanted = Wanted(str(file.path), None, tuple(columns))
    if file.format in PIECES:
        with closing(PIECES[file.format](file.path, wanted)) as pieces:
            return next((piece.batch for piece in pieces), None)
    with parsed_file(file, HEAD_BYTES) as (parsed, _):
        return next(parsed.form.batches(parsed.blocks, wanted), None)


def file_pieces(file: CorpusFile, wanted: Wanted) -> Iterator[Piece]:
    """The documents of a file, and the fraction of it read."""
    if file.format in PIECES:
        yield from PIECES[file.format](file.path, wanted)
        return
    with parsed_file(file, BLOCK_BYTES) as (parsed, stream):
        for batch in parsed.form.batches(parsed.blocks, wanted):
            yield Piece(batch, stream.position())


def require_use(reading: Reading, formats: Sequence[str], where: str) -> None:
    """Refuse what is said of files that have no use for it."""
    if {*formats} == {"txt"} and reading.column not in (None, TEXT):
        raise CorpusError(
            f"{where}: read as txt, one document per line, it has no column {reading.column!r}: "
            "leave column (--column) out, or say how it is written: format='csv' (--format csv)"
        )
    for name, given, users in (
        ("delimiter", reading.delimiter, DELIMITED),
        ("encoding", reading.encoding, ("txt", *DELIMITED, "jsonl")),
    ):
        if given is not None and not {*formats} & {*users}:
            raise CorpusError(
                f"{where}: {name} (--{name}) is for {', '.join(users)}, this is "
                f"{', '.join(sorted({*formats}))}; leave it out"
            )
