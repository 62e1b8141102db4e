"""Words and rows to a file, in deltavec's own layout or in those of numpy and word2vec."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute

from deltavec.core.vocabulary import Vocabulary
from deltavec.errors import VectorsError
from deltavec.io.artifacts.tensors import layout, write_tensors
from deltavec.io.vectors.arrays import LAYOUT_NAME, LAYOUT_VERSION, MATRIX, OFFSETS, WORDS

ROWS_AT_ONCE = 1 << 12
MATRIX_KINDS = {2: "F16", 4: "F32"}
# Where a word ends in the text and binary formats.
SEPARATOR = re.compile(r"[ \n]")


Matrix = npt.NDArray[Any]
"""A row for each word, of any length."""


def write_safetensors(vocabulary: Vocabulary, matrix: Matrix, path: Path) -> None:
    """Write deltavec's own layout: where each word begins, the matrix, and the words' bytes."""
    tensors: dict[str, npt.NDArray[Any]] = {
        OFFSETS: vocabulary.offsets,
        MATRIX: matrix,
        WORDS: vocabulary.data,
    }
    kinds = {OFFSETS: "I64", MATRIX: MATRIX_KINDS[matrix.dtype.itemsize], WORDS: "U8"}
    shapes = {name: (kinds[name], array.shape) for name, array in tensors.items()}
    # Our own writer: the same words and rows are the same bytes, and a full disk is an OSError.
    with path.open("wb") as file:
        about = layout(LAYOUT_NAME, shapes, aligned=MATRIX, version=LAYOUT_VERSION)
        write_tensors(file, about, tensors)


def write_text(vocabulary: Vocabulary, matrix: Matrix, path: Path) -> None:
    """Write word2vec text; every number has the digits that bring back the same float32."""
    words = writable_words(vocabulary)
    with path.open("wb") as file:
        write_header(file, matrix)
        for begin in range(0, len(words), ROWS_AT_ONCE):
            rows = matrix[begin : begin + ROWS_AT_ONCE]
            columns = [pa.array(column).cast(pa.string()) for column in rows.T]
            names = pa.array(words[begin : begin + len(rows)], pa.string())
            lines = pa.compute.binary_join_element_wise(names, *columns, " ")
            file.write("".join(f"{line}\n" for line in lines.to_pylist()).encode())


def write_binary(vocabulary: Vocabulary, matrix: Matrix, path: Path) -> None:
    """Write word2vec binary, each word with the newline that the original tool ends it with."""
    words = writable_words(vocabulary)
    rows = matrix.astype(np.dtype("<f4"), copy=False)
    with path.open("wb") as file:
        write_header(file, matrix)
        for word, row in zip(words, rows, strict=True):
            file.write(word.encode() + b" " + row.tobytes() + b"\n")


WRITERS: dict[str, Callable[[Vocabulary, Matrix, Path], None]] = {
    ".safetensors": write_safetensors,
    ".txt": write_text,
    ".vec": write_text,
    ".bin": write_binary,
}


def write_header(file: BinaryIO, matrix: Matrix) -> None:
    """Write the line that says how many words follow, and of how many numbers each."""
    words, dimensions = matrix.shape
    file.write(f"{words} {dimensions}\n".encode())


def writable_words(vocabulary: Vocabulary) -> list[str]:
    """The words, if the text and binary formats can hold each of them."""
    for word in vocabulary.words:
        if SEPARATOR.search(word):
            raise VectorsError(
                f"the word {word!r} has a space or newline in it, which the text and binary "
                "formats cannot hold: write a .safetensors file"
            )
    return vocabulary.words
