"""Word vectors from co-occurrence: positive pointwise mutual information, factorised."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from deltavec.core.kernels import ROUNDING
from deltavec.core.learning import kernels as pair_kernels
from deltavec.core.learning.corpora import LearningCorpus
from deltavec.core.learning.factors import leading_left_singular
from deltavec.core.learning.spill import spilling
from deltavec.core.learning.windows import (
    SHARES_PER_THREAD,
    Allocate,
    Cooccurrence,
    SparseRows,
    shared_rows,
)
from deltavec.core.threads import equal_shares, on_threads, thread_count
from deltavec.core.vectors import WordVectors
from deltavec.errors import CorpusError

DIMENSIONS, WINDOW = 300, 20
CONTEXT_SMOOTHING = 0.75
POWER_ITERATIONS = 7


class Ppmi:
    r"""Positive pointwise mutual information, as a matrix that multiplies.

    .. math:: M_{ij} = \max\left(0, \log \frac{C_{ij}}{C_{i\cdot}\, q_j}\right),
              \quad q_j \propto \Bigl(\sum_i C_{ij}\Bigr)^{\mathrm{smoothing}}

    It and its transpose are kept, what is zero left out: that is most of what was counted.
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
            row_shifts = np.log(totals).astype(np.float32)
            contexts = totals**smoothing
            column_shifts = np.log(contexts / max(contexts.sum(), 1.0)).astype(np.float32)
        self.size = counts.words
        self.threads = thread_count(threads)
        self._rows = [
            positive(block, row_shifts, column_shifts, self.threads, allocate)
            for block in counts.blocks
        ]
        self._columns = [
            positive(block, column_shifts, row_shifts, self.threads, allocate)
            for block in counts.blocks
        ]

    def row_norms(self) -> npt.NDArray[np.float64]:
        """The length of each row of M."""
        squares = np.zeros(self.size)
        for block in self._rows:
            block.write_sums(squares, np.square(block.values))
        return np.sqrt(squares)

    def times(self, matrix: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
        """M times the matrix."""
        return multiplied(self._rows, matrix, self.threads)

    def transposed_times(self, matrix: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
        """The transpose of M times the matrix."""
        return multiplied(self._columns, matrix, self.threads)


def positive(
    block: SparseRows,
    row_shifts: npt.NDArray[np.float32],
    column_shifts: npt.NDArray[np.float32],
    threads: int,
    allocate: Allocate,
) -> SparseRows:
    """The entries above zero of log(counts) - row shifts - column shifts."""

    def write(begin: int, end: int, *rows: npt.NDArray[Any]) -> int:
        return pair_kernels.positive_entries(
            block.begins, block.columns, block.values, row_shifts, column_shifts,
            block.first, begin, end, *rows,
        )  # fmt: skip

    rows = shared_rows(write, block.begins, block.begins, [np.float32], threads, allocate)
    return SparseRows(block.first, *rows)


def multiplied(
    rows: Sequence[SparseRows], matrix: npt.NDArray[np.float32], threads: int
) -> npt.NDArray[np.float32]:
    """The sparse matrix of these rows times the matrix."""
    product = np.empty_like(matrix)

    def work(task: tuple[SparseRows, tuple[int, int]]) -> None:
        (first, begins, columns, values), share = task
        pair_kernels.times_sparse(begins, columns, values, first, *share, matrix, product)

    tasks = [
        (entries, share)
        for entries in rows
        for share in equal_shares(entries.begins, threads * SHARES_PER_THREAD)
    ]
    list(on_threads(work, tasks, threads))
    return product


def ppmi_vectors(
    corpus: LearningCorpus,
    *,
    dimensions: int = DIMENSIONS,
    window: int = WINDOW,
    min_count: int | None = None,
    seed: int = 0,
) -> WordVectors:
    r"""Word vectors from which words stand near each other in the corpus.

    The rows of :math:`U S^{1/2}` at unit length, where :math:`U S V^\top` is the matrix of
    positive pointwise mutual information truncated to its leading ``dimensions``.

    A vocabulary of fewer than about ``dimensions`` words gives fewer dimensions.
    """
    words = corpus.words(min_count)
    vocabulary = words.vocabulary
    with spilling(corpus.max_memory) as allocate:
        corpus.begin("counting pairs of words")
        pairs = words.pairs(window, allocate)
        del words  # those of the corpus take room
        corpus.begin("finding leading directions")
        ppmi = Ppmi(pairs, CONTEXT_SMOOTHING, threads=corpus.threads, allocate=allocate)
        vectors, values = leading_left_singular(
            ppmi.times,
            ppmi.transposed_times,
            ppmi.size,
            dimensions,
            power_iterations=POWER_ITERATIONS,
            seed=seed,
            threads=ppmi.threads,
        )
    if len(values) == 0 or values[0] <= 0:
        raise CorpusError(
            "no two words of the corpus stand together more often than by chance: "
            "vectors cannot be learned from it"
        )
    rows = vectors * np.sqrt(values).astype(np.float32)
    lengths = np.linalg.norm(rows, axis=1)
    kept = lengths > ROUNDING * lengths.max()  # what is shorter is no more than rounding
    return WordVectors(vocabulary.words, np.where(kept[:, None], rows, 0))
