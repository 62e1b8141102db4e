"""Word vectors from co-occurrence: positive pointwise mutual information, factorised."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from deltavec.core.arrays import frozen
from deltavec.core.kernels import ROUNDING
from deltavec.core.learning import kernels as pair_kernels
from deltavec.core.learning.corpora import LearningCorpus
from deltavec.core.learning.factors import leading_left_singular
from deltavec.core.learning.spill import spilling
from deltavec.core.learning.windows import (
    SHARES_PER_THREAD,
    Cooccurrence,
    SparseRows,
)
from deltavec.core.threads import equal_shares, on_threads, thread_count
from deltavec.core.vectors import WordVectors
from deltavec.errors import CorpusError

DIMENSIONS, WINDOW = 300, 20
CONTEXT_SMOOTHING = 0.75
POWER_ITERATIONS = 7
# Most counts are small. Of nothing there is none, and none is asked for.
LOGS = frozen(np.log(np.maximum(np.arange(1 << 12), 1)).astype(np.float32))


class Ppmi:
    r"""Positive pointwise mutual information, as a matrix that multiplies.

    .. math:: M_{ij} = \max\left(0, \log \frac{C_{ij}}{C_{i\cdot}\, q_j}\right),
              \quad q_j \propto \Bigl(\sum_i C_{ij}\Bigr)^{\mathrm{smoothing}}

    It takes no room: its entries follow from the counts whenever they are needed.

    Parameters
    ----------
    counts
        C.
    smoothing
        The power that makes rare neighbours less rare.
    without
        Counts of a part of the text, with the same entries, that are taken off.
    """

    def __init__(
        self,
        counts: Cooccurrence,
        smoothing: float,
        *,
        without: Cooccurrence | None = None,
        threads: int | None = None,
    ) -> None:
        totals = counts.totals.astype(np.float64)
        if without is not None:
            totals -= without.totals
        with np.errstate(divide="ignore"):  # a word without neighbours has an empty row
            self._row_shifts = np.log(totals).astype(np.float32)
            contexts = totals**smoothing
            self._column_shifts = np.log(contexts / max(contexts.sum(), 1.0)).astype(np.float32)
        self.size = counts.words
        self.threads = thread_count(threads)
        nothing = np.zeros(0, np.int32)
        taken_off = [nothing] * len(counts.blocks)
        if without is not None:
            taken_off = [block.values for block in without.blocks]
        self._blocks = list(zip(counts.blocks, taken_off, strict=True))

    def row_norms(self) -> npt.NDArray[np.float64]:
        """The length of each row of M."""
        squares = np.zeros(self.size)
        self._on_rows(pair_kernels.square_sums, self._row_shifts, self._column_shifts, squares)
        return np.sqrt(squares)

    def times(self, matrix: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
        """M times the matrix."""
        return self._product(self._row_shifts, self._column_shifts, matrix)

    def transposed_times(self, matrix: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
        """The transpose of M times the matrix."""
        return self._product(self._column_shifts, self._row_shifts, matrix)

    def _product(
        self,
        row_shifts: npt.NDArray[np.float32],
        column_shifts: npt.NDArray[np.float32],
        matrix: npt.NDArray[np.float32],
    ) -> npt.NDArray[np.float32]:
        product = np.empty_like(matrix)
        self._on_rows(pair_kernels.times_positive, row_shifts, column_shifts, matrix, product)
        return product

    def _on_rows(self, kernel: Callable[..., None], *arrays: npt.NDArray[Any]) -> None:
        """Let threads go over the rows, some of them each."""
        row_shifts, column_shifts, *rest = arrays

        def work(task: tuple[SparseRows, npt.NDArray[Any], tuple[int, int]]) -> None:
            (first, begins, columns, values), without, share = task
            kernel(
                begins, columns, values, without, row_shifts, column_shifts, LOGS,
                first, *share, *rest,
            )  # fmt: skip

        tasks = [
            (block, without, share)
            for block, without in self._blocks
            for share in equal_shares(block.begins, self.threads * SHARES_PER_THREAD)
        ]
        list(on_threads(work, tasks, self.threads))


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
        ppmi = Ppmi(pairs, CONTEXT_SMOOTHING, threads=corpus.threads)
        vectors, values = leading_left_singular(
            ppmi.times,
            ppmi.transposed_times,
            ppmi.size,
            dimensions,
            power_iterations=POWER_ITERATIONS,
            seed=seed,
            threads=ppmi.threads,
            allocate=allocate,
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
