"""Word vectors one after the other: word2vec text and binary, GloVe and fastText's ``.vec``.

This is GloVe's format; word2vec text and fastText's ``.vec`` begin with one more line, the header
``words dimensions``. Blocks of lines are parsed by Arrow's CSV reader, several at a time; a block
that is not plain is read line by line (`careful_rows`).

The binary format has the same header, then for each word its bytes, one space, and its numbers as
little-endian float32. The original tool ends each with a newline, gensim does not; newlines before
a word are skipped.
"""

from __future__ import annotations

import re
from codecs import getincrementaldecoder
from collections import Counter
from collections.abc import Iterator
from functools import partial

import numpy as np
import pyarrow as pa
import pyarrow.csv

from deltavec.core.threads import ordered_map
from deltavec.errors import VectorsError
from deltavec.io.vectors import detect
from deltavec.io.vectors.rows import WordRows, clean_rows, row_norms

# Large enough that starting Arrow's reader costs little, small enough for the cache.
BLOCK = 1 << 22


# What Arrow takes for a number. No part can take what another has given back, so that a long odd
# field is refused in linear time.
DECIMAL = rb"(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?"
NUMBER = re.compile(rb"[+-]?(?:%b|nan|inf(?:inity)?)" % DECIMAL, re.IGNORECASE)


PLAIN_LINES = pa.csv.ParseOptions(
    delimiter=" ",
    quote_char=False,
    escape_char=False,
    newlines_in_values=False,
    ignore_empty_lines=False,
)


def text_rows(
    source: detect.ByteSource, sample: bytes, header: detect.Header | None, limit: int | None
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
    dimensions = dimensions_of(source, sample, header)
    if header is not None:
        expected = detect.words_to_read(source, header, 2 * header.dimensions + 1, limit)
    blocks = line_blocks(source, sample, 1 if header is None else 2, limit)
    found = 0
    parse = partial(parse_lines, dimensions=dimensions, name=source.name)
    for rows in ordered_map(parse, blocks, pa.cpu_count()):
        found += rows.found
        yield rows
    if header is None:
        return
    promised = f"{source.name}: the header promises {header.words:,} words, found {found:,}"
    if found < expected:
        raise VectorsError(f"{promised}; the file looks cut short")
    if found > expected and limit is None:
        raise VectorsError(f"{promised}: correct the header, or pass limit={header.words}")


def dimensions_of(source: detect.ByteSource, sample: bytes, header: detect.Header | None) -> int:
    """The numbers on each line, by the header or by most of the first lines."""
    usual = usual_dimensions(sample)
    if header is None:
        if usual == 0:
            raise VectorsError(
                f"{source.name}: expected word2vec text or binary, GloVe text, fastText .vec, "
                ".safetensors, found none of them: its first lines do not end in numbers"
            )
        if usual == 1:
            raise VectorsError(
                f"{source.name}: expected several numbers on each line, found one: a list of "
                "words and counts? Vectors of one number need the first line 'words 1'"
            )
        return usual
    if usual > header.dimensions:
        raise VectorsError(
            f"{source.name}, line 1: the header says {header.dimensions} numbers for each word, "
            f"and the lines after it have {usual}: correct the header"
        )
    return header.dimensions


def line_blocks(
    source: detect.ByteSource, sample: bytes, first_line: int, limit: int | None
) -> Iterator[tuple[bytes, int]]:
    """Blocks of whole lines, each with the number of its first; no more lines than the limit."""
    block = sample or next_block(source)
    while block and (limit is None or limit > 0):
        lines = block.count(b"\n") + (not block.endswith(b"\n"))
        if limit is not None:
            if lines > limit:
                block = b"\n".join(block.split(b"\n", limit)[:limit])
            limit -= lines
        yield block, first_line
        first_line += lines
        block = next_block(source)


def next_block(source: detect.ByteSource) -> bytes:
    """Some whole lines; nothing at the end of the file."""
    block = source.stream.read(BLOCK)
    return block + detect.rest_of_line(source) if block else block


def parse_lines(block: tuple[bytes, int], dimensions: int, name: str) -> WordRows:
    """The rows of a block, by the fast path if it is plain."""
    rows = fast_rows(*block, dimensions, name)
    return careful_rows(*block, dimensions, name) if rows is None else rows


def fast_rows(data: bytes, first: int, dimensions: int, name: str) -> WordRows | None:
    """The rows of a block in which every line is one word and its numbers; None for any other."""
    data = with_plain_ends(data)
    # Arrow would take a carriage return for a line end, and skip a byte order mark.
    if b"\r" in data or data.startswith(detect.BYTE_ORDER_MARK):
        return None
    # Columns by the million are made only for a line that has as many.
    if data.count(b" ", 0, line_end(data)) != dimensions:
        return None
    columns = ["word", *map(str, range(dimensions))]
    types = dict.fromkeys(columns, pa.float32()) | {"word": pa.binary()}
    try:
        table = pa.csv.read_csv(
            pa.BufferReader(data),
            pa.csv.ReadOptions(use_threads=False, block_size=len(data) + 1, column_names=columns),
            PLAIN_LINES,
            pa.csv.ConvertOptions(
                column_types=types, null_values=[], strings_can_be_null=False, check_utf8=False
            ),
        )
    except pa.ArrowInvalid:
        return None
    words = table.column(0).combine_chunks()
    matrix = np.ascontiguousarray(np.stack([one.to_numpy() for one in table.columns[1:]]).T)
    numbers = range(first, first + len(words))
    return clean_rows(words, matrix, f"{name}, line", numbers)


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


def careful_rows(data: bytes, first: int, dimensions: int, name: str) -> WordRows:
    """The rows of a block, read line by line; an error names a line that cannot be read.

    Numbers go through the same parser of Arrow as on the fast path, so they agree to the last bit.
    """
    words: list[bytes] = []
    fields: list[bytes] = []
    numbers: list[int] = []
    blank = 0
    for number, text in enumerate(data.removesuffix(b"\n").split(b"\n"), first):
        text = text.removesuffix(b"\r").rstrip(b" ")
        if text.strip():
            word, *found = split_line(text, number, dimensions, name)
            words.append(word)
            fields += found
            numbers.append(number)
        else:
            blank += 1
    values = pa.array(fields, pa.binary()).cast(pa.string()).cast(pa.float32()).to_numpy()
    matrix = values.reshape(len(words), dimensions)
    return clean_rows(pa.array(words, pa.binary()), matrix, f"{name}, line", numbers, blank)


def split_line(text: bytes, number: int, dimensions: int, name: str) -> list[bytes]:
    """The fields of a line: the last ones are the numbers, all before them is the word.

    Fields are separated by one space, which leaves any other character to the word. A line that
    makes no sense like that is tried with runs of spaces and tabs.
    """
    for fields in (text.rsplit(b" ", dimensions), text.rsplit(None, dimensions)):
        numbers = [field.strip(b"\t") for field in fields[1:]]
        if len(numbers) == dimensions and all(map(NUMBER.fullmatch, numbers)):
            return [fields[0].strip(b" "), *numbers]
    where = f"{name}, line {number}: expected {dimensions} numbers"
    fields = text.split()
    if len(fields) <= dimensions:
        raise VectorsError(f"{where}, found {len(fields) - 1}; the file looks cut short")
    odd = next(field for field in fields[-dimensions:] if not NUMBER.fullmatch(field))
    shown = odd.decode(errors="replace")
    raise VectorsError(f"{where} at its end, found {shown[:40]!r} among them")


def usual_dimensions(sample: bytes, lines: int = 100) -> int:
    """The count of numbers at the end of most of the first lines; 0 if there are none."""
    counts = Counter(
        numbers_at_end(line) for line in sample.split(b"\n", lines)[:lines] if line.strip()
    )
    # Of two that are as frequent, the larger: better a complaint than numbers read as a word.
    return max(counts, key=lambda count: (counts[count], count), default=0)


def numbers_at_end(line: bytes) -> int:
    """How many numbers end the line, the first field left to the word."""
    fields = [field for field in line.rstrip().split(b" ") if field]
    if len(fields) == 1:  # no spaces: perhaps tabs
        fields = line.split()
    count = 0
    for field in reversed(fields[1:]):
        if not NUMBER.fullmatch(field.strip(b"\t")):
            break
        count += 1
    return count


BINARY_BLOCK = 1 << 24
MANY = 1 << 16
LITTLE_ENDIAN = np.dtype("<f4")
CONTROL = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")


def is_binary(sample: bytes, header: detect.Header) -> bool:
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
    source: detect.ByteSource, sample: bytes, header: detect.Header, limit: int | None
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
    expected = detect.words_to_read(source, header, 4 * header.dimensions + 1, limit)
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
        if len(rest) > detect.LONGEST_LINE and b" " not in rest[: detect.LONGEST_LINE]:
            raise VectorsError(
                f"{source.name}, word {done + 1}: found no space in {detect.LONGEST_LINE:,} bytes: "
                "expected a word, a space and its numbers"
            )
        fresh = source.stream.read(BINARY_BLOCK) if done < expected else b""
        more = bool(fresh)
        data = rest + fresh
    if limit is None and (data + source.stream.read(1 << 10)).strip():
        promised = f"the header promises {header.words:,} words, and more follow"
        raise VectorsError(f"{source.name}: {promised}: correct it, or pass limit={header.words}")


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
