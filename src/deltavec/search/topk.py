"""Exact search: the k best of all rows, found block by block on all cores.

A few queries are compared with each row as it is read, since reading takes longer than comparing.
Where rows are quantized, most of them are not read at all. Many queries are multiplied with a block
of rows at a time, and candidates are picked from the products while they are in the cache.
`deltavec.search.kernels` and `deltavec.search.quantized.kernels` say why the result is exact.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from queue import Empty, SimpleQueue
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from deltavec.core.arrays import Float32s, Float64s, Int64s, read_only, require_mapped
from deltavec.core.threads import one_blas_thread, parallel_map, thread_count
from deltavec.search import kernels
from deltavec.search.kernels import Queries, Rows, TopK
from deltavec.search.matrix import ChunkedMatrix
from deltavec.search.quantized.build import quantize_queries
from deltavec.search.quantized.kernels import QuantizedSearch, scan_quantized

NONE = read_only(np.empty(0, np.int64))
NOBODY = np.iinfo(np.int64).max
# If a filter leaves fewer than one row in so many, only those rows are read.
FEWEST_CHOSEN = 4
TURNS = 4  # for each worker


class TopRows(NamedTuple):
    """The best rows for each query, best first."""

    scores: npt.NDArray[Any]  # float32; sums of two scores are float64
    ranks: Int64s


class Block(NamedTuple):
    """Successive rows of one array, or successive rows that a filter leaves there."""

    rows: Rows
    first: int
    last: int
    quantized: QuantizedSearch | None = None


class Sizes(NamedTuple):
    """Block sizes and thresholds; they change the time a search takes and nothing else."""

    few_queries: int = 4
    queries: int = 256
    rows: int = 2048  # products of as many queries as above take 2 MB
    rows_to_read: int = 32_768
    rows_to_begin: int = 8192
    rows_to_scan: int = 65_536  # at least; a multiple of 128, the rows of a block of codes
    most_rows_to_scan: int = 1 << 20  # a scan must not take longer than a cancellation may
    worth_a_thread: int = 1_000_000  # numbers multiplied; below, starting a thread takes longer
    scan_worth_a_thread: int = 64_000_000  # of rows most of which are not read

    def workers(self, numbers: int, threads: int | None, *, is_quantized: bool = False) -> int:
        """How many threads this many multiplications are worth."""
        worth = self.scan_worth_a_thread if is_quantized else self.worth_a_thread
        return max(1, min(thread_count(threads), numbers // max(1, worth)))

    def scanned_at_once(self, rows: int, workers: int) -> int:
        """How many rows one call of the kernel scans.

        Each call starts with a cold cache. One worker therefore makes one call; several take short
        turns, so that they end at about the same time.
        """
        turns = 1 if workers == 1 else TURNS * workers
        most = min(-(-rows // turns), self.most_rows_to_scan)
        return max(self.rows_to_scan, -(-most // self.rows_to_scan) * self.rows_to_scan)


class Search(NamedTuple):
    """One exact search.

    Attributes
    ----------
    pieces : ChunkedMatrix
        The rows.
    ranks : ndarray of int64
        The rank of each row; empty if it is its number.
    queries : ChunkedMatrix
        The queries, in one array.
    k : int
        How many rows to find; at most the number of allowed rows.
    chosen : ndarray of int64 or None
        The numbers of the allowed rows, ascending; None for all.
    threads : int or None
        How many cores; all of them by default.
    """

    pieces: ChunkedMatrix
    ranks: Int64s
    queries: ChunkedMatrix
    k: int
    chosen: Int64s | None = None
    threads: int | None = None

    @property
    def candidates(self) -> int:
        """How many rows may be found."""
        return len(self.pieces) if self.chosen is None else len(self.chosen)

    def unanswered(self) -> TopRows:
        """Empty results."""
        shape = len(self.queries), self.k
        return TopRows(np.empty(shape, np.float32), np.empty(shape, np.int64))


def best_rows(
    search: Search,
    *,
    on_progress: Callable[[float], None] | None = None,
    sizes: Sizes | None = None,
) -> TopRows:
    """The k best rows for each query, by score and then by rank.

    Parameters
    ----------
    search
        Rows, queries and filter.
    on_progress
        Called with the share of the queries that is done.
    sizes
        Block sizes.
    """
    cut = sizes or Sizes()
    pieces, ranks, queries, k, chosen, threads = search
    require_mapped(*pieces.arrays)
    vectors = queries.arrays[0]
    margin = kernels.margin(pieces.dimensions, pieces.length_error, queries.length_error)
    result = search.unanswered()
    if k == 0 or len(vectors) == 0:
        return result
    numbers = search.candidates * len(vectors) * pieces.dimensions
    workers = cut.workers(numbers, threads)
    firsts = range(0, len(vectors), cut.queries)
    # Many batches of queries get a thread each; else the threads share the rows of one batch.
    apart = workers > 1 and len(firsts) >= 2 * workers

    def one_batch(first: int) -> None:
        batch = vectors[first : first + cut.queries]
        wanted = Queries(batch, read_only(np.full(len(batch), margin, np.float32)))
        few = len(batch) <= cut.few_queries
        searches, size, sharing = None, cut.rows, 1 if apart else workers
        if few:
            searches = quantized_search(pieces, wanted, queries.length_error, chosen, workers)
            sharing = cut.workers(numbers, sharing, is_quantized=all(searches))
            size = cut.rows_to_read
            if any(searches):
                size = cut.scanned_at_once(len(pieces), sharing)
        blocks = list(blocks_of(pieces, ranks, chosen, size, searches))
        look = search_few if few else search_many
        # The best of the first rows give every thread a threshold to start with.
        begin = blocks[0]._replace(last=min(blocks[0].last, cut.rows_to_begin))
        thresholds = thresholds_of(begin, wanted, k) if few and sharing > 1 else None
        found = split_work(look, iter(blocks), wanted, k, sharing, thresholds=thresholds)
        for whole, part in zip(result, found, strict=True):
            whole[first : first + len(batch)] = part

    for done, _ in enumerate(parallel_map(one_batch, firsts, workers if apart else 1), 1):
        if on_progress is not None:
            on_progress(done / len(firsts))
    return result


def quantized_search(
    pieces: ChunkedMatrix,
    queries: Queries,
    query_error: float,
    chosen: Int64s | None,
    threads: int | None,
) -> list[QuantizedSearch | None]:
    """The codes of each array; None if a filter leaves few rows, or they are not quantized yet."""
    found: list[QuantizedSearch | None] = []
    for number, (begin, array) in enumerate(pieces):
        here = allowed_in(chosen, begin, len(array))
        worth_it = here is None or len(here) * FEWEST_CHOSEN >= len(array)
        made = pieces.quantized[number].of(array, threads) if worth_it else None
        if made is None:
            found.append(None)
            continue
        allowed = pieces.live_masks[number]
        if here is not None:
            allowed = np.zeros(len(array), np.uint8)
            allowed[here] = 1
        margin = float(queries.margins.max(initial=0))
        found.append(
            quantize_queries(
                queries.vectors, query_error, pieces.length_error, made, margin, read_only(allowed)
            )
        )
    return found


def allowed_in(chosen: Int64s | None, begin: int, count: int) -> Int64s | None:
    """The positions of the allowed rows in an array of this length; None if all are allowed."""
    if chosen is None:
        return None
    here: Int64s = chosen[slice(*np.searchsorted(chosen, [begin, begin + count]))] - begin
    return here


def blocks_of(
    pieces: ChunkedMatrix,
    ranks: Int64s,
    chosen: Int64s | None,
    size: int,
    searches: Sequence[QuantizedSearch | None] | None = None,
) -> Iterator[Block]:
    """The rows in blocks of this size; without codes, only the rows that the filter leaves."""
    for number, (begin, array) in enumerate(pieces):
        quantized = searches[number] if searches else None
        here = None if quantized else allowed_in(chosen, begin, len(array))
        if chosen is None and not quantized and len(pieces.live_masks[number]):
            here = np.flatnonzero(pieces.live_masks[number])
        count = len(array) if here is None else len(here)
        rows = Rows(array, begin, NONE if here is None else read_only(here), ranks)
        for first in range(0, count, size):
            yield Block(rows, first, min(first + size, count), quantized)


Look = Callable[[Iterator[Block], Queries, TopK], None]


def split_work(
    look: Look,
    blocks: Iterator[Block],
    queries: Queries,
    k: int,
    workers: int,
    scores: type[np.floating[Any]] = np.float32,
    thresholds: Float64s | None = None,
) -> TopRows:
    """The best rows of all blocks, which threads take from a queue.

    Missing rows have a score of minus infinity. ``thresholds`` are scores that k rows are known to
    reach, for each query: rows below are not kept.
    """
    waiting: SimpleQueue[Block] = SimpleQueue()
    for block in blocks:
        waiting.put(block)
    shape = len(queries.vectors), k

    def work(worker: int) -> TopK:
        best = no_rows(*shape, scores)
        if thresholds is not None:
            # Placeholders with these scores: any row that reaches them takes their place.
            best.scores[:] = thresholds[:, None]
            best.sizes[:] = np.where(thresholds > -np.inf, k, 0)
        look(read_results(waiting), queries, best)
        return best

    if workers < 2:
        return rank([work(0)], k)
    pool = ThreadPoolExecutor(workers - 1, "deltavec")
    try:
        others = [pool.submit(work, worker) for worker in range(1, workers)]
        found = [work(0)]  # our own thread works too
        # On a busy machine the work may be done before another thread has started.
        found += [other.result() for other in others if not other.cancel()]
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
    return rank(found, k)


def thresholds_of(block: Block, queries: Queries, k: int) -> Float64s:
    """The k-th best score in a block, for each query; minus infinity if it has fewer rows."""
    best = no_rows(len(queries.vectors), k, np.float32)
    search_few(iter([block]), queries, best)
    return np.where(best.sizes == k, best.scores[:, 0], -np.inf).astype(np.float64)


def no_rows(queries: int, k: int, scores: type[np.floating[Any]]) -> TopK:
    """Empty heaps for the k best rows of each query."""
    return TopK(
        np.full((queries, k), -np.inf, scores),
        np.full((queries, k), NOBODY),
        np.zeros(queries, np.int64),
    )


def read_results(waiting: SimpleQueue[Block]) -> Iterator[Block]:
    """Blocks from the queue until it is empty."""
    while True:
        try:
            yield waiting.get_nowait()
        except Empty:
            return


def search_few(blocks: Iterator[Block], queries: Queries, best: TopK) -> None:
    """Compare each row with each query as it is read."""
    for rows, first, last, quantized in blocks:
        if quantized is None:
            kernels.search_rows(rows, first, last, queries, best)
        else:
            scan_quantized(rows, quantized, first, last, queries, best)


def search_many(blocks: Iterator[Block], queries: Queries, best: TopK) -> None:
    """Multiply each block with all queries and pick candidates from the products."""
    multiply = Products(queries)
    with one_blas_thread():
        for block in blocks:
            kernels.search_products(block.rows, block.first, multiply(block), queries, best)


class Products:
    """Multiplies blocks with queries, reusing its memory."""

    def __init__(self, queries: Queries) -> None:
        self.queries = queries.vectors
        self.memory = np.empty(0, np.float32)

    def __call__(self, block: Block) -> Float32s:
        """A row for each query, and a column for each row of the block."""
        rows, first, last, _ = block
        part = rows.chosen[first:last] if rows.chosen.size else slice(first, last)
        shape = len(self.queries), last - first
        if self.memory.size < shape[0] * shape[1]:
            self.memory = np.empty(shape[0] * shape[1], np.float32)
        products = self.memory[: shape[0] * shape[1]].reshape(shape)
        np.matmul(self.queries, rows.vectors[part].T, out=products)
        return products


def rank(found: list[TopK], k: int) -> TopRows:
    """The k best results of several threads, in order."""
    scores = np.concatenate([best.scores for best in found], axis=1)
    ranks = np.concatenate([best.ranks for best in found], axis=1)
    order = np.lexsort((ranks, -scores))[:, :k]
    line = np.arange(len(order))[:, None]
    return TopRows(scores[line, order], ranks[line, order])
