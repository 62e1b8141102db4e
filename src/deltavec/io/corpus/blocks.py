"""Bytes of a file as blocks of whole records, decompressed, in bounded memory.

A record is a line, or a CSV row whose quoted fields may hold newlines. A block ends where a record
ends, so each block can be parsed by itself, and a block grows only when one record fills it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from functools import cache
from io import FileIO
from pathlib import Path
from typing import NamedTuple, Protocol

import pyarrow as pa

from deltavec.errors import CorpusError

BLOCK_BYTES = 4 << 20
LARGEST_RECORD = 1 << 30  # far above any document, far below the 2 GB an Arrow string array holds

COMPRESSIONS = {".gz": "gzip", ".zst": "zstd"}


class Readable(Protocol):
    """What gives bytes: an Arrow stream, or a Python binary file."""

    def read(self, size: int, /) -> bytes | None:
        """Up to `size` bytes; none at the end."""


class Pipe:
    """The bytes of a named pipe or a device, opened when first read and closed at its end."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: FileIO | None = None

    def read(self, size: int, /) -> bytes | None:
        """Up to `size` bytes; none at the end."""
        if self._file is None:
            self._file = FileIO(self._path)
        data = None if self._file.closed else self._file.read(size)
        if not data:
            self._file.close()
        return data or b""


class ByteStream(NamedTuple):
    """The bytes of one source, its name for errors, and how far it has been read.

    Attributes
    ----------
    name : str
        What errors call the source.
    data : Readable
        The bytes, decompressed.
    position : callable
        Fraction of the source read so far, None where its size is unknown.
    """

    name: str
    data: Readable
    position: Callable[[], float | None]

    def read(self, size: int) -> bytes:
        """Exactly `size` bytes, fewer only at the end."""
        parts: list[bytes] = []
        while size > 0 and (part := self._some(size)):
            parts.append(part)
            size -= len(part)
        return b"".join(parts)

    def after(self, head: bytes) -> ByteStream:
        """The same stream, with what was read of it before put back."""
        return self._replace(data=_Replayed(head, self.data))

    def _some(self, size: int) -> bytes:
        try:
            data = self.data.read(size)
        except OSError as error:
            raise unreadable(self.name, error) from error
        if data is None:
            raise CorpusError(f"{self.name}: nothing there yet; expected a stream that blocks")
        return data


class _Replayed:
    """Some bytes, and the rest of where they came from."""

    def __init__(self, head: bytes, data: Readable) -> None:
        self._head = head
        self._data = data

    def read(self, size: int, /) -> bytes | None:
        """About `size` bytes; none at the end."""
        head, self._head = self._head, b""
        return head or self._data.read(size)


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


@contextmanager
def byte_stream(path: Path, compression: str | None) -> Iterator[ByteStream]:
    """The decompressed bytes of a file, while the context lasts."""
    try:
        size = path.stat().st_size
        file = pa.OSFile(str(path))
    except OSError as error:
        raise unreadable(str(path), error) from error
    if compression and size == 0:
        file.close()
        raise CorpusError(f"{path}: the file is empty; expected {compression} data")
    with closing(file):
        data = pa.CompressedInputStream(file, compression) if compression else file
        with closing(data):
            yield ByteStream(str(path), data, lambda: file.tell() / size if size else 1.0)


LastEnd = Callable[[bytes], int]


def whole_records(
    stream: ByteStream,
    last_end: LastEnd,
    block_bytes: int = BLOCK_BYTES,
    largest: int = LARGEST_RECORD,
) -> Iterator[bytes]:
    """Blocks of whole records, about `block_bytes` each.

    Parameters
    ----------
    stream : ByteStream
        Where the bytes come from.
    last_end : callable
        Where the last whole record in some bytes ends: `line_end`, or what `row_end` gives.
    block_bytes : int
        How much to read at once. A record longer than this makes its block grow.
    largest : int
        The longest record to accept: an open quote would otherwise read a whole file into memory.
    """
    rest, wanted = b"", block_bytes
    while fresh := stream.read(wanted):
        data = rest + fresh
        end = last_end(data)
        if end:
            yield data[:end]
            rest, wanted = data[end:], block_bytes
            continue
        if len(data) > largest:
            raise CorpusError(
                f"{stream.name}: one record is longer than {largest:,} bytes; it begins "
                f"{_excerpt(data)}: is a quote never closed, or a line break missing?"
            )
        rest, wanted = data, max(len(data), block_bytes)  # double: one long record, linear time
    if rest:
        if last_end(rest + b"\n") <= len(rest):
            raise CorpusError(
                f"{stream.name}: ends inside a quoted field, in the row that begins "
                f"{_excerpt(rest)}; close the quote"
            )
        yield rest


def _excerpt(data: bytes) -> str:
    return repr(data[:60].decode("utf-8", "replace"))


def line_end(data: bytes) -> int:
    """Where the last whole line ends, its newline included; 0 if there is none."""
    return data.rfind(b"\n") + 1


def row_end(delimiter: str) -> LastEnd:
    """The function that says where the last whole CSV row ends; 0 if there is none."""

    def last_end(data: bytes) -> int:
        last_breaks = (
            max(data.rfind(b"\n", begin, end), data.rfind(b"\r", begin, end))
            for begin, end in _unquoted(data, delimiter)
        )
        return max(last_breaks) + 1

    return last_end


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

    Fields are as RFC 4180 has them, with what Arrow's parser adds: a quote opens a field only at
    its very beginning, and what follows the closing quote up to the delimiter belongs to it. A
    row ends with any of the three line breaks; one that is cut in two leaves a blank line, which
    is no row.
    """
    begin = 0
    while opening := _opening_quote(delimiter).search(data, begin):
        yield begin, opening.start()
        begin = _after_quoted(data, opening.end())
    yield begin, len(data)


@cache
def _opening_quote(delimiter: str) -> re.Pattern[bytes]:
    # The quote first, then what stands before it: so the search leaps from quote to quote.
    return re.compile(rb'"(?<![^%s\r\n]")' % re.escape(delimiter.encode()))


def _after_quoted(data: bytes, begin: int) -> int:
    """Where a quoted field ends whose text begins here: after the first quote not doubled."""
    while (quote := data.find(b'"', begin)) >= 0:
        if data[quote + 1 : quote + 2] != b'"':
            return quote + 1
        begin = quote + 2
    return len(data)
