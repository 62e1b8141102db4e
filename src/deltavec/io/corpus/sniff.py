"""What the beginning of a file tells: its columns, its delimiter, and which column holds text.

If the caller does not name the documents' column, it is the one called ``text``; or the only one;
or the one that holds prose if all others hold names, numbers and the like. Anything less clear is
an error.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from itertools import islice
from unicodedata import east_asian_width

import pyarrow as pa

from deltavec.core.text.batches import is_text
from deltavec.errors import CorpusError
from deltavec.io.corpus.columns import show_columns, text_schema
from deltavec.io.corpus.encodings import as_utf8
from deltavec.io.corpus.excel import open_sheet
from deltavec.io.corpus.files import DELIMITED, TEXT, CorpusFile
from deltavec.io.corpus.parquet import open_parquet
from deltavec.io.corpus.readers import (
    HEAD_BYTES,
    SEPARATOR_LINE,
    column_names,
    open_bytes,
    read_pieces,
    text_blocks,
)

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
