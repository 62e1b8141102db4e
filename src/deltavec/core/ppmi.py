"""Word vectors from co-occurrence: positive pointwise mutual information, factorised."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from deltavec.core import pair_kernels
from deltavec.core.cooccurrence import (
    DEFAULT_MEMORY,
    SHARES_PER_THREAD,
    Allocate,
    Cooccurrence,
    Rows,
    cooccurrence,
    gathered,
    listed_ids,
)
from deltavec.core.discovery import learned_vocabulary
from deltavec.core.kernels import ROUNDING
from deltavec.core.packing import begins_of, equal_shares
from deltavec.core.passes import thread_count
from deltavec.core.singular import leading_left_singular
from deltavec.core.texts import Tokenizer, as_chunked, rereadable
from deltavec.core.vectors import WordVectors
from deltavec.core.vocabulary import Vocabulary
from deltavec.errors import CorpusError


class Entries(NamedTuple):
    """What is not zero in some successive rows of a matrix."""

    first: int
    begins: npt.NDArray[np.int64]
    columns: npt.NDArray[np.int32]
    values: npt.NDArray[np.float32]


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
        self._threads = thread_count(threads)
        self._rows = [
            positive(block, row_shifts, column_shifts, self._threads, allocate)
            for block in counts.blocks
        ]
        self._columns = [
            positive(block, column_shifts, row_shifts, self._threads, allocate)
            for block in counts.blocks
        ]

    def row_norms(self) -> npt.NDArray[np.float64]:
        """The length of each row of M."""
        squares = np.zeros(self.size)
        for first, begins, _, values in self._rows:
            filled = np.flatnonzero(np.diff(begins))
            if len(filled):
                sums = np.add.reduceat(np.square(values), begins[filled], dtype=np.float64)
                squares[first + filled] = sums
        return np.sqrt(squares)

    def times(self, matrix: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
        """M times the matrix."""
        return multiplied(self._rows, matrix, self._threads)

    def transposed_times(self, matrix: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
        """The transpose of M times the matrix."""
        return multiplied(self._columns, matrix, self._threads)


def positive(
    block: Rows,
    row_shifts: npt.NDArray[np.float32],
    column_shifts: npt.NDArray[np.float32],
    threads: int,
    allocate: Allocate,
) -> Entries:
    """The entries above zero of log(counts) - row shifts - column shifts."""
    lengths = np.zeros(len(block.begins) - 1, np.int64)

    def work(share: tuple[int, int]) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.float32]]:
        room = int(block.begins[share[1]] - block.begins[share[0]])
        columns, values = np.empty(room, np.int32), np.empty(room, np.float32)
        written = pair_kernels.positive_entries(
            block.begins, block.columns, block.counts, row_shifts, column_shifts,
            block.first, *share, lengths, columns, values,
        )  # fmt: skip
        return columns[:written].copy(), values[:written].copy()

    with ThreadPoolExecutor(threads) as pool:
        parts = list(pool.map(work, equal_shares(block.begins, threads * SHARES_PER_THREAD)))
    return Entries(
        block.first,
        begins_of(lengths),
        gathered([columns for columns, _ in parts], np.int32, allocate),
        gathered([values for _, values in parts], np.float32, allocate),
    )


def multiplied(
    rows: Sequence[Entries], matrix: npt.NDArray[np.float32], threads: int
) -> npt.NDArray[np.float32]:
    """The sparse matrix of these rows times the matrix."""
    product = np.empty_like(matrix)
    with ThreadPoolExecutor(threads) as pool:
        for first, begins, columns, values in rows:
            tasks = [
                pool.submit(
                    pair_kernels.times_sparse, begins, columns, values, first, *share,
                    matrix, product,
                )
                for share in equal_shares(begins, threads * SHARES_PER_THREAD)
            ]  # fmt: skip
            for task in tasks:
                task.result()
    return product


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
    return vectors_of_counts(
        vocabulary,
        counts,
        dimensions=dimensions,
        context_smoothing=context_smoothing,
        power_iterations=power_iterations,
        seed=seed,
        threads=threads,
        allocate=allocate,
    )


def vectors_of_counts(
    vocabulary: Vocabulary,
    counts: Cooccurrence,
    *,
    dimensions: int = 300,
    context_smoothing: float = 0.75,
    power_iterations: int = 7,
    seed: int = 0,
    threads: int | None = None,
    allocate: Allocate = np.empty,
) -> WordVectors:
    """The word vectors of these counts, wherever they were counted."""
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
