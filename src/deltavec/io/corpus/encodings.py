"""Text files decoded to UTF-8: by their byte order mark, by the encoding that is given, or checked.

A byte order mark wins over everything else. Without one, and without an encoding, text must be
UTF-8; anything else is an error with its line. Encodings are not guessed: a guess among those with
one byte a character cannot fail, so it would be wrong silently. With an encoding, what is broken
becomes U+FFFD.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterable, Iterator
from itertools import chain

import numpy as np
import pyarrow as pa

from deltavec.core.arguments import did_you_mean
from deltavec.errors import CorpusError

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
            raise CorpusError(
                f"{name}: looks like UTF-16 without a byte order mark; "
                f"read it with encoding='utf-16-{order}' (--encoding utf-16-{order})"
            )


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
