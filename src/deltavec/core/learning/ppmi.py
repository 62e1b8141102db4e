"""Word vectors from co-occurrence: positive pointwise mutual information, factorized."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from deltavec.core.arguments import require_whole
from deltavec.core.arrays import Allocate, Float32s, Float64s, Spill, read_only
from deltavec.core.kernels.embed import ROUNDING
from deltavec.core.learning import kernels as pair_kernels
from deltavec.core.learning.cooccurrence import (
    SHARES_PER_THREAD,
    Cooccurrence,
    split_rows,
)
from deltavec.core.learning.corpora import LearningCorpus
from deltavec.core.learning.kernels import SparseRows
from deltavec.core.learning.svd import leading_left_singular
from deltavec.core.threads import equal_shares, parallel_map, thread_count
from deltavec.core.vectors import WordVectors
from deltavec.errors import CorpusError

DIMENSIONS, WINDOW = 300, 20
CONTEXT_SMOOTHING = 0.75
POWER_ITERATIONS = 7
# Most counts are small. Of nothing there is none, and none is asked for.
LOGS = read_only(np.log(np.maximum(np.arange(1 << 12), 1)).astype(np.float32))


class Ppmi:
    r"""Positive pointwise mutual information, as a matrix that multiplies.

    .. math:: M_{ij} = \max\left(0, \log \frac{C_{ij}}{C_{i\cdot}\, q_j}\right),
              \quad q_j \propto \Bigl(\sum_i C_{ij}\Bigr)^{\mathrm{smoothing}}

    Entries above zero in it or in its transpose are kept, eight bytes each. Counts are symmetric,
    so :math:`M_{ji}` follows from the entry :math:`M_{ij}` before it was cut off at zero, and from
    one number per word.

    Parameters
    ----------
    counts
        C.
    smoothing
        The power that makes rare neighbors less rare.
    without
        Counts of a part of the text, with the same entries, that are taken off.
    allocate
        Where the entries are kept.
    """

    def __init__(
        self,
        counts: Cooccurrence,
        smoothing: float,
        *,
        without: Cooccurrence | None = None,
        threads: int | None = None,
        allocate: Allocate = np.empty,
    ) -> None:
        totals = counts.totals.astype(np.float64)
        taken_off = [np.zeros(0, np.int32)] * len(counts.blocks)
        if without is not None:
            totals -= without.totals
            taken_off = [block.values for block in without.blocks]
        known = np.maximum(totals, 1.0)  # a word without neighbors has an empty row
        row_shifts = np.log(known).astype(np.float32)
        contexts = np.log(max((totals**smoothing).sum(), 1.0))
        column_shifts = (smoothing * np.log(known) - contexts).astype(np.float32)
        self.size = counts.words
        self.threads = thread_count(threads)
        self._to_transpose = row_shifts - column_shifts
        self._rows = [
            kept_rows(block, off, row_shifts, column_shifts, self.threads, allocate)
            for block, off in zip(counts.blocks, taken_off, strict=True)
        ]

    def row_norms(self) -> Float64s:
        """The length of each row of M."""
        squares = np.zeros(self.size)

        def work(rows: SparseRows, first: int, last: int) -> None:
            pair_kernels.square_sums(rows, first, last, squares)

        self._on_rows(work)
        return np.sqrt(squares)

    def times(self, matrix: Float32s, own: float = 0.0, scales: Float32s | None = None) -> Float32s:
        """diag(scales) (M + own I) times the matrix; the scales are 1 unless told."""
        return self._product(np.zeros_like(self._to_transpose), matrix, own, scales)

    def transposed_times(self, matrix: Float32s, own: float = 0.0) -> Float32s:
        """The transpose of M + own I times the matrix."""
        return self._product(self._to_transpose, matrix, own, None)

    def _product(
        self, shifts: Float32s, matrix: Float32s, own: float, scales: Float32s | None
    ) -> Float32s:
        product = np.empty_like(matrix)
        scales = np.ones(self.size, np.float32) if scales is None else scales

        def work(rows: SparseRows, first: int, last: int) -> None:
            pair_kernels.times_positive(rows, shifts, own, scales, first, last, matrix, product)

        self._on_rows(work)
        return product

    def _on_rows(self, work: Callable[[SparseRows, int, int], None]) -> None:
        """Run work on all rows, split among threads."""
        tasks = [
            (rows, *share)
            for rows in self._rows
            for share in equal_shares(rows.begins, self.threads * SHARES_PER_THREAD)
        ]
        list(parallel_map(lambda task: work(*task), tasks, self.threads))


def kept_rows(
    counts: SparseRows,
    without: npt.NDArray[Any],
    row_shifts: Float32s,
    column_shifts: Float32s,
    threads: int,
    allocate: Allocate,
) -> SparseRows:
    """The entries of some rows that are above zero in M or in its transpose, as in M."""

    def write(first: int, last: int, *rows: npt.NDArray[Any]) -> int:
        return pair_kernels.ppmi_inplace(
            counts, without, row_shifts, column_shifts, LOGS, first, last, *rows
        )

    begins, columns, values = split_rows(
        write, counts.begins, counts.begins, [np.float32], threads, allocate
    )
    return SparseRows(counts.first, begins, columns, values)


def ppmi_vectors(
    corpus: LearningCorpus,
    *,
    dimensions: int = DIMENSIONS,
    window: int = WINDOW,
    min_count: int | None = None,
    seed: int = 0,
) -> WordVectors:
    r"""Word vectors from the co-occurrence counts of a corpus.

    The rows of :math:`U S^{1/2}` at unit length, where :math:`U S V^\top` is the matrix of
    positive pointwise mutual information truncated to its leading ``dimensions``.

    A vocabulary of fewer than about ``dimensions`` words gives fewer dimensions.
    """
    for name, size in (("dimensions", dimensions), ("window", window), ("min_count", min_count)):
        if size is not None or name != "min_count":
            require_whole(name, size)
    words = corpus.words(min_count)
    vocabulary = words.vocabulary
    allocate = Spill(corpus.max_memory)
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
        allocate=allocate,
    )
    if len(values) == 0 or values[0] <= 0:
        raise CorpusError(
            "no two words of the corpus occur together more often than by chance: "
            "vectors cannot be learned from it"
        )
    rows = vectors * np.sqrt(values).astype(np.float32)
    lengths = np.linalg.norm(rows, axis=1)
    kept = lengths > ROUNDING * lengths.max()  # what is shorter is no more than rounding
    return WordVectors(vocabulary.words, np.where(kept[:, None], rows, 0))
