"""How often words stand near each other, and the word vectors that follow from it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse

from deltavec.core import kernels, pair_kernels
from deltavec.core.kernels import Texts
from deltavec.core.packing import begins_of, equal_shares
from deltavec.core.passes import on_pieces, thread_count
from deltavec.core.texts import Chunked, Tokenizer, as_texts
from deltavec.core.vocabulary import Vocabulary
from deltavec.errors import InputError

BYTES_PER_COUNT = 12  # an int32 column and an int64 count
DEFAULT_MEMORY = 2 << 30
SHARES_PER_THREAD = 8

Allocate = Callable[[int, Any], npt.NDArray[Any]]
"""Makes an array of a length and a kind: ``numpy.empty``, or one that lives in a file."""


class Rows(NamedTuple):
    """The counts of some successive words with all their neighbours, sparse."""

    first: int
    begins: npt.NDArray[np.int64]
    columns: npt.NDArray[np.int32]
    counts: npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Cooccurrence:
    """How often word j stands within a window around word i, in both directions; adds.

    Attributes
    ----------
    words : int
        The size of the vocabulary.
    blocks : tuple of Rows
        All words' rows, a few words at a time.
    """

    words: int
    blocks: tuple[Rows, ...]

    @classmethod
    def empty(cls, words: int) -> Cooccurrence:
        """The counts of no text at all."""
        return cls.of_matrix(sparse.csr_matrix((words, words), dtype=np.int64))

    @classmethod
    def of_matrix(cls, matrix: sparse.csr_matrix) -> Cooccurrence:
        """The counts in a sparse matrix."""
        rows = Rows(0, matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32), matrix.data)
        return cls(matrix.shape[0], (rows,))

    def matrix(self) -> sparse.csr_matrix:
        """The counts as one sparse matrix."""
        begins = begins_of(np.concatenate([np.diff(block.begins) for block in self.blocks]))
        columns = np.concatenate([block.columns for block in self.blocks])
        counts = np.concatenate([block.counts for block in self.blocks])
        return sparse.csr_matrix((counts, columns, begins), (self.words, self.words))

    def __add__(self, other: Cooccurrence) -> Cooccurrence:
        if self.words != other.words:
            raise InputError(
                f"counts add only over one vocabulary, got {self.words} and {other.words} words"
            )
        return Cooccurrence.of_matrix(self.matrix() + other.matrix())

    @property
    def totals(self) -> npt.NDArray[np.int64]:
        """How many neighbours each word has, repeats counted."""
        sums = np.zeros(self.words, np.int64)
        for block in self.blocks:
            filled = np.flatnonzero(np.diff(block.begins))
            if len(filled):
                sums[block.first + filled] = np.add.reduceat(block.counts, block.begins[filled])
        return sums


def listed_ids(
    corpus: Chunked, vocabulary: Vocabulary, tokenizer: Tokenizer, threads: int | None = None
) -> npt.NDArray[np.int32]:
    """The corpus as the ids of its known words, each document closed by -1."""
    pieces = [
        piece
        for chunk in corpus
        for piece in ids_of(as_texts(chunk, tokenizer), vocabulary, threads)
    ]
    return np.concatenate([np.zeros(0, np.int32), *pieces])


def ids_of(
    texts: Texts, vocabulary: Vocabulary, threads: int | None
) -> list[npt.NDArray[np.int32]]:
    """The ids of a chunk, a few arrays to be read one after the other."""

    def work(first: int, last: int) -> npt.NDArray[np.int32]:
        size = int(texts.ends[last] - texts.ends[first])
        listed = np.empty(size // 2 + 2 * (last - first), np.int32)
        written = kernels.list_ids(texts, first, last, vocabulary.table, listed)
        return listed[:written].copy()

    return on_pieces(work, texts, threads, 1)


def cooccurrence(
    ids: npt.NDArray[np.int32],
    words: int,
    window: int,
    *,
    threads: int | None = None,
    max_memory: int = DEFAULT_MEMORY,
    allocate: Allocate = np.empty,
) -> Cooccurrence:
    """The counts of every two words that stand at most ``window`` places apart in a document.

    Parameters
    ----------
    ids
        Word ids, each document closed by -1.
    words
        The size of the vocabulary.
    window
        How many places to look to either side; every place counts 1.
    max_memory
        Bytes that may be in use at once, besides the ids and what ``allocate`` gives. Rows are
        counted so many at a time.
    allocate
        Where the results are kept.
    """
    occurrences = np.bincount(ids[ids >= 0], minlength=words).astype(np.int64)
    blocks = tuple(
        counted_rows(ids, occurrences, first, last, window, thread_count(threads), allocate)
        for first, last in row_blocks(occurrences, window, max_memory)
    )
    return Cooccurrence(words, blocks)


def row_blocks(
    occurrences: npt.NDArray[np.int64], window: int, max_memory: int
) -> Iterator[tuple[int, int]]:
    """Ranges of words whose counts fit into half the memory at the worst, one word at least."""
    at_most = np.minimum(2 * window * occurrences, len(occurrences)) * BYTES_PER_COUNT
    needed = np.cumsum(at_most + 8 * occurrences)
    first = 0
    while first < len(occurrences):
        before = needed[first - 1] if first else 0
        last = int(np.searchsorted(needed, before + max_memory // 2, side="right"))
        last = max(last, first + 1)
        yield first, last
        first = last


def counted_rows(
    ids: npt.NDArray[np.int32],
    occurrences: npt.NDArray[np.int64],
    first: int,
    last: int,
    window: int,
    threads: int,
    allocate: Allocate,
) -> Rows:
    """The rows of words ``first`` to ``last``, shared out among threads."""
    begins = begins_of(occurrences[first:last])
    places = np.empty(begins[-1], np.int64)
    pair_kernels.places_of(ids, first, last, begins, places)
    lengths = np.zeros(last - first, np.int64)

    def work(share: tuple[int, int]) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int64]]:
        room = int(
            np.minimum(2 * window * occurrences[first:last], len(occurrences))[slice(*share)].sum()
        )
        columns, counts = np.empty(room, np.int32), np.empty(room, np.int64)
        written = pair_kernels.count_windows(
            ids, window, begins, places, *share, len(occurrences), lengths, columns, counts
        )
        return columns[:written].copy(), counts[:written].copy()

    with ThreadPoolExecutor(threads) as pool:
        parts = list(pool.map(work, equal_shares(begins, threads * SHARES_PER_THREAD)))
    return Rows(
        first,
        begins_of(lengths),
        gathered([columns for columns, _ in parts], np.int32, allocate),
        gathered([counts for _, counts in parts], np.int64, allocate),
    )


def gathered(parts: list[npt.NDArray[Any]], kind: Any, allocate: Allocate) -> npt.NDArray[Any]:
    """The parts one after the other."""
    whole = allocate(sum(map(len, parts)), kind)
    if parts:
        np.concatenate(parts, out=whole)
    return whole
