"""The format of a file of word vectors, by its first bytes."""

from __future__ import annotations

import io
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

from deltavec.errors import VectorsError

BYTE_ORDER_MARK = b"\xef\xbb\xbf"
CODECS = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd"}
REFUSED = {
    b"\xba\x16\x4f\x2f": "is a fastText model: load the .vec file that fastText writes beside it",
    b"\x93NUMPY": "has no words: pass WordVectors(words, numpy.load(path))",
    **dict.fromkeys((b"PK\x03\x04", b"BZh", b"\xfd7zXZ\x00"), "is an archive: unpack it first"),
}
PICKLE = re.compile(rb"\x80[\x02-\x05]|ccopy_reg\n|c__builtin__\n")
A_PICKLE = (
    "is a pickle (gensim's own save), which runs code when it is opened, so deltavec does not: "
    "if you trust it, pass the object itself, load_vectors(gensim.models.KeyedVectors.load(path)), "
    "or write it with KeyedVectors.save_word2vec_format"
)
HEADER = re.compile(rb"\s*(\d{1,30})[ \t]+(\d{1,30})\s*")

# What safetensors itself allows for its header; also tells its length apart from eight letters.
LONGEST_TENSOR_HEADER = 100_000_000
SAMPLE = 1 << 20
LONGEST_LINE = 1 << 26
MOST_DIMENSIONS = 1_000_000
MOST_UNPACKED = 50  # times the size of the file; digits take a third of their bytes, or more
LEAST_UNPACKED = 1 << 26  # which any file may decompress to


@dataclass(frozen=True)
class ByteSource:
    """An open file, decompressed if it is compressed.

    Attributes
    ----------
    name
        What error messages call it.
    stream
        The bytes, unpacked.
    size
        How many bytes there are; None if it is compressed, which hides the number.
    """

    name: str
    stream: io.BufferedReader
    size: int | None


class Header(NamedTuple):
    """The first line of a word2vec file: how many words follow, and of how many numbers each."""

    words: int
    dimensions: int


class Unpacking(io.RawIOBase):
    """A decompressing stream with a limit on what it decompresses to."""

    def __init__(self, stream: Any, most: int, name: str) -> None:
        self.stream, self.left, self.name = stream, most, name

    def readable(self) -> bool:
        """It is."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill a buffer; how many bytes there were."""
        data = self.stream.read(len(buffer))
        self.left -= len(data)
        if self.left < 0:
            raise VectorsError(
                f"{self.name}: decompresses to more than {MOST_UNPACKED} times its size, as "
                "no word vectors do: decompress it, and look at it"
            )
        buffer[: len(data)] = data
        return len(data)


@contextmanager
def unpacked(path: Path) -> Iterator[ByteSource]:
    """The open file, decompressed if it is compressed."""
    if not path.is_file():
        what = "a folder" if path.is_dir() else "nothing there"
        raise VectorsError(f"expected a file of word vectors, found {what}: {path}")
    with path.open("rb") as plain:
        start = plain.peek(8)
        codec = next((codec for magic, codec in CODECS.items() if start.startswith(magic)), None)
        if codec is None:
            yield ByteSource(path.name, plain, os.fstat(plain.fileno()).st_size)
            return
        try:
            with pa.CompressedInputStream(pa.OSFile(os.fspath(path)), codec) as stream:
                packed = os.fstat(plain.fileno()).st_size
                most = max(LEAST_UNPACKED, MOST_UNPACKED * packed)
                unpacking = Unpacking(stream, most, path.name)
                yield ByteSource(path.name, io.BufferedReader(unpacking), None)
        except OSError as error:
            problem = f"the {codec} compression is damaged or cut short ({error})"
            raise VectorsError(f"{path.name}: {problem}") from error


def is_safetensors(source: ByteSource) -> bool:
    """Whether its first bytes are those of safetensors; an error for what deltavec does not read.

    Other files have one word after the other.
    """
    start = source.stream.peek(16)[:16]
    if not start:
        raise VectorsError(f"{source.name} is empty: expected word vectors")
    for magic, reason in REFUSED.items():
        if start.startswith(magic):
            raise VectorsError(f"{source.name} {reason}")
    if PICKLE.match(start):
        raise VectorsError(f"{source.name} {A_PICKLE}")
    return start[8:9] == b"{" and int.from_bytes(start[:8], "little") <= LONGEST_TENSOR_HEADER


def first_lines(source: ByteSource) -> bytes:
    """About a megabyte from the start, up to the end of a line, without a byte order mark."""
    sample = source.stream.read(SAMPLE)
    return (sample + rest_of_line(source)).removeprefix(BYTE_ORDER_MARK)


def rest_of_line(source: ByteSource) -> bytes:
    """The bytes up to the end of the line, or of the file."""
    rest = source.stream.readline(LONGEST_LINE)
    if len(rest) == LONGEST_LINE and not rest.endswith(b"\n"):
        expected = "expected one word and its numbers on each line"
        raise VectorsError(f"{source.name}: no line end in {LONGEST_LINE:,} bytes: {expected}")
    return rest


def header_of(line: bytes, name: str) -> Header | None:
    """The header in a first line of two whole numbers; None for any other line."""
    found = HEADER.fullmatch(line)
    if found is None:
        return None
    header = Header(int(found[1]), int(found[2]))
    if header.words == 0 or not 0 < header.dimensions <= MOST_DIMENSIONS:
        raise VectorsError(
            f"{name}, line 1: expected a header of at least one word and of 1 to "
            f"{MOST_DIMENSIONS:,} numbers for each, got {line.decode(errors='replace').strip()!r}"
        )
    return header


def words_to_read(
    source: ByteSource, header: Header, least_bytes_per_word: int, limit: int | None
) -> int:
    """The number of words to read; an error if the file is too short for them."""
    words = header.words if limit is None else min(header.words, limit)
    least = words * least_bytes_per_word
    if source.size is not None and least > source.size:
        raise VectorsError(
            f"{source.name}: the header promises {header.words:,} words of {header.dimensions} "
            f"numbers, at least {least:,} bytes, and the file has {source.size:,}: "
            "it looks cut short"
        )
    return words
