"""The text formats: lines, CSV and JSON lines, parsed block by block.

All columns are text, whatever they look like: a text file has no types, and a guess from its first
rows can be wrong a million rows later.
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa

from deltavec.core.text.batches import repair_surrogates, string_array
from deltavec.errors import CorpusError
from deltavec.io.corpus.blocks import first_row
from deltavec.io.corpus.files import DELIMITED, LINES, TEXT, CorpusFile

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


SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")  # escaped: half a character, or two halves


def json_text(value: Any) -> str | None:
    """A JSON value as text: a string itself, anything else as JSON."""
    if value is None or isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False)


BATCHES = {"txt": line_batches, "csv": csv_batches, "tsv": csv_batches, "jsonl": json_batches}
