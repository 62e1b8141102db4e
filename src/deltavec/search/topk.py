"""Exact search: the k best of all rows, by cosine, by BM25, or by a sum of both.

Arrays (segments) are searched one after the other, the largest first, and the k-th best score so
far is the threshold for the next one. In each there are three ways, all of them exact:

- Where the heaviest terms leave few candidates, or a filter few rows, only these are scored
  (`deltavec.search.hybrid.maxscore`).
- Where rows are quantized, upper bounds are scanned, and few rows are read
  (`deltavec.search.hybrid.bounds`).
- Otherwise, and for many queries by cosine alone, blocks of rows are multiplied with all queries.

So the scores of all rows are never stored or sorted. Threads share the rows of a batch, or take a
batch of queries each.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from queue import Empty, SimpleQueue
from typing import NamedTuple

import numpy as np

from deltavec.core.arrays import (
    Float32s,
    Float64s,
    Int64s,
    UInt8s,
    offsets_of,
    read_only,
    require_mapped,
)
from deltavec.core.jit import BUDGET
from deltavec.core.threads import one_blas_thread, parallel_map, thread_count
from deltavec.search import fallback, kernels
from deltavec.search.hybrid.bounds import HIGHEST_SCORE, scan_codes, scan_products
from deltavec.search.hybrid.maxscore import TINY, search_candidates, write_nonessential
from deltavec.search.hybrid.threshold import MOST, seed_thresholds
from deltavec.search.kernels import Queries, Rows, TopK
from deltavec.search.lexical.index import NUMBERS_A_POSTING, HybridQuery, InvertedIndex
from deltavec.search.lexical.kernels import Postings, QueryTerms
from deltavec.search.matrix import ChunkedMatrix
from deltavec.search.quantized.build import quantize_queries
from deltavec.search.quantized.kernels import ROWS

NONE = read_only(np.empty(0, np.int64))
ALL = read_only(np.empty(0, np.uint8))
NO_WEIGHTS = read_only(np.empty(0))
NO_POSTINGS = Postings(NONE, read_only(np.empty(0, np.int32)), ALL)
NO_NORMS = read_only(np.empty(0, np.float32))
NOBODY = np.iinfo(np.int64).max
QUERY_ERROR = 1e-6  # how far the length of a normalized float32 vector may be from 1
SHARES = 4  # parts per thread, so that threads end together

Look = Callable[[int, int, TopK], None]
"""What looks at the rows in a range, and keeps the best."""


class TopRows(NamedTuple):
    """The best rows for each query, best first; minus infinity and `NOBODY` where there is none."""

    scores: Float64s
    ranks: Int64s


class Sizes(NamedTuple):
    """Block sizes and thresholds; they change the time a search takes and nothing else."""

    few_queries: int = 64  # of these each scans codes; more are multiplied with blocks
    queries: int = 256
    rows: int = 2048  # products of as many queries as above take 2 MB
    lexical_scores: int = 16_384  # held at a time, and at least as many rows as above
    candidate_rows: int = 1 << 18  # whose partial scores are held at a time: 8 MB
    first_rows: int = 8192  # their best give every thread a threshold to start with
    most_rows: int = 1 << 20  # a scan must not take longer than a cancellation may
    worth_a_thread: int = 1_000_000  # numbers multiplied; below, starting a thread takes longer
    scan_worth_a_thread: int = 64_000_000  # of rows most of which are not read
    narrow: int = 16  # a filter that leaves fewer than one row in so many is narrow,
    narrow_lexical: int = 64  # and for queries with terms

    def workers(self, numbers: int, threads: int | None, *, is_quantized: bool = False) -> int:
        """How many threads this many multiplications are worth."""
        worth = self.scan_worth_a_thread if is_quantized else self.worth_a_thread
        return max(1, min(thread_count(threads), numbers // max(1, worth)))


class QueryBatch(NamedTuple):
    """Queries that are answered in one pass: all with a vector, or none.

    Attributes
    ----------
    queries : Queries
        The vectors, and how much their cosines count.
    error : float
        How far the length of a vector is from 1 at most.
    terms : QueryTerms
        The terms, as they are numbered in the inverted index, and no postings.
    """

    queries: Queries
    error: float
    terms: QueryTerms

    @classmethod
    def of_vectors(cls, vectors: Float32s, error: float, pieces: ChunkedMatrix) -> QueryBatch:
        """Queries for the highest cosine."""
        margin = kernels.margin(pieces.dimensions, pieces.length_error, error)
        queries = Queries(read_only(vectors), read_only(np.ones(len(vectors))), margin)
        zeros = read_only(np.zeros(len(vectors), np.int64))
        weights = NO_WEIGHTS, NO_WEIGHTS, ALL, NO_WEIGHTS
        return cls(queries, error, QueryTerms(NO_POSTINGS, NO_NORMS, zeros, zeros, NONE, *weights))

    @classmethod
    def of(cls, wanted: Sequence[HybridQuery], pieces: ChunkedMatrix) -> QueryBatch:
        """Queries with a vector and a factor of the cosine, or with terms, or with both."""
        vectors = np.zeros((len(wanted), pieces.dimensions), np.float32)
        for row, one in zip(vectors, wanted, strict=True):
            row[:] = one.vector if one.scale else 0
        batch = cls.of_vectors(vectors, QUERY_ERROR, pieces)
        scales = read_only(np.array([one.scale for one in wanted], np.float64))
        begins = read_only(offsets_of([len(one.terms) for one in wanted]))
        if not begins[-1]:
            return batch._replace(queries=batch.queries._replace(scales=scales))
        weights = read_only(np.concatenate([one.weights for one in wanted]))
        limits = read_only(weights * np.concatenate([one.highest for one in wanted]))
        terms = batch.terms._replace(
            begins=begins[:-1],
            ends=begins[1:],
            terms=read_only(np.concatenate([one.terms for one in wanted])),
            weights=weights,
            limits=limits,
        )
        return cls(batch.queries._replace(scales=scales), QUERY_ERROR, terms)

    @property
    def size(self) -> int:
        """How many queries there are."""
        return len(self.queries.scales)

    def at(self, places: Int64s) -> QueryBatch:
        """Some of the queries."""
        vectors, scales, margin = self.queries
        terms = self.terms._replace(
            begins=read_only(self.terms.begins[places]),
            ends=read_only(self.terms.ends[places]),
            most=read_only(self.terms.most[places]),
        )
        queries = Queries(read_only(vectors[places]), read_only(scales[places]), margin)
        return QueryBatch(queries, self.error, terms)


def best_rows(
    pieces: ChunkedMatrix,
    batch: QueryBatch,
    k: int,
    *,
    index: InvertedIndex | None = None,
    ranks: Int64s = NONE,
    allowed: UInt8s = ALL,
    threads: int | None = None,
    sizes: Sizes | None = None,
) -> TopRows:
    """The k best rows for each query of a batch, by score and then by rank.

    Parameters
    ----------
    pieces
        The rows.
    batch
        The queries. Keyword search finds only rows that contain a query term.
    k
        How many rows to find.
    index
        The inverted index of the rows, if queries have terms.
    ranks
        The rank of each row; empty if it is its number.
    allowed
        1 for rows that may be found, 0 for others and for deleted ones; empty if all may that are
        not deleted.
    threads
        How many cores; all of them by default.
    sizes
        Block sizes.
    """
    cut, best = sizes or Sizes(), no_rows(batch.size, k)
    arrays = arrays_of(pieces, batch.terms, index, ranks, allowed)
    work = sum(work_of(one.rows, batch.queries, one.terms) for one in arrays)
    if k == 0 or not work:
        return rank(best)
    if BUDGET.allows(work):
        for one in arrays:
            fallback.search_rows(one.rows, batch.queries, one.terms, best)
        return rank(best)
    terms = batch.terms
    nonessential, most = np.zeros(len(terms.terms), np.uint8), np.zeros(batch.size)
    if len(terms.terms):
        write_nonessential(terms.begins, terms.ends, terms.weights, nonessential, most)
    about = read_only(nonessential), read_only(most)
    for number, rows, terms in arrays:
        here = batch._replace(terms=terms._replace(nonessential=about[0], most=about[1]))
        if (upper_bounds(here) >= np.where(best.sizes == k, best.scores[:, 0], -np.inf)).any():
            search_array(pieces, number, rows, here, best, threads, cut)
    return rank(best)


class ArrayOfRows(NamedTuple):
    """An array of rows, and the terms of queries as places in its postings."""

    number: int
    rows: Rows
    terms: QueryTerms


def arrays_of(
    pieces: ChunkedMatrix,
    terms: QueryTerms,
    index: InvertedIndex | None,
    ranks: Int64s,
    allowed: UInt8s,
) -> list[ArrayOfRows]:
    """The arrays to search, the largest first."""
    require_mapped(*pieces.arrays)
    arrays = []
    for number in sorted(range(len(pieces.arrays)), key=lambda n: -len(pieces.arrays[n])):
        array, begin = pieces.arrays[number], int(pieces.begins[number])
        mask = allowed[begin : begin + len(array)] if len(allowed) else pieces.live_masks[number]
        own = terms
        if index is not None and len(terms.terms):
            segment, norms = index.parts[number]
            require_mapped(segment.lengths)
            places = read_only(segment.locate(terms.terms))
            own = terms._replace(postings=segment.postings, norms=norms, terms=places)
        arrays.append(ArrayOfRows(number, Rows(array, begin, read_only(mask), ranks), own))
    return arrays


def nearest_rows(
    pieces: ChunkedMatrix,
    queries: ChunkedMatrix,
    k: int,
    *,
    ranks: Int64s = NONE,
    allowed: UInt8s = ALL,
    threads: int | None = None,
    on_progress: Callable[[float], None] | None = None,
    sizes: Sizes | None = None,
) -> TopRows:
    """The k rows with the highest cosine for each query; parameters are those of `best_rows`.

    ``on_progress`` is called with the share of the queries that is done.
    """
    cut, vectors = sizes or Sizes(), queries.arrays[0]
    result = TopRows(np.empty((len(vectors), k)), np.empty((len(vectors), k), np.int64))
    firsts = range(0, len(vectors), cut.queries)
    workers = cut.workers(len(vectors) * len(pieces) * pieces.dimensions, threads)
    # Many batches of queries get a thread each; else the threads share the rows of one batch.
    apart = workers > 1 and len(firsts) >= 2 * workers

    def one_batch(first: int) -> None:
        some = slice(first, first + cut.queries)
        batch = QueryBatch.of_vectors(vectors[some], queries.length_error, pieces)
        own = 1 if apart else threads
        found = best_rows(pieces, batch, k, ranks=ranks, allowed=allowed, threads=own, sizes=cut)
        result.scores[some], result.ranks[some] = found

    for done, _ in enumerate(parallel_map(one_batch, firsts, workers if apart else 1), 1):
        if on_progress is not None:
            on_progress(done / len(firsts))
    return result


def work_of(rows: Rows, queries: Queries, terms: QueryTerms) -> int:
    """The cost of queries, in multiplications."""
    lengths = terms.postings.begins[terms.terms + 1] - terms.postings.begins[terms.terms]
    vectors = int(np.count_nonzero(queries.scales))
    return int(lengths.sum()) * NUMBERS_A_POSTING + rows.vectors.size * vectors


def upper_bounds(batch: QueryBatch) -> Float64s:
    """The most that a row of a segment can score, by the terms that are there."""
    terms, most = batch.terms, batch.queries.scales * HIGHEST_SCORE
    if len(terms.terms):
        there = terms.terms < len(terms.postings.begins) - 2  # the last list is empty
        owners = np.repeat(np.arange(batch.size), terms.ends - terms.begins)
        most = most + (1 + TINY) * np.bincount(owners, terms.limits * there, batch.size)
    return most


def search_array(
    pieces: ChunkedMatrix,
    number: int,
    rows: Rows,
    batch: QueryBatch,
    best: TopK,
    threads: int | None,
    cut: Sizes,
) -> None:
    """Search one array of rows for a batch of queries, whose terms are places in its postings."""
    queries, terms = batch.queries, batch.terms
    count, work = len(rows.vectors), work_of(rows, queries, terms)
    chosen, has_terms = NONE, len(terms.terms) > 0
    if len(rows.allowed):
        mask, few = rows.allowed.view(bool), cut.narrow_lexical if has_terms else cut.narrow
        if np.count_nonzero(mask) <= count // few:
            chosen = read_only(np.flatnonzero(mask))
            if not len(chosen):
                return
    if len(chosen) and batch.size > cut.few_queries and not has_terms:
        own = rows.begin + chosen
        rows = Rows(
            rows.vectors[chosen], 0, ALL, rows.ranks[own] if len(rows.ranks) else read_only(own)
        )
        multiply(rows, batch, best, cut.workers(len(chosen) * batch.size, threads), cut)
        return
    if has_terms or len(chosen):
        if not len(chosen) and best.scores.shape[1] <= MOST:
            seed_thresholds(rows, queries, terms, best)
        before = best.at(np.arange(batch.size))
        given_up = np.zeros(batch.size, np.uint8)

        def look(first: int, last: int, best: TopK) -> None:
            search_candidates(rows, first, last, queries, terms, chosen, best, given_up)

        workers = cut.workers(work, threads, is_quantized=True)
        size = min(share(count, workers), cut.candidate_rows)
        split_rows(look, 1, count, size, best, workers)
        left = np.flatnonzero(given_up)
        if not len(left):
            return
        some = before.at(left)
        scan(pieces, number, rows, batch.at(left), some, work, threads, cut)
        best.scores[left], best.ranks[left], best.sizes[left] = some
        return
    scan(pieces, number, rows, batch, best, work, threads, cut)


def scan(
    pieces: ChunkedMatrix,
    number: int,
    rows: Rows,
    batch: QueryBatch,
    best: TopK,
    work: int,
    threads: int | None,
    cut: Sizes,
) -> None:
    """Search all rows of an array by their codes, or by their products with the queries."""
    queries, terms = batch.queries, batch.terms
    workers = cut.workers(work, threads)
    made = None
    if len(terms.terms) or batch.size <= cut.few_queries:
        made = pieces.quantized[number].of(rows.vectors, workers)
    if made is None:
        multiply(rows, batch, best, workers, cut)
        return
    codes = quantize_queries(
        queries.vectors, batch.error, pieces.length_error, made, queries.margin
    )
    held = max(cut.lexical_scores // batch.size, min(cut.rows, cut.lexical_scores))
    memory = batch.size * ROWS * -(-held // ROWS) if len(terms.terms) else 0

    def look(first: int, last: int, best: TopK) -> None:
        scan_codes(rows, codes, first, last, queries, terms, np.empty(memory), best)

    workers = cut.workers(work, threads, is_quantized=True)
    size = min(share(len(rows.vectors), workers), cut.most_rows)
    split_rows(look, ROWS, len(rows.vectors), size, best, workers, cut.first_rows)


def multiply(rows: Rows, batch: QueryBatch, best: TopK, workers: int, cut: Sizes) -> None:
    """Multiply blocks of rows with all queries, and score the candidates among them."""
    queries, terms = batch.queries, batch.terms

    def look(first: int, last: int, best: TopK) -> None:
        products = queries.vectors @ rows.vectors[first:last].T
        memory = np.empty(last - first)
        scan_products(rows, first, products, queries, terms, memory, best)

    with one_blas_thread():
        split_rows(look, 1, len(rows.vectors), cut.rows, best, workers, cut.rows)


def share(count: int, workers: int) -> int:
    """How many rows one call of a kernel looks at: all of them, if there is one thread."""
    return -(-count // (workers * SHARES)) if workers > 1 else count


def split_rows(
    look: Look, unit: int, count: int, size: int, best: TopK, workers: int, first_rows: int = 0
) -> None:
    """Look at all rows, in parts of this size rounded up to whole units, which threads share.

    Each thread has heaps of its own; the best of the first rows give it a threshold to begin with.
    """
    size = unit * -(-size // unit)
    begin = 0
    if workers > 1 and first_rows:
        begin = min(unit * -(-first_rows // unit), count)
        look(0, begin, best)
    ranges = [(first, min(first + size, count)) for first in range(begin, count, size)]
    if workers < 2 or len(ranges) < 2:
        for first, last in ranges:
            look(first, last, best)
        return
    waiting: SimpleQueue[tuple[int, int]] = SimpleQueue()
    for one in ranges:
        waiting.put(one)
    queries, k = best.scores.shape
    is_full = best.sizes == k

    def work() -> TopK:
        own = no_rows(queries, k)
        # Places to be taken by any row that reaches the threshold.
        own.scores[is_full], own.sizes[is_full] = best.scores[is_full, :1], k
        while True:
            try:
                first, last = waiting.get_nowait()
            except Empty:
                return own
            look(first, last, own)

    pool = ThreadPoolExecutor(workers - 1, "deltavec")
    try:
        others = [pool.submit(work) for _ in range(1, workers)]
        found = [work()]  # our own thread works too
        # On a busy machine the work may be done before another thread has started.
        found += [other.result() for other in others if not other.cancel()]
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
    scores = np.concatenate([one.scores for one in (best, *found)], axis=1)
    ranks = np.concatenate([one.ranks for one in (best, *found)], axis=1)
    fallback.keep_best(best, scores, ranks)


def no_rows(queries: int, k: int) -> TopK:
    """Empty heaps for the k best rows of each query."""
    return TopK(
        np.full((queries, k), -np.inf), np.full((queries, k), NOBODY), np.zeros(queries, np.int64)
    )


def rank(best: TopK) -> TopRows:
    """The best rows of each query in order."""
    order = np.lexsort((best.ranks, -best.scores))
    line = np.arange(len(order))[:, None]
    scores, ranks = best.scores[line, order], best.ranks[line, order]
    return TopRows(np.where(ranks < NOBODY, scores, -np.inf), ranks)
