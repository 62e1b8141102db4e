"""Word vectors from a matrix and a list of words: ``.safetensors`` and gensim objects.

A matrix whose rows are of unit length already stays where it is: in the file, mapped into memory.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from deltavec.core.vectors import WordVectors
from deltavec.errors import InputError, VectorsError
from deltavec.io.artifacts.tensors import ForeignTensors, are_offsets, foreign_tensors
from deltavec.io.vectors.rows import (
    ROWS_AT_ONCE,
    WordRows,
    binary_array,
    clean_rows,
    first_occurrences,
    join_rows,
    vocabulary_of,
)

LAYOUT_NAME = "deltavec.word_vectors"
LAYOUT_VERSION = "1"
MATRIX, WORDS, OFFSETS = "matrix", "words", "offsets"


def from_safetensors(path: Path, limit: int | None) -> WordVectors:
    """Word vectors from a file that `save_vectors` wrote."""
    try:
        tensors = foreign_tensors(path)
    except InputError as error:
        raise VectorsError(str(error)) from error
    check_own_layout(tensors, path.name)
    own = binary_array(tensors.arrays[WORDS], tensors.arrays[OFFSETS])
    return from_arrays(own, tensors.arrays[MATRIX], path.name, limit)


def check_own_layout(tensors: ForeignTensors, name: str) -> None:
    """Raise an error if a file has not the layout that `save_vectors` writes."""
    if tensors.metadata.get("format") != LAYOUT_NAME:
        raise VectorsError(
            f"{name}: expected a file that save_vectors wrote, got other tensors "
            f"({', '.join(sorted(tensors.arrays)) or 'none'}): pass WordVectors(words, matrix)"
        )
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


def word_array(words: Sequence[str]) -> Any:
    """Words as a binary array; a lone surrogate is kept, to be left out as not UTF-8."""
    for place, word in enumerate(words):
        if not isinstance(word, str):
            raise VectorsError(
                f"every word must be a string, got {type(word).__name__} ({word!r}) at {place}"
            )
    return pa.array([word.encode("utf-8", "surrogatepass") for word in words], pa.large_binary())
