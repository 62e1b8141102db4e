r"""The loops of exact search, compiled by numba: the best rows for a query, pairs above a cosine.

What a score is
---------------
The cosine of two rows, its three sums taken in float64, dimension after dimension, and the result
rounded to float32 (`cosine`). Products of float32 numbers are exact in float64, so neither the
machine nor the compiler can change a bit of it. A row of zeros has the score 0 with everything.

Why the answer is exact although products are fast
--------------------------------------------------
Candidates are picked by a fast float32 product s, of BLAS or of `fast_dot`, summed in any order.
For rows whose lengths differ from 1 by at most d and e, in K dimensions, it differs from the score
by no more than

.. math:: m = 1.01\,((K + 8)\,2^{-24} + d + e):

the product is off by at most :math:`K 2^{-24} / (1 - K 2^{-24})` times the two lengths whatever
the order of its sum (Higham 2002, section 3.1), the lengths by d + e, and roundings to float32 by
less than the rest (K is at most `MOST_DIMENSIONS`). A row with s + m below the k-th best score
found so far can therefore not be among the k best and is skipped; every other row is scored by
`cosine`. So blocks, threads and the order of rows change how much is scored, never what is found.
Pairs above a threshold are found in the same way.

Ties
----
Every row has a rank, its position among the sorted ids. A better row has a higher score,
or the same score and a lower rank.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar, cast

import numpy as np

from deltavec.core.arrays import Float32s, Float64s, Int64s, UInt8s
from deltavec.core.jit import LazyKernel, compiled

Function = TypeVar("Function", bound=Callable[..., Any])

MOST_DIMENSIONS = 65_536
ROUNDING = 2.0**-24
# Scores are compared with a bound this many at a time: a few instructions for all of them.
AT_ONCE = 64


def fused_multiply(function: Function) -> Function:
    """The function, compiled so that its sums may be taken in any order."""
    freedoms = {"reassoc", "contract", "nsz"}
    return cast(Function, LazyKernel(function, fastmath=freedoms))


class Rows(NamedTuple):
    """Rows to search, in one array."""

    vectors: Float32s
    begin: int  # the number of the first row among all rows
    allowed: UInt8s  # 1 for rows that may be found; (empty: all)
    ranks: Int64s  # the rank of each of all rows; (empty: its number)


class Queries(NamedTuple):
    """Query vectors."""

    vectors: Float32s
    scales: Float64s  # the factor of each query's cosine; 0 for keyword search
    margin: float  # the largest error of a fast product


class TopK(NamedTuple):
    """The best rows so far for each query: heaps with the worst at position 0."""

    scores: Float64s  # (queries, k)
    ranks: Int64s  # (queries, k)
    sizes: Int64s  # (queries,)

    def at(self, which: Any) -> TopK:
        """The heaps of some queries."""
        return TopK(self.scores[which], self.ranks[which], self.sizes[which])


def margin(dimensions: int, row_error: float, query_error: float) -> float:
    """The largest error of a fast product, given how far lengths are from 1."""
    return 1.01 * ((dimensions + 8) * ROUNDING + row_error + query_error)


@fused_multiply
def fast_dot(a: Float32s, b: Float32s) -> Any:
    """The inner product of two rows in float32, summed in any order."""
    total = np.float32(0)
    for k in range(a.size):
        total += a[k] * b[k]
    return total


@compiled
def cosine(a: Float32s, b: Float32s) -> Any:
    """The score of two rows: their cosine, 0 if one of them is zero."""
    dot = 0.0
    square_a = 0.0
    square_b = 0.0
    for k in range(a.size):
        x = np.float64(a[k])
        y = np.float64(b[k])
        dot += x * y
        square_a += x * x
        square_b += y * y
    if square_a == 0 or square_b == 0:
        return np.float32(0)
    return np.float32(dot / np.sqrt(square_a * square_b))


@compiled
def squared_lengths(vectors: Float32s, squares: Float64s) -> None:
    """Write the squared length of each row; it is NaN or infinite if a number is."""
    for row in range(vectors.shape[0]):
        total = 0.0
        for k in range(vectors.shape[1]):
            x = np.float64(vectors[row, k])
            total += x * x
        squares[row] = total


@compiled
def is_better(score: Any, rank: int, other_score: Any, other_rank: int) -> bool:
    """Whether the first of two rows ranks before the other."""
    return bool(score > other_score or (score == other_score and rank < other_rank))


@compiled
def keep(best: TopK, query: int, score: Any, rank: int) -> None:
    """Push a row onto a query's heap, replacing the worst if the heap is full."""
    scores, ranks = best.scores[query], best.ranks[query]
    size = best.sizes[query]
    if size < scores.size:
        place = size
        best.sizes[query] = size + 1
        while place > 0:
            above = (place - 1) // 2
            if not is_better(scores[above], ranks[above], score, rank):
                break
            scores[place], ranks[place] = scores[above], ranks[above]
            place = above
    else:
        place = 0
        while 2 * place + 1 < size:
            below = 2 * place + 1
            if below + 1 < size and is_better(
                scores[below], ranks[below], scores[below + 1], ranks[below + 1]
            ):
                below += 1
            if not is_better(score, rank, scores[below], ranks[below]):
                break
            scores[place], ranks[place] = scores[below], ranks[below]
            place = below
    scores[place], ranks[place] = score, rank


@compiled
def kth_best(best: TopK, query: int) -> Any:
    """The k-th best score so far; minus infinity while there are fewer than k."""
    return best.scores[query, 0] if best.sizes[query] == best.scores.shape[1] else -np.inf


@compiled
def count_from(bound: Any, numbers: Float32s) -> Any:
    """How many numbers are at or above the threshold."""
    count = np.int32(0)  # as wide as the numbers: a wider one takes four times as long
    for place in range(numbers.size):
        count += np.int32(numbers[place] >= bound)
    return count


@compiled
def pairs_in_products(
    vectors: Float32s,
    first_a: int,
    first_b: int,
    products: Float32s,
    bound: Any,
    threshold: Any,
    found_a: Int64s,
    found_b: Int64s,
    scores: Float32s,
    found: int,
) -> int:
    """Append the pairs a < b of a block of products whose score is at or above the threshold.

    ``bound`` is the threshold less the margin. How many pairs there are then, -1 if there is no
    room for all of them.
    """
    columns = products.shape[1]
    for line_number in range(products.shape[0]):
        a = first_a + line_number
        line = products[line_number]
        for begin in range(max(0, a + 1 - first_b), columns, AT_ONCE):
            end = min(begin + AT_ONCE, columns)
            if count_from(bound, line[begin:end]) == 0:
                continue
            for column in range(begin, end):
                if line[column] < bound:
                    continue
                score = cosine(vectors[a], vectors[first_b + column])
                if score < threshold:
                    continue
                if found == found_a.size:
                    return -1
                found_a[found] = a
                found_b[found] = first_b + column
                scores[found] = score
                found += 1
    return found


@compiled
def keep_first(nearest: Int64s, scores: Float32s, a: Int64s, b: Int64s, score: Float32s) -> None:
    """Mark rows as duplicates of an earlier row that is kept.

    Pairs come in ascending order, so all pairs that could remove row a were seen before the pairs
    by which a removes others. ``nearest`` is the most similar row that is kept, the first of
    several; -1 for a row that is kept itself.
    """
    for pair in range(a.size):
        if nearest[a[pair]] >= 0:
            continue
        if nearest[b[pair]] < 0 or score[pair] > scores[b[pair]]:
            nearest[b[pair]] = a[pair]
            scores[b[pair]] = score[pair]
