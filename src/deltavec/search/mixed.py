"""The best documents by the sum of two scores: what their words add, and their cosine.

Documents are taken in blocks, and all queries that are waiting look through a block together. The
words' part is added up first, and then rows that cannot reach the best so far are passed over: by
their words, by their sieve, or by their products where there is none, in the margins of
`deltavec.search.sieve.sums` and `deltavec.search.kernels`. So the answer is exact, and no score
of all documents is ever kept or sorted.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from deltavec.core.arrays import begins_of, frozen, require_mapped
from deltavec.core.kernels import Float32s, Float64s, Int64s, UInt8s
from deltavec.core.threads import one_blas_thread
from deltavec.search import kernels
from deltavec.search.exact import (
    NOBODY,
    NONE,
    Block,
    Products,
    Sizes,
    blocks_of,
    shared_out,
    sifted,
)
from deltavec.search.kernels import Best, Queries
from deltavec.search.rows import Pieces
from deltavec.search.sieve.kernels import ROWS
from deltavec.search.sieve.sums import Sums, add_words, search_added, search_sums, sums_in_products
from deltavec.search.words.index import WordIndex, WordQuery
from deltavec.search.words.kernels import Words
from deltavec.search.words.likely import MOST, likely_documents, lowest_sums

AT_ONCE = 16_384  # documents that one query looks at
LEAST_AT_ONCE = 2_048  # and many do; their sums and products stay in the cache
SHARES = 4  # of each thread: who is done first takes more of them
LIGHT = 0.1  # what the lightest words may add, as a share of all
NUMBERS_A_POSTING = 8  # a posting takes as long as so many numbers to multiply
QUERY_ERROR = 1e-6  # how far from 1 the length of a float32 vector of unit length may be


class Wanted(NamedTuple):
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

    words: WordQuery
    vector: Float32s
    scale: float


class BestDocuments(NamedTuple):
    """The best documents, best first: their scores and their numbers."""

    scores: Float64s
    numbers: Int64s


def best_documents(
    pieces: Pieces,
    index: WordIndex,
    wanted: Sequence[Wanted],
    k: int,
    *,
    chosen: Int64s | None = None,
    threads: int | None = None,
    at_once: int = AT_ONCE,
) -> list[BestDocuments]:
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
    found: dict[int, BestDocuments] = {}
    for sum_of_two in (True, False):
        numbers = [place for place, one in enumerate(wanted) if bool(one.scale) == sum_of_two]
        for first in range(0, len(numbers), Sizes().queries):
            batch = numbers[first : first + Sizes().queries]
            together = Together(pieces, index, [wanted[number] for number in batch])
            best = together.best(k, chosen, threads, at_once)
            found |= dict(zip(batch, best, strict=True))
    return [found[number] for number in range(len(wanted))]


def work_for(pieces: Pieces, index: WordIndex, wanted: Sequence[Wanted]) -> int:
    """How much work queries are, in numbers to multiply."""
    terms = np.concatenate([one.words.terms for one in wanted])
    postings = int((index.lists.begins[terms + 1] - index.lists.begins[terms]).sum())
    meaning = sum(bool(one.scale) for one in wanted)
    return postings * NUMBERS_A_POSTING + len(pieces) * meaning * pieces.dimensions


class Light(NamedTuple):
    """Which terms of a query may be left out at first, and what they can add at most."""

    terms: UInt8s
    most: float

    @classmethod
    def of(cls, words: WordQuery) -> Light:
        """The lightest terms, as many as add a tenth of all at most."""
        order = np.argsort(words.weights, kind="stable")
        total = float(words.weights.sum())
        count = int(np.searchsorted(np.cumsum(words.weights[order]), LIGHT * total, side="right"))
        terms = np.zeros(len(order), np.uint8)
        terms[order[:count]] = 1
        # n / (n + K) is below 1. Sums of a few dozen float64 numbers are off by less than the rest.
        most = float(words.weights[order[:count]].sum()) + 1e-9 * total if count else 0.0
        return cls(terms, most)


@dataclass(frozen=True, eq=False)
class Together:
    """Queries that are answered in one pass: all of them ask for sums of two scores, or none."""

    pieces: Pieces
    index: WordIndex
    wanted: Sequence[Wanted]

    @functools.cached_property
    def queries(self) -> Queries:
        """Their vectors."""
        vectors = frozen(np.array([one.vector for one in self.wanted], np.float32))
        margin = kernels.margin(self.pieces.dimensions, self.pieces.length_error, QUERY_ERROR)
        return Queries(vectors, frozen(np.full(len(vectors), margin, np.float32)))

    @functools.cached_property
    def light(self) -> list[Light]:
        """The lightest of their words."""
        return [Light.of(one.words) for one in self.wanted]

    @functools.cached_property
    def most(self) -> Float64s:
        """What the lightest words of each can add."""
        return frozen(np.array([light.most for light in self.light]))

    @functools.cached_property
    def words(self) -> Words:
        """Their words."""
        each = [one.words for one in self.wanted]
        return Words(
            self.index.lists,
            self.index.norms,
            frozen(begins_of([len(words.terms) for words in each])),
            frozen(np.concatenate([words.terms for words in each])),
            frozen(np.concatenate([words.weights for words in each])),
            frozen(np.concatenate([light.terms for light in self.light])),
        )

    @functools.cached_property
    def scales(self) -> Float64s:
        """What their cosines are multiplied with; zeros if only words count."""
        return frozen(np.array([one.scale for one in self.wanted], np.float64))

    def best(
        self, k: int, chosen: Int64s | None, threads: int | None, at_once: int
    ) -> list[BestDocuments]:
        """The k best documents for each of them."""
        cut, count, meaning = Sizes(), len(self.wanted), bool(self.scales.any())
        size = max(min(at_once, LEAST_AT_ONCE), at_once // count)
        work = work_for(self.pieces, self.index, self.wanted)
        sifting, read_whole = None, False
        if meaning:
            making = cut.workers(work, threads)
            sifting = sifted(self.pieces, self.queries, QUERY_ERROR, chosen, making)
            size, read_whole = -(-size // ROWS) * ROWS, not all(sifting)
        workers = cut.workers(work, threads, is_sifted=not read_whole)
        # What is sifted is not parted for the memory's sake: one call looks through all of it.
        share = size if read_whole else size * -(-len(self.pieces) // (size * workers * SHARES))
        blocks = blocks_of(self.pieces, NONE, None, share if meaning else size, sifting)

        def look(blocks: Iterator[Block], queries: Queries, best: Best) -> None:
            memory = np.empty(count * size)
            look_through = self._look_for_sums if meaning else self._look_for_words
            look_through(blocks, chosen, memory, best)

        floors = self.floors(k) if chosen is None else None
        found = shared_out(look, blocks, self.queries, k, workers, np.float64, floors)
        there = (found.scores > -np.inf) & (found.ranks < NOBODY)
        return [
            BestDocuments(found.scores[query, there[query]], found.ranks[query, there[query]])
            for query in range(count)
        ]

    def floors(self, k: int) -> Float64s | None:
        """Scores that k documents reach, as far as the words tell; None if too many are wanted."""
        if not 0 < k <= MOST:
            return None
        likely = np.empty((len(self.wanted), k), np.int64)
        likely_documents(self.words, likely)
        floors = np.empty(len(likely))
        vectors = self.pieces.at(np.maximum(likely, 0).ravel())
        lowest_sums(self.words, self.queries.vectors, self.scales, likely, vectors, floors)
        return floors

    def _look_for_sums(
        self, blocks: Iterator[Block], chosen: Int64s | None, memory: Float64s, best: Best
    ) -> None:
        multiply = Products(self.queries)
        with one_blas_thread():
            for block in blocks:
                inside = block if block.sifted else narrowed(block, chosen)
                rows, first, last, sifts = inside
                if first == last:
                    continue
                if sifts is None:
                    sums, products = self._sums(block, memory, best), multiply(inside)
                    sums_in_products(rows, first, products, self.queries, sums, best)
                else:
                    search_sums(
                        rows, sifts.allowed, sifts.sieve, first, last, self.queries, sifts.coded,
                        self.words, self.most, self.scales, memory, best,
                    )  # fmt: skip

    def _look_for_words(
        self, blocks: Iterator[Block], chosen: Int64s | None, memory: Float64s, best: Best
    ) -> None:
        for block in blocks:
            rows, first, last, _ = narrowed(block, chosen)
            if first < last:
                search_added(rows, first, last, self._sums(block, memory, best), best)

    def _sums(self, block: Block, memory: Float64s, best: Best) -> Sums:
        """What the words of each query add to the documents of a block."""
        queries, count = len(self.wanted), block.last - block.first
        added = memory[: queries * count].reshape(queries, count)
        sums = Sums(block.first, added, np.zeros(queries), self.scales, self.words)
        add_words(self.words, self.most, best, block.rows.begin + block.first, sums)
        return sums


def narrowed(block: Block, chosen: Int64s | None) -> Block:
    """The chosen rows of a block, which may be none; all of them if nothing was chosen."""
    rows, first, last, _ = block
    if chosen is None:
        return block
    inside = np.searchsorted(chosen, [rows.begin + first, rows.begin + last])
    here = frozen(chosen[slice(*inside)] - rows.begin)
    return Block(rows._replace(chosen=here), 0, len(here))
