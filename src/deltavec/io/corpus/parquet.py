"""Documents in Parquet files, in batches of bounded size.

A file of a few hundred bytes can hold gigabytes: a value is stored once in the dictionary of its
column, and a million rows can refer to it. So only as many rows are decoded at once as fit into
memory even if each of them is as long as the whole dictionary.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import pyarrow as pa

from deltavec.errors import CorpusError
from deltavec.io.corpus.blocks import LARGEST_RECORD, unreadable
from deltavec.io.corpus.columns import (
    CHUNK_BYTES,
    CHUNK_DOCUMENTS,
    Piece,
    is_plain_text,
    repair_utf8,
)
from deltavec.io.corpus.files import CorpusFile

DEEPEST = 32
TRAILER = 8  # the length of the footer, and four letters
# Field ids in parquet.thrift: of the file, a row group, a column chunk, and its metadata.
ROW_GROUPS, COLUMNS, ROWS, DESCRIPTION = 4, 1, 3, 3
PATH, SIZE, DATA_PAGE, DICTIONARY_PAGE = 3, 6, 9, 11
# Field ids of a page header, and of a dictionary page header.
PAGE_SIZE, DICTIONARY_HEADER, VALUES = 2, 7, 1
DICTIONARY_PAGE_TYPE = 2  # PageType
HEADER_BYTES = 128  # more than a dictionary page header has


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
    """

    column: str
    size: int
    rows: int
    begin: int


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
    return Chunk(name, int(about[SIZE]), int(rows), int(begin))


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
        if kind in (9, 10):
            head = self.byte()
            count = head >> 4 if head >> 4 != 15 else self.varint()
            return [self.value(head & 15, depth + 1) for _ in range(count)]
        if kind == 12:
            return self.struct(depth + 1)
        if kind in (7, 8):
            return self.take(8 if kind == 7 else self.varint())
        if kind not in range(1, 7):
            raise ValueError("a type that footers do not have")
        return self.byte() if kind < 4 else self.zigzag()

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
    """The dictionary of a column chunk: its bytes, and the number of its values.

    Without a dictionary both are 0. If its header cannot be read, all bytes count as one value.
    """

    size: int
    values: int


def dictionary_of(file: BinaryIO, chunk: Chunk) -> Dictionary:
    """The dictionary of a column chunk, by the header of its first page."""
    file.seek(max(0, chunk.begin))
    data = file.read(HEADER_BYTES)
    try:
        # The first field, after its header byte.
        if Compact(data[1:]).zigzag() != DICTIONARY_PAGE_TYPE:
            return Dictionary(0, 0)
        fields = Compact(data).struct()
        return Dictionary(int(fields[PAGE_SIZE]), max(1, int(fields[DICTIONARY_HEADER][VALUES])))
    except (LookupError, TypeError, ValueError):
        return Dictionary(chunk.size, 1)  # an unknown kind of header


DECODED_BYTES = 1 << 30  # of rows that are decoded at once


def open_parquet(path: Path) -> Any:
    """The opened Parquet file, once its footer has been read."""
    from pyarrow import parquet

    try:
        # a read buffer instead of whole column chunks in memory
        return parquet.ParquetFile(path, pre_buffer=False, buffer_size=1 << 20)
    except (pa.ArrowException, UnicodeDecodeError) as error:
        what = f"not a whole parquet file ({error})" if path.stat().st_size else "the file is empty"
        raise CorpusError(f"{path}: {what}; expected parquet data, write it again") from error
    except OSError as error:
        raise unreadable(str(path), error) from error


def parquet_pieces(source: CorpusFile, columns: Sequence[str]) -> Iterator[Piece]:
    """Some columns of a file, and the fraction of its rows read."""
    path = source.path
    with open_parquet(path) as file, path.open("rb") as raw:
        rows, total = 0, file.metadata.num_rows
        try:
            for number, group in enumerate(row_groups(path)):
                chunks = [chunk for chunk in group if chunk.column in columns]
                at_once = rows_at_once(path, raw, chunks)
                for batch in file.iter_batches(at_once, [number], columns):
                    sound = validate(batch.select(columns), source.column)
                    rows += len(batch)
                    yield Piece(sound, min(1.0, rows / max(1, total)))
            # Of a damaged page pyarrow may give fewer rows than there are, without an error.
            if rows < total:
                raise pa.ArrowInvalid(f"{total - rows} of {total} rows are missing")
        except (pa.ArrowException, OSError, UnicodeDecodeError, LookupError) as error:
            raise CorpusError(
                f"{path}: damaged after row {rows} ({error}); write it again"
            ) from error


def validate(batch: pa.RecordBatch, document_column: str | None) -> pa.RecordBatch:
    """The batch with valid values in all columns but the documents', which are checked later.

    Text that is not UTF-8 is repaired, as in other formats.
    """
    columns = []
    for name, column in zip(batch.schema.names, batch.columns, strict=True):
        if name != document_column:
            column = repair_utf8(column) if is_plain_text(column.type) else column
            column.validate(full=True)
        columns.append(column)
    return pa.record_batch(columns, names=batch.schema.names)


def rows_at_once(path: Path, file: BinaryIO, chunks: Sequence[Chunk]) -> int:
    """Rows of a group that hold about one chunk of data, and never more than fits into memory."""
    dictionaries = [dictionary_of(file, chunk) for chunk in chunks]
    means = [chunk.size / max(1, chunk.rows) for chunk in chunks]
    largest = max((found.size for found in dictionaries), default=0)
    longest = int(max([largest, *means]))  # if one value is the whole dictionary
    if longest > LARGEST_RECORD:
        raise CorpusError(
            f"{path}: a value may decode to {longest:,} bytes, more than {LARGEST_RECORD:,}, as "
            "a document may have; write it again with shorter documents"
        )
    row_bytes = sum(
        max(mean, found.size / max(1, found.values))
        for mean, found in zip(means, dictionaries, strict=True)
    )
    # Three quarters: batches that are a little too large are cut, and what is cut off is copied.
    usual = min(CHUNK_DOCUMENTS, int(CHUNK_BYTES * 3 / 4 / max(1.0, row_bytes)))
    return max(1, min(usual, int(DECODED_BYTES / max(1, longest) / max(1, len(chunks)))))
