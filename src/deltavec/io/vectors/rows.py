"""Blocks of rows, or a whole matrix with its words, become `WordVectors`.

Every reader gives its rows in blocks. A block is scaled while it is in the cache, and copied into a
matrix that grows in place. There is never a second copy of all rows.

Rows are left out or scaled to unit length. A matrix whose rows have it already stays where it is:
a ``.safetensors`` file is mapped into memory.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute

from deltavec.core.vectors import WordVectors
from deltavec.core.vocabulary import Vocabulary
from deltavec.errors import InputError, VectorsError
from deltavec.io.artifacts.tensors import Arrays, are_offsets, foreign_tensors

Matrix = npt.NDArray[np.float32]
Mask = npt.NDArray[np.bool_]

DUPLICATE_WORDS = "duplicate words"
EMPTY_WORDS = "empty words"
NOT_UTF8 = "words not UTF-8"
ZERO_ROWS = "zero rows"
BLANK_LINES = "blank lines"

# Rounding n numbers to float32 moves their norm by 2**-24 at most; scaling in float32, as other
# tools do, by a few times that.
UNIT_TOLERANCE = 2.0**-22
ROWS_AT_ONCE = 1 << 14


@dataclass(frozen=True)
class WordRows:
    """A block of words with unit rows.

    Attributes
    ----------
    words
        An Arrow array of bytes that are valid UTF-8.
    matrix
        One row for each word; the very array that was given, if nothing had to change.
    dropped
        How many rows were left out, by reason.
    """

    words: Any
    matrix: Matrix
    dropped: Mapping[str, int]

    @property
    def found(self) -> int:
        """How many rows the file held, with those that were left out."""
        dropped = sum(count for reason, count in self.dropped.items() if reason != BLANK_LINES)
        return len(self.words) + dropped


def clean_rows(
    words: Any, matrix: Matrix, where: str, numbers: Sequence[int], blank_lines: int = 0
) -> WordRows:
    """The rows that can be used, at unit length, and the count of the others.

    Parameters
    ----------
    words
        An Arrow array of bytes.
    matrix
        One row for each word.
    where, numbers
        The name of the file, and the number of each row in it, for an error message.
    blank_lines
        How many lines the reader skipped.

    Raises
    ------
    VectorsError
        If a row holds NaN or infinity.
    """
    norms = row_norms(matrix)
    if not np.isfinite(norms).all():
        row = int(np.flatnonzero(~np.isfinite(norms))[0])
        word = words[row].as_py().decode(errors="replace")
        raise VectorsError(
            f"{where} {numbers[row]}: the vector of {word!r} holds NaN or infinity (or a number "
            "too large for float32): leave it out"
        )
    empty = pa.compute.binary_length(words).to_numpy(zero_copy_only=False) == 0
    broken = not_utf8(words)
    zero = norms == 0
    dropped = {
        BLANK_LINES: blank_lines,
        EMPTY_WORDS: int(np.count_nonzero(empty)),
        NOT_UTF8: int(np.count_nonzero(broken)),
        ZERO_ROWS: int(np.count_nonzero(zero & ~empty & ~broken)),
    }
    unusable = empty | broken | zero
    if unusable.any():
        words = words.filter(pa.array(~unusable))
        matrix, norms = matrix[~unusable], norms[~unusable]
    return WordRows(words, unit_rows(matrix, norms), {why: n for why, n in dropped.items() if n})


def row_norms(matrix: Matrix) -> npt.NDArray[np.float64]:
    """The length of each row; NaN or infinity if the row holds one.

    Squares and sums are float64, which no float32 overflows, and each row is summed by itself:
    the bits do not depend on the rows around it.
    """
    with np.errstate(invalid="ignore"):  # a signalling NaN; the caller refuses it
        squares = np.square(matrix, dtype=np.float64)
        norms: npt.NDArray[np.float64] = np.sqrt(squares.sum(axis=1))
    return norms


def not_utf8(words: Any) -> Mask:
    """Which words are not valid UTF-8."""
    try:
        words.cast(pa.large_string() if pa.types.is_large_binary(words.type) else pa.string())
        return np.zeros(len(words), np.bool_)
    except pa.ArrowInvalid:
        spelled = words.to_pylist()
        return np.array([word.decode(errors="ignore").encode() != word for word in spelled])


def unit_rows(matrix: Matrix, norms: npt.NDArray[np.float64]) -> Matrix:
    """The rows at unit length; a row that has it already keeps its bits."""
    other = np.abs(norms - 1.0) > UNIT_TOLERANCE
    if not other.any():
        return matrix
    divisors = np.where(other, norms, 1.0)
    scaled: Matrix = np.divide(matrix, divisors[:, None], dtype=np.float64).astype(np.float32)
    return scaled


def join_rows(blocks: Iterable[WordRows], name: str) -> WordVectors:
    """The blocks, in the order of the file, as word vectors; of duplicate words, the first.

    Raises
    ------
    VectorsError
        If no row can be used; the message calls the file by this name.
    """
    dropped: Counter[str] = Counter()
    parts = []
    matrix, filled = np.empty((0, 0), np.float32), 0
    for block in blocks:
        dropped.update(block.dropped)
        if len(block.words) == 0:
            continue
        parts.append(block.words)
        end = filled + len(block.matrix)
        if end > len(matrix):  # in place if possible; there is no other reference to it yet
            matrix.resize((max(end, len(matrix) * 5 // 4), block.matrix.shape[1]), refcheck=False)
        matrix[filled:end] = block.matrix
        filled = end
    if filled == 0:
        left_out = ", ".join(f"{count:,} {reason}" for reason, count in dropped.items())
        raise VectorsError(f"{name}: found no usable word vectors ({left_out or 'nothing there'})")
    words = pa.chunked_array(parts).cast(pa.large_binary()).combine_chunks()
    first = first_occurrences(words)
    if not first.all():
        dropped[DUPLICATE_WORDS] = int(np.count_nonzero(~first))
        words = words.filter(pa.array(first))
        move_up(matrix, first)
    matrix.resize((len(words), matrix.shape[1]), refcheck=False)
    return WordVectors.from_unit_rows(vocabulary_of(words), matrix, dropped)


def move_up(matrix: Matrix, chosen: Mask) -> None:
    """Move the chosen rows to the top, in their order, a few at a time."""
    end = 0
    for begin in range(0, len(chosen), ROWS_AT_ONCE):
        rows = matrix[begin : begin + ROWS_AT_ONCE]
        rows = rows[: len(chosen) - begin][chosen[begin : begin + ROWS_AT_ONCE]]
        matrix[end : end + len(rows)] = rows
        end += len(rows)


def first_occurrences(words: Any) -> Mask:
    """Which words have not come before."""
    encoded = words.dictionary_encode()
    if len(encoded.dictionary) == len(words):
        return np.ones(len(words), np.bool_)
    codes = encoded.indices.to_numpy()
    # Arrow numbers words as they first appear, so a new word has a number above all before it.
    highest_before = np.maximum.accumulate(np.concatenate([[-1], codes[:-1]]))
    first: Mask = codes > highest_before
    return first


def binary_array(data: npt.NDArray[np.uint8], offsets: npt.NDArray[np.int64]) -> Any:
    """An Arrow array over bytes and the places where each word begins; nothing is copied."""
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(data)]
    return pa.LargeBinaryArray.from_buffers(pa.large_binary(), len(offsets) - 1, buffers)


def vocabulary_of(words: Any) -> Vocabulary:
    """The vocabulary of an Arrow array of distinct words (large_binary), a copy of it."""
    if len(words) == 0:
        return Vocabulary.of([])
    _, ends, data = words.buffers()
    places = np.frombuffer(ends, np.int64)[words.offset : words.offset + len(words) + 1]
    text = np.frombuffer(data if data is not None else b"", np.uint8)
    begin, end = int(places[0]), int(places[-1])
    return Vocabulary(np.frombuffer(text[begin:end].tobytes(), np.uint8), places - begin)


LAYOUT_NAME = "deltavec.word_vectors"
LAYOUT_VERSION = "1"
MATRIX, WORDS, OFFSETS = "matrix", "words", "offsets"


def from_safetensors(path: Path, limit: int | None) -> WordVectors:
    """Word vectors from a file that `save_vectors` wrote."""
    try:
        arrays, metadata = foreign_tensors(path)
    except InputError as error:
        raise VectorsError(str(error)) from error
    check_own_layout(arrays, metadata, path.name)
    own = binary_array(arrays[WORDS], arrays[OFFSETS])
    return from_arrays(own, arrays[MATRIX], path.name, limit)


def check_own_layout(arrays: Arrays, metadata: Mapping[str, str], name: str) -> None:
    """Raise an error if a file has not the layout that `save_vectors` writes."""
    if metadata.get("format") != LAYOUT_NAME:
        raise VectorsError(
            f"{name}: expected a file that save_vectors wrote, got other tensors "
            f"({', '.join(sorted(arrays)) or 'none'}): pass WordVectors(words, matrix)"
        )
    version = metadata.get("version")
    if version != LAYOUT_VERSION:
        raise VectorsError(
            f"{name}: expected version {LAYOUT_VERSION} of the format, got {version}: "
            "read it with the deltavec that wrote it, or a newer one"
        )
    kinds = {key: (array.dtype.str, array.ndim) for key, array in arrays.items()}
    expected = {MATRIX: ("<f4", 2), WORDS: ("|u1", 1), OFFSETS: ("<i8", 1)}
    if kinds not in (expected, expected | {MATRIX: ("<f2", 2)}):
        raise VectorsError(f"{name}: expected the tensors {expected}, got {kinds}")
    data, offsets = arrays[WORDS], arrays[OFFSETS]
    if not are_offsets(offsets, len(data)):
        raise VectorsError(f"{name}: the words' offsets do not fit the words; it looks damaged")


def from_arrays(words: Any, matrix: npt.NDArray[Any], name: str, limit: int | None) -> WordVectors:
    """Word vectors from an Arrow array of words (bytes) and a matrix of one row for each."""
    if matrix.ndim != 2 or matrix.shape[1] == 0 or matrix.dtype.kind not in "fiu":
        raise VectorsError(
            f"{name}: expected a matrix of numbers, got shape {matrix.shape} of {matrix.dtype}"
        )
    if len(words) != len(matrix):
        found = f"{len(words):,} words and {len(matrix):,} rows"
        raise VectorsError(f"{name}: expected one word for each row, got {found}")
    matrix = matrix[:limit]
    words = words[: len(matrix)]
    if can_stay(words, matrix, name):
        return WordVectors.from_unit_rows(vocabulary_of(words), matrix)
    return join_rows(blocks_of(words, matrix, name), name)


def can_stay(words: Any, matrix: npt.NDArray[Any], name: str) -> bool:
    """Whether the matrix can be used as it is.

    It can if it is read-only float32 in C order, no row has to be scaled or left out,
    and there are rows at all.
    """
    flags = matrix.flags
    if matrix.dtype != np.float32 or not (flags.c_contiguous and flags.aligned and len(matrix)):
        return False
    return (
        not flags.writeable
        and bool(first_occurrences(words).all())
        and all(
            not block.dropped and np.may_share_memory(block.matrix, matrix)
            for block in blocks_of(words, matrix, name)
        )
    )


def blocks_of(words: Any, matrix: npt.NDArray[Any], name: str) -> Iterator[WordRows]:
    """The rows in blocks; a block of a float32 matrix is a view of it."""
    for begin in range(0, len(matrix), ROWS_AT_ONCE):
        block = matrix[begin : begin + ROWS_AT_ONCE]
        with np.errstate(over="ignore"):  # too large for float32: infinity, which is refused
            rows = np.ascontiguousarray(block, np.float32)
        numbers = range(begin, begin + len(rows))
        yield clean_rows(words[begin : begin + len(rows)], rows, f"{name}, row", numbers)


def word_array(words: Sequence[str]) -> Any:
    """Words as a binary array; a lone surrogate is kept, to be left out as not UTF-8."""
    for place, word in enumerate(words):
        if not isinstance(word, str):
            raise VectorsError(
                f"every word must be a string, got {type(word).__name__} ({word!r}) at {place}"
            )
    return pa.array([word.encode("utf-8", "surrogatepass") for word in words], pa.large_binary())
