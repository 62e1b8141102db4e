"""The metadata of Parquet files: footers and dictionary headers, read without pyarrow.

pyarrow's own metadata reader ends the process on some damaged files: where the statistics of a
column do not have the length that the schema asks for (docs/decisions/0023). Both structures are in
Thrift's compact protocol: a byte for the type of each field and the step to its id, then the value.
Numbers are in groups of seven bits, the lowest first, and zigzag-encoded.

A value is stored once in the dictionary of its column chunk, and any number of rows refer to it. So
the longest value bounds what a number of rows decodes to.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import pyarrow as pa

from deltavec.errors import CorpusError

DEEPEST = 32
TRAILER = 8  # the length of the footer, and four letters
# Field ids in parquet.thrift: of the file, a row group, a column chunk, and its metadata.
ROW_GROUPS, COLUMNS, ROWS, DESCRIPTION = 4, 1, 3, 3
TYPE, PATH, CODEC, SIZE, DATA_PAGE, DICTIONARY_PAGE = 1, 3, 4, 6, 9, 11
# Field ids of a page header, and of a dictionary page header.
PAGE_SIZE, COMPRESSED_SIZE, DICTIONARY_HEADER, VALUES = 2, 3, 7, 1
DICTIONARY_PAGE_TYPE = 2  # PageType
BYTE_ARRAY = 6  # Type
CODECS = {1: "snappy", 2: "gzip", 4: "brotli", 6: "zstd", 7: "lz4_raw"}
HEADER_BYTES = 128  # more than a dictionary page header has
LARGEST_DICTIONARY = 4 << 20  # whose values are looked at one by one
LENGTH_BYTES = 4  # before each value


class Chunk(NamedTuple):
    """One column of one row group.

    Attributes
    ----------
    column : str
        The column.
    size : int
        Its bytes, decompressed.
    rows : int
        The rows of the group.
    begin : int
        The offset of its first page in the file.
    kind, codec : int
        The physical type and the compression, by their numbers in parquet.thrift.
    """

    column: str
    size: int
    rows: int
    begin: int
    kind: int
    codec: int


def row_groups(path: Path) -> list[list[Chunk]]:
    """The column chunks of each row group of a file that pyarrow takes for a Parquet file.

    Raises
    ------
    CorpusError
        If the footer cannot be read.
    """
    with path.open("rb") as file:
        size = file.seek(0, 2)
        file.seek(max(0, size - TRAILER))
        length = int.from_bytes(file.read(4), "little")
        file.seek(max(0, size - TRAILER - length))
        footer = Compact(file.read(length))
    try:
        groups = footer.struct()[ROW_GROUPS]
        return [
            [chunk_of(column[DESCRIPTION], group[ROWS]) for column in group[COLUMNS]]
            for group in groups
        ]
    except (LookupError, TypeError, ValueError, AttributeError, RecursionError):
        raise CorpusError(f"{path}: its footer cannot be read; write it again") from None


def chunk_of(about: dict[int, Any], rows: int) -> Chunk:
    """The column chunk that its metadata describes."""
    data = about[DATA_PAGE]
    begin = min(data, about.get(DICTIONARY_PAGE, data) or data)
    name = about[PATH][0].decode("utf-8", "replace")
    numbers = (about[SIZE], rows, begin, about[TYPE], about[CODEC])
    return Chunk(name, *map(int, numbers))


class Compact:
    """A reader of Thrift's compact protocol."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.place = 0

    def struct(self, depth: int = 0) -> dict[int, Any]:
        """The fields of a struct by field id."""
        fields: dict[int, Any] = {}
        number = 0
        while (head := self.byte()) != 0:
            number = number + (head >> 4) if head >> 4 else self.zigzag()
            kind = head & 15
            fields[number] = kind == 1 if kind in (1, 2) else self.value(kind, depth + 1)
        return fields

    def value(self, kind: int, depth: int) -> Any:
        """A value of this type, in a list or as a field."""
        if depth > DEEPEST:
            raise ValueError("too deep")
        if kind in (1, 2, 3):
            return self.byte()
        if kind in (4, 5, 6):
            return self.zigzag()
        if kind == 7:
            return self.take(8)
        if kind == 8:
            return self.take(self.varint())
        if kind in (9, 10):
            head = self.byte()
            count = head >> 4 if head >> 4 != 15 else self.varint()
            return [self.value(head & 15, depth + 1) for _ in range(count)]
        if kind == 12:
            return self.struct(depth + 1)
        raise ValueError("a type that footers do not have")

    def byte(self) -> int:
        """The next byte."""
        self.place += 1
        return self.data[self.place - 1]

    def varint(self) -> int:
        """An unsigned number."""
        value = shift = 0
        while True:
            byte = self.byte()
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value
            if shift > 70:
                raise ValueError("too long")

    def zigzag(self) -> int:
        """A signed number."""
        value = self.varint()
        return value >> 1 ^ -(value & 1)

    def take(self, size: int) -> bytes:
        """The next `size` bytes."""
        if size > len(self.data) - self.place:
            raise ValueError("after the end")
        self.place += size
        return self.data[self.place - size : self.place]


class Dictionary(NamedTuple):
    """The dictionary of a column chunk: its bytes, the number of its values, and where it is.

    Without a dictionary all are 0. If its header cannot be read, all bytes count as one value.
    """

    size: int
    values: int
    begin: int
    stored: int


def dictionary_of(file: BinaryIO, chunk: Chunk) -> Dictionary:
    """The dictionary of a column chunk, by the header of its first page."""
    begin = max(0, chunk.begin)
    file.seek(begin)
    data = file.read(HEADER_BYTES)
    try:
        if (
            Compact(data[1:]).zigzag() != DICTIONARY_PAGE_TYPE
        ):  # the first field, after its header byte
            return Dictionary(0, 0, 0, 0)
        header = Compact(data)
        fields = header.struct()
        values = max(1, int(fields[DICTIONARY_HEADER][VALUES]))
        return Dictionary(
            int(fields[PAGE_SIZE]), values, begin + header.place, int(fields[COMPRESSED_SIZE])
        )
    except (LookupError, TypeError, ValueError):
        return Dictionary(chunk.size, 1, 0, 0)  # an unknown kind of header


def longest_value(file: BinaryIO, chunk: Chunk, dictionary: Dictionary) -> int:
    """The bytes of the longest value of a dictionary; of all its values if that is unknown."""
    size, stored = dictionary.size, dictionary.stored
    looked_at = chunk.kind == BYTE_ARRAY and 0 < max(size, stored) <= LARGEST_DICTIONARY
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
