"""Exact search: the k best of all rows, found block by block on all cores.

A few queries are compared with each row as it is read, as reading takes longer than comparing.
Many queries are multiplied with a block of rows at a time, and the products sifted while they are
in the cache. Either way `deltavec.core.search_kernels` says why the result is exact.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from queue import Empty, SimpleQueue
from typing import NamedTuple

import numpy as np

from deltavec.core import search_kernels as kernels
from deltavec.core.frozen import frozen
from deltavec.core.kernels import Float32s, Int64s
from deltavec.core.passes import thread_count
from deltavec.core.search_kernels import Best, Queries, Rows
from deltavec.search.products import one_thread
from deltavec.search.rows import Pieces

FEW_QUERIES = 4
QUERIES_AT_ONCE = 256
ROWS_AT_ONCE = 2048  # products of as many queries as above take 2 MB
ROWS_TO_READ = 32_768
NUMBERS_WORTH_A_THREAD = 1_000_000  # multiplied; below, starting a thread takes longer

NONE = np.empty(0, np.int64)


class Ranked(NamedTuple):
    """The best rows for each query, best first."""

    scores: Float32s
    ranks: Int64s


class Block(NamedTuple):
    """Successive rows of one piece, or successive ones of those chosen there."""

    rows: Rows
    first: int
    last: int


class Sizes(NamedTuple):
    """How the work is cut; changes the time it takes, and nothing else."""

    few_queries: int = FEW_QUERIES
    queries: int = QUERIES_AT_ONCE
    rows: int = ROWS_AT_ONCE
    rows_to_read: int = ROWS_TO_READ
    worth_a_thread: int = NUMBERS_WORTH_A_THREAD


def best_rows(
    pieces: Pieces,
    ranks: Int64s,
    queries: Pieces,
    k: int,
    *,
    chosen: Int64s | None = None,
    threads: int | None = None,
    on_progress: Callable[[float], None] | None = None,
    sizes: Sizes | None = None,
) -> Ranked:
    """The k best rows for each query, by score and then by rank.

    Parameters
    ----------
    pieces
        The rows.
    ranks
        The rank of each row; empty if it is its number.
    queries
        The queries, in one array.
    k
        How many rows; no more than there are, or are chosen.
    chosen
        The numbers of the rows that may be found, ascending; all of them by default.
    threads
        How many cores; all of them by default.
    on_progress
        Called with the share of the queries that is done.
    sizes
        How the work is cut.
    """
    cut = sizes or Sizes()
    vectors = queries.arrays[0]
    margin = kernels.margin(pieces.dimensions, pieces.length_error, queries.length_error)
    result = Ranked(np.empty((len(vectors), k), np.float32), np.empty((len(vectors), k), np.int64))
    if k == 0 or len(vectors) == 0:
        return result
    count = len(pieces) if chosen is None else len(chosen)
    numbers = count * len(vectors) * pieces.dimensions
    workers = max(1, min(thread_count(threads), numbers // max(1, cut.worth_a_thread)))
    firsts = range(0, len(vectors), cut.queries)
    # With many batches of queries each has a thread to itself; else threads share one's rows.
    apart = workers > 1 and len(firsts) >= 2 * workers

    def one_batch(first: int) -> None:
        batch = vectors[first : first + cut.queries]
        wanted = Queries(batch, frozen(np.full(len(batch), margin, np.float32)))
        few = len(batch) <= cut.few_queries
        blocks = blocks_of(pieces, ranks, chosen, cut.rows_to_read if few else cut.rows)
        look = search_few if few else search_many
        found = shared_out(look, blocks, wanted, k, 1 if apart else workers)
        result.scores[first : first + len(batch)] = found.scores
        result.ranks[first : first + len(batch)] = found.ranks

    with ThreadPoolExecutor(workers) if apart else nullcontext() as pool:
        for done, _ in enumerate((pool.map if pool else map)(one_batch, firsts), 1):
            if on_progress is not None:
                on_progress(done / len(firsts))
    return result


def blocks_of(pieces: Pieces, ranks: Int64s, chosen: Int64s | None, size: int) -> Iterator[Block]:
    """The rows (those chosen, if any are) in blocks of this size."""
    for begin, array in pieces:
        here, count = NONE, len(array)
        if chosen is not None:
            here = chosen[slice(*np.searchsorted(chosen, [begin, begin + count]))] - begin
            count = len(here)
        rows = Rows(array, begin, frozen(here), ranks)
        for first in range(0, count, size):
            yield Block(rows, first, min(first + size, count))


Look = Callable[[Iterator[Block], Queries, Best], None]


def shared_out(
    look: Look, blocks: Iterator[Block], queries: Queries, k: int, workers: int
) -> Ranked:
    """The best rows of all blocks, which threads take one after the other."""
    if workers == 1:
        return ranked([searched(look, blocks, queries, k)], k)
    waiting: SimpleQueue[Block] = SimpleQueue()
    for block in blocks:
        waiting.put(block)

    def work() -> Best:
        return searched(look, taken_from(waiting), queries, k)

    with ThreadPoolExecutor(workers - 1) as pool:
        tasks = [pool.submit(work) for _ in range(workers - 1)]
        return ranked([work(), *(task.result() for task in tasks)], k)


def taken_from(waiting: SimpleQueue[Block]) -> Iterator[Block]:
    """Blocks that no other thread has taken, until there are none."""
    while True:
        try:
            yield waiting.get_nowait()
        except Empty:
            return


def searched(look: Look, blocks: Iterator[Block], queries: Queries, k: int) -> Best:
    """The best rows of these blocks; where there are fewer than k, a score of minus infinity."""
    shape = len(queries.vectors), k
    best = Best(
        np.full(shape, -np.inf, np.float32),
        np.full(shape, np.iinfo(np.int64).max),
        np.zeros(shape[0], np.int64),
    )
    look(blocks, queries, best)
    return best


def search_few(blocks: Iterator[Block], queries: Queries, best: Best) -> None:
    """Compare each row with each query as it is read."""
    for rows, first, last in blocks:
        kernels.search_rows(rows, first, last, queries, best)


def search_many(blocks: Iterator[Block], queries: Queries, best: Best) -> None:
    """Multiply each block with all queries, and sift the products."""
    memory = np.empty(0, np.float32)
    with one_thread():
        for rows, first, last in blocks:
            part = rows.chosen[first:last] if rows.chosen.size else slice(first, last)
            shape = len(queries.vectors), last - first
            if memory.size < shape[0] * shape[1]:
                memory = np.empty(shape[0] * shape[1], np.float32)
            products = memory[: shape[0] * shape[1]].reshape(shape)
            np.matmul(queries.vectors, rows.vectors[part].T, out=products)
            kernels.search_products(rows, first, products, queries, best)


def ranked(found: list[Best], k: int) -> Ranked:
    """The k best of what several threads have found, in order."""
    scores = np.concatenate([best.scores for best in found], axis=1)
    ranks = np.concatenate([best.ranks for best in found], axis=1)
    order = np.lexsort((ranks, -scores))[:, :k]
    return Ranked(
        np.take_along_axis(scores, order, axis=1), np.take_along_axis(ranks, order, axis=1)
    )
