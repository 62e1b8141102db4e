"""Co-occurrence counts of words within a window."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from deltavec.core.arrays import Allocate, Int32s, Int64s, blocks, collect, offsets_of
from deltavec.core.batching import map_ranges
from deltavec.core.learning import kernels as pair_kernels
from deltavec.core.learning.kernels import SparseRows
from deltavec.core.text.batches import Chunked, Tokenizer, as_text_batch
from deltavec.core.text.rules import TextBatch
from deltavec.core.threads import equal_shares, parallel_map, thread_count
from deltavec.core.tokens import TokenStream
from deltavec.core.vocabulary import Vocabulary

BYTES_PER_COUNT = 12  # an int32 column, and an int64 count or two of int32
DEFAULT_MEMORY = 2 << 30
SHARES_PER_THREAD = 8
MOST_SMALL = 2**31 - 1


@dataclass(frozen=True, eq=False)
class Cooccurrence:
    """How often word j occurs within a window around word i, in both directions.

    Attributes
    ----------
    words : int
        The size of the vocabulary.
    blocks : tuple of SparseRows
        All words' rows, a few words at a time.
    """

    words: int
    blocks: tuple[SparseRows, ...]

    @property
    def totals(self) -> Int64s:
        """How many neighbors each word has, repeats counted."""
        sums = np.zeros(self.words, np.int64)
        for block in self.blocks:
            filled = np.flatnonzero(np.diff(block.begins))
            if len(filled):
                found = np.add.reduceat(block.values, block.begins[filled], dtype=np.int64)
                sums[block.first + filled] = found
        return sums


def list_token_ids(
    corpus: Chunked,
    vocabulary: Vocabulary,
    tokenizer: Tokenizer,
    threads: int | None = None,
    max_memory: int = DEFAULT_MEMORY,
) -> Int32s:
    """The corpus as the ids of its known words, each document closed by -1.

    They lie in a temporary file if they need more than a quarter of the memory.
    """
    pieces = (
        piece
        for chunk in corpus
        for piece in ids_of(as_text_batch(chunk, tokenizer), vocabulary, threads)
    )
    return collect(pieces, np.int32, max_memory // 4)


def ids_of(texts: TextBatch, vocabulary: Vocabulary, threads: int | None) -> list[Int32s]:
    """The ids of a chunk, a few arrays to be read one after the other."""

    def work(first: int, last: int) -> Int32s:
        with vocabulary.scratch() as scratch:
            stream = TokenStream(texts, first, last, scratch.tokens)
            parts = [ids.copy() for ids in stream.ids(vocabulary.table)]
        return np.concatenate([*parts, np.zeros(0, np.int32)])

    return map_ranges(work, texts, threads, 1)


def cooccurrence(
    ids: Int32s,
    words: int,
    window: int,
    allocate: Allocate = np.empty,
    *,
    threads: int | None = None,
    max_memory: int = DEFAULT_MEMORY,
) -> Cooccurrence:
    """The counts of every two words at most ``window`` positions apart in a document.

    Parameters
    ----------
    ids
        Word ids, each document closed by -1.
    words
        The size of the vocabulary.
    window
        How many places to look to either side; every place counts 1.
    allocate
        Where the results are kept.
    max_memory
        Bytes that may be in use at once, besides the ids and what ``allocate`` gives. Rows are
        counted so many at a time.
    """
    counted = count_blocks(ids, None, words, window, allocate, threads, max_memory)
    return Cooccurrence(words, tuple(rows for rows, _ in counted))


def count_blocks(
    ids: Int32s,
    second: int | None,
    words: int,
    window: int,
    allocate: Allocate,
    threads: int | None,
    max_memory: int,
    kind: Any = None,
) -> Iterator[tuple[SparseRows, SparseRows]]:
    """The rows of all words, a few of them at a time.

    Those of all documents, and those of the documents in front of the place ``second``, where a
    document begins; the same twice if that is None. The positions of many words are listed in one
    go over the ids; their rows, which need more room, are counted in several. The counts are of
    the kind that is asked for, or of the smallest that holds them.
    """
    workers = thread_count(threads)
    parts = [*blocks(len(ids), max(-(-len(ids) // workers), 1))]
    in_parts = np.zeros((len(parts), words), np.int64)

    def count(number: int) -> None:
        pair_kernels.count_ids(ids[parts[number]], in_parts[number])

    list(parallel_map(count, range(len(parts)), workers))
    occurrences = in_parts.sum(axis=0)
    at_most = np.minimum(2 * window * occurrences, words) * BYTES_PER_COUNT
    for first, last in ranges(8 * occurrences, max_memory // 4):
        offsets, positions = list_positions(ids, parts, in_parts, first, last, workers)
        for begin, end in ranges(at_most[first:last], max_memory // 2):
            most = 2 * window * int(occurrences[first + begin : first + end].max(initial=0))
            smallest = kind or (np.int32 if most <= MOST_SMALL else np.int64)
            some = offsets[begin : end + 1]
            write = partial(write_windows, ids, window, some, positions, words, second)
            room = offsets_of(np.minimum(2 * window * np.diff(some), words))
            kinds = [smallest, smallest] if second is not None else [smallest]
            ends, columns, *counts = split_rows(write, some, room, kinds, workers, allocate)
            whole = SparseRows(first + begin, ends, columns, counts[0])
            yield whole, whole._replace(values=counts[-1])


def write_windows(
    ids: Int32s,
    window: int,
    begins: Int64s,
    positions: Int64s,
    words: int,
    second: int | None,
    *rows: Any,
) -> int:
    """Count the neighbors of some words; without ``second`` there is no room for two counts."""
    first, last, *arrays = rows if second is not None else (*rows, rows[-1][:0])
    return pair_kernels.count_windows(
        ids, window, begins, positions, first, last, words, second or 0, *arrays
    )


def list_positions(
    ids: Int32s, parts: Sequence[slice], in_parts: Int64s, first: int, last: int, threads: int
) -> tuple[Int64s, Int64s]:
    """The positions of the words ``first`` to ``last``: where each word's begin, and all of them.

    Threads list the parts of the ids; it is known how often each word occurs in each.
    """
    counts = in_parts[:, first:last]
    begins = offsets_of(counts.sum(axis=0))
    places = np.empty(begins[-1], np.int64)
    free = begins[:-1] + np.cumsum(counts, axis=0) - counts

    def listed(number: int) -> None:
        begin, end, _ = parts[number].indices(len(ids))
        pair_kernels.positions_of(ids, begin, end, first, last, free[number], places)

    list(parallel_map(listed, range(len(parts)), threads))
    return begins, places


def ranges(sizes: Int64s, most: int) -> Iterator[tuple[int, int]]:
    """Successive ranges whose sizes add up to no more than this, or that hold one alone."""
    needed = np.cumsum(sizes)
    first = 0
    while first < len(sizes):
        before = needed[first - 1] if first else 0
        last = max(int(np.searchsorted(needed, before + most, side="right")), first + 1)
        yield first, last
        first = last


def split_rows(
    write: Callable[..., int],
    begins: Int64s,
    room: Int64s,
    kinds: Sequence[Any],
    threads: int,
    allocate: Allocate,
) -> list[npt.NDArray[Any]]:
    """Rows of a matrix that threads write, some of them each.

    Returns where each row begins, the columns, and the values of each kind.

    Parameters
    ----------
    write
        Writes rows from one on to another: the length of each, their columns, their values of
        each kind; gives how many it wrote.
    begins
        How much work is done before each row, and in all.
    room
        How many values there can be before each row, and in all.
    kinds
        Of which types the values are.
    """
    lengths = np.zeros(len(begins) - 1, np.int64)
    types = [np.int32, *kinds]

    def work(share: tuple[int, int]) -> list[npt.NDArray[Any]]:
        size = int(room[share[1]] - room[share[0]])
        arrays = [np.empty(size, kind) for kind in types]
        written = write(*share, lengths, *arrays)
        return [array[:written] for array in arrays]

    parts = list(parallel_map(work, equal_shares(begins, threads * SHARES_PER_THREAD), threads))
    ends = offsets_of(np.array([len(part[0]) for part in parts], np.int64))
    whole = [allocate(int(ends[-1]), kind) for kind in types]

    def gather(number: int) -> None:
        for array, part in zip(whole, parts[number], strict=True):
            array[ends[number] : ends[number + 1]] = part

    list(parallel_map(gather, range(len(parts)), threads))
    return [offsets_of(lengths), *whole]
