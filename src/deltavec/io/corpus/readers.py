"""Files of any format as batches of rows.

All columns of text formats (lines, CSV and JSON lines) are text, whatever they look like: a text
file has no types, and a guess from its first rows can be wrong a million rows later.
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing, contextmanager
from typing import Any

import pyarrow as pa

from deltavec.core.text.batches import repair_surrogates, string_array
from deltavec.errors import CorpusError
from deltavec.io.corpus.blocks import BLOCK_BYTES, byte_chunks, first_row, unreadable, whole_records
from deltavec.io.corpus.columns import Piece
from deltavec.io.corpus.encodings import as_utf8, checked_blocks
from deltavec.io.corpus.excel import excel_pieces
from deltavec.io.corpus.files import DELIMITED, LINES, TEXT, CorpusFile
from deltavec.io.corpus.parquet import parquet_pieces

# The line that Excel writes, and reads, before the header.
SEPARATOR_LINE = re.compile(rb'(?:"sep=(.)"|sep=(.))[ \t]*(?:\r\n|\n|\r|$)')


def column_names(first: bytes, file: CorpusFile) -> list[str]:
    """The columns that the first block of a text file shows."""
    if file.format in DELIMITED:
        return csv_header(first, file)[0]
    if file.format == "jsonl":
        keys: dict[str, None] = {}
        for record in json_records(first, 0, file):
            keys |= dict.fromkeys(record)
        if keys:
            return list(keys)
    return [file.column or TEXT]


def line_batches(
    blocks: Iterator[bytes], file: CorpusFile, columns: Sequence[str]
) -> Iterator[pa.RecordBatch]:
    """One document per line; an empty line is an empty document."""
    for block in blocks:
        lines = block.removesuffix(b"\n")
        if b"\r" in lines:
            lines = lines.removesuffix(b"\r").replace(b"\r\n", b"\n")
        documents = pa.array(lines.split(b"\n"), pa.binary()).view(pa.string())
        yield pa.record_batch([documents], names=columns)


def csv_batches(
    blocks: Iterator[bytes], file: CorpusFile, columns: Sequence[str]
) -> Iterator[pa.RecordBatch]:
    """The rows of a CSV file below its header, as RFC 4180 has them."""
    names: list[str] = []
    rows = 1
    for block in blocks:
        if not names:
            names, start = csv_header(block, file)
            block = block[start:]
        if not block.strip(b"\r\n"):
            continue
        table = parse_csv(block, file, names, columns, rows)
        rows += table.num_rows
        yield from table.to_batches()


def csv_header(first: bytes, file: CorpusFile) -> tuple[list[str], int]:
    """The column names in the first block of a CSV file, and where the rows begin."""
    separator = SEPARATOR_LINE.match(first)
    begin = separator.end() if separator else 0
    row = first_row(first[begin:], file.delimiter or DELIMITED[file.format])
    if not row.strip():
        raise CorpusError(f"{file.path}: empty; expected a header row with column names")
    names = parse_csv(row.rstrip(b"\r\n") + b"\n", file, [], [], 0).schema.names
    return names, begin + len(row)


def parse_csv(
    block: bytes, file: CorpusFile, names: list[str], columns: Sequence[str], rows: int
) -> pa.Table:
    """Some columns of some whole CSV rows; without names, the first row gives them."""
    from pyarrow import csv

    if block.startswith(codecs.BOM_UTF8):  # Arrow drops one, which here is part of the text
        block = codecs.BOM_UTF8 + block
    delimiter = file.delimiter or DELIMITED[file.format]
    try:
        return csv.read_csv(
            pa.BufferReader(block),
            # one thread: rows are numbered, and other threads work on the blocks before
            csv.ReadOptions(
                use_threads=False, block_size=len(block) + 1, column_names=names or None
            ),
            csv.ParseOptions(delimiter=delimiter, newlines_in_values=True),
            csv.ConvertOptions(
                check_utf8=False,
                include_columns=columns or None,
                column_types=dict.fromkeys(names, pa.string()),
                strings_can_be_null=False,
            ),
        )
    except pa.ArrowInvalid as error:
        ragged = RAGGED_ROW.search(str(error))
        if not ragged:
            raise CorpusError(f"{file.path}: cannot be read as CSV ({error})") from error
        row, expected, found, text = ragged.groups()
        raise CorpusError(
            f"{file.path}, row {rows + int(row)} (the header is row 1): expected {expected} "
            f"fields, found {found}, in {text[:60]!r}; a field that holds the delimiter "
            f"{delimiter!r} must be quoted (delimiter=, --delimiter: another one)"
            f"{f'; {LINES}' if expected == '1' else ''}"
        ) from error


# Arrow's message: its handler for such rows fails if a row is not valid UTF-8
RAGGED_ROW = re.compile(r"Row #(\d+): Expected (\d+) columns, got (\d+): (.*)", re.DOTALL)


def json_batches(
    blocks: Iterator[bytes], file: CorpusFile, columns: Sequence[str]
) -> Iterator[pa.RecordBatch]:
    """One document per line; blank lines are skipped, a missing key is a null."""
    lines = 0
    for block in blocks:
        values: list[list[str | None]] = [[] for _ in columns]
        for record in json_records(block, lines, file):
            for column, key in zip(values, columns, strict=True):
                column.append(json_text(record.get(key)))
        lines += block.count(b"\n")
        arrays = [string_array(column, pa.string()) for column in values]
        yield pa.record_batch(arrays, names=columns)


def json_records(block: bytes, lines: int, file: CorpusFile) -> Iterator[dict[str, Any]]:
    """The objects in a block of lines, each with text or null as its document."""
    # Python's parser, not Arrow's: that one crashes the process on a line that says `null`
    decode = json.JSONDecoder(strict=False).decode
    name = str(file.path)
    for number, line in enumerate(block.decode().split("\n"), lines + 1):
        if not line or line.isspace():
            continue
        try:
            record = decode(line)
            if SURROGATE.search(line):
                repaired = repair_surrogates(json.dumps(record, ensure_ascii=False))
                record = json.loads(repaired)
        except (ValueError, RecursionError) as error:
            raise CorpusError(
                f"{name}, line {number}: expected a JSON object, found {line[:60]!r} ({error})"
            ) from error
        if not isinstance(record, dict):
            raise CorpusError(f"{name}, line {number}: expected a JSON object, found {line[:60]!r}")
        document = None if file.column is None else record.get(file.column)
        if document is not None and not isinstance(document, str):
            raise CorpusError(
                f"{name}, line {number}: {file.column!r} must be text, "
                f"found {type(document).__name__} ({json_text(document):.60})"
            )
        yield record


SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")  # escaped: half a character, or a pair


def json_text(value: Any) -> str | None:
    """A JSON value as text: a string itself, anything else as JSON."""
    if value is None or isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False)


BATCHES = {"txt": line_batches, "csv": csv_batches, "tsv": csv_batches, "jsonl": json_batches}

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
