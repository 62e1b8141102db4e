"""Text files as blocks of whole records, in bounded memory.

A record is a line, or a CSV row whose quoted fields may hold newlines. A block ends where a record
ends, so each block can be parsed by itself. A block grows only if one record fills it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache
from io import FileIO
from pathlib import Path
from typing import BinaryIO

from deltavec.errors import CorpusError

BLOCK_BYTES = 4 << 20
LARGEST_RECORD = 1 << 30  # far above any document, far below the 2 GB of an Arrow string array


class Stream:
    """The bytes of standard input or a pipe, which can be read once.

    What a look at the columns reads is kept for the reading. A path is opened at the first read.
    """

    def __init__(self, name: str, source: BinaryIO | FileIO | Path) -> None:
        self.name = name
        self._source = source
        self._seen: list[bytes] = []

    def chunks(self, size: int, *, look: bool) -> Iterator[bytes]:
        """Chunks of `size` bytes from the beginning; with `look`, they can be read again."""
        if isinstance(self._source, Path):
            self._source = FileIO(self._source)
        yield from self._seen
        for chunk in byte_chunks(self._source, self.name, size):
            if look:
                self._seen.append(chunk)
            yield chunk
        if isinstance(self._source, FileIO):
            self._source.close()


def byte_chunks(source: BinaryIO | FileIO, name: str, size: int) -> Iterator[bytes]:
    """The bytes of a source in chunks of exactly `size` bytes; the last may be shorter."""
    parts: list[bytes] = []
    missing = size
    while True:
        try:
            part = source.read(missing)
        except OSError as error:
            raise unreadable(name, error) from error
        if part is None:
            raise CorpusError(f"{name}: no data yet; expected a stream that blocks")
        parts.append(part)
        missing -= len(part)
        if not part or not missing:
            if chunk := b"".join(parts):
                yield chunk
            if not part:
                return
            parts, missing = [], size


def unreadable(name: str, error: Exception) -> CorpusError:
    """The CorpusError for what the operating system or a decompressor said of a file."""
    reason = str(error)
    if isinstance(error, FileNotFoundError):
        return CorpusError(f"no such file: {name}")
    if isinstance(error, PermissionError):
        return CorpusError(f"{name}: permission denied; expected a file you may read")
    if "Truncated compressed stream" in reason:
        return CorpusError(f"{name}: the compressed data is cut short; fetch or write it again")
    if "inflate failed" in reason or "ZSTD" in reason:
        return CorpusError(f"{name}: the compressed data is damaged ({reason}); write it again")
    return CorpusError(f"{name}: cannot be read ({reason})")


def whole_records(
    chunks: Iterable[bytes], name: str, delimiter: str | None, largest: int = LARGEST_RECORD
) -> Iterator[bytes]:
    """Blocks of whole records, about as large as the chunks.

    Parameters
    ----------
    chunks : iterable of bytes
        The text, cut anywhere.
    name : str
        What errors call the source.
    delimiter : str or None
        What separates the fields of CSV rows; None if each line is a record.
    largest : int
        The longest record to accept: an open quote would otherwise read a whole file into memory.
    """
    rest = b""
    fresh: list[bytes] = []
    size = 0
    for chunk in chunks:
        fresh.append(chunk)
        size += len(chunk)
        if size < len(rest):  # double what is searched again: one long record, linear time
            continue
        data = b"".join([rest, *fresh])
        fresh, size = [], 0
        if end := last_end(data, delimiter):
            yield data[:end]
        elif len(data) > largest:
            raise CorpusError(
                f"{name}: one record is longer than {largest:,} bytes; it begins "
                f"{_excerpt(data)}: is a quote never closed, or a line break missing?"
            )
        rest = data[end:]
    if rest := b"".join([rest, *fresh]):
        if last_end(rest + b"\n", delimiter) <= len(rest):
            raise CorpusError(
                f"{name}: ends inside a quoted field, in the row that begins {_excerpt(rest)}; "
                "close the quote"
            )
        yield rest


def _excerpt(data: bytes) -> str:
    return repr(data[:60].decode("utf-8", "replace"))


def last_end(data: bytes, delimiter: str | None) -> int:
    """Where the last whole line, or CSV row, ends, its line break included; 0 if there is none."""
    if delimiter is None:
        return data.rfind(b"\n") + 1
    last_breaks = (
        max(data.rfind(b"\n", begin, end), data.rfind(b"\r", begin, end))
        for begin, end in _unquoted(data, delimiter)
    )
    return max(last_breaks) + 1


def first_row(data: bytes, delimiter: str) -> bytes:
    """The first row that is not blank, with the blank ones before it."""
    text_begins = len(data) - len(data.lstrip(b"\r\n"))
    line_break = re.compile(rb"\r?\n|\r")
    for begin, end in _unquoted(data, delimiter):
        if found := line_break.search(data, max(begin, text_begins), end):
            return data[: found.end()]
    return data


def _unquoted(data: bytes, delimiter: str) -> Iterator[tuple[int, int]]:
    """Begin and end of each stretch outside quoted fields: a line break there ends a row.

    Fields follow RFC 4180, with what Arrow's parser adds: a quote opens a field only at its very
    beginning, and what follows the closing quote up to the delimiter belongs to it. A row ends
    with any of the three line breaks; one that is cut in two leaves a blank line, which is no row.
    """
    begin = 0
    while opening := _opening_quote(delimiter).search(data, begin):
        yield begin, opening.start()
        begin = _after_quoted(data, opening.end())
    yield begin, len(data)


@cache
def _opening_quote(delimiter: str) -> re.Pattern[bytes]:
    # The quote first, then a look-behind: so the search jumps from quote to quote.
    return re.compile(rb'"(?<![^%s\r\n]")' % re.escape(delimiter.encode()))


def _after_quoted(data: bytes, begin: int) -> int:
    """Where a quoted field ends whose text begins here: after the first quote not doubled."""
    while (quote := data.find(b'"', begin)) >= 0:
        if data[quote + 1 : quote + 2] != b'"':
            return quote + 1
        begin = quote + 2
    return len(data)
