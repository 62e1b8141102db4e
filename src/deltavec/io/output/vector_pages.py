"""A parquet file of vectors and nothing else, written by ourselves: numbers go out as they are.

A list in a parquet file is its numbers, and for each of them levels that say in which list it
stands and that it is there. pyarrow finds them number by number, which takes six times as long as
to write the numbers. But where all lists have one length and no gaps, the levels of a page are the
same bytes for every page of as many rows: they are made once, and a page is its header, these
bytes, and the vectors as they lie in memory.

What describes the columns is pyarrow's own: it is taken from an empty file that pyarrow has
written. So whatever reads one file reads the other, with the same types.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import BinaryIO, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from deltavec.io.corpus.footers import DATA_PAGE, DESCRIPTION, ROW_GROUPS, TRAILER, Compact
from deltavec.version import __version__

MAGIC = b"PAR1"
PAGE_BYTES = 1 << 20
NUMBER_BYTES = 4
# Kinds of values in Thrift's compact protocol.
WHOLE, LONG, BYTES, LIST, STRUCT = 5, 6, 8, 9, 12
# Numbers in parquet.thrift: types, encodings, and no compression.
FLOAT, PLAIN, RLE, UNCOMPRESSED = 4, 0, 3, 0
# A list that is there, an element of it, and that it is there: three levels.
ALL_THERE = 3
BELOW = ("list", "element")  # what pyarrow calls the parts of a list
# Fields of the footer that are pyarrow's: version, schema, what Arrow notes, order of values.
DESCRIBING = (1, 2, 5, 7)
ROWS_OF_FILE, CREATED_BY = 3, 6


class Field(NamedTuple):
    """A value of the compact protocol: its kind and its bytes."""

    kind: int
    data: bytes


class VectorPages:
    """A parquet file that grows by groups of rows; it is one when it has been finished."""

    def __init__(
        self, file: BinaryIO, schema: pa.Schema, before: Iterable[tuple[int, int]] = ()
    ) -> None:
        """Begin a file, or go on behind groups that it holds: their rows, and where each ends."""
        self._file = file
        self._describing = _describing(schema)
        (name,) = schema.names
        self._width = schema.field(name).type.list_size
        self._path = [text(part) for part in (name, *BELOW)]
        self._groups: list[Field] = []
        self._rows = 0
        self.place = file.write(MAGIC)
        for rows, end in before:
            self._close_group(rows, end)
        file.seek(self.place)

    def add(self, vectors: npt.NDArray[np.float32]) -> None:
        """Write a group of rows."""
        rows, width = vectors.shape
        end = self.place
        numbers = vectors.astype("<f4", copy=False)
        at_once = max(1, PAGE_BYTES // (NUMBER_BYTES * width))
        for first in range(0, rows, at_once):
            page = np.ascontiguousarray(numbers[first : first + at_once])
            end += self._file.write(page_head(*page.shape))
            end += self._file.write(page.data)
        self._close_group(rows, end)

    def finish(self) -> None:
        """Write the footer."""
        fields = {
            **self._describing,
            ROWS_OF_FILE: number(self._rows, LONG),
            ROW_GROUPS: listed(self._groups, STRUCT),
            CREATED_BY: text(f"deltavec version {__version__}"),
        }
        footer = struct(fields).data
        self._file.write(footer + len(footer).to_bytes(4, "little") + MAGIC)

    def _close_group(self, rows: int, end: int) -> None:
        """Note a group of rows, from the place reached so far to this one."""
        if rows:
            self._groups.append(self._group(rows, self.place, end))
        self._rows, self.place = self._rows + rows, end

    def _group(self, rows: int, begin: int, end: int) -> Field:
        """What the footer says of a group of rows."""
        size = number(end - begin, LONG)
        description = {
            1: number(FLOAT),
            2: listed([number(PLAIN), number(RLE)], WHOLE),
            3: listed(self._path, BYTES),
            4: number(UNCOMPRESSED),
            5: number(rows * self._width, LONG),
            6: size,
            7: size,
            DATA_PAGE: number(begin, LONG),
        }
        column = struct({2: number(0, LONG), DESCRIPTION: struct(description)})
        return struct(
            {
                1: listed([column], STRUCT),
                2: size,
                3: number(rows, LONG),
                5: number(begin, LONG),
                6: size,
            }
        )


@lru_cache(maxsize=16)  # full pages of a model, and the last ones of groups
def page_head(rows: int, width: int) -> bytes:
    """What stands before the numbers of a page: its header, and the levels of its lists."""
    of_a_row = run(1, 0) + (run(width - 1, 1) if width > 1 else b"")
    levels = with_length(of_a_row * rows) + with_length(run(rows * width, ALL_THERE))
    size = number(len(levels) + NUMBER_BYTES * rows * width)
    values = {1: number(rows * width), 2: number(PLAIN), 3: number(RLE), 4: number(RLE)}
    return struct({1: number(0), 2: size, 3: size, 5: struct(values)}).data + levels


def run(length: int, level: int) -> bytes:
    """The same level so many times."""
    return varint(length << 1) + bytes([level])


def with_length(data: bytes) -> bytes:
    """The bytes, and before them how many they are."""
    return len(data).to_bytes(4, "little") + data


def varint(value: int) -> bytes:
    """A number from 0 on, in groups of seven bits, the lowest first."""
    groups = bytearray()
    while value >= 0x80:
        groups.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*groups, value])


def number(value: int, kind: int = WHOLE) -> Field:
    """A number from 0 on, zigzag."""
    return Field(kind, varint(value << 1))


def text(value: str) -> Field:
    """A text."""
    data = value.encode()
    return Field(BYTES, varint(len(data)) + data)


def listed(values: Iterable[Field], kind: int) -> Field:
    """A list of values of one kind."""
    data = [value.data for value in values]
    short = len(data) < 15
    head = bytes([len(data) << 4 | kind]) if short else bytes([0xF0 | kind]) + varint(len(data))
    return Field(LIST, head + b"".join(data))


def struct(fields: Mapping[int, Field]) -> Field:
    """A struct of these fields, by their numbers; none is more than 15 behind the one before."""
    data, before = bytearray(), 0
    for place in sorted(fields):
        kind, value = fields[place]
        data += bytes([place - before << 4 | kind]) + value
        before = place
    return Field(STRUCT, bytes(data) + b"\0")


def _describing(schema: pa.Schema) -> dict[int, Field]:
    """The fields of the footer that say what the columns are, as pyarrow writes them."""
    from pyarrow import parquet

    sink = pa.BufferOutputStream()
    parquet.write_table(schema.empty_table(), sink)
    data = sink.getvalue().to_pybytes()
    length = int.from_bytes(data[-TRAILER : -len(MAGIC)], "little")
    footer = Compact(data[-TRAILER - length : -TRAILER])
    fields: dict[int, Field] = {}
    place = 0
    while (head := footer.byte()) != 0:
        place, begin = place + (head >> 4), footer.place
        footer.value(head & 15, 0)
        fields[place] = Field(head & 15, footer.data[begin : footer.place])
    return {place: fields[place] for place in DESCRIBING if place in fields}
