r"""int8 scalar quantization with exact rescoring: codes of rows, and upper bounds of scores.

A search reads every row and is bound by memory bandwidth. A quarter of the bytes almost always
shows that a row is not among the best, and only the others are read in full. Before the codes of a
block, the smaller codes of its heads are read (`deltavec.search.quantized.pca_bound`). If these
leave few candidates, nothing else of the block is read.

Codes
-----
Of a row x its step :math:`s = \max_k |x_k| / 127` and its codes c, the whole numbers nearest to
:math:`x_k / s`. Of 128 rows together the largest of :math:`g = \lVert x - s c \rVert / s`. Codes of
128 rows are stored dimension by dimension, so that one instruction processes many rows and nothing
is summed across lanes. A query q has a step :math:`t = \max_k |q_k| / 63` and codes p in the same
way: four products of two codes fit into 16 bits.

Why the result is exact
-----------------------
With :math:`f = \lVert q - t p \rVert`,

.. math:: q \cdot x = s t\, p \cdot c + (q - t p) \cdot s c + q \cdot (x - s c)
          \le s t\, p \cdot c + f \lVert s c \rVert + \lVert q \rVert s g
          \le s\,(t\, p \cdot c + (\lVert q \rVert + f)\, g) + f \lVert x \rVert

by Cauchy and Schwarz, as :math:`\lVert s c \rVert \le \lVert x \rVert + s g`. Whole numbers are
summed without error: 63 * 127 * `MOST_DIMENSIONS` is below 2^31. The score of the row is at most
the margin m of `deltavec.search.kernels` above :math:`q \cdot x`, so

.. math:: h = s\,(t\, p \cdot c + G) + F, \qquad G \ge (\lVert q \rVert + f)\, g, \qquad
          F \ge f (1 + d) + m + 8 \cdot 2^{-24} A

is no lower than the score, although it is evaluated in float32: that takes six roundings of
numbers no larger than A, the sum of all terms' largest values (`code_queries`). A row with h below
the k-th best score found so far cannot be among the k best and is skipped. Every other row is
scored by `deltavec.search.kernels`. So every result and score is the same to the last bit;
quantization changes only how much is read.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from deltavec.core.arrays import Float32s, Int32s, Int64s, UInt8s
from deltavec.core.jit import compiled, inlined
from deltavec.search.kernels import (
    ROUNDING,
    Queries,
    Rows,
    TopK,
    fast_dot,
    keep,
    offer,
    threshold_of,
)

ROWS = 128  # of a block
MOST_BLOCKS = 256
FIRST_BLOCKS = 32  # their best rows give a threshold for the next blocks
FEWER_BLOCKS = 8  # their codes stay in the cache while several queries scan them
HIGHEST_ROW_CODE = 127
HIGHEST_QUERY_CODE = 63
TOGETHER = 4  # products that fit into 16 bits: 4 * 63 * 127 < 2^15
FEW_ROWS = 4  # of a block: reading these costs no more than reading all codes
UP = 1 + 1e-6  # exceeds a rounding to float32

Int8s = npt.NDArray[np.int8]
Int16s = npt.NDArray[np.int16]


class Codes(NamedTuple):
    """Codes of rows in blocks of 128; the last block is padded with zeros."""

    codes: Int8s  # (blocks, dimensions, 128): dimensions are a multiple of 4, filled up with zeros
    steps: Float32s  # (blocks, 128)
    slacks: Float32s  # (blocks,): g


class Candidates(NamedTuple):
    """Rows that may be among the best, and upper bounds of their scores."""

    places: Int64s
    scores: Float32s


class QueryCodes(NamedTuple):
    """Codes of queries."""

    codes: Int16s  # (queries, dimensions)
    steps: Float32s
    margins: Float32s  # the factor of g
    slacks: Float32s  # F


class QuantizedSearch(NamedTuple):
    """Codes of rows and of queries: of heads, of which there may be none, and whole."""

    heads: Codes
    rows: Codes
    query_heads: QueryCodes
    queries: QueryCodes
    allowed: UInt8s  # which rows may be found; empty for all


@compiled
def fill_blocks(vectors: Float32s, first: int, last: int, kept: Codes) -> None:
    """Write the codes of blocks ``first`` to ``last``."""
    dimensions = vectors.shape[1]
    for block in range(first, last):
        slack = 0.0
        for row in range(ROWS):
            place = block * ROWS + row
            if place >= vectors.shape[0]:
                break
            largest = np.float32(0)
            for k in range(dimensions):
                largest = max(largest, abs(vectors[place, k]))
            step = np.float32(largest / HIGHEST_ROW_CODE)
            kept.steps[block, row] = step
            if step == 0:
                continue
            wide = np.float64(step)
            square = 0.0
            for k in range(dimensions):
                x = np.float64(vectors[place, k])
                code = np.rint(x / wide)
                code = min(max(code, -HIGHEST_ROW_CODE), HIGHEST_ROW_CODE)
                kept.codes[block, k, row] = np.int8(code)
                square += (x - wide * code) ** 2
            slack = max(slack, np.sqrt(square) / wide)
        kept.slacks[block] = np.float32(slack * UP)


@compiled
def code_queries(
    queries: Float32s,
    query_error: float,
    row_error: float,
    farthest: float,
    margin: float,
    coded: QueryCodes,
) -> None:
    """Write the codes of queries for rows with at most this quantization error.

    The errors bound how far lengths are from 1, the margin how far a fast product is from the
    score.
    """
    length = 1 + query_error
    for query in range(queries.shape[0]):
        largest = np.float32(0)
        for k in range(queries.shape[1]):
            largest = max(largest, abs(queries[query, k]))
        step = np.float32(largest / HIGHEST_QUERY_CODE)
        wide = np.float64(step) if step > 0 else 1.0
        square = 0.0
        for k in range(queries.shape[1]):
            x = np.float64(queries[query, k])
            code = np.rint(x / wide)
            code = min(max(code, -HIGHEST_QUERY_CODE), HIGHEST_QUERY_CODE)
            coded.codes[query, k] = np.int16(code)
            square += (x - wide * code) ** 2
        error = np.sqrt(square) * UP  # f
        most = (1 + row_error + farthest) * (length + error)  # of s t p.c
        most += farthest * (length + error) + error * (1 + row_error) + margin
        coded.steps[query] = step
        coded.margins[query] = np.float32((length + error) * UP)
        coded.slacks[query] = np.float32(
            (error * (1 + row_error) + margin + 8 * ROUNDING * most) * UP
        )


@inlined
def add_products(codes: Int8s, block: int, weights: Int16s, products: Int32s) -> None:
    """Write the integer products of a block with a query."""
    for row in range(ROWS):
        products[row] = 0
    for k in range(0, codes.shape[1], TOGETHER):
        a, b, c, d = weights[k], weights[k + 1], weights[k + 2], weights[k + 3]
        for row in range(ROWS):
            # In 16 bits twice as many fit into a register; four products are widened together.
            total = np.int16(np.int16(codes[block, k, row]) * a)
            total = np.int16(total + np.int16(np.int16(codes[block, k + 1, row]) * b))
            total = np.int16(total + np.int16(np.int16(codes[block, k + 2, row]) * c))
            total = np.int16(total + np.int16(np.int16(codes[block, k + 3, row]) * d))
            products[row] += np.int32(total)


@inlined
def candidates_in_block(
    kept: Codes,
    block: int,
    coded: QueryCodes,
    query: int,
    worst: Any,
    products: Int32s,
    reached: Float32s,
    high: Candidates,
    found: int,
) -> int:
    """Append the rows of a block whose upper bound reaches the threshold; return their number."""
    add_products(kept.codes, block, coded.codes[query], products)
    slack, step = coded.slacks[query], coded.steps[query]
    bound = np.float32(worst - slack)
    stretched = coded.margins[query] * kept.slacks[block]
    count = np.int32(0)  # as wide as the operands: a wider one takes four times as long
    for row in range(ROWS):
        high_score = kept.steps[block, row] * (step * np.float32(products[row]) + stretched)
        reached[row] = high_score
        count += np.int32(high_score >= bound)
    for row in range(ROWS if count else 0):
        if reached[row] >= bound:
            high.places[found] = block * ROWS + row
            high.scores[found] = reached[row] + slack
            found += 1
    return found


@compiled
def candidate_rows(
    codes: QuantizedSearch,
    first: int,
    last: int,
    query: int,
    worst: Any,
    high: Candidates,
    found: int,
) -> int:
    """Append the candidates of blocks ``first`` to ``last``; return how many there are."""
    products, reached = np.empty(ROWS, np.int32), np.empty(ROWS, np.float32)
    has_heads = codes.heads.slacks.size > 0
    for block in range(first, last):
        if has_heads and worst > -np.inf:
            few = candidates_in_block(
                codes.heads, block, codes.query_heads, query, worst, products, reached, high, found
            )
            if few - found <= FEW_ROWS:
                found = few
                continue
        found = candidates_in_block(
            codes.rows, block, codes.queries, query, worst, products, reached, high, found
        )
    return found


@compiled
def kth_best(best: TopK, query: int) -> Any:
    """The k-th best score so far; minus infinity while there are fewer than k."""
    if best.sizes[query] < best.scores.shape[1]:
        return best.scores.dtype.type(-np.inf)
    return best.scores[query, 0]


@compiled
def first_blocks(best: TopK, few: int, most: int) -> int:
    """How many blocks to start with: few while the heaps are not full."""
    return most if best.sizes.min() == best.scores.shape[1] else min(few, most)


@compiled
def rescore_top(
    rows: Rows,
    allowed: UInt8s,
    last: int,
    high: Candidates,
    first: int,
    found: int,
    queries: Queries,
    query: int,
    best: TopK,
) -> int:
    """Rescore the k candidates with the highest bounds, and keep the others that may still win.

    Those wait until the threshold is higher, when most of them need not be read. Return how many
    candidates remain.
    """
    k = best.scores.shape[1]
    likely = TopK(np.empty((1, k), np.float32), np.empty((1, k), np.int64), np.zeros(1, np.int64))
    for number in range(first, found):
        place, score = high.places[number], high.scores[number]
        if place >= last or (allowed.size > 0 and allowed[place] == 0):
            high.scores[number] = -np.inf
        elif likely.sizes[0] < k or score > likely.scores[0, 0]:
            keep(likely, 0, score, number)
    for number in likely.ranks[0, : likely.sizes[0]]:
        offer(rows, high.places[number], queries, query, best)
        high.scores[number] = -np.inf
    worst = kth_best(best, query)
    left = first
    for number in range(first, found):
        if high.scores[number] > -np.inf and high.scores[number] >= worst:
            high.places[left], high.scores[left] = high.places[number], high.scores[number]
            left += 1
    return left


@compiled
def rescore_rest(
    rows: Rows, high: Candidates, found: int, queries: Queries, query: int, best: TopK
) -> None:
    """Rescore the remaining candidates."""
    bound, worst = threshold_of(best, queries, query), kth_best(best, query)
    for number in range(found):
        if high.scores[number] >= worst:
            place = high.places[number]
            if fast_dot(rows.vectors[place], queries.vectors[query]) >= bound:
                bound = offer(rows, place, queries, query, best)
                worst = kth_best(best, query)


@compiled
def scan_quantized(
    rows: Rows, codes: QuantizedSearch, first: int, last: int, queries: Queries, best: TopK
) -> None:
    """Search rows ``first``, a multiple of `ROWS`, to ``last`` for the best of each query."""
    count = queries.vectors.shape[0]
    most = MOST_BLOCKS if count == 1 else FEWER_BLOCKS
    room = 2 * most * ROWS
    places, scores = np.empty((count, room), np.int64), np.empty((count, room), np.float32)
    left = np.zeros(count, np.int64)
    begin, end, blocks = first // ROWS, -(-last // ROWS), first_blocks(best, FIRST_BLOCKS, most)
    while begin < end:
        stop = min(begin + blocks, end)
        for query in range(count):
            high = Candidates(places[query], scores[query])
            if left[query] > room - (stop - begin) * ROWS:
                rescore_rest(rows, high, left[query], queries, query, best)
                left[query] = 0
            worst, before = kth_best(best, query), left[query]
            found = candidate_rows(codes, begin, stop, query, worst, high, before)
            left[query] = rescore_top(
                rows, codes.allowed, last, high, before, found, queries, query, best
            )
        # The higher the threshold, the fewer candidates a block has.
        begin, blocks = stop, min(2 * blocks, most)
    for query in range(count):
        high = Candidates(places[query], scores[query])
        rescore_rest(rows, high, left[query], queries, query, best)
