"""When rows get a sieve, and queries made ready for it; `deltavec.search.sieve_kernels` sifts.

A sieve is made from rows that are searched for the second time, in memory: a quarter of what the
rows take, and a little. Nothing of it is stored, so that every index and collection has it, and a
program that asks one question does not wait for it.
"""

from __future__ import annotations

import threading
from typing import NamedTuple

import numpy as np

from deltavec.core.arrays import frozen
from deltavec.core.kernels import Float32s, Int64s
from deltavec.core.threads import on_threads, thread_count
from deltavec.search import sieve_kernels
from deltavec.search.sieve_kernels import (
    HIGHEST_QUERY_CODE,
    ROWS,
    TOGETHER,
    UP,
    Coded,
    Sieve,
)

FEWEST_NUMBERS = 1 << 20  # below it rows are in the cache anyway
BLOCKS_A_TASK = 256
ROUNDING = 2.0**-24


class LazySieve:
    """The sieve of one array of rows, made when it is worth it."""

    def __init__(self) -> None:
        self.searches = 0
        self.made: MadeSieve | None = None
        self.making = threading.Lock()

    def of(self, vectors: Float32s, threads: int | None, *, now: bool = False) -> MadeSieve | None:
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
                    self.made = self.made or made_sieve(vectors, threads)
                finally:
                    self.making.release()
        return self.made


class MadeSieve(NamedTuple):
    """A sieve, and the largest of all distances between a row and its codes."""

    sieve: Sieve
    farthest: float


def made_sieve(
    vectors: Float32s, threads: int | None = None, order: Int64s | None = None
) -> MadeSieve:
    """The sieve of some rows, in this order if one is given."""
    rows = frozen(np.empty(0, np.int64)) if order is None else order
    blocks = -(-len(vectors) // ROWS)
    dimensions = padded(vectors.shape[1])
    sieve = Sieve(
        np.zeros((blocks, dimensions, ROWS), np.int8),
        np.zeros((blocks, ROWS), np.float32),
        np.zeros(blocks, np.float32),
    )

    def fill(first: int) -> None:
        sieve_kernels.fill_blocks(vectors, rows, first, min(first + BLOCKS_A_TASK, blocks), sieve)

    for _ in on_threads(fill, range(0, blocks, BLOCKS_A_TASK), thread_count(threads)):
        pass
    farthest = (sieve.steps * sieve.slacks[:, None]).max(initial=0)
    return MadeSieve(
        Sieve(frozen(sieve.codes), frozen(sieve.steps), frozen(sieve.slacks)), float(farthest) * UP
    )


def coded_queries(
    queries: Float32s, query_error: float, row_error: float, farthest: float, margin: float
) -> Coded:
    """The codes of queries, for rows that are as described.

    Parameters
    ----------
    queries
        Of unit length, or zero.
    query_error, row_error
        How far lengths are from 1 at most.
    farthest
        The largest distance between a row and its codes.
    margin
        How far a product may be from the score.
    """
    wide = queries.astype(np.float64)
    steps = (np.abs(wide).max(axis=1) / HIGHEST_QUERY_CODE).astype(np.float32)
    whole = np.where(steps > 0, steps, 1).astype(np.float64)[:, None]
    nearest = np.rint(wide / whole).clip(-HIGHEST_QUERY_CODE, HIGHEST_QUERY_CODE)
    errors = np.sqrt(((wide - whole * nearest) ** 2).sum(axis=1)) * UP  # f
    lengths = 1 + query_error
    largest = (1 + row_error + farthest) * (lengths + errors)  # of s t p.c
    largest += farthest * (lengths + errors) + errors * (1 + row_error) + margin
    slacks = errors * (1 + row_error) + margin + 8 * ROUNDING * largest
    codes = np.zeros((len(queries), padded(queries.shape[1])), np.int16)
    codes[:, : queries.shape[1]] = nearest
    return Coded(
        frozen(codes),
        frozen(steps),
        frozen(((lengths + errors) * UP).astype(np.float32)),
        frozen((slacks * UP).astype(np.float32)),
    )


def padded(dimensions: int) -> int:
    """The dimensions that codes have: so many, filled up to be taken four at a time."""
    return -(-dimensions // TOGETHER) * TOGETHER
