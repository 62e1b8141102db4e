"""One pass over a chunk of documents on all cores: counts, or vectors.

A chunk is cut into pieces of about the same number of bytes, and threads take them one after the
other; the kernels hold no interpreter lock.

A few documents are embedded without the compiler: the same bits as the kernels give, slowly. Words
are found by the rule's slow reference and a dictionary. Every number is rounded as in
`deltavec.core.kernels`: products and sums of float32 in the same order, the square of the length in
the same eight sums.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeVar

import numpy as np

from deltavec.core.arrays import Float32s, Float64s, Int64s, allocate_rows
from deltavec.core.forms import EmbeddingTable
from deltavec.core.jit import BUDGET, COST_PER_BYTE
from deltavec.core.kernels.count import count_ids
from deltavec.core.kernels.embed import (
    ROUNDING,
    ROWS_AT_ONCE,
    SUMS,
    WORDS_BETWEEN_FLUSHES,
    sum_rows,
)
from deltavec.core.statistics import CorpusStatistics, TextCounts
from deltavec.core.text.batches import encode
from deltavec.core.text.rules import TOKEN_SEPARATOR, TextBatch, Units
from deltavec.core.text.tokenize import tokenize_by
from deltavec.core.threads import equal_shares, parallel_map, thread_count
from deltavec.core.tokens import TokenStream
from deltavec.core.vocabulary import Vocabulary

Result = TypeVar("Result")

BYTES_WORTH_A_THREAD = 65_536
PIECES_PER_THREAD = 6
LOW_UNITS = 1 << 20  # of a sum of shares
SHARE_UNITS = 2.0**40


def map_ranges(
    work: Callable[[int, int], Result], texts: TextBatch, threads: int | None, per_thread: int
) -> list[Result]:
    """What ``work`` gives for each piece, in the order of the documents."""
    size = int(texts.ends[-1] - texts.ends[0])
    workers = max(1, min(thread_count(threads), size // BYTES_WORTH_A_THREAD))
    if workers == 1:
        return [work(0, texts.documents)] if texts.documents else []
    pieces = equal_shares(texts.ends, workers * per_thread)
    return list(parallel_map(lambda piece: work(*piece), pieces, workers))


def count_batch(
    texts: TextBatch, vocabulary: Vocabulary, threads: int | None = None
) -> CorpusStatistics:
    """The statistics of these documents."""

    def work(first: int, last: int) -> CorpusStatistics:
        token_counts, document_counts = np.zeros((2, len(vocabulary)), np.int64)
        seen_in = np.full(len(vocabulary), -1, np.int64)
        progress = np.zeros(3, np.int64)
        with vocabulary.scratch() as scratch:
            stream = TokenStream(texts, first, last, scratch.tokens)
            for ids in stream.ids(vocabulary.table):
                count_ids(ids, token_counts, document_counts, seen_in, progress)
        empty = int(progress[2])
        return CorpusStatistics(token_counts, document_counts, last - first, stream.tokens, empty)

    # One piece a thread: each makes counts of its own, as long as the vocabulary.
    return sum(map_ranges(work, texts, threads, 1), CorpusStatistics.empty(len(vocabulary)))


class ShareSum:
    """The sum over documents of each word's share n_i / N, the same bits for every split.

    Kept in whole numbers, in two parts so that no number of documents overflows.
    """

    def __init__(self, words: int) -> None:
        self.units = np.zeros((2, words), np.int64)
        self._high, self._low = self.units

    def add(self, texts: TextBatch, vocabulary: Vocabulary, threads: int | None = None) -> None:
        """Add the shares of these documents."""

        def work(first: int, last: int) -> Int64s:
            shares = np.zeros(len(vocabulary), np.int64)
            with vocabulary.scratch() as scratch:
                stream = TokenStream(texts, first, last, scratch.tokens)
                for terms in scratch.documents(stream.ids(vocabulary.table)):
                    # A document without known tokens has no terms.
                    units = np.rint(SHARE_UNITS / np.maximum(terms.lengths, 1)).astype(np.int64)
                    each = np.repeat(units, np.diff(terms.ends))
                    np.add.at(shares, terms.ids, terms.counts * each)
            return shares

        for shares in map_ranges(work, texts, threads, 1):
            self._high += shares // LOW_UNITS
            self._low += shares % LOW_UNITS

    @property
    def total(self) -> Float64s:
        """The sum of the shares."""
        units = self._high * float(LOW_UNITS) + self._low
        return np.asarray(units / SHARE_UNITS, np.float64)


class EmbeddedBatch(NamedTuple):
    """The vectors of some documents, and how many words the same pass has met in them."""

    vectors: Float32s
    counts: TextCounts


def embed_batch(
    texts: TextBatch,
    vocabulary: Vocabulary,
    folded: EmbeddingTable,
    threads: int | None = None,
    *,
    vectors: Float32s | None = None,
) -> EmbeddedBatch:
    """The vectors of these documents, one a row, of unit length or zero, and their words counted.

    The vectors are written into ``vectors`` if it is given.
    """
    if vectors is None:
        vectors = allocate_rows(texts.documents, folded.rows.shape[1])
    if BUDGET.allows(work_for(texts, folded.rows.shape[1])):
        return EmbeddedBatch(vectors, embed_small_batch(texts, vocabulary, folded, vectors))

    def work(first: int, last: int) -> TextCounts:
        row, known, unknown = first, 0, 0
        with vocabulary.scratch() as scratch:
            stream = TokenStream(texts, first, last, scratch.tokens)
            for terms in scratch.documents(stream.ids(vocabulary.table)):
                sum_rows(terms, folded.terms, scratch.shares, vectors, row)
                row += len(terms.lengths)
                known += int(terms.lengths.sum())
                unknown += int((terms.lengths == 0).sum())
        return TextCounts(last - first, stream.tokens, known, unknown)

    counts = sum(map_ranges(work, texts, threads, PIECES_PER_THREAD), TextCounts())
    return EmbeddedBatch(vectors, counts)


def work_for(texts: TextBatch, dimensions: int) -> int:
    """How much work documents are, in numbers to multiply."""
    size = int(texts.ends[-1] - texts.ends[0])
    return size * COST_PER_BYTE + texts.documents * dimensions


def embed_small_batch(
    texts: TextBatch, vocabulary: Vocabulary, folded: EmbeddingTable, vectors: Float32s
) -> TextCounts:
    """Write the vectors of documents; their words, counted."""
    counts = TextCounts()
    for number in range(texts.documents):
        units = token_bytes(texts, number)
        ids = [vocabulary.numbers[unit] for unit in units if unit in vocabulary.numbers]
        vectors[number] = embed_ids(ids, folded)
        counts += TextCounts(1, len(units), len(ids), int(not ids))
    return counts


def token_bytes(texts: TextBatch, number: int) -> list[bytes]:
    """What is counted of a document, in its order."""
    data = texts.data[texts.ends[number] : texts.ends[number + 1]].tobytes()
    rule = texts.rule
    if not rule.decodes:
        apart = data.replace(b"\0", TOKEN_SEPARATOR).split(TOKEN_SEPARATOR)
        return [word for word in apart if word]
    units = Units(rule.whole, rule.gram)
    return encode(tokenize_by(data.decode("utf-8", "replace"), rule, units).units)


def embed_ids(ids: list[int], folded: EmbeddingTable) -> Float64s:
    """The vector of a document that holds these words; zeros if it has no direction."""
    counts: dict[int, int] = {}
    for number in ids:
        counts[number] = counts.get(number, 0) + 1
    terms = np.array(list(counts), np.int64)
    if not ids:
        return np.zeros(folded.rows.shape[1])
    shares = np.array(list(counts.values())) / len(ids) - folded.penalties[terms]
    rounded = shares.astype(np.float32)
    lengths = np.abs(rounded).astype(np.float64) * folded.norms[terms]
    magnitude = float(np.add.accumulate(lengths)[-1])
    total = weighted_sum(terms, rounded, folded.rows) - folded.offset
    length = np.sqrt(square_of(total))
    if length <= ROUNDING * (magnitude + folded.offset_norm):
        return np.zeros(len(total))
    unit: Float64s = total * (1 / length)
    return unit


def weighted_sum(terms: Int64s, shares: Float32s, rows: Float32s) -> Float64s:
    """The sum of share_i row_i, as `deltavec.core.kernels.sum_up` takes it."""
    total = np.zeros(rows.shape[1])
    for begin in range(0, len(terms), WORDS_BETWEEN_FLUSHES):
        block = slice(begin, begin + WORDS_BETWEEN_FLUSHES)
        products = shares[block, None] * rows[terms[block]]
        together = len(products) - len(products) % ROWS_AT_ONCE
        partial = np.zeros(rows.shape[1], np.float32)
        for first in range(0, together, ROWS_AT_ONCE):
            partial += np.add.accumulate(products[first : first + ROWS_AT_ONCE])[-1]
        for product in products[together:]:
            partial += product
        total += partial
    return total


def square_of(total: Float64s) -> np.float64:
    """The square of the length, as `deltavec.core.kernels.length_of` takes it."""
    squares = total * total
    whole = len(squares) - len(squares) % SUMS
    side_by_side = np.zeros(SUMS)
    for first in range(0, whole, SUMS):
        side_by_side += squares[first : first + SUMS]
    a, b, c, d, e, f, g, h = side_by_side
    square = ((a + b) + (c + d)) + ((e + f) + (g + h))
    for one in squares[whole:]:
        square += one
    return np.float64(square)
