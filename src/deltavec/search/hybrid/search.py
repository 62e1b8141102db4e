"""The best documents by the sum of two scores: what their words add, and their cosine.

Where few documents can be among the best by the weightiest words that they hold, only those are
looked at (`deltavec.search.hybrid.maxscore`). Else documents are taken in blocks, and all queries
that are waiting look through a block together. The words' part is added up first, and then rows
that cannot reach the best so far are passed over: by their words, by their sieve, or by their
products where there is none, in the margins of `deltavec.search.hybrid.bounds` and
`deltavec.search.kernels`. So the answer is exact, and no score of all documents is ever kept or
sorted.
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
from deltavec.search.hybrid.maxscore import EssentialTerms, choose_essential, search_essential
from deltavec.search.hybrid.nonessential import NonEssentialTerms
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

AT_ONCE = 16_384  # documents that one query looks at
LEAST_AT_ONCE = 2_048  # and many do; their sums and products stay in the cache
SHARES = 4  # of each thread: who is done first takes more of them
NUMBERS_A_POSTING = 8  # a posting takes as long as so many numbers to multiply
QUERY_ERROR = 1e-6  # how far from 1 the length of a float32 vector of unit length may be


class HybridQuery(NamedTuple):
    """What is looked for, by words, by meaning or by both.

    Attributes
    ----------
    words : WordQuery
        What the words are worth; none of them if only meaning counts.
    vector : ndarray of float32
        The direction, of unit length or zero.
    scale : float
        What the cosine is multiplied with; 0 if only words count.
    """

    words: LexicalQuery
    vector: Float32s
    scale: float


class TopDocuments(NamedTuple):
    """The best documents, best first: their scores and their numbers."""

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
        The documents' vectors.
    index
        Their words.
    wanted
        What is looked for. By words alone only documents that hold one of them are found.
    k
        How many; fewer come back if there are fewer.
    chosen
        The numbers of the documents that may be found, ascending; all of them by default.
    threads
        How many cores; all of them by default.
    at_once
        How many documents make a block for one query, fewer for many; changes the time it takes,
        and nothing else.
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
    """How much work queries are, in numbers to multiply."""
    terms = np.concatenate([one.words.terms for one in wanted])
    postings = int((index.postings.begins[terms + 1] - index.postings.begins[terms]).sum())
    meaning = sum(bool(one.scale) for one in wanted)
    return postings * NUMBERS_A_POSTING + len(pieces) * meaning * pieces.dimensions


def best_of(found: TopRows, query: int) -> TopDocuments:
    """The documents that were found for a query."""
    scores, ranks = found.scores[query], found.ranks[query]
    there = (scores > -np.inf) & (ranks < NOBODY)
    return TopDocuments(scores[there], ranks[there])


@dataclass(frozen=True, eq=False)
class QueryBatch:
    """Queries that are answered in one pass: all of them ask for sums of two scores, or none."""

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
        """The lightest of their words, and what these add at most."""
        return NonEssentialTerms.of(self.begins, self.weights)

    @functools.cached_property
    def begins(self) -> Int64s:
        """Where the words of each begin."""
        return read_only(offsets_of([len(one.words.terms) for one in self.wanted]))

    @functools.cached_property
    def weights(self) -> Float64s:
        """What their words are worth."""
        return read_only(np.concatenate([one.words.weights for one in self.wanted]))

    @functools.cached_property
    def words(self) -> QueryTerms:
        """Their words."""
        terms = read_only(np.concatenate([one.words.terms for one in self.wanted]))
        lists, norms = self.index.postings, self.index.norms
        return QueryTerms(lists, norms, self.begins, terms, self.weights, self.nonessential.terms)

    @functools.cached_property
    def work(self) -> int:
        """How much work they are."""
        return work_for(self.pieces, self.index, self.wanted)

    @functools.cached_property
    def scales(self) -> Float64s:
        """What their cosines are multiplied with; zeros if only words count."""
        return read_only(np.array([one.scale for one in self.wanted], np.float64))

    def best(
        self, k: int, chosen: Int64s | None, threads: int | None, at_once: int
    ) -> list[TopDocuments]:
        """The k best documents for each of them."""
        floors = self.floors(k) if chosen is None else None
        found = {} if floors is None else self._best_of_candidates(k, threads, floors)
        left = [query for query in range(len(self.wanted)) if query not in found]
        if left:
            others = QueryBatch(self.pieces, self.index, [self.wanted[query] for query in left])
            known = None if floors is None else floors[left]
            best = others._best_of_all(k, chosen, threads, at_once, known)
            found |= dict(zip(left, best, strict=True))
        return [found[query] for query in range(len(self.wanted))]

    def _best_of_candidates(
        self, k: int, threads: int | None, floors: Float64s
    ) -> dict[int, TopDocuments]:
        """The same for those that few documents have to be looked at for."""
        chosen = EssentialTerms(
            np.empty(len(self.words.terms), np.int64), np.zeros(len(floors), int)
        )
        most = read_only(self.words.weights * self.index.max_impacts.of(self.words.terms))
        if self.scales.any():
            choose_essential(self.words, most, self.scales, floors, chosen)
        if not chosen.counts.any():
            return {}
        given_up = np.zeros(len(floors), np.uint8)

        def look(blocks: Iterator[Block], queries: Queries, best: TopK) -> None:
            for rows, first, last, _ in blocks:
                search_essential(
                    rows, first, last, queries, self.words, most, self.scales, chosen, best,
                    given_up,
                )  # fmt: skip

        workers = Sizes().workers(self.work, threads, is_sifted=True)
        parts = workers * SHARES if workers > 1 else 1
        blocks = blocks_of(self.pieces, NONE, None, -(-len(self.pieces) // parts))
        found = split_work(look, blocks, self.queries, k, workers, np.float64, floors)
        done = np.flatnonzero((chosen.counts > 0) & (given_up == 0))
        return {query: best_of(found, query) for query in done.tolist()}

    def _best_of_all(
        self,
        k: int,
        chosen: Int64s | None,
        threads: int | None,
        at_once: int,
        floors: Float64s | None,
    ) -> list[TopDocuments]:
        """The same, found block by block among all documents."""
        cut, count, meaning = Sizes(), len(self.wanted), bool(self.scales.any())
        size = max(min(at_once, LEAST_AT_ONCE), at_once // count)
        sifting, read_whole = None, False
        if meaning:
            making = cut.workers(self.work, threads)
            sifting = quantized_search(self.pieces, self.queries, QUERY_ERROR, chosen, making)
            size, read_whole = -(-size // ROWS) * ROWS, not all(sifting)
        workers = cut.workers(self.work, threads, is_sifted=not read_whole)
        # What is sifted is not parted for the memory's sake: one call looks through all of it.
        share = size if read_whole else size * -(-len(self.pieces) // (size * workers * SHARES))
        blocks = blocks_of(self.pieces, NONE, None, share if meaning else size, sifting)

        def look(blocks: Iterator[Block], queries: Queries, best: TopK) -> None:
            memory = np.empty(count * size)
            look_through = self._look_for_sums if meaning else self._look_for_words
            look_through(blocks, chosen, memory, best)

        found = split_work(look, blocks, self.queries, k, workers, np.float64, floors)
        return [best_of(found, query) for query in range(count)]

    def floors(self, k: int) -> Float64s | None:
        """Scores that k documents reach, as far as the words tell; None if too many are wanted."""
        if not 0 < k <= MOST:
            return None
        likely = np.empty((len(self.wanted), k), np.int64)
        seed_documents(self.words, likely)
        floors = np.empty(len(likely))
        vectors = self.pieces.at(np.maximum(likely, 0).ravel())
        seed_thresholds(self.words, self.queries.vectors, self.scales, likely, vectors, floors)
        return floors

    def _look_for_sums(
        self, blocks: Iterator[Block], chosen: Int64s | None, memory: Float64s, best: TopK
    ) -> None:
        multiply = Products(self.queries)
        with one_blas_thread():
            for block in blocks:
                inside = block if block.sifted else narrow_batch(block, chosen)
                rows, first, last, sifts = inside
                if first == last:
                    continue
                if sifts is None:
                    sums, products = self._sums(block, memory, best), multiply(inside)
                    rescore_products(rows, first, products, self.queries, sums, best)
                else:
                    search_blocks(
                        rows, sifts.allowed, sifts.sieve, first, last, self.queries, sifts.coded,
                        self.words, self.nonessential.most, self.scales, memory, best,
                    )  # fmt: skip

    def _look_for_words(
        self, blocks: Iterator[Block], chosen: Int64s | None, memory: Float64s, best: TopK
    ) -> None:
        for block in blocks:
            rows, first, last, _ = narrow_batch(block, chosen)
            if first < last:
                search_added(rows, first, last, self._sums(block, memory, best), best)

    def _sums(self, block: Block, memory: Float64s, best: TopK) -> ScoreBounds:
        """What the words of each query add to the documents of a block."""
        queries, count = len(self.wanted), block.last - block.first
        added = memory[: queries * count].reshape(queries, count)
        sums = ScoreBounds(block.first, added, np.zeros(queries), self.scales, self.words)
        add_lexical(self.words, self.nonessential.most, best, block.rows.begin + block.first, sums)
        return sums


def narrow_batch(block: Block, chosen: Int64s | None) -> Block:
    """The chosen rows of a block, which may be none; all of them if nothing was chosen."""
    rows, first, last, _ = block
    if chosen is None:
        return block
    inside = np.searchsorted(chosen, [rows.begin + first, rows.begin + last])
    here = read_only(chosen[slice(*inside)] - rows.begin)
    return Block(rows._replace(chosen=here), 0, len(here))
