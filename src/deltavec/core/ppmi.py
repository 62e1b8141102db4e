"""Word vectors from co-occurrence: positive pointwise mutual information, factorised."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import numpy.typing as npt

from deltavec.core import pair_kernels
from deltavec.core.cooccurrence import (
    DEFAULT_MEMORY,
    SHARES_PER_THREAD,
    Allocate,
    Cooccurrence,
    cooccurrence,
    listed_ids,
)
from deltavec.core.discovery import learned_vocabulary
from deltavec.core.kernels import ROUNDING
from deltavec.core.packing import equal_shares
from deltavec.core.passes import thread_count
from deltavec.core.singular import leading_left_singular
from deltavec.core.texts import Tokenizer, as_chunked, rereadable
from deltavec.core.vectors import WordVectors
from deltavec.core.vocabulary import Vocabulary
from deltavec.errors import CorpusError


class Ppmi:
    r"""Positive pointwise mutual information, as a matrix that multiplies.

    .. math:: M_{ij} = \max\left(0, \log \frac{C_{ij}}{C_{i\cdot}\, q_j}\right),
              \quad q_j \propto \Bigl(\sum_i C_{ij}\Bigr)^{\mathrm{smoothing}}

    Only the logarithms of the counts are kept; the rest is computed while multiplying.
    """

    def __init__(
        self,
        counts: Cooccurrence,
        smoothing: float,
        *,
        threads: int | None = None,
        allocate: Allocate = np.empty,
    ) -> None:
        totals = counts.totals.astype(np.float64)
        with np.errstate(divide="ignore"):  # a word without neighbours has an empty row
            self._row_shifts = np.log(totals).astype(np.float32)
            contexts = totals**smoothing
            self._column_shifts = np.log(contexts / max(contexts.sum(), 1.0)).astype(np.float32)
        self._blocks = [
            (block.first, block.begins, block.columns, logarithms(block.counts, allocate))
            for block in counts.blocks
        ]
        self._threads = thread_count(threads)
        self.size = counts.words

    def row_norms(self) -> npt.NDArray[np.float64]:
        """The length of each row of M."""
        squares = np.zeros(self.size)
        for first, begins, columns, log_counts in self._blocks:
            pair_kernels.ppmi_squares(
                begins, columns, log_counts, self._row_shifts, self._column_shifts, first, squares
            )
        return np.sqrt(squares)

    def times(self, matrix: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
        """M times the matrix."""
        return self._multiplied(matrix, self._row_shifts, self._column_shifts)

    def transposed_times(self, matrix: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
        """The transpose of M times the matrix."""
        return self._multiplied(matrix, self._column_shifts, self._row_shifts)

    def _multiplied(
        self,
        matrix: npt.NDArray[np.float32],
        row_shifts: npt.NDArray[np.float32],
        column_shifts: npt.NDArray[np.float32],
    ) -> npt.NDArray[np.float32]:
        product = np.empty_like(matrix)
        with ThreadPoolExecutor(self._threads) as pool:
            for first, begins, columns, log_counts in self._blocks:
                tasks = [
                    pool.submit(
                        pair_kernels.times_ppmi, begins, columns, log_counts,
                        row_shifts, column_shifts, first, *share, matrix, product,
                    )
                    for share in equal_shares(begins, self._threads * SHARES_PER_THREAD)
                ]  # fmt: skip
                for task in tasks:
                    task.result()
        return product


def logarithms(counts: npt.NDArray[np.int64], allocate: Allocate) -> npt.NDArray[np.float32]:
    """The logarithm of each count, in float32."""
    logs: npt.NDArray[np.float32] = allocate(len(counts), np.float32)
    for first in range(0, len(counts), 1 << 20):
        block = slice(first, first + (1 << 20))
        logs[block] = np.log(counts[block])
    return logs


def ppmi_vectors(
    corpus: Any,
    *,
    dimensions: int = 300,
    window: int = 20,
    min_count: int | None = None,
    context_smoothing: float = 0.75,
    power_iterations: int = 7,
    seed: int = 0,
    tokenizer: Tokenizer = "words",
    threads: int | None = None,
    max_memory: int = DEFAULT_MEMORY,
    allocate: Allocate = np.empty,
    on_stage: Callable[[str], None] | None = None,
) -> WordVectors:
    r"""Word vectors from which words stand near each other in the corpus.

    The rows of :math:`U S^{1/2}` at unit length, where :math:`U S V^\top` is the matrix of
    positive pointwise mutual information truncated to its leading ``dimensions``.

    A vocabulary of fewer than about ``dimensions`` words gives fewer dimensions.
    """
    begin = on_stage or (lambda stage: None)
    chunked = rereadable(as_chunked(corpus))
    begin("learning the vocabulary")
    vocabulary = learned_vocabulary(chunked, tokenizer, min_count)
    begin("reading words")
    ids = listed_ids(chunked, vocabulary, tokenizer, threads)
    begin("counting pairs of words")
    counts = cooccurrence(
        ids, len(vocabulary), window, threads=threads, max_memory=max_memory, allocate=allocate
    )
    del ids
    begin("finding leading directions")
    ppmi = Ppmi(counts, context_smoothing, threads=threads, allocate=allocate)
    vectors, values = leading_left_singular(
        ppmi.times,
        ppmi.transposed_times,
        ppmi.size,
        dimensions,
        power_iterations=power_iterations,
        seed=seed,
    )
    if len(values) == 0 or values[0] <= 0:
        raise CorpusError(
            "no two words of the corpus stand together more often than by chance: "
            "vectors cannot be learned from it"
        )
    return unit_rows(vocabulary, vectors * np.sqrt(values).astype(np.float32))


def unit_rows(vocabulary: Vocabulary, rows: npt.NDArray[np.float32]) -> WordVectors:
    """The rows as word vectors; those too short to be more than rounding are left out."""
    lengths = np.linalg.norm(rows, axis=1)
    kept = lengths > ROUNDING * lengths.max()
    return WordVectors(vocabulary.words, np.where(kept[:, None], rows, 0))
