"""Files of any format: what their beginning tells, and their batches of rows.

All columns of text formats (lines, CSV and JSON lines) are text, whatever they look like: a text
file has no types, and a guess from its first rows can be wrong a million rows later.

If the caller does not name the documents' column, it is the one called ``text``; or the only one;
or the one that holds prose if all others hold names, numbers and the like. Anything less clear is
an error.
"""

from __future__ import annotations

import codecs
import csv
import io
import json
import re
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from itertools import islice
from typing import Any
from unicodedata import east_asian_width

import pyarrow as pa

from deltavec.core.text.batches import is_text, repair_surrogates, string_array
from deltavec.errors import CorpusError
from deltavec.io.corpus.blocks import (
    BLOCK_BYTES,
    as_utf8,
    byte_chunks,
    checked_blocks,
    first_row,
    unreadable,
    whole_records,
)
from deltavec.io.corpus.columns import Piece, show_columns, text_schema
from deltavec.io.corpus.excel import excel_pieces, open_sheet
from deltavec.io.corpus.files import DELIMITED, LINES, TEXT, CorpusFile
from deltavec.io.corpus.parquet import open_parquet, parquet_pieces

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
    for batch, consumed in stored_pieces(file, stored or [file.column or TEXT], block_bytes):
        if len(stored) < len(columns):
            given = {
                name: pa.repeat(pa.scalar(file.partitions[name], pa.string()), len(batch))
                for name in {*columns} - {*stored}
            }
            arrays = [given[name] if name in given else batch.column(name) for name in columns]
            batch = pa.record_batch(arrays, names=columns)
        yield Piece(batch, consumed)


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
    text = bytearray()
    for block in blocks:
        text += block
        if len(text) > LARGEST_DOCUMENT:
            raise CorpusError(
                f"{file.path}: a document may have {LARGEST_DOCUMENT:,} bytes; with "
                "whole_files=False (--no-whole-files) each line is a document"
            )
    document = bytes(text.replace(b"\r\n", b"\n").removesuffix(b"\n"))
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
        packed = file.compression
        with closing(pa.CompressedInputStream(raw, packed) if packed else raw) as data:
            yield byte_chunks(data, name, size), raw


DELIMITERS = (",", ";", "\t", "|")
DELIMITER_NAMES = {"comma": ",", "semicolon": ";", "tab": "\t", "pipe": "|", "\\t": "\t"}
DELIMITER_ROWS = 50  # to look at
HEAD_CHARACTERS = 1 << 16  # below what Python's csv module takes for a field

PROSE = 20  # Latin letters of a value on average: more than a name or a date has
WIDE = 3  # Latin letters that a Chinese, Japanese or Korean character is worth
TIMES = 4  # how much longer than any other prose it must be: a text beside its title
PROSE_ROWS = 1000  # to look at


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
        known = 1 if file.is_whole else None
        return replace(file, schema=text_schema(names), documents=known)


def first_rows(file: CorpusFile, columns: Sequence[str]) -> pa.RecordBatch | None:
    """Some columns of the first rows of a file; None if it has no rows."""
    with closing(read_pieces(file, columns, HEAD_BYTES)) as pieces:
        return next((piece.batch for piece in pieces), None)


def checked_delimiter(given: str) -> str:
    """The delimiter for a character or its name; a CorpusError for anything else."""
    found = DELIMITER_NAMES.get(given.lower(), given) if isinstance(given, str) else given
    unfit = not isinstance(found, str) or len(found) != 1 or not found.isascii()
    if unfit or found in '"\r\n\0':
        raise CorpusError(
            f"delimiter must be one character, or comma, semicolon, tab or pipe, got {given!r}"
        )
    return found


def find_delimiter(head: bytes, usual: str) -> str:
    """The delimiter of a CSV file that begins with `head`; by default the usual one of its format.

    The header must hold the delimiter, and the rows below must have as many fields as the header.
    Of several, the one with most fields wins; if none fits all rows, the one that fits most, so
    that an error can name the row that does not.
    """
    if stated := SEPARATOR_LINE.match(head):
        return (stated[1] or stated[2]).decode("latin-1")
    text = head.decode("utf-8", "replace").lstrip("\r\n")[:HEAD_CHARACTERS]
    whole = len(text) < HEAD_CHARACTERS and text.endswith(("\n", "\r"))
    best, chosen = (0.0, 0), usual
    for delimiter in (usual, *(other for other in DELIMITERS if other != usual)):
        fields = _field_counts(text, delimiter, whole)
        if not fields or fields[0] < 2:
            continue
        agreeing = sum(count == fields[0] for count in fields) / len(fields)
        if (agreeing, fields[0]) > best:
            best, chosen = (agreeing, fields[0]), delimiter
    return chosen


def _field_counts(text: str, delimiter: str, whole: bool) -> list[int]:
    """The number of fields of the header and of each row below; none if the header is unfit."""
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    try:
        counts: list[int] = []
        for row in islice(rows, DELIMITER_ROWS + 1):
            if not counts and any('"' in field for field in row):
                return []  # a quote inside a field: this delimiter splits a quoted field
            if row:
                counts.append(len(row))
    except csv.Error:
        return []
    if not whole and 1 < len(counts) <= DELIMITER_ROWS:
        del counts[-1]  # it may be cut off
    return counts


def choose_column(file: CorpusFile, expected: str | None) -> tuple[str, str | None]:
    """The column that holds the documents of a file, and a note if it is a guess.

    Parameters
    ----------
    file
        The file; its schema is known.
    expected
        The column of earlier documents, taken if it is there.

    Raises
    ------
    CorpusError
        If no column stands out.
    """
    schema = file.schema
    for name in (expected, TEXT):
        if name is not None and name in schema.names:
            return name, None
    texts = [
        field.name
        for field in schema
        if is_text(field.type.value_type if pa.types.is_dictionary(field.type) else field.type)
        and schema.names.count(field.name) == 1
    ]
    guess = texts if len(schema) == 1 else _longest(_prose(file, texts))
    if len(guess) != 1:
        several = f" ({', '.join(map(repr, guess))} do)" if guess else ""
        raise CorpusError(
            f"{file.path}: no column {TEXT!r}, and not one that alone holds long text{several}; "
            f"its columns are {show_columns(schema.names)}: name the one with the documents, "
            "column= (--column)"
        )
    note = f"{file.path}: the text is taken from the column {guess[0]!r}; --column names another"
    return guess[0], note


def _longest(lengths: Mapping[str, float]) -> list[str]:
    """The column whose values are far longer than all others; otherwise all columns."""
    names = sorted(lengths, key=lambda name: -lengths[name])
    if len(names) > 1 and lengths[names[0]] >= TIMES * lengths[names[1]]:
        return names[:1]
    return names


def _prose(file: CorpusFile, names: Sequence[str]) -> dict[str, float]:
    """The columns that hold prose, with the mean length of their values."""
    batch = first_rows(file, names) if names else None
    if batch is None:
        return {}
    lengths: dict[str, float] = {}
    for name in names:
        values = [value or "" for value in batch.column(name).slice(0, PROSE_ROWS).to_pylist()]
        mean = sum(map(_length, values)) / len(values)
        if mean >= PROSE and sum(map(_is_prose, values)) * 2 > sum(map(bool, values)):
            lengths[name] = mean
    return lengths


def _length(value: str) -> int:
    """The length of a text, in Latin letters."""
    if value.isascii():
        return len(value)
    return sum(WIDE if east_asian_width(character) in "WF" else 1 for character in value)


def _is_prose(value: str) -> bool:
    """Whether a value may be a sentence: no URL, no JSON, no long number."""
    one_word = value.isascii() and len(value.split(maxsplit=1)) < 2
    return not one_word and not value.lstrip().startswith(("{", "["))
