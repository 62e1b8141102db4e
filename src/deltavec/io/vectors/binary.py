"""Word vectors from word2vec's binary format.

A header line ``words dimensions``, then for each word its bytes, one space, and its numbers as
little-endian float32. The original tool ends each with a newline, gensim does not; newlines before
a word are skipped.
"""

from __future__ import annotations

import re
from codecs import getincrementaldecoder
from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from deltavec.errors import VectorsError
from deltavec.io.vectors.detect import LONGEST_LINE, ByteSource, Header, words_to_read
from deltavec.io.vectors.rows import WordRows, clean_rows, row_norms
from deltavec.io.vectors.text import numbers_at_end

BLOCK = 1 << 24
MANY = 1 << 16
LITTLE_ENDIAN = np.dtype("<f4")
CONTROL = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")


def is_binary(sample: bytes, header: Header) -> bool:
    """Whether the bytes after a header are binary rows: not numbers in text, nor broken text."""
    line = sample.split(b"\n", 1)[0]
    if numbers_at_end(line) >= header.dimensions:
        return False
    return not is_text(sample[:MANY]) or has_common_length(sample, header.dimensions)


def is_text(data: bytes) -> bool:
    """Whether bytes, which may end inside a character, are UTF-8 without control characters."""
    try:
        getincrementaldecoder("utf-8")().decode(data)
    except UnicodeDecodeError:
        return False
    return CONTROL.search(data) is None


def has_common_length(sample: bytes, dimensions: int) -> bool:
    """Whether the first row, read as binary, has a length that word vectors have.

    The digits of a text, read as float32, are all below 0.001, and its letters above a million.
    """
    words, vectors, _ = complete_rows(sample, dimensions, 1)
    if not words:
        return False
    length = row_norms(np.frombuffer(vectors[0], LITTLE_ENDIAN)[None, :])[0]
    return bool(0.01 < length < 10_000)


def binary_rows(
    source: ByteSource, sample: bytes, header: Header, limit: int | None
) -> Iterator[WordRows]:
    """The rows of a binary file, in blocks.

    Parameters
    ----------
    source
        The file, read up to the end of the sample.
    sample
        The first bytes after the header.
    header
        What the first line said.
    limit
        How many rows to read.
    """
    expected = words_to_read(source, header, 4 * header.dimensions + 1, limit)
    data, done, more = sample, 0, True
    while done < expected:
        words, vectors, end = complete_rows(data, header.dimensions, expected - done)
        if words:
            values = np.frombuffer(b"".join(vectors), LITTLE_ENDIAN)
            matrix = values.astype(np.float32, copy=False).reshape(-1, header.dimensions)
            numbers = range(done + 1, done + 1 + len(words))
            named = pa.array(words, pa.binary())
            yield clean_rows(named, matrix, f"{source.name}, word", numbers)
            done += len(words)
        elif not more:
            found = max(0, len(data) - data.find(b" ") - 1) // 4 if b" " in data else 0
            raise VectorsError(
                f"{source.name}, word {done + 1} of {header.words:,}: expected "
                f"{header.dimensions} numbers, found {found}; the file looks cut short"
            )
        rest = data[end:]
        if len(rest) > LONGEST_LINE and b" " not in rest[:LONGEST_LINE]:
            raise VectorsError(
                f"{source.name}, word {done + 1}: found no space in {LONGEST_LINE:,} bytes: "
                "expected a word, a space and its numbers"
            )
        fresh = source.stream.read(BLOCK) if done < expected else b""
        more = bool(fresh)
        data = rest + fresh
    if limit is None and (data + source.stream.read(1 << 10)).strip():
        raise VectorsError(
            f"{source.name}: the header promises {header.words:,} words, and more follow: correct "
            f"the header, or pass limit={header.words} to read only the first"
        )


def complete_rows(
    data: bytes, dimensions: int, most: int
) -> tuple[list[bytes], list[memoryview], int]:
    """The words and rows that are complete in these bytes, and where the next one begins."""
    view, length = memoryview(data), 4 * dimensions
    words: list[bytes] = []
    vectors: list[memoryview] = []
    begin = 0
    while len(words) < most:
        space = data.find(b" ", begin)
        end = space + 1 + length
        if space < 0 or end > len(data):
            break
        words.append(data[begin:space].lstrip(b"\n"))
        vectors.append(view[space + 1 : end])
        begin = end
    return words, vectors, begin
