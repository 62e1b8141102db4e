"""Text of parquet files in the form that most have, unpacked by ourselves.

That is: data pages of the first version, plain, as they are or packed by snappy, without gaps. What
is anything else, or looks odd, is `OddError`, and left to pyarrow: it reads all that parquet can
be, and says what is wrong with what is broken.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, BinaryIO, NamedTuple

import numpy as np
import pyarrow as pa

from deltavec.core.arrays import UInt8s
from deltavec.io.corpus.footers import Chunk, Compact
from deltavec.io.corpus.pages import BYTE_ARRAY, DICTIONARY_PAGE, STORED, UNFOLDED, VALUES
from deltavec.io.corpus.plain.kernels import LENGTH_BYTES, QUICK_ELEMENTS, parted, unsnapped

HEADER_BYTES = 1 << 16  # statistics hold whole texts
LARGEST_PAGE = 64 << 20
# Numbers in parquet.thrift: kinds of pages, encodings, codecs, fields of a page's header.
DATA_PAGE, PLAIN, RLE, AS_IT_IS, SNAPPY = 0, 0, 3, 0, 1
KIND, DATA_HEADER, ENCODING, LEVELS = 1, 5, 2, 3


class OddError(Exception):
    """A page is not of the usual form."""


class Page(NamedTuple):
    """A data page: its values, whether they are plain, and its bytes in the file."""

    values: int
    is_plain: bool
    begin: int
    stored: int
    size: int


def may_be_plain(chunk: Chunk) -> bool:
    """Whether a column chunk may hold pages of the usual form."""
    return chunk.kind == BYTE_ARRAY and chunk.codec in (AS_IT_IS, SNAPPY)


def data_pages(file: BinaryIO, chunk: Chunk) -> Iterator[Page]:
    """The data pages of a column chunk, up to its last row."""
    place, left = chunk.begin, chunk.rows
    while left > 0:
        file.seek(max(0, place))
        header = Compact(file.read(HEADER_BYTES))
        try:
            about = header.struct()
            begin, stored, size = place + header.place, about[STORED], about[UNFOLDED]
            if not (0 < stored <= LARGEST_PAGE and 0 < size <= LARGEST_PAGE):
                raise OddError
            place = begin + stored
            if about[KIND] == DICTIONARY_PAGE:
                continue
            page = _data_page(about, begin)
        except (LookupError, TypeError, ValueError):
            raise OddError from None
        left -= page.values
        if left < 0:
            raise OddError
        yield page


def _data_page(about: dict[int, Any], begin: int) -> Page:
    values, encoding = about[DATA_HEADER][VALUES], about[DATA_HEADER][ENCODING]
    is_usual = about[KIND] == DATA_PAGE and about[DATA_HEADER][LEVELS] == RLE
    # So many plain values have at least their lengths.
    fit = encoding != PLAIN or values * LENGTH_BYTES <= about[UNFOLDED]
    if not (is_usual and fit and values > 0):
        raise OddError
    return Page(values, encoding == PLAIN, begin, about[STORED], about[UNFOLDED])


def rows_before_plain(file: BinaryIO, chunk: Chunk) -> int:
    """The rows of a column chunk that stand before its first plain page."""
    rows = 0
    for page in data_pages(file, chunk):
        if page.is_plain:
            break
        rows += page.values
    return rows


def plain_pages(
    file: BinaryIO, chunk: Chunk, before: int, bytes_at_once: int
) -> Iterator[list[Page]]:
    """The pages of a column chunk behind so many rows, about so many bytes of text at once.

    Raises
    ------
    OddError
        If one of them is not of the usual form.
    """
    some: list[Page] = []
    for page in data_pages(file, chunk):
        if before > 0:
            before -= page.values
            continue
        if not page.is_plain:
            raise OddError
        if some and sum(one.size for one in some) + page.size > bytes_at_once:
            even = len(some) // 2 * 2 or 1  # two are unpacked at once
            yield some[:even]
            some = some[even:]
        some.append(page)
    if some:
        yield some


def texts_of(file: BinaryIO, chunk: Chunk, optional: bool, pages: Sequence[Page]) -> pa.Array:
    """The texts of these pages of a column chunk.

    Raises
    ------
    OddError
        If a page is not of the usual form after all.
    """
    size = max(page.size + page.stored for page in pages)
    # Arrow's memory: what the pages before had is used again.
    rooms = [np.frombuffer(pa.allocate_buffer(size), np.uint8) for _ in range(2)]
    count = sum(page.values for page in pages)
    data = pa.allocate_buffer(sum(page.size for page in pages))
    texts = np.frombuffer(data, np.uint8)
    ends = np.zeros(count + 1, np.int32)
    first = 0
    for place in range(0, len(pages), 2):
        couple = pages[place : place + 2]
        for page, room in zip(couple, rooms, strict=False):
            _read(file, page, chunk.codec, room)
        if chunk.codec == SNAPPY:
            _unpack(couple, rooms)
        for page, room in zip(couple, rooms, strict=False):
            begin = _behind_levels(room[: page.size], page.values) if optional else 0
            if not parted(room[: page.size], begin, page.values, texts, ends[first:]):
                raise OddError
            first += page.values
    return pa.StringArray.from_buffers(count, pa.py_buffer(ends), data)


def _read(file: BinaryIO, page: Page, codec: int, room: UInt8s) -> None:
    """Put the bytes of a page at the beginning of the room; packed ones behind their own room."""
    where = page.size if codec == SNAPPY else 0
    file.seek(page.begin)
    read = file.readinto(room[where : where + page.stored])  # type: ignore[attr-defined]
    if read != page.stored or (codec == AS_IT_IS and page.stored != page.size):
        raise OddError


def _unpack(couple: Sequence[Page], rooms: Sequence[UInt8s]) -> None:
    """Unpack one page or two, each in its room."""
    one, *others = couple
    stored, size = (others[0].stored, others[0].size) if others else (0, 0)
    if not unsnapped(rooms[0], one.stored, one.size, rooms[1], stored, size, QUICK_ELEMENTS):
        raise OddError


def _behind_levels(page: UInt8s, values: int) -> int:
    """Where the texts begin of a page which first says that there is one in every row."""
    length = int.from_bytes(page[:LENGTH_BYTES].tobytes(), "little")
    end = LENGTH_BYTES + length
    levels = Compact(page[LENGTH_BYTES:end].tobytes())
    try:
        all_there = levels.varint() == values << 1 and levels.byte() == 1
    except (LookupError, ValueError):
        raise OddError from None
    if not all_there or levels.place != length:
        raise OddError
    return end
