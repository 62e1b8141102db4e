"""What the footer of a parquet file says of its columns, read by ourselves.

pyarrow can be asked for it too, but not of a stranger's file: where the statistics of a column do
not have the length that the schema asks for, its constructor ends the process
(docs/decisions/0023). A footer is a struct of Thrift's compact protocol: a byte for the kind of
each field and the step to its number, then the value; numbers are in groups of seven bits, the
lowest first, and zigzag.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from deltavec.errors import CorpusError

MOST_CHUNKS = 20_000  # that are looked at: what is asked of them are bounds, which most files share
DEEPEST = 32
TRAILER = 8  # the length of the footer, and four letters
# Fields in parquet.thrift: of the file, a row group, a column chunk, and its description.
ROW_GROUPS, COLUMNS, ROWS, DESCRIPTION = 4, 1, 3, 3
TYPE, PATH, CODEC, SIZE, DATA_PAGE, DICTIONARY_PAGE = 1, 3, 4, 6, 9, 11


class Chunk(NamedTuple):
    """The values of one column in one group of rows.

    Attributes
    ----------
    column : str
        The column.
    size : int
        Its bytes, no longer compressed.
    rows : int
        The rows of the group.
    begin : int
        Where in the file its first page is.
    kind, codec : int
        What its values are and what compresses them, by their numbers in parquet.thrift.
    """

    column: str
    size: int
    rows: int
    begin: int
    kind: int
    codec: int


def row_groups(path: Path) -> list[list[Chunk]]:
    """The first groups of rows of a file that pyarrow takes for a parquet file: their columns.

    Raises
    ------
    CorpusError
        If the footer is none.
    """
    with path.open("rb") as file:
        size = file.seek(0, 2)
        file.seek(max(0, size - TRAILER))
        length = int.from_bytes(file.read(4), "little")
        file.seek(max(0, size - TRAILER - length))
        footer = Compact(file.read(length))
    try:
        groups = footer.struct()[ROW_GROUPS]
        most = MOST_CHUNKS // max(1, *(len(group[COLUMNS]) for group in groups), 1)
        return [
            [chunk_of(column[DESCRIPTION], group[ROWS]) for column in group[COLUMNS]]
            for group in groups[: max(1, most)]
        ]
    except (LookupError, TypeError, ValueError, AttributeError, RecursionError):
        raise CorpusError(f"{path}: its footer cannot be read; write it again") from None


def chunk_of(about: dict[int, Any], rows: int) -> Chunk:
    """A column chunk by its description."""
    data = about[DATA_PAGE]
    begin = min(data, about.get(DICTIONARY_PAGE, data) or data)
    name = about[PATH][0].decode("utf-8", "replace")
    numbers = (about[SIZE], rows, begin, about[TYPE], about[CODEC])
    return Chunk(name, *map(int, numbers))


class Compact:
    """Values of Thrift's compact protocol, read one after the other."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.place = 0

    def struct(self, depth: int = 0) -> dict[int, Any]:
        """The fields of a struct by their numbers."""
        fields: dict[int, Any] = {}
        number = 0
        while (head := self.byte()) != 0:
            number = number + (head >> 4) if head >> 4 else self.whole()
            kind = head & 15
            fields[number] = kind == 1 if kind in (1, 2) else self.value(kind, depth + 1)
        return fields

    def value(self, kind: int, depth: int) -> Any:
        """A value of this kind, in a list or as a field."""
        if depth > DEEPEST:
            raise ValueError("too deep")
        if kind in (1, 2, 3):
            return self.byte()
        if kind in (4, 5, 6):
            return self.whole()
        if kind == 7:
            return self.some(8)
        if kind == 8:
            return self.some(self.varint())
        if kind in (9, 10):
            head = self.byte()
            count = head >> 4 if head >> 4 != 15 else self.varint()
            return [self.value(head & 15, depth + 1) for _ in range(count)]
        if kind == 12:
            return self.struct(depth + 1)
        raise ValueError("a kind that footers do not have")

    def byte(self) -> int:
        """The next byte."""
        self.place += 1
        return self.data[self.place - 1]

    def varint(self) -> int:
        """A number from 0 on."""
        value = shift = 0
        while True:
            byte = self.byte()
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value
            if shift > 70:
                raise ValueError("too long")

    def whole(self) -> int:
        """A number, zigzag."""
        value = self.varint()
        return value >> 1 ^ -(value & 1)

    def some(self, size: int) -> bytes:
        """So many bytes."""
        if size > len(self.data) - self.place:
            raise ValueError("behind the end")
        self.place += size
        return self.data[self.place - size : self.place]
