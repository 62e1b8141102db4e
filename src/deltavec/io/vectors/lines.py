"""One line of a vector file at a time: slow, but it knows what to make of odd lines.

The fast path of `deltavec.io.vectors.text` comes here with every block that it cannot read. Numbers
go through the same parser of Arrow's in both, so they agree to the last bit.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import pyarrow as pa

from deltavec.errors import VectorsError
from deltavec.io.vectors.rows import Matrix, WordRows, cleaned

# What Arrow takes for a number. No part can take what another has given back, so that a long odd
# field is refused in linear time.
DECIMAL = rb"(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?"
NUMBER = re.compile(rb"[+-]?(?:%b|nan|inf(?:inity)?)" % DECIMAL, re.IGNORECASE)


class Line(NamedTuple):
    """A word, its numbers as they are written, and the number of the line."""

    word: bytes
    numbers: list[bytes]
    place: int


def careful_rows(block: bytes, first_line: int, dimensions: int, name: str) -> WordRows:
    """The rows of a block of lines; an error that names the line for one that cannot be read."""
    lines: list[Line] = []
    blank = 0
    for place, text in enumerate(block.removesuffix(b"\n").split(b"\n"), first_line):
        text = text.removesuffix(b"\r").rstrip(b" ")
        if text.strip():
            lines.append(split_line(text, place, dimensions, name))
        else:
            blank += 1
    words = pa.array([line.word for line in lines], pa.binary())
    matrix = parsed_numbers(lines).reshape(len(lines), dimensions)
    return cleaned(words, matrix, lambda row: f"{name}, line {lines[row].place}", blank)


def split_line(text: bytes, place: int, dimensions: int, name: str) -> Line:
    """A line in its parts: the last fields are the numbers, all before them is the word.

    Fields are separated by one space, which leaves any other character to the word. A line that
    makes no sense like that is tried with runs of spaces and tabs.
    """
    for fields in (text.rsplit(b" ", dimensions), text.rsplit(None, dimensions)):
        numbers = [field.strip(b"\t") for field in fields[1:]]
        if len(numbers) == dimensions and all(map(NUMBER.fullmatch, numbers)):
            return Line(fields[0].strip(b" "), numbers, place)
    raise VectorsError(f"{name}, line {place}: {complaint(text, dimensions)}")


def parsed_numbers(lines: Sequence[Line]) -> Matrix:
    """The numbers of all lines, one after the other."""
    fields = [field for line in lines for field in line.numbers]
    strings = pa.array(fields, pa.binary()).cast(pa.string())
    numbers: Matrix = strings.cast(pa.float32()).to_numpy()
    return numbers


def complaint(text: bytes, dimensions: int) -> str:
    """What is wrong with a line that cannot be read."""
    fields = text.split()
    if len(fields) <= dimensions:
        return f"expected {dimensions} numbers, found {len(fields) - 1}; the file looks cut short"
    odd = next(field for field in fields[-dimensions:] if not NUMBER.fullmatch(field))
    shown = odd.decode(errors="replace")
    return f"expected {dimensions} numbers at its end, found {shown[:40]!r} among them"


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
