"""Exact top-k of the hybrid score: BM25 plus a scaled cosine.

If the heaviest query terms leave few candidates, only these are scored
(`deltavec.search.hybrid.maxscore`). Else documents are scanned in blocks, all queries of a batch
together. The lexical part is computed first; then rows that cannot reach the threshold are skipped,
by their lexical score, by their int8 codes, or by their float32 products, within the margins of
`deltavec.search.hybrid.bounds` and `deltavec.search.kernels`. So the answer is exact, and the
scores of all documents are never stored or sorted.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple, Protocol

import numpy as np

from deltavec.core.arrays import Float64s, Int64s, offsets_of, read_only, require_mapped
from deltavec.core.threads import one_blas_thread
from deltavec.search import kernels
from deltavec.search.hybrid.bounds import (
    HIGHEST_SCORE,
    HybridTerms,
    ScoreBounds,
    add_lexical,
    rescore_products,
    search_added,
    search_blocks,
)
from deltavec.search.hybrid.maxscore import (
    TINY,
    EssentialTerms,
    choose_essential,
    search_essential,
    write_nonessential,
)
from deltavec.search.hybrid.threshold import MOST, seed_documents, seed_thresholds
from deltavec.search.kernels import Queries, TopK
from deltavec.search.lexical.index import (
    NUMBERS_A_POSTING,
    HybridQuery,
    InvertedIndex,
    SegmentPart,
)
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
    allowed_in,
    blocks_of,
    quantized_search,
    split_work,
)

AT_ONCE = 16_384  # documents of a block for one query
LEAST_AT_ONCE = 2_048  # and for many; their sums and products stay in the cache
SHARES = 4  # blocks per thread, so that threads end together
QUERY_ERROR = 1e-6  # how far the length of a normalized float32 vector may be from 1


class TopDocuments(NamedTuple):
    """Scores and row numbers of the best documents, best first."""

    scores: Float64s
    numbers: Int64s


class InPart(Protocol):
    """What finds the best documents of a segment; those below the thresholds need not be found."""

    def __call__(
        self,
        pieces: ChunkedMatrix,
        part: SegmentPart,
        wanted: Sequence[HybridQuery],
        k: int,
        chosen: Int64s | None,
        thresholds: Float64s,
    ) -> list[TopDocuments]:
        """The k best documents of each query."""


def best_documents(
    pieces: ChunkedMatrix,
    index: InvertedIndex,
    wanted: Sequence[HybridQuery],
    k: int,
    *,
    chosen: Int64s | None = None,
    threads: int | None = None,
    at_once: int = AT_ONCE,
    in_part: InPart | None = None,
) -> list[TopDocuments]:
    """The k best documents for each query, by score and then by number.

    Segments are searched one after the other, the largest first. The k-th best score so far is the
    threshold for the next one.

    Parameters
    ----------
    pieces
        The vectors of the documents, an array for each segment.
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
    in_part
        What searches a segment; by default the kernels.
    """
    require_mapped(*pieces.arrays, *(part.segment.lengths for part in index.parts))
    find = in_part or partial(best_in_part, threads=threads, at_once=at_once)
    found: dict[int, TopDocuments] = {}
    for sum_of_two in (True, False):
        numbers = [place for place, one in enumerate(wanted) if bool(one.scale) == sum_of_two]
        for first in range(0, len(numbers), Sizes().queries):
            batch = numbers[first : first + Sizes().queries]
            best = best_of_parts(find, pieces, index, [wanted[n] for n in batch], k, chosen)
            found |= dict(zip(batch, best, strict=True))
    return [found[number] for number in range(len(wanted))]


def best_of_parts(
    find: InPart,
    pieces: ChunkedMatrix,
    index: InvertedIndex,
    wanted: Sequence[HybridQuery],
    k: int,
    chosen: Int64s | None,
) -> list[TopDocuments]:
    """The best documents of all segments."""
    best = [TopDocuments(np.zeros(0), np.zeros(0, np.int64))] * len(wanted)
    thresholds = np.full(len(wanted), -np.inf)
    for number in sorted(range(len(index.parts)), key=lambda n: -len(pieces.arrays[n])):
        part, begin = index.parts[number], int(index.begins[number])
        here = allowed_in(chosen, begin, len(part.norms))
        if here is not None and not len(here):
            continue
        local = [one._replace(terms=part.segment.locate(one.terms)) for one in wanted]
        left = [n for n, one in enumerate(local) if upper_bound(part, one) >= thresholds[n]]
        if not left:
            continue
        some = [local[place] for place in left]
        found = find(pieces.parts[number], part, some, k, here, thresholds[left])
        for place, (scores, rows) in zip(left, found, strict=True):
            if len(scores):
                both = np.append(best[place].scores, scores)
                numbers = np.append(best[place].numbers, rows + begin)
                order = np.lexsort((numbers, -both))[:k]
                best[place] = TopDocuments(both[order], numbers[order])
                thresholds[place] = both[order[-1]] if 0 < len(order) == k else -np.inf
    return best


def upper_bound(part: SegmentPart, query: HybridQuery) -> float:
    """The most that a document of a segment can score, by the terms that are there."""
    there = query.terms < len(part.segment.terms)
    lexical = float(query.weights[there] @ query.highest[there])
    return lexical * (1 + TINY) + query.scale * HIGHEST_SCORE


def best_in_part(
    pieces: ChunkedMatrix,
    part: SegmentPart,
    wanted: Sequence[HybridQuery],
    k: int,
    chosen: Int64s | None,
    thresholds: Float64s,
    threads: int | None = None,
    at_once: int = AT_ONCE,
) -> list[TopDocuments]:
    """The best documents of a segment; terms are places in it."""
    return QueryBatch.of(pieces, part, wanted).best(k, chosen, thresholds, threads, at_once)


def work_for(pieces: ChunkedMatrix, index: InvertedIndex, wanted: Sequence[HybridQuery]) -> int:
    """The cost of queries, in multiplications."""
    postings = sum(int(index.statistics(one.terms)[:, 0].sum()) for one in wanted)
    vectors = sum(bool(one.scale) for one in wanted)
    return postings * NUMBERS_A_POSTING + len(pieces) * vectors * pieces.dimensions


def best_of(found: TopRows, query: int) -> TopDocuments:
    """The documents found for a query."""
    scores, ranks = found.scores[query], found.ranks[query]
    there = (scores > -np.inf) & (ranks < NOBODY)
    return TopDocuments(scores[there], ranks[there])


@dataclass(frozen=True, eq=False)
class QueryBatch:
    """Queries that are answered in one pass: all hybrid or semantic, or all keyword."""

    pieces: ChunkedMatrix
    part: SegmentPart
    wanted: Sequence[HybridQuery]
    queries: Queries
    terms: HybridTerms
    work: int  # multiplications

    @classmethod
    def of(
        cls, pieces: ChunkedMatrix, part: SegmentPart, wanted: Sequence[HybridQuery]
    ) -> QueryBatch:
        """The arrays that kernels read, of all queries together."""
        vectors = np.zeros((len(wanted), pieces.dimensions), np.float32)
        for row, one in zip(vectors, wanted, strict=True):
            row[:] = one.vector if one.scale else 0
        margin = kernels.margin(pieces.dimensions, pieces.length_error, QUERY_ERROR)
        queries = Queries(read_only(vectors), read_only(np.full(len(wanted), margin, np.float32)))
        begins = read_only(offsets_of([len(one.terms) for one in wanted]))
        numbers = read_only(np.concatenate([one.terms for one in wanted]))
        weights = read_only(np.concatenate([one.weights for one in wanted]))
        nonessential, most = np.zeros(len(weights), np.uint8), np.zeros(len(wanted))
        write_nonessential(begins, weights, nonessential, most)
        postings = part.segment.postings
        words = QueryTerms(postings, part.norms, begins, numbers, weights, read_only(nonessential))
        scales = read_only(np.array([one.scale for one in wanted], np.float64))
        terms = HybridTerms(words, read_only(most), scales)
        many = int((postings.begins[numbers + 1] - postings.begins[numbers]).sum())
        work = len(pieces) * int(np.count_nonzero(scales)) * pieces.dimensions
        return cls(pieces, part, wanted, queries, terms, many * NUMBERS_A_POSTING + work)

    def best(
        self,
        k: int,
        chosen: Int64s | None,
        thresholds: Float64s,
        threads: int | None,
        at_once: int,
    ) -> list[TopDocuments]:
        """The k best documents for each query; those below the thresholds may be missing."""
        found: dict[int, TopDocuments] = {}
        if chosen is None and 0 < k <= MOST:
            if (thresholds == -np.inf).any():
                thresholds = np.maximum(thresholds, self.thresholds(k))
            found = self._best_of_candidates(k, threads, thresholds)
        left = [query for query in range(len(self.wanted)) if query not in found]
        if left:
            others = self
            if found:
                others = QueryBatch.of(self.pieces, self.part, [self.wanted[q] for q in left])
            best = others._best_of_all(k, chosen, threads, at_once, thresholds[left])
            found |= dict(zip(left, best, strict=True))
        return [found[query] for query in range(len(self.wanted))]

    def _best_of_candidates(
        self, k: int, threads: int | None, thresholds: Float64s
    ) -> dict[int, TopDocuments]:
        """Answer queries whose candidate set is small (MaxScore)."""
        words = self.terms.words
        chosen = EssentialTerms(
            np.empty(len(words.terms), np.int64), np.zeros(len(thresholds), int)
        )
        highest = np.concatenate([one.highest for one in self.wanted])
        most = read_only(words.weights * highest)
        if self.terms.scales.any():
            choose_essential(self.terms, most, thresholds, chosen)
        if not chosen.counts.any():
            return {}
        given_up = np.zeros(len(thresholds), np.uint8)

        def look(blocks: Iterator[Block], queries: Queries, best: TopK) -> None:
            for rows, first, last, _ in blocks:
                search_essential(
                    rows, first, last, queries, self.terms, most, chosen, best, given_up
                )

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
        thresholds: Float64s,
    ) -> list[TopDocuments]:
        """Answer queries by scanning all documents block by block."""
        cut, count, has_vectors = Sizes(), len(self.wanted), bool(self.terms.scales.any())
        size = max(min(at_once, LEAST_AT_ONCE), at_once // count)
        searches, read_whole = None, False
        if has_vectors:
            making = cut.workers(self.work, threads)
            searches = quantized_search(self.pieces, self.queries, QUERY_ERROR, chosen, making)
            size, read_whole = -(-size // ROWS) * ROWS, not all(searches)
        workers = cut.workers(self.work, threads, is_quantized=not read_whole)
        # Quantized rows need no blocks to stay within memory: one call scans a whole share.
        share = size if read_whole else size * -(-len(self.pieces) // (size * workers * SHARES))
        blocks = blocks_of(self.pieces, NONE, None, share if has_vectors else size, searches)

        def look(blocks: Iterator[Block], queries: Queries, best: TopK) -> None:
            self._look_through(blocks, chosen, np.empty(count * size), best)

        found = split_work(look, blocks, self.queries, k, workers, np.float64, thresholds)
        return [best_of(found, query) for query in range(count)]

    def thresholds(self, k: int) -> Float64s:
        """Scores that k documents reach, by their heaviest terms."""
        likely = np.empty((len(self.wanted), k), np.int64)
        seed_documents(self.terms.words, likely)
        thresholds = np.empty(len(likely))
        vectors = self.pieces.at(np.maximum(likely, 0).ravel())
        seed_thresholds(self.terms, self.queries.vectors, likely, vectors, thresholds)
        return thresholds

    def _look_through(
        self, blocks: Iterator[Block], chosen: Int64s | None, memory: Float64s, best: TopK
    ) -> None:
        """Score the allowed documents of some blocks."""
        multiply = Products(self.queries) if self.terms.scales.any() else None
        with one_blas_thread() if multiply else nullcontext():
            for block in blocks:
                inside = block if block.quantized else narrow_batch(block, chosen)
                rows, first, last, codes = inside
                if first == last:
                    continue
                if codes is not None:
                    search_blocks(rows, codes, first, last, self.queries, self.terms, memory, best)
                    continue
                shape = len(self.wanted), block.last - block.first
                added = memory[: shape[0] * shape[1]].reshape(shape)
                sums = ScoreBounds(block.first, added, np.zeros(shape[0]), self.terms)
                add_lexical(best, block.rows.begin + block.first, sums)
                if multiply is None:
                    search_added(rows, first, last, sums, best)
                else:
                    rescore_products(rows, first, multiply(inside), self.queries, sums, best)


def narrow_batch(block: Block, chosen: Int64s | None) -> Block:
    """The allowed rows of a block, of which there may be none."""
    rows, first, last, _ = block
    if chosen is None:
        return block
    inside = np.searchsorted(chosen, [rows.begin + first, rows.begin + last])
    here = read_only(chosen[slice(*inside)] - rows.begin)
    return Block(rows._replace(chosen=here), 0, len(here))
