"""Exact top-k of the hybrid score: BM25 plus a scaled cosine.

If the heaviest query terms leave few candidates, only these are scored
(`deltavec.search.hybrid.maxscore`). Else documents are scanned in blocks, all queries of a batch
together. The lexical part is computed first; then rows that cannot reach the threshold are skipped,
by their lexical score, by their int8 codes, or by their float32 products, within the margins of
`deltavec.search.hybrid.bounds` and `deltavec.search.kernels`. So the answer is exact, and the
scores of all documents are never stored or sorted.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from deltavec.core.arrays import Float32s, Float64s, Int64s, offsets_of, read_only, require_mapped
from deltavec.core.threads import one_blas_thread
from deltavec.search import kernels
from deltavec.search.hybrid.bounds import (
    ScoreBounds,
    add_lexical,
    rescore_products,
    search_added,
    search_blocks,
)
from deltavec.search.hybrid.maxscore import (
    EssentialTerms,
    NonEssentialTerms,
    choose_essential,
    search_essential,
)
from deltavec.search.hybrid.threshold import MOST, seed_documents, seed_thresholds
from deltavec.search.kernels import Queries, TopK
from deltavec.search.lexical.index import InvertedIndex, LexicalQuery
from deltavec.search.lexical.kernels import QueryTerms
from deltavec.search.matrix import ChunkedMatrix
from deltavec.search.quantized.kernels import ROWS
from deltavec.search.topk import (
    NOBODY,
    NONE,
    Block,
    Products,
    Sizes,
    TopRows,
    blocks_of,
    quantized_search,
    split_work,
)

AT_ONCE = 16_384  # documents of a block for one query
LEAST_AT_ONCE = 2_048  # and for many; their sums and products stay in the cache
SHARES = 4  # blocks per thread, so that threads end together
NUMBERS_A_POSTING = 8  # a posting costs as much as this many multiplications
QUERY_ERROR = 1e-6  # how far the length of a normalized float32 vector may be from 1


class HybridQuery(NamedTuple):
    """A query with a lexical part, a semantic part or both.

    Attributes
    ----------
    words : LexicalQuery
        Terms and their weights; none for semantic search.
    vector : ndarray of float32
        The query vector, of unit length or zero.
    scale : float
        The factor of the cosine; 0 for keyword search.
    """

    words: LexicalQuery
    vector: Float32s
    scale: float


class TopDocuments(NamedTuple):
    """Scores and row numbers of the best documents, best first."""

    scores: Float64s
    numbers: Int64s


def best_documents(
    pieces: ChunkedMatrix,
    index: InvertedIndex,
    wanted: Sequence[HybridQuery],
    k: int,
    *,
    chosen: Int64s | None = None,
    threads: int | None = None,
    at_once: int = AT_ONCE,
) -> list[TopDocuments]:
    """The k best documents for each query, by score and then by number.

    Parameters
    ----------
    pieces
        The vectors of the documents.
    index
        Their inverted index.
    wanted
        The queries. Keyword search finds only documents that contain a query term.
    k
        How many documents to find.
    chosen
        The numbers of the allowed documents, ascending; None for all.
    threads
        How many cores; all of them by default.
    at_once
        How many documents make a block for one query; changes the time and nothing else.
    """
    require_mapped(*pieces.arrays, index.lengths)
    found: dict[int, TopDocuments] = {}
    for sum_of_two in (True, False):
        numbers = [place for place, one in enumerate(wanted) if bool(one.scale) == sum_of_two]
        for first in range(0, len(numbers), Sizes().queries):
            batch = numbers[first : first + Sizes().queries]
            together = QueryBatch(pieces, index, [wanted[number] for number in batch])
            best = together.best(k, chosen, threads, at_once)
            found |= dict(zip(batch, best, strict=True))
    return [found[number] for number in range(len(wanted))]


def work_for(pieces: ChunkedMatrix, index: InvertedIndex, wanted: Sequence[HybridQuery]) -> int:
    """The cost of queries, in multiplications."""
    terms = np.concatenate([one.words.terms for one in wanted])
    postings = int((index.postings.begins[terms + 1] - index.postings.begins[terms]).sum())
    meaning = sum(bool(one.scale) for one in wanted)
    return postings * NUMBERS_A_POSTING + len(pieces) * meaning * pieces.dimensions


def best_of(found: TopRows, query: int) -> TopDocuments:
    """The documents found for a query."""
    scores, ranks = found.scores[query], found.ranks[query]
    there = (scores > -np.inf) & (ranks < NOBODY)
    return TopDocuments(scores[there], ranks[there])


@dataclass(frozen=True, eq=False)
class QueryBatch:
    """Queries that are answered in one pass: all hybrid or semantic, or all keyword."""

    pieces: ChunkedMatrix
    index: InvertedIndex
    wanted: Sequence[HybridQuery]

    @functools.cached_property
    def queries(self) -> Queries:
        """Their vectors."""
        vectors = read_only(np.array([one.vector for one in self.wanted], np.float32))
        margin = kernels.margin(self.pieces.dimensions, self.pieces.length_error, QUERY_ERROR)
        return Queries(vectors, read_only(np.full(len(vectors), margin, np.float32)))

    @functools.cached_property
    def nonessential(self) -> NonEssentialTerms:
        """The non-essential terms and the most that they can add."""
        return NonEssentialTerms.of(self.begins, self.weights)

    @functools.cached_property
    def begins(self) -> Int64s:
        """The offsets of the terms of each query."""
        return read_only(offsets_of([len(one.words.terms) for one in self.wanted]))

    @functools.cached_property
    def weights(self) -> Float64s:
        """The weights of their terms."""
        return read_only(np.concatenate([one.words.weights for one in self.wanted]))

    @functools.cached_property
    def words(self) -> QueryTerms:
        """Their terms."""
        terms = read_only(np.concatenate([one.words.terms for one in self.wanted]))
        lists, norms = self.index.postings, self.index.norms
        return QueryTerms(lists, norms, self.begins, terms, self.weights, self.nonessential.terms)

    @functools.cached_property
    def work(self) -> int:
        """Their cost, in multiplications."""
        return work_for(self.pieces, self.index, self.wanted)

    @functools.cached_property
    def scales(self) -> Float64s:
        """The factors of their cosines; zeros for keyword search."""
        return read_only(np.array([one.scale for one in self.wanted], np.float64))

    def best(
        self, k: int, chosen: Int64s | None, threads: int | None, at_once: int
    ) -> list[TopDocuments]:
        """The k best documents for each query."""
        thresholds = self.thresholds(k) if chosen is None else None
        found = {} if thresholds is None else self._best_of_candidates(k, threads, thresholds)
        left = [query for query in range(len(self.wanted)) if query not in found]
        if left:
            others = QueryBatch(self.pieces, self.index, [self.wanted[query] for query in left])
            known = None if thresholds is None else thresholds[left]
            best = others._best_of_all(k, chosen, threads, at_once, known)
            found |= dict(zip(left, best, strict=True))
        return [found[query] for query in range(len(self.wanted))]

    def _best_of_candidates(
        self, k: int, threads: int | None, thresholds: Float64s
    ) -> dict[int, TopDocuments]:
        """Answer queries whose candidate set is small (MaxScore)."""
        chosen = EssentialTerms(
            np.empty(len(self.words.terms), np.int64), np.zeros(len(thresholds), int)
        )
        most = read_only(self.words.weights * self.index.max_impacts.of(self.words.terms))
        if self.scales.any():
            choose_essential(self.words, most, self.scales, thresholds, chosen)
        if not chosen.counts.any():
            return {}
        given_up = np.zeros(len(thresholds), np.uint8)

        def look(blocks: Iterator[Block], queries: Queries, best: TopK) -> None:
            for rows, first, last, _ in blocks:
                search_essential(
                    rows, first, last, queries, self.words, most, self.scales, chosen, best,
                    given_up,
                )  # fmt: skip

        workers = Sizes().workers(self.work, threads, is_quantized=True)
        parts = workers * SHARES if workers > 1 else 1
        blocks = blocks_of(self.pieces, NONE, None, -(-len(self.pieces) // parts))
        found = split_work(look, blocks, self.queries, k, workers, np.float64, thresholds)
        done = np.flatnonzero((chosen.counts > 0) & (given_up == 0))
        return {query: best_of(found, query) for query in done.tolist()}

    def _best_of_all(
        self,
        k: int,
        chosen: Int64s | None,
        threads: int | None,
        at_once: int,
        thresholds: Float64s | None,
    ) -> list[TopDocuments]:
        """Answer queries by scanning all documents block by block."""
        cut, count, meaning = Sizes(), len(self.wanted), bool(self.scales.any())
        size = max(min(at_once, LEAST_AT_ONCE), at_once // count)
        searches, read_whole = None, False
        if meaning:
            making = cut.workers(self.work, threads)
            searches = quantized_search(self.pieces, self.queries, QUERY_ERROR, chosen, making)
            size, read_whole = -(-size // ROWS) * ROWS, not all(searches)
        workers = cut.workers(self.work, threads, is_quantized=not read_whole)
        # Quantized rows need no blocks to stay within memory: one call scans a whole share.
        share = size if read_whole else size * -(-len(self.pieces) // (size * workers * SHARES))
        blocks = blocks_of(self.pieces, NONE, None, share if meaning else size, searches)

        def look(blocks: Iterator[Block], queries: Queries, best: TopK) -> None:
            memory = np.empty(count * size)
            look_through = self._look_for_sums if meaning else self._look_for_words
            look_through(blocks, chosen, memory, best)

        found = split_work(look, blocks, self.queries, k, workers, np.float64, thresholds)
        return [best_of(found, query) for query in range(count)]

    def thresholds(self, k: int) -> Float64s | None:
        """Scores that k documents reach, by their heaviest terms; None if k is large."""
        if not 0 < k <= MOST:
            return None
        likely = np.empty((len(self.wanted), k), np.int64)
        seed_documents(self.words, likely)
        thresholds = np.empty(len(likely))
        vectors = self.pieces.at(np.maximum(likely, 0).ravel())
        seed_thresholds(self.words, self.queries.vectors, self.scales, likely, vectors, thresholds)
        return thresholds

    def _look_for_sums(
        self, blocks: Iterator[Block], chosen: Int64s | None, memory: Float64s, best: TopK
    ) -> None:
        multiply = Products(self.queries)
        with one_blas_thread():
            for block in blocks:
                inside = block if block.quantized else narrow_batch(block, chosen)
                rows, first, last, quantized = inside
                if first == last:
                    continue
                if quantized is None:
                    sums, products = self._sums(block, memory, best), multiply(inside)
                    rescore_products(rows, first, products, self.queries, sums, best)
                else:
                    search_blocks(
                        rows, quantized.allowed, quantized.quantized, first, last, self.queries,
                        quantized.coded, self.words, self.nonessential.most, self.scales, memory,
                        best,
                    )  # fmt: skip

    def _look_for_words(
        self, blocks: Iterator[Block], chosen: Int64s | None, memory: Float64s, best: TopK
    ) -> None:
        for block in blocks:
            rows, first, last, _ = narrow_batch(block, chosen)
            if first < last:
                search_added(rows, first, last, self._sums(block, memory, best), best)

    def _sums(self, block: Block, memory: Float64s, best: TopK) -> ScoreBounds:
        """The lexical scores of a block."""
        queries, count = len(self.wanted), block.last - block.first
        added = memory[: queries * count].reshape(queries, count)
        sums = ScoreBounds(block.first, added, np.zeros(queries), self.scales, self.words)
        add_lexical(self.words, self.nonessential.most, best, block.rows.begin + block.first, sums)
        return sums


def narrow_batch(block: Block, chosen: Int64s | None) -> Block:
    """The allowed rows of a block, of which there may be none."""
    rows, first, last, _ = block
    if chosen is None:
        return block
    inside = np.searchsorted(chosen, [rows.begin + first, rows.begin + last])
    here = read_only(chosen[slice(*inside)] - rows.begin)
    return Block(rows._replace(chosen=here), 0, len(here))
