"""The dictionary of a column of a parquet file: how much text it stands for.

A value stands once in the dictionary of its column chunk, and any number of rows name it. How long
the longest value is says what so many rows can unfold to.
"""

from __future__ import annotations

from typing import BinaryIO, NamedTuple

import pyarrow as pa

from deltavec.io.corpus.footers import Chunk, Compact

DICTIONARY_PAGE = 2  # PageType in parquet.thrift
HEADER_BYTES = 128  # more than the header of a dictionary has
LARGEST_LOOKED_AT = 4 << 20
BYTE_ARRAY = 6  # Type in parquet.thrift
CODECS = {1: "snappy", 2: "gzip", 4: "brotli", 6: "zstd", 7: "lz4_raw"}
# Fields in parquet.thrift: of a page's header, and of that of a dictionary.
UNFOLDED, STORED, DICTIONARY_HEADER, VALUES = 2, 3, 7, 1
LENGTH_BYTES = 4  # before each value


class Dictionary(NamedTuple):
    """A dictionary: its bytes, how many values these are, and where they are in the file.

    There is none if it has no bytes. Where nothing more is known its bytes are one value.
    """

    size: int
    values: int
    begin: int
    stored: int


NO_DICTIONARY = Dictionary(0, 0, 0, 0)


def dictionary_of(file: BinaryIO, chunk: Chunk) -> Dictionary:
    """The dictionary of a column chunk, by the header of its first page."""
    begin = max(0, chunk.begin)
    file.seek(begin)
    data = file.read(HEADER_BYTES)
    try:
        if Compact(data[1:]).whole() != DICTIONARY_PAGE:  # the first field, behind a byte for it
            return NO_DICTIONARY
        header = Compact(data)
        fields = header.struct()
        values = max(1, int(fields[DICTIONARY_HEADER][VALUES]))
        return Dictionary(int(fields[UNFOLDED]), values, begin + header.place, int(fields[STORED]))
    except (LookupError, TypeError, ValueError):
        return Dictionary(chunk.size, 1, 0, 0)  # a header beyond our understanding


def longest_value(file: BinaryIO, chunk: Chunk, dictionary: Dictionary) -> int:
    """The bytes of the longest value of a dictionary; those of all of it where that is unknown."""
    size, stored = dictionary.size, dictionary.stored
    looked_at = chunk.kind == BYTE_ARRAY and 0 < max(size, stored) <= LARGEST_LOOKED_AT
    if not looked_at or stored <= 0 or not (chunk.codec == 0 or chunk.codec in CODECS):
        return size
    file.seek(dictionary.begin)
    data = file.read(stored)
    if chunk.codec:
        try:
            data = pa.Codec(CODECS[chunk.codec]).decompress(data, size, asbytes=True)
        except (pa.ArrowException, OSError):
            return size
    longest = place = 0
    for _ in range(dictionary.values):
        if place + LENGTH_BYTES > len(data):
            return size
        length = int.from_bytes(data[place : place + LENGTH_BYTES], "little")
        longest = max(longest, length)
        place += LENGTH_BYTES + length
    return longest if place == len(data) else size
