"""One pass over a chunk of documents on all cores: counts, or vectors.

A chunk is cut into pieces of about the same number of bytes, and threads take them one after the
other; the kernels hold no interpreter lock.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeVar

import numpy as np

from deltavec.core.arrays import Float32s, Float64s, Int64s, allocate_rows
from deltavec.core.fallback import embed_small_batch, work_for
from deltavec.core.forms import EmbeddingTable
from deltavec.core.jit import BUDGET
from deltavec.core.kernels.count import count_ids
from deltavec.core.kernels.embed import sum_rows
from deltavec.core.statistics import CorpusStatistics, TextCounts
from deltavec.core.text.rules import TextBatch
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
