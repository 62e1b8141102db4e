"""Word vectors from text: one word and its numbers on each line.

This is GloVe's format; word2vec text and fastText's ``.vec`` begin with one more line, the header
``words dimensions``. Blocks of lines are parsed by Arrow's CSV reader, several at a time; a block
that is not plain, for whatever reason, goes to `vector_lines`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.csv

from deltavec.core.threads import ordered_map
from deltavec.errors import VectorsError
from deltavec.io.vectors.detect import (
    BYTE_ORDER_MARK,
    ByteSource,
    Header,
    rest_of_line,
    words_to_read,
)
from deltavec.io.vectors.lines import careful_rows, usual_dimensions
from deltavec.io.vectors.rows import Matrix, WordRows, cleaned

# Large enough that starting Arrow's reader costs little, small enough for the cache.
BLOCK = 1 << 22


class Lines(NamedTuple):
    """Whole lines of a file, and the number of the first."""

    data: bytes
    first: int


@dataclass(frozen=True)
class TextLayout:
    """How the lines of one file are made: its name, for messages, and the numbers on a line."""

    name: str
    dimensions: int

    @cached_property
    def columns(self) -> list[str]:
        """The names of the columns: the word, and its numbers."""
        return ["word", *(str(column) for column in range(self.dimensions))]

    @cached_property
    def conversion(self) -> Any:
        """What Arrow is to make of the columns: bytes, and numbers that are never missing."""
        types = dict.fromkeys(self.columns, pa.float32()) | {"word": pa.binary()}
        return pa.csv.ConvertOptions(
            column_types=types, null_values=[], strings_can_be_null=False, check_utf8=False
        )


PLAIN_LINES = pa.csv.ParseOptions(
    delimiter=" ",
    quote_char=False,
    escape_char=False,
    newlines_in_values=False,
    ignore_empty_lines=False,
)


def text_rows(
    source: ByteSource, sample: bytes, header: Header | None, limit: int | None
) -> Iterator[WordRows]:
    """The rows of a text file, in blocks.

    Parameters
    ----------
    source
        The file, read up to the end of the sample.
    sample
        The first lines, without the header.
    header
        What the first line said, if it was a header.
    limit
        How many lines to read.
    """
    layout = layout_of(source, sample, header)
    if header is not None:
        expected = words_to_read(source, header, 2 * header.dimensions + 1, limit)
    blocks = line_blocks(source, sample, 1 if header is None else 2, limit)
    found = 0
    for rows in ordered_map(lambda lines: parsed(lines, layout), blocks, pa.cpu_count()):
        found += rows.found
        yield rows
    if header is None:
        return
    if found < expected:
        raise VectorsError(
            f"{source.name}: the header promises {header.words:,} words, found {found:,}; "
            "the file looks cut short"
        )
    if found > expected and limit is None:
        raise VectorsError(
            f"{source.name}: the header promises {header.words:,} words, found {found:,}: correct "
            f"the header, or pass limit={header.words} to read only the first"
        )


def layout_of(source: ByteSource, sample: bytes, header: Header | None) -> TextLayout:
    """The layout that the header, or most of the first lines, tell."""
    usual = usual_dimensions(sample)
    if header is None:
        if usual == 0:
            raise VectorsError(
                f"{source.name}: expected word2vec text or binary, GloVe text, fastText .vec, "
                ".safetensors or .npy, found none of them: its first lines do not end in numbers"
            )
        if usual == 1:
            raise VectorsError(
                f"{source.name}: expected several numbers on each line, found one: it looks like a "
                "list of words and counts; if it does hold vectors of one number, begin it with "
                "the line 'words 1', the number of words for words"
            )
        return TextLayout(source.name, usual)
    if usual > header.dimensions:
        raise VectorsError(
            f"{source.name}, line 1: the header says {header.dimensions} numbers for each word, "
            f"and the lines after it have {usual}: correct the header"
        )
    return TextLayout(source.name, header.dimensions)


def line_blocks(
    source: ByteSource, sample: bytes, first_line: int, limit: int | None
) -> Iterator[Lines]:
    """The file in blocks of whole lines, the sample first; no more lines than the limit."""
    block = sample or next_block(source)
    while block and (limit is None or limit > 0):
        lines = block.count(b"\n") + (not block.endswith(b"\n"))
        if limit is not None:
            if lines > limit:
                block = b"\n".join(block.split(b"\n", limit)[:limit])
            limit -= lines
        yield Lines(block, first_line)
        first_line += lines
        block = next_block(source)


def next_block(source: ByteSource) -> bytes:
    """Some whole lines; nothing at the end of the file."""
    block = source.stream.read(BLOCK)
    return block + rest_of_line(source) if block else block


def parsed(lines: Lines, layout: TextLayout) -> WordRows:
    """The rows of a block, by the fast path if it is plain."""
    rows = fast_rows(lines, layout)
    if rows is None:
        rows = careful_rows(lines.data, lines.first, layout.dimensions, layout.name)
    return rows


def fast_rows(lines: Lines, layout: TextLayout) -> WordRows | None:
    """The rows of a block in which every line is one word and its numbers; None for any other."""
    data = with_plain_ends(lines.data)
    # Arrow would take a carriage return for a line end, and skip a byte order mark.
    if b"\r" in data or data.startswith(BYTE_ORDER_MARK):
        return None
    # Columns by the million are made only for a line that has as many.
    if data.count(b" ", 0, line_end(data)) != layout.dimensions:
        return None
    options = pa.csv.ReadOptions(
        use_threads=False, block_size=len(data) + 1, column_names=layout.columns
    )
    try:
        table = pa.csv.read_csv(
            pa.BufferReader(data),
            read_options=options,
            parse_options=PLAIN_LINES,
            convert_options=layout.conversion,
        )
    except pa.ArrowInvalid:
        return None
    words = table.column(0).combine_chunks()
    matrix = stacked(table)
    return cleaned(words, matrix, lambda row: f"{layout.name}, line {lines.first + row}")


def line_end(data: bytes) -> int:
    """Where the first line ends."""
    end = data.find(b"\n")
    return end if end >= 0 else len(data)


def with_plain_ends(data: bytes) -> bytes:
    """The lines without carriage returns and, if the first has one, the space before the end."""
    if b"\r" in data:
        data = data.replace(b"\r\n", b"\n")
    first_ends_in_space = data[: line_end(data)].endswith(b" ")  # fastText writes them so
    return data.replace(b" \n", b"\n") if first_ends_in_space else data


def stacked(table: Any) -> Matrix:
    """The table's columns of numbers as one matrix."""
    columns = np.stack([column.to_numpy() for column in table.columns[1:]])
    return np.ascontiguousarray(columns.T)
