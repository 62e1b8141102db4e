"""Files of any format as batches of rows: their columns first, then some or all of the rows."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace

import pyarrow as pa

from deltavec.errors import CorpusError
from deltavec.io.corpus.blocks import BLOCK_BYTES, byte_chunks, unreadable, whole_records
from deltavec.io.corpus.columns import Piece, text_schema
from deltavec.io.corpus.delimiters import find_delimiter
from deltavec.io.corpus.encodings import as_utf8, checked_blocks
from deltavec.io.corpus.excel import excel_pieces, open_sheet
from deltavec.io.corpus.files import DELIMITED, TEXT, CorpusFile
from deltavec.io.corpus.formats import BATCHES, column_names
from deltavec.io.corpus.parquet import open_parquet, parquet_pieces

HEAD_BYTES = 256 << 10  # what is read of a file to learn its columns


def sniff(file: CorpusFile) -> CorpusFile:
    """The file with its columns, its delimiter and what else its beginning tells."""
    if file.format == "parquet":
        with open_parquet(file.path) as opened:
            rows = opened.metadata.num_rows
            return replace(file, schema=opened.schema_arrow, documents=rows)
    if file.format == "xlsx":
        with open_sheet(file.path) as sheet:
            if not sheet.names:
                raise CorpusError(f"{file.path}: empty; expected a header row with column names")
            return replace(file, schema=text_schema(sheet.names), note=sheet.note)
    if file.stream and file.format == "txt":  # nothing is read before it must be
        return replace(file, schema=text_schema([TEXT]))
    if file.format in DELIMITED and file.delimiter is None:
        with open_bytes(file, HEAD_BYTES) as (chunks, _):
            head = next(as_utf8(chunks, str(file.path), file.encoding), b"")
        file = replace(file, delimiter=find_delimiter(head, DELIMITED[file.format]))
    with open_bytes(file, HEAD_BYTES) as (chunks, _):
        names = column_names(next(text_blocks(chunks, file), b""), file)
        return replace(file, schema=text_schema(names))


def first_rows(file: CorpusFile, columns: Sequence[str]) -> pa.RecordBatch | None:
    """Some columns of the first rows of a file; None if it has no rows."""
    with closing(read_pieces(file, columns, HEAD_BYTES)) as pieces:
        return next((piece.batch for piece in pieces), None)


def read_pieces(
    file: CorpusFile, columns: Sequence[str], block_bytes: int = BLOCK_BYTES
) -> Generator[Piece]:
    """Some columns of a file, and the fraction of it read."""
    if file.format == "parquet":
        yield from parquet_pieces(file, columns)
    elif file.format == "xlsx":
        yield from excel_pieces(file.path, columns)
    else:
        with open_bytes(file, block_bytes) as (chunks, raw):
            for batch in BATCHES[file.format](text_blocks(chunks, file), file, columns):
                yield Piece(batch, raw and raw.tell() / max(1, raw.size()))


def text_blocks(chunks: Iterator[bytes], file: CorpusFile) -> Iterator[bytes]:
    """The text of a file as UTF-8, in blocks of whole records."""
    name = str(file.path)
    records = whole_records(as_utf8(chunks, name, file.encoding), name, file.delimiter)
    return checked_blocks(records, name, file.encoding)


@contextmanager
def open_bytes(
    file: CorpusFile, size: int
) -> Iterator[tuple[Iterator[bytes], pa.NativeFile | None]]:
    """The decompressed bytes of a file in chunks, and the file itself unless it is a stream."""
    if file.stream:
        yield file.stream.chunks(size, look=size == HEAD_BYTES), None
        return
    name = str(file.path)
    try:
        raw = pa.OSFile(name)
    except OSError as error:
        raise unreadable(name, error) from error
    with closing(raw):
        if file.compression and raw.size() == 0:
            raise CorpusError(f"{name}: the file is empty; expected {file.compression} data")
        with closing(
            pa.CompressedInputStream(raw, file.compression) if file.compression else raw
        ) as data:
            yield byte_chunks(data, name, size), raw
