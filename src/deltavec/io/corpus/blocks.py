"""Text files as UTF-8, in blocks of whole records, in bounded memory.

A record is a line, or a CSV row whose quoted fields may hold newlines. A block ends where a record
ends, so each block can be parsed by itself. A block grows only if one record fills it.

A byte order mark wins over everything else. Without one, and without an encoding, text must be
UTF-8; anything else is an error with its line. Encodings are not guessed: a guess among those with
one byte a character cannot fail, so it would be wrong silently. With an encoding, what is broken
becomes U+FFFD.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable, Iterator
from functools import cache
from io import FileIO
from itertools import chain
from pathlib import Path
from typing import BinaryIO

import numpy as np
import pyarrow as pa

from deltavec.core.arguments import did_you_mean
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
    damage = {"Truncated": "cut short", "inflate failed": "damaged", "ZSTD": "damaged"}
    if found := next((what for sign, what in damage.items() if sign in reason), None):
        return CorpusError(f"{name}: the compressed data is {found} ({reason}); write it again")
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


UTF8 = "utf-8"

# The longer ones first: UTF-32 begins like UTF-16.
MARKS = {
    codecs.BOM_UTF32_LE: "utf-32-le",
    codecs.BOM_UTF32_BE: "utf-32-be",
    codecs.BOM_UTF8: UTF8,
    codecs.BOM_UTF16_LE: "utf-16-le",
    codecs.BOM_UTF16_BE: "utf-16-be",
}

# How files that are not text begin, and what to do about them.
NOT_TEXT = {
    b"\x1f\x8b": "holds gzip data; expected text: give its name the suffix .gz",
    b"\x28\xb5\x2f\xfd": "holds zstd data; expected text: give its name the suffix .zst",
    b"PAR1\x15": "holds parquet data; expected text: give its name the suffix .parquet",
    b"PK\x03\x04": "holds a zip archive; expected text: unpack it, or give an Excel "
    "workbook the suffix .xlsx",
    b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1": "holds a document of an old Office program; "
    "expected text: save it as .xlsx or .csv",
    b"%PDF-": "holds a PDF document; expected text: extract it first",
}

OFTEN_USED = ("utf-8", "utf-16", "utf-16-le", "cp1252", "latin-1", "cp1250", "cp1251", "gb18030")
LOOKED_AT = 256  # bytes at the start of a source
EXCERPT = 40  # characters, in an error
NEWLINE = ord("\n")


def checked_encoding(name: str) -> str:
    """The canonical name of an encoding that Python knows; a CorpusError for others."""
    try:
        found = codecs.lookup(name)
        "a".encode(name)  # a codec from bytes to bytes is no text encoding
    except (LookupError, ValueError, TypeError):
        raise CorpusError(
            f"encoding must be a name that Python knows, such as {', '.join(OFTEN_USED[:5])}, "
            f"got {name!r}{did_you_mean(str(name), OFTEN_USED)}"
        ) from None
    return UTF8 if found.name == "utf-8-sig" else found.name


def as_utf8(chunks: Iterator[bytes], name: str, given: str | None) -> Iterator[bytes]:
    """The same text as UTF-8, without a byte order mark."""
    head = next(chunks, b"")
    mark = next((mark for mark in MARKS if head.startswith(mark)), b"")
    if not mark:
        _require_text(head, name, given)
    encoding = MARKS.get(mark, given or UTF8)
    text = chain([head[len(mark) :]], chunks)
    if encoding == UTF8:
        yield from text
        return
    decoder = codecs.getincrementaldecoder(encoding)("replace" if given else "strict")
    try:
        for chunk in chain(text, [b""]):
            yield decoder.decode(chunk, final=not chunk).encode(UTF8, "replace")
    except UnicodeDecodeError as error:
        raise CorpusError(
            f"{name}: begins with the byte order mark of {error.encoding}, but is damaged or cut "
            f"short ({error.reason}); write it again, or read it with U+FFFD for what is broken: "
            f"encoding={error.encoding!r} (--encoding {error.encoding})"
        ) from None
    except UnicodeError as error:  # UTF-16 without a byte order
        raise CorpusError(
            f"{name}: cannot be read as {given} ({error}); name the byte order too: "
            f"encoding='{given}-le' (--encoding {given}-le), or -be"
        ) from None


def _require_text(data: bytes, name: str, given: str | None) -> None:
    for mark, meaning in NOT_TEXT.items():
        if data.startswith(mark):
            raise CorpusError(f"{name}: {meaning}")
    if given is not None:
        return
    # Every other byte of Western text in UTF-16 is a zero, and no byte of text in UTF-8.
    even, odd = (data[:LOOKED_AT][start::2] for start in (0, 1))
    for zeros, others, order in ((odd, even, "le"), (even, odd, "be")):
        if len(zeros) >= 16 and 0 not in others and zeros.count(0) * 4 >= len(zeros) * 3:
            advice = f"encoding='utf-16-{order}' (--encoding utf-16-{order})"
            raise CorpusError(f"{name}: looks like UTF-16 without a byte order mark; use {advice}")


def checked_blocks(blocks: Iterable[bytes], name: str, given: str | None) -> Iterator[bytes]:
    """The same blocks of whole records, each valid UTF-8.

    Invalid UTF-8 is an error with its line, unless the encoding was given: then each broken
    sequence becomes U+FFFD, as with ``errors="replace"``.
    """
    lines = 0
    for block in blocks:
        try:
            pa.scalar(block, pa.large_binary()).cast(pa.large_string())
        except pa.ArrowInvalid:
            if given is None:
                raise _not_utf8(block, name, lines) from None
            block = block.decode(UTF8, "replace").encode()
        # a fifth of the time that block.count takes
        lines += int(np.count_nonzero(np.frombuffer(block, np.uint8) == NEWLINE))
        yield block


def _not_utf8(block: bytes, name: str, lines: int) -> CorpusError:
    """The error for a block that is not UTF-8: where, and what may help."""
    try:
        block.decode(UTF8)
    except UnicodeDecodeError as error:
        place = error.start
    line = lines + block.count(b"\n", 0, place) + 1
    begin = max(block.rfind(b"\n", 0, place) + 1, place - EXCERPT // 2)
    excerpt = block[begin : begin + EXCERPT].splitlines()[0].decode("cp1252", "replace")
    return CorpusError(
        f"{name}, line {line}: not UTF-8 (the byte 0x{block[place]:02x}); if {excerpt!r} is how it "
        "should read, give encoding='cp1252' (--encoding cp1252: Latin-1 and Western Windows), "
        "otherwise the encoding it was written in; to read damaged UTF-8 with U+FFFD for what is "
        "broken, give encoding='utf-8' (--encoding utf-8)"
    )
