r"""For each row the most alike of other rows, if it is alike enough; the others come in blocks.

Rows are compared as `deltavec.search.kernels` says, exactly. What is multiplied is shorter than a
row: its first m numbers :math:`a_1` and the length of the rest :math:`a_2`. As

.. math:: a \cdot b = a_1 \cdot b_1 + a_2 \cdot b_2 \le a_1 \cdot b_1 + |a_2| |b_2| ,

a pair whose shorter product is below the threshold, less the margin for rounding, needs no closer
look. In vectors whose first numbers carry most of them that is nearly every pair, and the product
takes a fraction of the time. m is the smallest of some that leaves few pairs of a sample over.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np

from deltavec.core.arrays import Float32s, Int64s, blocks, read_only
from deltavec.core.threads import one_blas_thread, parallel_map, thread_count
from deltavec.search import kernels
from deltavec.search.kernels import Queries, Rows, TopK
from deltavec.search.matrix import ChunkedMatrix
from deltavec.search.topk import NONE

STRIP = 512  # rows
BLOCK = 2048  # other rows
LENGTHS = (32, 64, 96, 128, 192, 256)  # m, of those that are much shorter than a row
SAMPLE = 1024
FEW_LEFT = 1e-4  # of the pairs of a sample: then a closer look takes less time than the product
UP = 1 + 2.0**-20  # more than roundings of a sum of squares and its root


class Matches(NamedTuple):
    """For each row the most alike of the others."""

    rows: Int64s  # the number of the other row, the lowest of several; -1 if none is alike enough
    scores: Float32s  # the cosine; 0 if there is none


def best_matches(
    pieces: ChunkedMatrix,
    others: Iterable[ChunkedMatrix],
    threshold: float,
    *,
    threads: int | None = None,
    on_progress: Callable[[int], None] | None = None,
) -> Matches:
    """For each row the most alike of the others, of those at or above the threshold.

    Parameters
    ----------
    pieces
        The rows, in one array.
    others
        The other rows, as they come; no more than one block of them is held.
    threshold
        A cosine above 0.
    threads
        How many cores; all of them by default.
    on_progress
        Called with the number of others that are done.
    """
    vectors = pieces.arrays[0]
    # Whatever reaches the threshold is better than this, as its rank is lower.
    best = TopK(
        np.full((len(vectors), 1), np.float32(threshold)),
        np.full((len(vectors), 1), np.iinfo(np.int64).max),
        np.ones(len(vectors), np.int64),
    )
    firsts = range(0, len(vectors), STRIP)
    length: int | None = None
    short = vectors
    done = 0
    with one_blas_thread():
        for block in others:
            (other,) = block.arrays
            if length is None:
                length = product_length(vectors, other, threshold)
                short = shorten(vectors, length)
            compare(pieces, short, block, length, done, best, firsts, thread_count(threads))
            done += len(other)
            if on_progress is not None:
                on_progress(done)
    found = best.ranks[:, 0] < np.iinfo(np.int64).max
    return Matches(
        np.where(found, best.ranks[:, 0], -1), np.where(found, best.scores[:, 0], np.float32(0))
    )


def compare(
    pieces: ChunkedMatrix,
    short: Float32s,
    block: ChunkedMatrix,
    length: int,
    begin: int,
    best: TopK,
    firsts: range,
    threads: int,
) -> None:
    """Take in a block of other rows, the first of which has this number among them."""
    vectors, other = pieces.arrays[0], block.arrays[0]
    short_other = shorten(other, length)
    margin = np.float32(
        kernels.margin(pieces.dimensions + 1, pieces.length_error, block.length_error)
    )
    rows = Rows(other, begin, NONE, NONE)

    def strip(first: int) -> None:
        here = slice(first, first + STRIP)
        queries = Queries(vectors[here], read_only(np.full(len(vectors[here]), margin)))
        own = TopK(best.scores[here], best.ranks[here], best.sizes[here])
        for start in range(0, len(other), BLOCK):
            products = short[here] @ short_other[start : start + BLOCK].T
            kernels.search_products(rows, start, products, queries, own)

    for _ in parallel_map(strip, firsts, threads):
        pass


def product_length(vectors: Float32s, others: Float32s, threshold: float) -> int:
    """How many numbers of a row to multiply, so that few pairs are left over; all, if many are."""
    some = vectors[:: max(1, len(vectors) // SAMPLE)][:SAMPLE]
    other = others[:: max(1, len(others) // SAMPLE)][:SAMPLE]
    alike = (some @ other.T >= threshold).mean()  # these need the closer look anyway
    for length in LENGTHS:
        if length > vectors.shape[1] // 2:
            break
        products = shorten(some, length) @ shorten(other, length).T
        if (products >= threshold).mean() <= alike + FEW_LEFT:
            return length
    return int(vectors.shape[1])


def shorten(vectors: Float32s, length: int) -> Float32s:
    """The first numbers of each row, and the length of the rest; the row itself if that is all."""
    if length == vectors.shape[1]:
        return vectors
    short = np.empty((len(vectors), length + 1), np.float32)
    short[:, :length] = vectors[:, :length]
    for rows in blocks(len(vectors), 4096):
        rest = vectors[rows, length:].astype(np.float64)
        short[rows, length] = np.sqrt(np.einsum("ij,ij->i", rest, rest)) * UP
    return short
