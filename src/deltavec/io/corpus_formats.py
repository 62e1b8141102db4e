"""The file formats a corpus can have, each a schema and a reader.

Text formats are parsed block by block from any stream of bytes; parquet from a file, in batches
of rows. Every batch that comes out has the documents first and the columns kept after them.
Columns of text formats are text, whatever they look like: a file has no types to rely on, and a
guess from its first rows can be wrong a million rows later.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

from deltavec.errors import CorpusError
from deltavec.io.documents import CHUNK_BYTES, Piece, repaired, string_array
from deltavec.io.records import LastEnd, first_row, line_end, row_end, unreadable

PARQUET_ROWS = 8192  # at most so many at once: repeated texts may be far larger than their file


class Wanted(NamedTuple):
    """What to read, and what errors call the place it is read from."""

    where: str
    column: str
    keep: tuple[str, ...] = ()

    @property
    def columns(self) -> list[str]:
        """The documents' column, then those kept beside it."""
        return [self.column, *self.keep]


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


def _text_schema(columns: list[str]) -> pa.Schema:
    return pa.schema([(column, pa.string()) for column in columns])


def _line_schema(_first: bytes, wanted: Wanted) -> pa.Schema:
    """A text file has one column, called whatever the caller calls it."""
    return _text_schema([wanted.column])


def _line_batches(blocks: Iterator[bytes], wanted: Wanted) -> Iterator[pa.RecordBatch]:
    """One document per line; an empty line is an empty document."""
    for block in blocks:
        lines = block.removesuffix(b"\n")
        if b"\r" in lines:
            lines = lines.removesuffix(b"\r").replace(b"\r\n", b"\n")
        documents = pa.array(lines.split(b"\n"), pa.binary()).view(pa.string())
        yield pa.record_batch([repaired(documents)], names=[wanted.column])


def _delimited(delimiter: str) -> TextFormat:
    """CSV with a header row, as RFC 4180 has it, and the given delimiter."""

    def header(first: bytes, wanted: Wanted) -> tuple[list[str], int]:
        row = first_row(first, delimiter)
        if not row.strip():
            raise CorpusError(f"{wanted.where}: empty; expected a header row with column names")
        text = row.decode("utf-8", "replace").rstrip("\r\n") + "\n"
        return _parsed(text.encode(), delimiter, [], wanted, 0).schema.names, len(row)

    def schema(first: bytes, wanted: Wanted) -> pa.Schema:
        return _text_schema(header(first, wanted)[0])

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
            for batch in table.to_batches():
                columns = [repaired(column) for column in batch.columns]
                yield pa.record_batch(columns, names=wanted.columns)

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
        raise CorpusError(
            f"{wanted.where}, row {rows + int(row)} (the header is row 1): expected {expected} "
            f"fields, found {found}, in {text[:60]!r}; a field that holds the delimiter must be "
            "quoted"
        ) from error


# Arrow's message: its handler for such rows fails when a row is no valid UTF-8
_RAGGED = re.compile(r"Row #(\d+): Expected (\d+) columns, got (\d+): (.*)", re.DOTALL)


def _json_schema(first: bytes, wanted: Wanted) -> pa.Schema:
    """The keys of the lines in the first block, in the order they come."""
    keys: dict[str, None] = {}
    for record in _json_records(first, 0, wanted):
        keys |= dict.fromkeys(record)
    return _text_schema(list(keys) or wanted.columns)


def _json_batches(blocks: Iterator[bytes], wanted: Wanted) -> Iterator[pa.RecordBatch]:
    """One document per line; blank lines are none, a key left out is a null."""
    lines = 0
    for block in blocks:
        columns: list[list[str | None]] = [[] for _ in wanted.columns]
        for record in _json_records(block, lines, wanted):
            columns[0].append(record.get(wanted.column))
            for values, key in zip(columns[1:], wanted.keep, strict=True):
                values.append(_json_text(record.get(key)))
        lines += block.count(b"\n")
        yield pa.record_batch([string_array(column) for column in columns], names=wanted.columns)


def _json_records(block: bytes, lines: int, wanted: Wanted) -> Iterator[dict[str, Any]]:
    """The objects in a block of lines, each with text or nothing for a document."""
    # Python's parser, not Arrow's: that one crashes the process on a line that says `null`
    decode = json.JSONDecoder(strict=False).decode
    for number, line in enumerate(block.decode("utf-8", "replace").split("\n"), lines + 1):
        if not line or line.isspace():
            continue
        try:
            record = decode(line)
        except (ValueError, RecursionError) as error:
            raise CorpusError(
                f"{wanted.where}, line {number}: expected a JSON object, "
                f"found {line[:60]!r} ({error})"
            ) from error
        if not isinstance(record, dict):
            raise CorpusError(
                f"{wanted.where}, line {number}: expected a JSON object, found {line[:60]!r}"
            )
        document = record.get(wanted.column)
        if document is not None and not isinstance(document, str):
            raise CorpusError(
                f"{wanted.where}, line {number}: {wanted.column!r} must be text, "
                f"found {type(document).__name__} ({_json_text(document):.60})"
            )
        yield record


def _json_text(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False)


TEXT_FORMATS = {
    "txt": TextFormat(line_end, _line_schema, _line_batches),
    "csv": _delimited(","),
    "tsv": _delimited("\t"),
    "jsonl": TextFormat(line_end, _json_schema, _json_batches),
}

FORMATS = (*TEXT_FORMATS, "parquet")

SUFFIXES = {
    ".txt": "txt",
    ".csv": "csv",
    ".tsv": "tsv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".parquet": "parquet",
}


def parquet_file(path: Path) -> Any:
    """The opened parquet file, once its footer has been read."""
    from pyarrow import parquet

    try:
        # a read buffer instead of whole column chunks in memory
        return parquet.ParquetFile(path, pre_buffer=False, buffer_size=1 << 20)
    except pa.ArrowInvalid as error:
        what = f"not a whole parquet file ({error})" if path.stat().st_size else "the file is empty"
        raise CorpusError(f"{path}: {what}; expected parquet data, write it again") from error
    except OSError as error:
        raise unreadable(str(path), error) from error


def parquet_pieces(path: Path, wanted: Wanted) -> Iterator[Piece]:
    """The documents and columns wanted, and the fraction of the rows read."""
    with parquet_file(path) as file:
        rows = 0
        batches = file.iter_batches(
            _rows_at_once(file.metadata, wanted.columns), columns=wanted.columns
        )
        while True:
            try:
                batch = next(batches, None)
            except (pa.ArrowInvalid, OSError) as error:
                raise CorpusError(
                    f"{path}: damaged after row {rows} ({error}); write it again"
                ) from error
            if batch is None:
                return
            rows += batch.num_rows
            yield Piece(batch.select(wanted.columns), rows / file.metadata.num_rows)


def _rows_at_once(metadata: Any, columns: list[str]) -> int:
    """Rows that hold about one chunk of data, going by the sizes in the footer."""
    size: int = sum(
        chunk.total_uncompressed_size
        for group in map(metadata.row_group, range(metadata.num_row_groups))
        for chunk in map(group.column, range(group.num_columns))
        if chunk.path_in_schema.split(".")[0] in columns
    )
    rows: int = metadata.num_rows
    return max(1, min(PARQUET_ROWS, CHUNK_BYTES * rows // max(size, 1)))
