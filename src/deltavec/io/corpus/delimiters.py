"""The delimiter of a CSV file: as given, or found by looking at its first rows."""

from __future__ import annotations

import csv
import io
import re
from itertools import islice

from deltavec.errors import CorpusError

NAMES = {"comma": ",", "semicolon": ";", "tab": "\t", "pipe": "|", "\\t": "\t"}
USUAL = (",", ";", "\t", "|")
ROWS = 50  # to look at
HEAD_CHARACTERS = 1 << 16  # below what Python's csv module takes for a field

# The line that Excel writes, and reads, before the header.
SEPARATOR_LINE = re.compile(rb'(?:"sep=(.)"|sep=(.))[ \t]*(?:\r\n|\n|\r|$)')


def checked_delimiter(given: str) -> str:
    """The delimiter for a character or its name; a CorpusError for anything else."""
    found = NAMES.get(given.lower(), given) if isinstance(given, str) else given
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
    for delimiter in (usual, *(other for other in USUAL if other != usual)):
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
        for row in islice(rows, ROWS + 1):
            if not counts and any('"' in field for field in row):
                return []  # a quote inside a field: this delimiter splits a quoted field
            if row:
                counts.append(len(row))
    except csv.Error:
        return []
    if not whole and 1 < len(counts) <= ROWS:
        del counts[-1]  # it may be cut off
    return counts
