"""Word vectors from a matrix and a list of words: ``.npy``, ``.safetensors``, gensim objects.

A matrix whose rows are of unit length already stays where it is: in the file, mapped into memory.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from deltavec.core.vectors import WordVectors
from deltavec.errors import InputError, VectorsError
from deltavec.io.artifacts.tensors import ForeignTensors, are_offsets, foreign_tensors
from deltavec.io.vectors.detect import BYTE_ORDER_MARK, unpacked
from deltavec.io.vectors.rows import (
    ROWS_AT_ONCE,
    WordRows,
    binary_array,
    clean_rows,
    first_occurrences,
    join_rows,
    vocabulary_of,
)

WordSource: TypeAlias = "str | os.PathLike[str] | Sequence[str]"

LAYOUT_NAME = "deltavec.word_vectors"
LAYOUT_VERSION = "1"
MATRIX, WORDS, OFFSETS = "matrix", "words", "offsets"


def from_npy(path: Path, words: WordSource | None, limit: int | None) -> WordVectors:
    """Word vectors from a numpy array, and words from the caller or the file ``X.words.txt``."""
    try:
        matrix = np.load(path, mmap_mode="r", allow_pickle=False)
    except Exception as error:  # a damaged header makes numpy raise almost anything
        raise VectorsError(
            f"{path.name}: expected a sound .npy file, it looks damaged or cut short ({error})"
        ) from error
    if words is None:
        words = path.with_suffix(".words.txt")
        if not words.is_file():
            raise VectorsError(
                f"{path.name} has no words: write them to {words.name} beside it, one on each "
                "line, or pass words="
            )
    return from_arrays(word_array(words), np.asarray(matrix), path.name, limit)


def from_safetensors(path: Path, words: WordSource | None, limit: int | None) -> WordVectors:
    """Word vectors from a safetensors file: deltavec's own, or any with one matrix and words=."""
    try:
        tensors = foreign_tensors(path)
    except InputError as error:
        raise VectorsError(str(error)) from error
    if tensors.metadata.get("format") == LAYOUT_NAME:
        refuse_words(words, path.name)
        check_own_layout(tensors, path.name)
        own = binary_array(tensors.arrays[WORDS], tensors.arrays[OFFSETS])
        return from_arrays(own, tensors.arrays[MATRIX], path.name, limit)
    matrix = only_matrix(tensors, path.name)
    if words is None:
        raise VectorsError(
            f"{path.name} has a matrix of shape {matrix.shape} and no words: pass words=, "
            "a list or a file with one word on each line"
        )
    return from_arrays(word_array(words), matrix, path.name, limit)


def check_own_layout(tensors: ForeignTensors, name: str) -> None:
    """Raise an error if a file of deltavec's own layout has other tensors than it should."""
    version = tensors.metadata.get("version")
    if version != LAYOUT_VERSION:
        raise VectorsError(
            f"{name}: expected version {LAYOUT_VERSION} of the format, got {version}: "
            "read it with the deltavec that wrote it, or a newer one"
        )
    kinds = {key: (array.dtype.str, array.ndim) for key, array in tensors.arrays.items()}
    expected = {MATRIX: ("<f4", 2), WORDS: ("|u1", 1), OFFSETS: ("<i8", 1)}
    if kinds not in (expected, expected | {MATRIX: ("<f2", 2)}):
        raise VectorsError(f"{name}: expected the tensors {expected}, got {kinds}")
    data, offsets = tensors.arrays[WORDS], tensors.arrays[OFFSETS]
    if not are_offsets(offsets, len(data)):
        raise VectorsError(f"{name}: the words' offsets do not fit the words; it looks damaged")


def only_matrix(tensors: ForeignTensors, name: str) -> npt.NDArray[Any]:
    """The one tensor that can be a matrix of vectors."""
    found = {
        key: array
        for key, array in tensors.arrays.items()
        if array.ndim == 2 and array.dtype.kind == "f"
    }
    if len(found) != 1:
        unread = f"; of a type numpy lacks: {', '.join(tensors.unread)}" if tensors.unread else ""
        raise VectorsError(
            f"{name}: expected one matrix of float16, float32 or float64, "
            f"got {len(found)} ({', '.join(sorted(found)) or 'none'}){unread}: pass "
            "WordVectors(words, matrix) with the one you mean"
        )
    return next(iter(found.values()))


def from_arrays(words: Any, matrix: npt.NDArray[Any], name: str, limit: int | None) -> WordVectors:
    """Word vectors from an Arrow array of words (bytes) and a matrix of one row for each."""
    if matrix.ndim != 2 or matrix.shape[1] == 0 or matrix.dtype.kind not in "fiu":
        raise VectorsError(
            f"{name}: expected a matrix of numbers, got shape {matrix.shape} of {matrix.dtype}"
        )
    if len(words) != len(matrix):
        raise VectorsError(
            f"{name}: expected one word for each row, got {len(words):,} words "
            f"and {len(matrix):,} rows"
        )
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
    plain = matrix.dtype == np.float32 and flags.c_contiguous and flags.aligned
    return (
        plain
        and not flags.writeable
        and len(matrix) > 0
        and all(
            not block.dropped and np.may_share_memory(block.matrix, matrix)
            for block in blocks_of(words, matrix, name)
        )
        and bool(first_occurrences(words).all())
    )


def blocks_of(words: Any, matrix: npt.NDArray[Any], name: str) -> Iterator[WordRows]:
    """The rows in blocks; a block of a float32 matrix is a view of it."""
    for begin in range(0, len(matrix), ROWS_AT_ONCE):
        block = matrix[begin : begin + ROWS_AT_ONCE]
        with np.errstate(over="ignore"):  # too large for float32: infinity, which is refused
            rows = np.ascontiguousarray(block, np.float32)
        numbers = range(begin, begin + len(rows))
        yield clean_rows(words[begin : begin + len(rows)], rows, f"{name}, row", numbers)


def word_array(words: WordSource) -> Any:
    """Words from a file or a sequence, as an Arrow array of bytes."""
    if isinstance(words, str | os.PathLike):
        return words_in_file(Path(words))
    strings = list(words)
    for place, word in enumerate(strings):
        if not isinstance(word, str):
            raise VectorsError(
                f"every word must be a string, got {type(word).__name__} ({word!r}) at {place}"
            )
    # Half a surrogate pair becomes bytes that are not UTF-8, which are counted as such.
    return pa.array([word.encode("utf-8", "surrogatepass") for word in strings], pa.large_binary())


def words_in_file(path: Path) -> Any:
    """The words of a file with one on each line, as an Arrow array of bytes."""
    with unpacked(path) as source:
        text = source.stream.read().removeprefix(BYTE_ORDER_MARK)
    lines = text.removesuffix(b"\n").split(b"\n") if text else []
    return pa.array([line.removesuffix(b"\r") for line in lines], pa.large_binary())


def refuse_words(words: WordSource | None, name: str) -> None:
    """Raise an error for words= with a file that has its own."""
    if words is not None:
        raise VectorsError(f"{name} has its own words: leave words= out")
