"""Word vectors from any of the usual files, and back."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute

from deltavec.core.arguments import require_whole
from deltavec.core.vectors import WordVectors
from deltavec.core.vocabulary import Vocabulary
from deltavec.errors import VectorsError
from deltavec.io.artifacts.atomic import replacing
from deltavec.io.artifacts.tensors import layout, write_tensors
from deltavec.io.vectors.detect import ByteSource, first_lines, header_of, is_safetensors, unpacked
from deltavec.io.vectors.rows import (
    LAYOUT_NAME,
    LAYOUT_VERSION,
    MATRIX,
    OFFSETS,
    WORDS,
    from_arrays,
    from_safetensors,
    join_rows,
    word_array,
)
from deltavec.io.vectors.word2vec import binary_rows, is_binary, text_rows

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
            formats = "the text and binary formats cannot hold: write a .safetensors file"
            raise VectorsError(f"the word {word!r} has a space or newline in it, which {formats}")
    return vocabulary.words


def load_vectors(source: str | os.PathLike[str] | Any, *, limit: int | None = None) -> WordVectors:
    """Word vectors from a file, or from a gensim object.

    The format is detected from the content, not from the name: word2vec text or binary, GloVe
    text, fastText ``.vec``, each plain or compressed with gzip or zstd; and the
    ``.safetensors`` of `save_vectors`. For words and a matrix in memory see `WordVectors`.

    Rows are scaled to unit length; rows that have it already keep their bits, and a
    ``.safetensors`` file of such rows is mapped into memory, not read. Rows that cannot be used are
    left out and counted in `WordVectors.dropped`: ``duplicate words`` (the first one stays),
    ``empty words``, ``words not UTF-8``, ``zero rows``, ``blank lines``.

    Parameters
    ----------
    source
        A path, a gensim ``KeyedVectors``, or a gensim model with its vectors in ``.wv``.
    limit
        Read only this many rows; files usually have the frequent words first.

    Raises
    ------
    VectorsError
        If the file cannot be read as word vectors; the message names the line or row.

    See Also
    --------
    save_vectors : Write word vectors to a file.
    deltavec.WordVectors : Word vectors from memory.

    Notes
    -----
    In text, the last fields of a line are the numbers and all before them is the word, which may
    hold spaces. A first line of two whole numbers is a header. Without one, most of the first lines
    tell how many numbers there are; a single number is refused, since a list of words and counts
    looks the same.

    A pickle (what gensim's ``save`` writes) is refused, since opening one runs whatever code it
    holds, and so is fastText's ``.bin`` model.

    Examples
    --------
    >>> from gensim.test.utils import datapath
    >>> load_vectors(datapath("lee_fasttext.vec"), limit=100)
    WordVectors(100 words, 10 dimensions)
    """
    if limit is not None:
        require_whole("limit", limit, 1, VectorsError)
    if isinstance(source, str | os.PathLike):
        return from_file(Path(source), limit)
    source = getattr(source, "wv", source)
    name = type(source).__name__
    keys, matrix = (getattr(source, member, None) for member in ("index_to_key", "vectors"))
    if keys is None or matrix is None:
        expected = "expected a path or a gensim KeyedVectors"
        raise VectorsError(f"{expected}, got {name}: of words and a matrix make WordVectors")
    return from_arrays(word_array(keys), np.asarray(matrix), name, limit)


def from_file(path: Path, limit: int | None) -> WordVectors:
    """Word vectors from a file, by its kind."""
    with unpacked(path) as source:
        if not is_safetensors(source):
            return from_rows(source, limit)
        if source.size is None:
            raise VectorsError(f"{path.name} is a compressed safetensors file: unpack it first")
    return from_safetensors(path, limit)


def from_rows(source: ByteSource, limit: int | None) -> WordVectors:
    """Word vectors from a file of one word after the other, text or binary."""
    sample = first_lines(source)
    first, _, rest = sample.partition(b"\n")
    header = header_of(first, source.name)
    if header is None:
        return join_rows(text_rows(source, sample, None, limit), source.name)
    rows = binary_rows if is_binary(rest, header) else text_rows
    return join_rows(rows(source, rest, header, limit), source.name)


def save_vectors(vectors: WordVectors, path: str | os.PathLike[str]) -> None:
    """Write word vectors to a file, whose name says the format.

    The file is replaced atomically. Every format restores the same words and the same bits.

    Parameters
    ----------
    vectors
        What to write.
    path
        ``.safetensors`` for deltavec's own layout, which loads at once and holds any word;
        ``.txt`` or ``.vec`` for word2vec text; ``.bin`` for word2vec binary.

    Raises
    ------
    VectorsError
        If the suffix is none of these, a word is empty, or a word has a space or newline in it
        that the text and binary formats cannot hold.

    See Also
    --------
    load_vectors : Read word vectors from a file.

    Examples
    --------
    >>> vectors = dv.WordVectors(["sea", "room"], [[1.0, 0.0], [0.0, 1.0]])
    >>> dv.save_vectors(vectors, "vectors.txt")
    >>> dv.load_vectors("vectors.txt").words
    ['sea', 'room']
    """
    path = Path(path)
    write = WRITERS.get(path.suffix)
    if write is None:
        raise VectorsError(f"expected a name that ends in {', '.join(WRITERS)}, got {path.name!r}")
    if "" in vectors:
        raise VectorsError("one of the words is empty, which no document holds: leave it out")
    if not path.parent.is_dir():
        raise VectorsError(f"expected an existing folder, found none: {path.parent}")
    with replacing(path) as temporary:
        write(vectors.vocabulary, vectors.matrix, temporary)


TEXT, ROW, VECTOR = "text", "row", "vector"


def read_targets(path: Path) -> tuple[list[Any], npt.NDArray[np.float64]]:
    """The targets in a Parquet file with the columns ``text`` (or ``row``) and ``vector``.

    Raises
    ------
    VectorsError
        If the file cannot be read, a column is missing, or vectors differ in length.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        table = pq.read_table(path)
    except (OSError, pa.ArrowException) as error:
        raise VectorsError(f"{path}: expected a Parquet file ({error})") from None
    named = next((name for name in (TEXT, ROW) if name in table.column_names), None)
    if named is None or VECTOR not in table.column_names:
        expected = "expected the columns 'text' (or 'row', from 0 on) and 'vector'"
        raise VectorsError(f"{path}: {expected}, found {', '.join(map(repr, table.column_names))}")
    try:
        vectors = np.array(table[VECTOR].to_pylist(), np.float64)
    except (TypeError, ValueError):
        raise VectorsError(f"{path}: vectors must be lists of numbers of one length") from None
    return table[named].to_pylist(), vectors
