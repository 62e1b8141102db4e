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

The first searches of a process (`deltavec.core.jit`) do without the compiler: every row is scored,
nothing is passed over. A score is the same sum, taken in the same order, as
`deltavec.search.kernels.cosine` and `deltavec.search.lexical.kernels.lexical_score` take it, and so
the same to the last bit.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
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
from deltavec.search import kernels
from deltavec.search.hybrid.bounds import HIGHEST_SCORE, Search, scan_codes, scan_products
from deltavec.search.hybrid.maxscore import (
    MOST,
    TINY,
    lightest_terms,
    search_candidates,
    seed_thresholds,
)
from deltavec.search.kernels import Queries, Rows, TopK
from deltavec.search.lexical.bm25 import saturate
from deltavec.search.lexical.index import NUMBERS_A_POSTING, HybridQuery, InvertedIndex
from deltavec.search.lexical.kernels import Postings, QueryTerms
from deltavec.search.matrix import ChunkedMatrix, in_turn
from deltavec.search.quantized.build import quantize_queries
from deltavec.search.quantized.kernels import ROWS


def search_rows(rows: Rows, queries: Queries, terms: QueryTerms, best: TopK) -> None:
    """Search rows for the best of each query, as the kernels of `deltavec.search.topk` do."""
    places = np.flatnonzero(rows.allowed) if len(rows.allowed) else np.arange(len(rows.vectors))
    for query, scale in enumerate(queries.scales.tolist()):
        scores = lexical_scores(rows, terms, query)
        if scale:
            near = cosines(rows.vectors, queries.vectors[query])
            scores = scale * near.astype(np.float64) + scores
        kept = places[~np.isnan(scores[places]) if scale else scores[places] > 0]
        ranks = rows.ranks[rows.begin + kept] if len(rows.ranks) else rows.begin + kept
        one = best.at(slice(query, query + 1))
        both = np.append(one.scores, scores[None, kept], axis=1)
        keep_best(one, both, np.append(one.ranks, ranks[None], axis=1))


def keep_best(best: TopK, scores: Float64s, ranks: Int64s) -> None:
    """Keep the best of these rows; those that are not there have the score minus infinity."""
    k = best.scores.shape[1]
    line = np.arange(len(scores))[:, None]
    order = np.lexsort((ranks, -scores))[:, :k][:, ::-1]
    # Ascending, those that are not there behind the others: a heap, full or not.
    order = order[line, np.argsort(scores[line, order] == -np.inf, axis=1, kind="stable")]
    best.scores[:], best.ranks[:] = scores[line, order], ranks[line, order]
    best.sizes[:] = (best.scores > -np.inf).sum(axis=1)


def cosines(rows: Float32s, query: Float32s) -> Float32s:
    """The cosine of each row with the query."""
    with np.errstate(divide="ignore", invalid="ignore"):
        squares = in_turn(query[None], query) * in_turn(rows, rows)
        return np.where(squares == 0, 0, in_turn(rows, query) / np.sqrt(squares)).astype(np.float32)


def lexical_scores(rows: Rows, terms: QueryTerms, query: int) -> Float64s:
    """What the terms of a query add to each row."""
    added = np.zeros(len(rows.vectors))
    for place in range(terms.begins[query], terms.ends[query]):
        begin, end = terms.postings.begins[terms.terms[place] : terms.terms[place] + 2]
        documents, counts = terms.postings.documents[begin:end], terms.postings.counts[begin:end]
        inside = (documents >= 0) & (documents < len(added))  # others: a file from elsewhere
        documents, counts = documents[inside], counts[inside]
        added[documents] += terms.weights[place] * saturate(counts, terms.norms[documents])
    return added


NONE = read_only(np.empty(0, np.int64))
ALL = read_only(np.empty(0, np.uint8))
NO_WEIGHTS = read_only(np.empty(0))
NO_POSTINGS = Postings(NONE, read_only(np.empty(0, np.int32)), ALL)
NO_NORMS = read_only(np.empty(0, np.float32))
NO_ROW = np.iinfo(np.int64).max
QUERY_ERROR = 1e-6  # how far the length of a normalized float32 vector may be from 1
SHARES = 4  # parts per thread, so that threads end together

Look = Callable[[int, int, TopK], None]
"""What looks at the rows in a range, and keeps the best."""


class TopRows(NamedTuple):
    """The best rows for each query, best first; minus infinity and `NO_ROW` where there is none."""

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
        most = numbers // max(1, worth)
        return min(thread_count(threads), most) if most > 1 else 1


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
        nonessential, most = lightest_terms(begins, weights)
        terms = batch.terms._replace(
            begins=begins[:-1],
            ends=begins[1:],
            terms=read_only(np.concatenate([one.terms for one in wanted])),
            weights=weights,
            limits=limits,
            nonessential=nonessential,
            most=most,
        )
        return cls(batch.queries._replace(scales=scales), QUERY_ERROR, terms)

    @property
    def size(self) -> int:
        """How many queries there are."""
        return len(self.queries.scales)

    def at(self, places: Int64s, terms: QueryTerms) -> tuple[QueryBatch, QueryTerms]:
        """Some of the queries, and their terms in an array of rows."""
        vectors, scales, margin = self.queries
        own = terms._replace(
            begins=read_only(terms.begins[places]),
            ends=read_only(terms.ends[places]),
            most=read_only(terms.most[places]),
        )
        queries = Queries(read_only(vectors[places]), read_only(scales[places]), margin)
        return self._replace(queries=queries), own


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
    arrays = arrays_of(pieces, batch, index, ranks, allowed)
    work = sum(one.work for one in arrays)
    if k == 0 or not work:
        return rank(best)
    if BUDGET.allows(work):
        for one in arrays:
            search_rows(one.rows, batch.queries, one.terms, best)
        return rank(best)
    # Set once for many arrays: without terms, each of them may multiply.
    multiplies = len(arrays) > 1 and not len(batch.terms.terms)
    with one_blas_thread() if multiplies else nullcontext():
        for one in arrays:
            if not one.is_hopeless(batch.queries, best):
                one.search(batch, best, threads, cut)
    return rank(best)


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


class ArrayOfRows(NamedTuple):
    """An array of rows to search.

    Attributes
    ----------
    pieces : ChunkedMatrix
        All rows.
    number : int
        Which of their arrays it is.
    rows : Rows
        Its rows.
    terms : QueryTerms
        The terms of the queries, as places in the postings of these rows.
    work : int
        The cost of a look at all rows, in multiplications.
    lexical : float
        The most that all terms which are here add to a row.
    """

    pieces: ChunkedMatrix
    number: int
    rows: Rows
    terms: QueryTerms
    work: int
    lexical: float

    def is_hopeless(self, queries: Queries, best: TopK) -> bool:
        """Whether no row can be among the best of a single query, by the terms that are here."""
        if len(queries.scales) > 1 or best.sizes[0] < best.scores.shape[1]:
            return False
        most = self.lexical * (1 + TINY) + queries.scales.item(0) * HIGHEST_SCORE
        return most < best.scores.item(0)

    def search(self, batch: QueryBatch, best: TopK, threads: int | None, cut: Sizes) -> None:
        """Search these rows for a batch of queries."""
        rows, terms, queries, chosen = self.rows, self.terms, batch.queries, NONE
        count, has_terms = len(rows.vectors), len(terms.terms) > 0
        if len(rows.allowed):
            mask, few = rows.allowed.view(bool), cut.narrow_lexical if has_terms else cut.narrow
            if np.count_nonzero(mask) <= count // few:
                chosen = read_only(np.flatnonzero(mask))
                if not len(chosen):
                    return
        if not has_terms and len(chosen) and batch.size > cut.few_queries:
            numbers = rows.begin + chosen
            ranks = rows.ranks[numbers] if len(rows.ranks) else read_only(numbers)
            multiply(Rows(rows.vectors[chosen], 0, ALL, ranks), batch, terms, best, threads, cut)
        elif not has_terms and not len(chosen):
            self.scan(batch, terms, best, threads, cut)
        else:
            if not len(chosen) and best.scores.shape[1] <= MOST and not best.sizes.all():
                seed_thresholds(Search(rows, queries, terms, best))
            before = TopK(best.scores.copy(), best.ranks.copy(), best.sizes.copy())
            given_up = np.zeros(batch.size, np.uint8)

            def look(first: int, last: int, best: TopK) -> None:
                mine = Search(rows, queries, terms, best)
                search_candidates(mine, first, last, chosen, given_up)

            workers = cut.workers(self.work, threads, is_quantized=True)
            split_rows(
                look, 1, count, min(share(count, workers), cut.candidate_rows), best, workers
            )
            if given_up.any():
                left = np.flatnonzero(given_up)
                some, (others, own) = before.at(left), batch.at(left, terms)
                self.scan(others, own, some, threads, cut)
                best.scores[left], best.ranks[left], best.sizes[left] = some

    def scan(
        self, batch: QueryBatch, terms: QueryTerms, best: TopK, threads: int | None, cut: Sizes
    ) -> None:
        """Search all rows by their codes, or by their products with the queries."""
        rows, queries, made = self.rows, batch.queries, None
        if len(terms.terms) or batch.size <= cut.few_queries:
            made = self.pieces.quantized[self.number].of(
                rows.vectors, cut.workers(self.work, threads)
            )
        if made is None:
            multiply(rows, batch, terms, best, threads, cut)
            return
        codes = quantize_queries(
            queries.vectors, batch.error, self.pieces.length_error, made, queries.margin
        )
        held = max(cut.lexical_scores // batch.size, min(cut.rows, cut.lexical_scores))
        memory = batch.size * ROWS * -(-held // ROWS) if len(terms.terms) else 0

        def look(first: int, last: int, best: TopK) -> None:
            scan_codes(Search(rows, queries, terms, best), codes, first, last, np.empty(memory))

        count, workers = len(rows.vectors), cut.workers(self.work, threads, is_quantized=True)
        size = min(share(count, workers), cut.most_rows)
        split_rows(look, ROWS, count, size, best, workers, cut.first_rows)


def arrays_of(
    pieces: ChunkedMatrix,
    batch: QueryBatch,
    index: InvertedIndex | None,
    ranks: Int64s,
    allowed: UInt8s,
) -> list[ArrayOfRows]:
    """The arrays to search, the largest first."""
    require_mapped(*pieces.arrays)
    arrays, vectors = [], int(np.count_nonzero(batch.queries.scales))
    limits = batch.terms.limits.tolist()
    for number in pieces.largest_first:
        array, begin, terms = pieces.arrays[number], int(pieces.begins[number]), batch.terms
        mask = pieces.live_masks[number]
        if len(allowed):
            mask = read_only(allowed[begin : begin + len(array)])
        work, lexical = array.size * vectors, 0.0
        if index is not None and len(terms.terms):
            segment, norms = index.parts[number]
            require_mapped(segment.lengths)
            places = read_only(segment.locate(terms.terms))
            begin_of = segment.postings.begins.item  # for few terms, quicker than arrays are
            for place, limit in zip(places.tolist(), limits, strict=True):
                work += NUMBERS_A_POSTING * (begin_of(place + 1) - begin_of(place))
                lexical += limit if place < len(segment.terms) else 0
            terms = terms._replace(postings=segment.postings, norms=norms, terms=places)
        rows = Rows(array, begin, mask, ranks)
        arrays.append(ArrayOfRows(pieces, number, rows, terms, work, lexical))
    return arrays


def multiply(
    rows: Rows, batch: QueryBatch, terms: QueryTerms, best: TopK, threads: int | None, cut: Sizes
) -> None:
    """Multiply blocks of rows with all queries, and score the candidates among them."""
    queries, workers = batch.queries, cut.workers(rows.vectors.size * batch.size, threads)

    def look(first: int, last: int, best: TopK) -> None:
        products = queries.vectors @ rows.vectors[first:last].T
        memory = np.empty(last - first)
        scan_products(Search(rows, queries, terms, best), first, products, memory)

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
    keep_best(best, scores, ranks)


def no_rows(queries: int, k: int) -> TopK:
    """Empty heaps for the k best rows of each query."""
    return TopK(
        np.full((queries, k), -np.inf), np.full((queries, k), NO_ROW), np.zeros(queries, np.int64)
    )


def rank(best: TopK) -> TopRows:
    """The best rows of each query in order."""
    order = np.lexsort((best.ranks, -best.scores))
    line = np.arange(len(order))[:, None]
    scores, ranks = best.scores[line, order], best.ranks[line, order]
    return TopRows(np.where(ranks < NO_ROW, scores, -np.inf), ranks)


class TopDocuments(NamedTuple):
    """Scores and row numbers of the best documents, best first."""

    scores: Float64s
    numbers: Int64s


def best_documents(
    pieces: ChunkedMatrix,
    index: InvertedIndex | None,
    wanted: Sequence[HybridQuery],
    k: int,
    *,
    allowed: UInt8s = ALL,
    threads: int | None = None,
    sizes: Sizes | None = None,
) -> list[TopDocuments]:
    """The k best documents for each query, by score and then by number.

    Parameters are those of `deltavec.search.topk.best_rows`.
    """
    cut, found = sizes or Sizes(), {}
    for with_vector in (True, False):
        places = [n for n, one in enumerate(wanted) if bool(one.scale) == with_vector]
        for first in range(0, len(places), cut.queries):
            some = places[first : first + cut.queries]
            batch = QueryBatch.of([wanted[place] for place in some], pieces)
            best = best_rows(
                pieces, batch, k, index=index, allowed=allowed, threads=threads, sizes=cut
            )
            for place, scores, ranks in zip(some, *best, strict=True):
                there = ranks < NO_ROW
                found[place] = TopDocuments(scores[there], ranks[there])
    return [found[place] for place in range(len(wanted))]
