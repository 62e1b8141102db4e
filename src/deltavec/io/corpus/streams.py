"""A corpus that arrives as bytes and is gone once read: standard input, a pipe."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial
from itertools import chain
from typing import NamedTuple

import pyarrow as pa

from deltavec.core.text.batches import Once
from deltavec.io.corpus.blocks import ByteStream
from deltavec.io.corpus.columns import Piece, checked_columns
from deltavec.io.corpus.files import Reading
from deltavec.io.corpus.formats import TEXT, TextFormat, Wanted, text_schema
from deltavec.io.corpus.sniff import parsing, require_use
from deltavec.io.corpus.sources import Corpus
from deltavec.io.corpus.text_column import Chosen, chosen_column


class FirstBlock(NamedTuple):
    """The first block of a stream, the others, and how they are parsed."""

    form: TextFormat
    first: bytes
    rest: Iterator[bytes]

    def schema(self, wanted: Wanted) -> pa.Schema:
        """The columns that the first block shows."""
        return self.form.schema(self.first, wanted)


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class StreamCorpus(Corpus):
    """Documents that arrive as bytes and are gone once read: standard input, a pipe."""

    opened: Callable[[], FirstBlock]

    @classmethod
    def checked(cls, stream: ByteStream, reading: Reading) -> StreamCorpus:
        """A stream, of which nothing is read before it must be."""
        form = reading.format or "txt"
        require_use(reading, [form], stream.name)

        @cache
        def opened() -> FirstBlock:
            parsed = parsing(stream, form, reading.encoding, reading.delimiter)
            return FirstBlock(parsed.form, next(parsed.blocks, b""), parsed.blocks)

        chosen = Chosen(reading.column or reading.expected or TEXT)
        if form != "txt" and reading.column is None:
            rows = partial(_rows_of, opened, stream.name)
            schema = opened().schema(Wanted(stream.name, None))
            chosen = chosen_column(stream.name, schema, reading.expected, rows)
        return cls(
            name=stream.name,
            column=chosen.column,
            note=chosen.note,
            once=Once(stream.name),
            opened=opened,
        )

    @property
    def columns(self) -> list[str]:
        """The columns, read from the first block and no further."""
        names: list[str] = self._found().names
        return names

    def read_schema(self, keep: Sequence[str]) -> pa.Schema:
        """Text, all of it."""
        columns = [self.column, *keep]
        checked_columns(self.name, columns, self._found())
        return text_schema(columns)

    def read_pieces(self, keep: Sequence[str]) -> Iterator[Piece]:
        """The documents; how much is left of a stream is unknown."""
        parsing, first, rest = self.opened()
        wanted = Wanted(self.name, self.column, tuple(keep))
        blocks = filter(None, chain([first], rest))
        return (Piece(batch, None) for batch in parsing.batches(blocks, wanted))

    def _found(self) -> pa.Schema:
        return self.opened().schema(Wanted(self.name, self.column))


def _rows_of(
    opened: Callable[[], FirstBlock], name: str, columns: Sequence[str]
) -> pa.RecordBatch | None:
    form, first, _ = opened()
    return next(form.batches(iter([first]), Wanted(name, None, tuple(columns))), None)
