r"""Quantizing rows and queries.

A collection stores its quantized rows, mapped and shared by all processes that search it. Other
rows are quantized when they are searched for the second time, in memory: at most three eighths of
the size of the rows. So a program that asks one question does not wait for it.

Rows also have heads, projections on principal axes that bound the product with any query. With an
orthonormal basis P of some directions, the head of a row x is :math:`(P x, r)`, where :math:`r =
\lVert x - P^\top P x \rVert` is the length of the rest. A query q has a head in the same way. Then

.. math:: q \cdot x = P q \cdot P x + (q - P^\top P q) \cdot (x - P^\top P x)

is at most the product of the two heads, by Cauchy and Schwarz. So heads can be quantized and
scanned like rows (`deltavec.search.quantized.kernels`). The directions are principal axes of the
rows: better directions leave fewer candidates, and any directions give a valid bound.

Heads are computed in float64 and rounded to float32, and P is orthonormal up to rounding; `ERROR`
exceeds the effect of both on a product.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from deltavec.core.arrays import Float32s, Float64s, read_only
from deltavec.core.threads import one_blas_thread, parallel_map, thread_count
from deltavec.search.quantized import kernels
from deltavec.search.quantized.kernels import ROWS, TOGETHER, UP, Codes, QuantizedSearch, QueryCodes

SAMPLED = 8192  # rows that the axes are computed from
LEFT = 1 / 6  # of the variance, at most, outside of the axes
FEWEST_DIMENSIONS, MOST_DIMENSIONS = 32, 1024
TINY = 1e-9  # exceeds the rounding of a squared length
ERROR = 1e-6


def principal_axes(vectors: Float32s) -> Float64s:
    """The axes for heads of these rows, one per column; none where heads gain nothing.

    Heads are at most half as long as rows.
    """
    dimensions = vectors.shape[1]
    none = np.zeros((dimensions, 0))
    if not FEWEST_DIMENSIONS <= dimensions <= MOST_DIMENSIONS:
        return none
    sample = vectors[:: max(1, len(vectors) // SAMPLED)].astype(np.float64)
    squares, axes = np.linalg.eigh(sample.T @ sample)
    outside = np.cumsum(squares)[::-1]  # beyond no axis, beyond the first, and so on
    count = int((outside > LEFT * outside[0]).sum())
    numbers = -(-(count + 1) // TOGETHER) * TOGETHER
    if count == 0 or 2 * numbers > dimensions:
        return none
    return np.ascontiguousarray(axes[:, ::-1][:, : numbers - 1])


def project_heads(vectors: Float32s, directions: Float64s) -> Float32s:
    """The head of each row."""
    wide = vectors.astype(np.float64)
    heads = np.empty((len(wide), directions.shape[1] + 1), np.float32)
    seen = wide @ directions
    squares = np.einsum("ij,ij->i", wide, wide) - np.einsum("ij,ij->i", seen, seen)
    heads[:, :-1] = seen
    heads[:, -1] = np.sqrt(np.maximum(squares, 0) + TINY)
    return heads


FEWEST_NUMBERS = 1 << 20  # smaller matrices are in the cache anyway
FEWEST_OF_MANY = 1 << 18  # where there are others beside a matrix, all of them are not
BLOCKS_A_TASK = 64


class LazyQuantizer:
    """The quantized rows of one array, stored or made at the second search."""

    def __init__(self, made: QuantizedMatrix | None = None) -> None:
        self.searches = 0
        self.made = made
        self.making = threading.Lock()

    def of(
        self, vectors: Float32s, threads: int | None, *, now: bool = False
    ) -> QuantizedMatrix | None:
        """The quantized rows of this array; None if the rows should be read instead.

        Parameters
        ----------
        vectors
            The rows; the same array in every call.
        threads
            How many cores to use.
        now
            Quantize at the first call.
        """
        if self.made is None and vectors.size >= FEWEST_NUMBERS:
            self.searches += 1
            # While one thread quantizes, the others read the rows.
            if (now or self.searches > 1) and self.making.acquire(blocking=now):
                try:
                    self.made = self.made or quantize(vectors, threads)
                finally:
                    self.making.release()
        return self.made


class QuantizedMatrix(NamedTuple):
    """Quantized rows, the principal axes of their heads, and the largest quantization errors."""

    heads: Codes
    rows: Codes
    farthest: float
    directions: Float64s  # one per column; none if rows have no heads
    farthest_head: float


def quantize(
    vectors: Float32s, threads: int | None = None, directions: Float64s | None = None
) -> QuantizedMatrix:
    """Quantize rows and their heads, by default along principal axes if that gains anything."""
    with one_blas_thread():
        seen = principal_axes(vectors) if directions is None else directions
        count, numbers = len(vectors), seen.shape[1] + 1
        head = allocate_codes(count if numbers > 1 else 0, numbers)
        whole = allocate_codes(count, vectors.shape[1])
        blocks = len(whole.slacks)

        def fill(first: int) -> None:
            last = min(first + BLOCKS_A_TASK, blocks)
            kernels.fill_blocks(vectors, first, last, whole)
            if numbers > 1:
                heads = project_heads(vectors[first * ROWS : last * ROWS], seen)
                codes, steps, slacks = head
                here = Codes(codes[first:last], steps[first:last], slacks[first:last])
                kernels.fill_blocks(heads, 0, last - first, here)

        for _ in parallel_map(fill, range(0, blocks, BLOCKS_A_TASK), thread_count(threads)):
            pass
    for array in (*head, *whole, seen):
        array.flags.writeable = False
    return QuantizedMatrix(head, whole, farthest(whole), seen, farthest(head))


def code_shapes(rows: int, dimensions: int, heads: int) -> dict[str, tuple[str, tuple[int, ...]]]:
    """The stored arrays of so many quantized rows, with so many numbers in a head (or none)."""
    blocks, heads_of = -(-rows // ROWS), -(-rows // ROWS) if heads else 0
    return {
        "directions": ("F64", (dimensions, max(heads - 1, 0))),
        "head_steps": ("F32", (heads_of, ROWS)),
        "head_slacks": ("F32", (heads_of,)),
        "steps": ("F32", (blocks, ROWS)),
        "slacks": ("F32", (blocks,)),
        "head_codes": ("I8", (heads_of, pad(max(heads, 1)), ROWS)),
        "codes": ("I8", (blocks, pad(dimensions), ROWS)),
    }


def as_arrays(made: QuantizedMatrix) -> dict[str, npt.NDArray[Any]]:
    """Quantized rows as they are stored."""
    heads = {f"head_{name}": array for name, array in made.heads._asdict().items()}
    return {"directions": made.directions, **heads, **made.rows._asdict()}


def from_arrays(arrays: Mapping[str, npt.NDArray[Any]]) -> QuantizedMatrix:
    """Quantized rows that were stored."""
    head = Codes(*(arrays[f"head_{name}"] for name in Codes._fields))
    whole = Codes(*(arrays[name] for name in Codes._fields))
    return QuantizedMatrix(head, whole, farthest(whole), arrays["directions"], farthest(head))


def allocate_codes(rows: int, dimensions: int) -> Codes:
    """Zeroed codes for this many rows."""
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
) -> QuantizedSearch:
    """Quantize queries, and search these quantized rows with them.

    Parameters
    ----------
    queries
        Of unit length, or zero.
    query_error, row_error
        The largest deviation of a length from 1.
    made
        The quantized rows.
    margin
        The largest error of a fast product.
    """
    whole = quantize_as(queries, query_error, row_error, made.farthest, margin)
    if not made.directions.shape[1]:
        return QuantizedSearch(made.heads, made.rows, whole, whole)
    error = ERROR
    seen = project_heads(queries, made.directions)
    head = quantize_as(
        seen, query_error + error, row_error + error, made.farthest_head, margin + error
    )
    return QuantizedSearch(made.heads, made.rows, head, whole)


def quantize_as(
    queries: Float32s, query_error: float, row_error: float, farthest: float, margin: float
) -> QueryCodes:
    """Quantize queries for rows with at most this quantization error."""
    count, dimensions = queries.shape
    steps, stretches, slacks = np.empty((3, count), np.float32)
    coded = QueryCodes(np.zeros((count, pad(dimensions)), np.int16), steps, stretches, slacks)
    kernels.code_queries(read_only(queries), query_error, row_error, farthest, margin, coded)
    for array in coded:
        array.flags.writeable = False
    return coded


def pad(dimensions: int) -> int:
    """The number of dimensions, rounded up to a multiple of four."""
    return -(-dimensions // TOGETHER) * TOGETHER
