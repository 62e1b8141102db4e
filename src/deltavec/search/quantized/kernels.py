r"""int8 scalar quantization with exact rescoring: codes of rows, and upper bounds of scores.

A search reads every row and is bound by memory bandwidth. A quarter of the bytes almost always
shows that a row is not among the best, and only the others are read in full. Before the codes of a
block, the smaller codes of its heads are read (`deltavec.search.quantized.build`). If these
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

from deltavec.core.arrays import Float32s, Int32s
from deltavec.core.jit import compiled, inlined
from deltavec.search.kernels import ROUNDING

ROWS = 128  # of a block
HIGHEST_ROW_CODE = 127
HIGHEST_QUERY_CODE = 63
TOGETHER = 4  # products that fit into 16 bits: 4 * 63 * 127 < 2^15
UP = 1 + 1e-6  # exceeds a rounding to float32

Int8s = npt.NDArray[np.int8]
Int16s = npt.NDArray[np.int16]


class Codes(NamedTuple):
    """Codes of rows in blocks of 128; the last block is padded with zeros."""

    codes: Int8s  # (blocks, dimensions, 128): dimensions are a multiple of 4, filled up with zeros
    steps: Float32s  # (blocks, 128)
    slacks: Float32s  # (blocks,): g


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


@inlined
def code_vector(vector: Float32s, highest: int, codes: Any) -> tuple[Any, float]:
    """Write the codes of a vector; its step, and the length of what the codes leave."""
    largest = np.float32(0)
    for k in range(vector.size):
        largest = max(largest, abs(vector[k]))
    step = np.float32(largest / highest)
    wide = np.float64(step) if step > 0 else 1.0
    square = 0.0
    for k in range(vector.size):
        x = np.float64(vector[k])
        code = min(max(np.rint(x / wide), -highest), highest)
        codes[k] = code
        square += (x - wide * code) ** 2
    return step, np.sqrt(square)


@compiled
def fill_blocks(vectors: Float32s, first: int, last: int, kept: Codes) -> None:
    """Write the codes of blocks ``first`` to ``last``."""
    for block in range(first, last):
        slack = 0.0
        for row in range(min(ROWS, vectors.shape[0] - block * ROWS)):
            codes = kept.codes[block, :, row]
            step, error = code_vector(vectors[block * ROWS + row], HIGHEST_ROW_CODE, codes)
            kept.steps[block, row] = step
            if step > 0:
                slack = max(slack, error / np.float64(step))
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
        step, rest = code_vector(queries[query], HIGHEST_QUERY_CODE, coded.codes[query])
        error = rest * UP  # f
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
def bound_block(
    kept: Codes,
    block: int,
    coded: QueryCodes,
    query: int,
    needed: Float32s,
    products: Int32s,
    bounds: Float32s,
) -> Any:
    """Write h - F of the rows of a block; how many reach what is needed of them."""
    add_products(kept.codes, block, coded.codes[query], products)
    step = coded.steps[query]
    stretched = coded.margins[query] * kept.slacks[block]
    count = np.int32(0)  # as wide as the operands: a wider one takes four times as long
    for row in range(ROWS):
        bound = kept.steps[block, row] * (step * np.float32(products[row]) + stretched)
        bounds[row] = bound
        count += np.int32(bound >= needed[row])
    return count
