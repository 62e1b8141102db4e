"""The text formats a corpus can have, each a schema and a reader.

They are parsed block by block, from any stream of UTF-8. Every batch that comes out has the
documents first and the columns kept after them, all of them text, whatever they look like: a file
has no types to rely on, and a guess from its first rows can be wrong a million rows later.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import pyarrow as pa

from deltavec.core.text.batches import repair_surrogates, string_array
from deltavec.errors import CorpusError
from deltavec.io.corpus.blocks import LastEnd, first_row, line_end, row_end
from deltavec.io.corpus.delimiters import SAID, found_delimiter

TEXT = "text"  # what the documents' column is called if nobody says otherwise


class Wanted(NamedTuple):
    """What to read, and what errors call the place it is read from.

    Attributes
    ----------
    where : str
        The place.
    column : str or None
        The documents' column; None while nobody knows which it is.
    keep : tuple of str
        Columns to read beside them, as text.
    """

    where: str
    column: str | None
    keep: tuple[str, ...] = ()

    @property
    def columns(self) -> list[str]:
        """The documents' column, then those kept beside it."""
        return [*([] if self.column is None else [self.column]), *self.keep]


@dataclass(frozen=True)
class TextFormat:
    """A format that is parsed from blocks of whole records.

    Attributes
    ----------
    last_end : callable
        Where the last whole record in some bytes ends.
    schema : callable
        The columns that the first block of a file shows.
    batches : callable
        The documents and columns wanted, one batch per block.
    """

    last_end: LastEnd
    schema: Callable[[bytes, Wanted], pa.Schema]
    batches: Callable[[Iterator[bytes], Wanted], Iterator[pa.RecordBatch]]


def text_schema(columns: list[str]) -> pa.Schema:
    """Columns of text."""
    return pa.schema([(column, pa.string()) for column in columns])


def _line_schema(_first: bytes, wanted: Wanted) -> pa.Schema:
    """A text file has one column, called whatever the caller calls it."""
    return text_schema([wanted.column or TEXT])


def _line_batches(blocks: Iterator[bytes], wanted: Wanted) -> Iterator[pa.RecordBatch]:
    """One document per line; an empty line is an empty document."""
    for block in blocks:
        lines = block.removesuffix(b"\n")
        if b"\r" in lines:
            lines = lines.removesuffix(b"\r").replace(b"\r\n", b"\n")
        documents = pa.array(lines.split(b"\n"), pa.binary()).view(pa.string())
        yield pa.record_batch([documents], names=wanted.columns)


def _delimited(delimiter: str) -> TextFormat:
    """CSV with a header row, as RFC 4180 has it, and the given delimiter."""

    def header(first: bytes, wanted: Wanted) -> tuple[list[str], int]:
        said = SAID.match(first)
        begin = said.end() if said else 0
        row = first_row(first[begin:], delimiter)
        if not row.strip():
            raise CorpusError(f"{wanted.where}: empty; expected a header row with column names")
        names = _parsed(row.rstrip(b"\r\n") + b"\n", delimiter, [], wanted, 0).schema.names
        return names, begin + len(row)

    def schema(first: bytes, wanted: Wanted) -> pa.Schema:
        return text_schema(header(first, wanted)[0])

    def batches(blocks: Iterator[bytes], wanted: Wanted) -> Iterator[pa.RecordBatch]:
        names: list[str] | None = None
        rows = 1
        for block in blocks:
            if names is None:
                names, start = header(block, wanted)
                block = block[start:]
            if not block.strip(b"\r\n"):
                continue
            table = _parsed(block, delimiter, names, wanted, rows)
            rows += table.num_rows
            yield from table.to_batches()

    return TextFormat(row_end(delimiter), schema, batches)


def _parsed(block: bytes, delimiter: str, names: list[str], wanted: Wanted, rows: int) -> pa.Table:
    """The wanted columns of some whole CSV rows; without names, the first row gives them."""
    from pyarrow import csv

    try:
        return csv.read_csv(
            pa.BufferReader(block),
            # one thread: rows are numbered, and other threads are at work on the blocks before
            csv.ReadOptions(
                use_threads=False,
                block_size=len(block) + 1,
                column_names=names or None,
            ),
            csv.ParseOptions(delimiter=delimiter, newlines_in_values=True),
            csv.ConvertOptions(
                check_utf8=False,
                include_columns=wanted.columns if names else None,
                column_types={name: pa.string() for name in names},
                strings_can_be_null=False,
            ),
        )
    except pa.ArrowInvalid as error:
        ragged = _RAGGED.search(str(error))
        if not ragged:
            raise CorpusError(f"{wanted.where}: cannot be read as CSV ({error})") from error
        row, expected, found, text = ragged.groups()
        lines = "; format='txt' (--format txt) reads each line as a document"
        raise CorpusError(
            f"{wanted.where}, row {rows + int(row)} (the header is row 1): expected {expected} "
            f"fields, found {found}, in {text[:60]!r}; a field that holds the delimiter "
            f"{delimiter!r} must be quoted (delimiter=, --delimiter: another one)"
            f"{lines if expected == '1' else ''}"
        ) from error


# Arrow's message: its handler for such rows fails when a row is no valid UTF-8
_RAGGED = re.compile(r"Row #(\d+): Expected (\d+) columns, got (\d+): (.*)", re.DOTALL)


def _json_schema(first: bytes, wanted: Wanted) -> pa.Schema:
    """The keys of the lines in the first block, in the order they come."""
    keys: dict[str, None] = {}
    for record in _json_records(first, 0, wanted):
        keys |= dict.fromkeys(record)
    return text_schema(list(keys) or wanted.columns or [TEXT])


def _json_batches(blocks: Iterator[bytes], wanted: Wanted) -> Iterator[pa.RecordBatch]:
    """One document per line; blank lines are none, a key left out is a null."""
    lines = 0
    for block in blocks:
        columns: list[list[str | None]] = [[] for _ in wanted.columns]
        for record in _json_records(block, lines, wanted):
            for values, key in zip(columns, wanted.columns, strict=True):
                values.append(_json_text(record.get(key)))
        lines += block.count(b"\n")
        arrays = [string_array(column, pa.string()) for column in columns]
        yield pa.record_batch(arrays, names=wanted.columns)


def _json_records(block: bytes, lines: int, wanted: Wanted) -> Iterator[dict[str, Any]]:
    """The objects in a block of lines, each with text or nothing for a document."""
    # Python's parser, not Arrow's: that one crashes the process on a line that says `null`
    decode = json.JSONDecoder(strict=False).decode
    for number, line in enumerate(block.decode().split("\n"), lines + 1):
        if not line or line.isspace():
            continue
        try:
            record = decode(line)
            if _SURROGATE.search(line):
                record = _mended(record)
        except (ValueError, RecursionError) as error:
            raise CorpusError(
                f"{wanted.where}, line {number}: expected a JSON object, "
                f"found {line[:60]!r} ({error})"
            ) from error
        if not isinstance(record, dict):
            raise CorpusError(
                f"{wanted.where}, line {number}: expected a JSON object, found {line[:60]!r}"
            )
        document = None if wanted.column is None else record.get(wanted.column)
        if document is not None and not isinstance(document, str):
            raise CorpusError(
                f"{wanted.where}, line {number}: {wanted.column!r} must be text, "
                f"found {type(document).__name__} ({_json_text(document):.60})"
            )
        yield record


_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")  # escaped: half a character, or two halves


def _mended(value: Any) -> Any:
    """A JSON value, half a surrogate pair in any key or text replaced."""
    if isinstance(value, str):
        return repair_surrogates(value)
    if isinstance(value, list):
        return [_mended(one) for one in value]
    if isinstance(value, dict):
        return {repair_surrogates(key): _mended(one) for key, one in value.items()}
    return value


def _json_text(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False)


LINES = {
    "txt": TextFormat(line_end, _line_schema, _line_batches),
    "jsonl": TextFormat(line_end, _json_schema, _json_batches),
}
DELIMITED = {"csv": ",", "tsv": "\t"}  # their usual delimiters

WHOLE = ("parquet", "xlsx")  # compressed inside, and read from a file only

FORMATS = ("txt", *DELIMITED, "jsonl", *WHOLE)

SUFFIXES = {
    ".txt": "txt",
    ".csv": "csv",
    ".tsv": "tsv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".parquet": "parquet",
    ".xlsx": "xlsx",
}


def settled_delimiter(form: str, given: str | None, head: bytes) -> str | None:
    """What parts the rows of a file that begins so; None for one without fields."""
    if form not in DELIMITED:
        return None
    return given or found_delimiter(head, DELIMITED[form])


def text_format(form: str, delimiter: str | None = None) -> TextFormat:
    """How a text format is parsed, with the delimiter that parts its fields."""
    return LINES.get(form) or _delimited(delimiter or DELIMITED[form])
