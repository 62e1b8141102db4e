"""Files of any format as batches of rows."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from contextlib import closing, contextmanager

import pyarrow as pa

from deltavec.errors import CorpusError
from deltavec.io.corpus.blocks import BLOCK_BYTES, byte_chunks, unreadable, whole_records
from deltavec.io.corpus.columns import Piece
from deltavec.io.corpus.encodings import as_utf8, checked_blocks
from deltavec.io.corpus.excel import excel_pieces
from deltavec.io.corpus.files import TEXT, CorpusFile
from deltavec.io.corpus.formats import BATCHES
from deltavec.io.corpus.parquet import parquet_pieces

LARGEST_DOCUMENT = 1 << 30  # bytes
HEAD_BYTES = 256 << 10  # what is read of a file to learn its columns


def read_pieces(
    file: CorpusFile, columns: Sequence[str], block_bytes: int = BLOCK_BYTES
) -> Generator[Piece]:
    """Some columns of a file and of the names of its folders, and the fraction of it read."""
    stored = [name for name in columns if name not in file.partitions]
    if len(stored) == len(columns):
        yield from stored_pieces(file, stored, block_bytes)
        return
    for batch, consumed in stored_pieces(file, stored or [file.column or TEXT], block_bytes):
        arrays = [
            pa.repeat(pa.scalar(file.partitions[name], pa.string()), len(batch))
            if name in file.partitions
            else batch.column(name)
            for name in columns
        ]
        yield Piece(pa.record_batch(arrays, names=columns), consumed)


def stored_pieces(file: CorpusFile, columns: Sequence[str], block_bytes: int) -> Generator[Piece]:
    """Some columns of a file, and the fraction of it read."""
    if file.format == "parquet":
        yield from parquet_pieces(file, columns)
    elif file.format == "xlsx":
        yield from excel_pieces(file.path, columns)
    else:
        with open_bytes(file, block_bytes) as (chunks, raw):
            if file.is_whole:
                yield Piece(whole_document(text_blocks(chunks, file), file), 1.0)
                return
            for batch in BATCHES[file.format](text_blocks(chunks, file), file, columns):
                yield Piece(batch, raw and raw.tell() / max(1, raw.size()))


def whole_document(blocks: Iterator[bytes], file: CorpusFile) -> pa.RecordBatch:
    """A text file as one document."""
    text, size = [], 0
    for block in blocks:
        text.append(block)
        size += len(block)
        if size > LARGEST_DOCUMENT:
            raise CorpusError(
                f"{file.path}: a document may have {LARGEST_DOCUMENT:,} bytes; with "
                "whole_files=False (--no-whole-files) each line is a document"
            )
    document = b"".join(text).replace(b"\r\n", b"\n").removesuffix(b"\n")
    column = pa.array([document], pa.binary()).view(pa.string())
    return pa.record_batch([column], names=[file.column or TEXT])


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
