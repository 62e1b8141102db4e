"""When rows get a sieve, and queries made ready for it; `deltavec.search.quantized.kernels` sifts.

A sieve is made from rows that are searched for the second time, in memory: at most three eighths of
what the rows take, and a little. Nothing of it is stored, so that every index and collection has
it, and a program that asks one question does not wait for it.
"""

from __future__ import annotations

import threading
from typing import NamedTuple

import numpy as np

from deltavec.core.arrays import Float32s, Float64s, Int64s, read_only
from deltavec.core.threads import one_blas_thread, parallel_map, thread_count
from deltavec.search.quantized import kernels, pca_bound
from deltavec.search.quantized.kernels import (
    ROWS,
    TOGETHER,
    UP,
    Codes,
    QuantizedQueries,
    QuantizedRows,
    QueryCodes,
)

FEWEST_NUMBERS = 1 << 20  # below it rows are in the cache anyway
BLOCKS_A_TASK = 64
IN_ORDER = read_only(np.empty(0, np.int64))


class LazyQuantizer:
    """The sieve of one array of rows, made when it is worth it."""

    def __init__(self) -> None:
        self.searches = 0
        self.made: QuantizedMatrix | None = None
        self.making = threading.Lock()

    def of(
        self, vectors: Float32s, threads: int | None, *, now: bool = False
    ) -> QuantizedMatrix | None:
        """The sieve of these rows, always the same ones; None where they should be read whole.

        Parameters
        ----------
        vectors
            The rows.
        threads
            How many cores may make it.
        now
            Whether to make it although it is the first search.
        """
        if self.made is None and vectors.size >= FEWEST_NUMBERS:
            self.searches += 1
            # While one thread makes it, the others go on without.
            if (now or self.searches > 1) and self.making.acquire(blocking=now):
                try:
                    self.made = self.made or quantize(vectors, threads)
                finally:
                    self.making.release()
        return self.made


class QuantizedMatrix(NamedTuple):
    """A sieve, the directions of its heads, and how far a row, or its head, is from its codes."""

    sieve: QuantizedRows
    farthest: float
    directions: Float64s  # a column each; none if rows have no heads
    farthest_head: float


def quantize(
    vectors: Float32s,
    threads: int | None = None,
    order: Int64s = IN_ORDER,
    directions: Float64s | None = None,
) -> QuantizedMatrix:
    """The sieve of some rows.

    Parameters
    ----------
    vectors
        The rows.
    threads
        How many cores may make it.
    order
        The order of the rows in it; as they are if this is empty.
    directions
        Those of the heads, a column each; by default those that suit the rows.
    """
    with one_blas_thread():
        seen = pca_bound.principal_axes(vectors) if directions is None else directions
        count, numbers = len(vectors), seen.shape[1] + 1
        head = allocate_codes(count if numbers > 1 else 0, numbers)
        whole = allocate_codes(count, vectors.shape[1])
        blocks = len(whole.slacks)

        def fill(first: int) -> None:
            last = min(first + BLOCKS_A_TASK, blocks)
            kernels.fill_blocks(vectors, order, first, last, whole)
            if numbers > 1:
                part = slice(first * ROWS, last * ROWS)
                rows = vectors[order[part]] if order.size else vectors[part]
                codes, steps, slacks = head
                here = Codes(codes[first:last], steps[first:last], slacks[first:last])
                kernels.fill_blocks(
                    pca_bound.project_heads(rows, seen), IN_ORDER, 0, last - first, here
                )

        for _ in parallel_map(fill, range(0, blocks, BLOCKS_A_TASK), thread_count(threads)):
            pass
    sieve = QuantizedRows(read_only_codes(head), read_only_codes(whole))
    return QuantizedMatrix(sieve, farthest(whole), read_only(seen), farthest(head))


def read_only_codes(kept: Codes) -> Codes:
    """The same, read-only."""
    return Codes(read_only(kept.codes), read_only(kept.steps), read_only(kept.slacks))


def allocate_codes(rows: int, dimensions: int) -> Codes:
    """Codes of so many rows, all zero."""
    blocks = -(-rows // ROWS)
    return Codes(
        np.zeros((blocks, pad(dimensions), ROWS), np.int8),
        np.zeros((blocks, ROWS), np.float32),
        np.zeros(blocks, np.float32),
    )


def farthest(kept: Codes) -> float:
    """The largest distance between a row and its codes."""
    return float((kept.steps * kept.slacks[:, None]).max(initial=0)) * UP


def quantize_queries(
    queries: Float32s, query_error: float, row_error: float, made: QuantizedMatrix, margin: float
) -> QuantizedQueries:
    """The codes of queries, for the rows of a sieve.

    Parameters
    ----------
    queries
        Of unit length, or zero.
    query_error, row_error
        How far lengths are from 1 at most.
    made
        The sieve.
    margin
        How far a product may be from the score.
    """
    whole = quantize_as(queries, query_error, row_error, made.farthest, margin)
    if not made.directions.shape[1]:
        return QuantizedQueries(whole, whole)
    error = pca_bound.ERROR
    seen = pca_bound.project_heads(queries, made.directions)
    head = quantize_as(
        seen, query_error + error, row_error + error, made.farthest_head, margin + error
    )
    return QuantizedQueries(head, whole)


def quantize_as(
    queries: Float32s, query_error: float, row_error: float, farthest: float, margin: float
) -> QueryCodes:
    """The codes of queries, for rows that are no farther than this from their codes."""
    count, dimensions = queries.shape
    steps, stretches, slacks = np.empty((3, count), np.float32)
    coded = QueryCodes(np.zeros((count, pad(dimensions)), np.int16), steps, stretches, slacks)
    kernels.code_queries(read_only(queries), query_error, row_error, farthest, margin, coded)
    return QueryCodes(
        read_only(coded.codes), read_only(steps), read_only(stretches), read_only(slacks)
    )


def pad(dimensions: int) -> int:
    """The dimensions that codes have: so many, filled up to be taken four at a time."""
    return -(-dimensions // TOGETHER) * TOGETHER
