r"""The first sieve of exact search: rows in a byte a number, and how high their scores can be.

A search reads every row, and waits for memory most of the time. A quarter of the bytes tells almost
always that a row is not among the best; only the others are read whole.

What is kept of rows
--------------------
Of a row x its step :math:`s = \max_k |x_k| / 127` and its codes c, the whole numbers nearest to
:math:`x_k / s`. Of 128 rows together the largest of :math:`g = \lVert x - s c \rVert / s`. Codes
of 128 rows stand side by side, dimension after dimension, so that one instruction takes many rows
and nothing is summed across. A query q has a step :math:`t = \max_k |q_k| / 63` and codes p in the
same way: four products of two codes fit into 16 bits.

Why nothing is lost
-------------------
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
numbers no larger than A, the sum of all terms' largest values (`coded_queries`). A row with h below
the k-th best score found so far cannot be among the k best, and is passed over. Every other row
goes through the search of `deltavec.search.kernels` as if there were no sieve. So what is found,
and every score, is the same to the last bit; what the sieve changes is how much is read.

Sums of two scores, a row's score times w >= 0 plus what its words add, are sifted by w h plus the
same: rounding keeps the order of numbers, so that this too is no lower than the row's own sum. Of
what the words add the least weighty ones may be left out at first; a row is then given as much as
they can add at most, and what it has of them is looked up if it passes.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from deltavec.core.kernels import Float32s, Float64s, Int32s, Int64s, UInt8s, compiled
from deltavec.search.kernels import (
    Best,
    Queries,
    Rows,
    bound_of,
    consider,
    cosine,
    fast_dot,
    is_better,
    keep,
)
from deltavec.search.words.kernels import Words, add_query_scores, sum_of_words

ROWS = 128  # of a block
MOST_BLOCKS = 256
FEWER_BLOCKS = 8  # whose codes stay in the cache while several queries look at them
HIGHEST_ROW_CODE = 127
HIGHEST_QUERY_CODE = 63
TOGETHER = 4  # products that fit into 16 bits: 4 * 63 * 127 < 2^15
FEW_ROWS = 4  # of a block: reading them whole is no more than reading all codes
HIGHEST_SCORE = 1 + 1e-6
UP = 1 + 1e-6  # more than a rounding to float32 takes away

Int8s = npt.NDArray[np.int8]
Int16s = npt.NDArray[np.int16]


class Sieve(NamedTuple):
    """Codes of rows, in blocks of 128; what is missing in the last block is zero."""

    codes: Int8s  # (blocks, dimensions, 128): dimensions are a multiple of 4, filled up with zeros
    steps: Float32s  # (blocks, 128)
    slacks: Float32s  # (blocks,): g


class Coded(NamedTuple):
    """Codes of queries."""

    codes: Int16s  # (queries, dimensions)
    steps: Float32s
    stretches: Float32s  # what g is multiplied with
    slacks: Float32s  # F


class Sums(NamedTuple):
    """What makes the score of a row a sum: for each query, and each row from ``origin`` on."""

    origin: int
    added: Float64s  # (queries, rows): no more than ``rests`` below what words add
    rests: Float64s  # (queries,)
    scales: Float64s  # (queries,): what the cosine is multiplied with
    words: Words


@compiled
def fill_blocks(vectors: Float32s, order: Int64s, first: int, last: int, sieve: Sieve) -> None:
    """Write the blocks ``first`` to ``last``, of rows in this order; as they are if it is empty."""
    dimensions = vectors.shape[1]
    for block in range(first, last):
        slack = 0.0
        for row in range(ROWS):
            place = block * ROWS + row
            if place >= vectors.shape[0]:
                break
            if order.size > 0:
                place = order[place]
            largest = np.float32(0)
            for k in range(dimensions):
                largest = max(largest, abs(vectors[place, k]))
            step = np.float32(largest / HIGHEST_ROW_CODE)
            sieve.steps[block, row] = step
            if step == 0:
                continue
            wide = np.float64(step)
            square = 0.0
            for k in range(dimensions):
                x = np.float64(vectors[place, k])
                code = np.rint(x / wide)
                code = min(max(code, -HIGHEST_ROW_CODE), HIGHEST_ROW_CODE)
                sieve.codes[block, k, row] = np.int8(code)
                square += (x - wide * code) ** 2
            slack = max(slack, np.sqrt(square) / wide)
        sieve.slacks[block] = np.float32(slack * UP)


@compiled
def add_products(codes: Int8s, block: int, weights: Int16s, products: Int32s) -> None:
    """Write the products of a block's rows with a query, in codes."""
    for row in range(ROWS):
        products[row] = 0
    for k in range(0, codes.shape[1], TOGETHER):
        a, b, c, d = weights[k], weights[k + 1], weights[k + 2], weights[k + 3]
        for row in range(ROWS):
            # Each kept to 16 bits, twice as many at once; four of them are widened together.
            total = np.int16(np.int16(codes[block, k, row]) * a)
            total = np.int16(total + np.int16(np.int16(codes[block, k + 1, row]) * b))
            total = np.int16(total + np.int16(np.int16(codes[block, k + 2, row]) * c))
            total = np.int16(total + np.int16(np.int16(codes[block, k + 3, row]) * d))
            products[row] += np.int32(total)


@compiled
def high_rows(
    sieve: Sieve, first: int, last: int, coded: Coded, query: int, worst: Any, places: Int64s
) -> int:
    """Write the places of the rows in blocks ``first`` to ``last`` that can reach a score."""
    products = np.empty(ROWS, np.int32)
    weights, step = coded.codes[query], coded.steps[query]
    bound = np.float32(worst - coded.slacks[query])
    found = 0
    for block in range(first, last):
        add_products(sieve.codes, block, weights, products)
        stretched = coded.stretches[query] * sieve.slacks[block]
        count = np.int32(0)
        for row in range(ROWS):
            high = sieve.steps[block, row] * (step * np.float32(products[row]) + stretched)
            count += np.int32(high >= bound)
        if count == 0:
            continue
        for row in range(ROWS):
            high = sieve.steps[block, row] * (step * np.float32(products[row]) + stretched)
            if high >= bound:
                places[found] = block * ROWS + row
                found += 1
    return found


@compiled
def add_words(words: Words, most: Float64s, best: Best, first: int, sums: Sums) -> None:
    """Write what the words of each query add to the documents from ``first`` on.

    ``most`` is what the light terms of each query can add. They are left out where the k best are
    far above that: then few documents have to be looked at again.
    """
    full = best.scores.shape[1]
    for query in range(sums.added.shape[0]):
        rest = most[query]
        heavy_only = rest > 0 and best.sizes[query] == full and best.scores[query, 0] > 2 * rest
        sums.rests[query] = rest if heavy_only else 0.0
        add_query_scores(words, query, heavy_only, first, sums.added[query])


@compiled
def high_sums(
    sieve: Sieve,
    first: int,
    last: int,
    coded: Coded,
    query: int,
    worst: Any,
    scale: float,
    added: Float64s,
    places: Int64s,
) -> int:
    """The same for sums of two scores; what is added begins with the first row of these blocks.

    Where no row can reach the sum by its words, whatever its cosine, no code is read; where only a
    few can, none of them is passed over.
    """
    reach = worst - scale * HIGHEST_SCORE
    products = np.empty(ROWS, np.int32)
    weights, step, slack = coded.codes[query], coded.steps[query], coded.slacks[query]
    found = 0
    for block in range(first, last):
        begin = (block - first) * ROWS
        rows = min(ROWS, added.size - begin)
        count = count_wide(reach, added[begin : begin + rows])
        if count <= FEW_ROWS:
            for row in range(rows if count else 0):
                if added[begin + row] >= reach:
                    places[found] = block * ROWS + row
                    found += 1
            continue
        add_products(sieve.codes, block, weights, products)
        stretched = coded.stretches[query] * sieve.slacks[block]
        count = np.int64(0)
        for row in range(rows):
            high = sieve.steps[block, row] * (step * np.float32(products[row]) + stretched)
            total = scale * np.float64(high + slack) + added[begin + row]
            count += np.int64(total >= worst)
        if count == 0:
            continue
        for row in range(rows):
            high = sieve.steps[block, row] * (step * np.float32(products[row]) + stretched)
            if scale * np.float64(high + slack) + added[begin + row] >= worst:
                places[found] = block * ROWS + row
                found += 1
    return found


@compiled
def worst_of(best: Best, query: int) -> Any:
    """The score of the worst row that is kept, minus infinity while there is room."""
    if best.sizes[query] < best.scores.shape[1]:
        return best.scores.dtype.type(-np.inf)
    return best.scores[query, 0]


@compiled
def first_blocks(best: Best, most: int) -> int:
    """How many blocks to begin with: a single one while there is room for any row."""
    return most if best.sizes.min() == best.scores.shape[1] else 1


@compiled
def sift_rows(
    rows: Rows,
    allowed: UInt8s,
    sieve: Sieve,
    first: int,
    last: int,
    queries: Queries,
    coded: Coded,
    best: Best,
) -> None:
    """Look through rows ``first`` to ``last`` for the best of each query.

    ``first`` is a multiple of `ROWS`. ``allowed`` says which rows may be found; all if it is empty.
    """
    count = queries.vectors.shape[0]
    most = MOST_BLOCKS if count == 1 else FEWER_BLOCKS
    places = np.empty(most * ROWS, np.int64)
    begin, end, blocks = first // ROWS, -(-last // ROWS), first_blocks(best, most)
    while begin < end:
        stop = min(begin + blocks, end)
        for query in range(count):
            worst = worst_of(best, query)
            found = high_rows(sieve, begin, stop, coded, query, worst, places)
            bound = bound_of(best, queries, query)
            for place in places[:found]:
                if place >= last or (allowed.size > 0 and allowed[place] == 0):
                    continue
                if fast_dot(rows.vectors[place], queries.vectors[query]) >= bound:
                    bound = consider(rows, place, queries, query, best)
        # The more has been seen, the fewer of the next rows can be among the best.
        begin, blocks = stop, min(2 * blocks, most)


@compiled
def sift_sums(
    rows: Rows,
    allowed: UInt8s,
    sieve: Sieve,
    first: int,
    last: int,
    queries: Queries,
    coded: Coded,
    sums: Sums,
    best: Best,
) -> None:
    """Look through rows ``first`` to ``last`` for the best sums of two scores; else as above."""
    count = queries.vectors.shape[0]
    most = MOST_BLOCKS if count == 1 else FEWER_BLOCKS
    places = np.empty(most * ROWS, np.int64)
    begin, end, blocks = first // ROWS, -(-last // ROWS), first_blocks(best, most)
    while begin < end:
        stop = min(begin + blocks, end)
        for query in range(count):
            scale = sums.scales[query]
            added = sums.added[query, begin * ROWS - sums.origin : last - sums.origin]
            least = worst_of(best, query) - sums.rests[query]
            found = high_sums(sieve, begin, stop, coded, query, least, scale, added, places)
            for place in places[:found]:
                if allowed.size == 0 or allowed[place] > 0:
                    consider_sum(rows, place, queries, query, sums, best)
        begin, blocks = stop, min(2 * blocks, most)


@compiled
def sums_in_products(
    rows: Rows, first: int, products: Float32s, queries: Queries, sums: Sums, best: Best
) -> None:
    """Look for the best sums among the rows (or chosen ones) from ``first`` on.

    ``products`` has a row for each query and a column for each row looked at.
    """
    columns = products.shape[1]
    added = np.empty(ROWS, np.float64)
    totals = np.empty(ROWS, np.float64)
    for query in range(products.shape[0]):
        scale = sums.scales[query]
        slack = scale * np.float64(queries.margins[query])
        least = worst_of(best, query) - sums.rests[query]
        for begin in range(0, columns, ROWS):
            count = min(ROWS, columns - begin)
            for row in range(count):
                index = first + begin + row
                place = index if rows.chosen.size == 0 else rows.chosen[index]
                added[row] = sums.added[query, place - sums.origin]
            for row in range(count):
                fast = scale * np.float64(products[query, begin + row])
                totals[row] = fast + slack + added[row]
            if count_wide(least, totals[:count]) == 0:
                continue
            for row in range(count):
                if totals[row] >= least:
                    index = first + begin + row
                    place = index if rows.chosen.size == 0 else rows.chosen[index]
                    consider_sum(rows, place, queries, query, sums, best)
                    least = worst_of(best, query) - sums.rests[query]


@compiled
def count_wide(bound: Any, numbers: Float64s) -> Any:
    """How many of these numbers are at or above the bound."""
    count = np.int64(0)
    for place in range(numbers.size):
        count += np.int64(numbers[place] >= bound)
    return count


@compiled
def consider_sum(
    rows: Rows, place: int, queries: Queries, query: int, sums: Sums, best: Best
) -> None:
    """Score one row by a sum, and keep it if it is among the best."""
    vector, scale = queries.vectors[query], sums.scales[query]
    rank = rows.begin + place
    plus = sum_of_words(sums.words, query, rank)
    slack = scale * np.float64(queries.margins[query])
    fast = scale * np.float64(fast_dot(rows.vectors[place], vector)) + slack + plus
    if fast < worst_of(best, query):
        return
    score = scale * np.float64(cosine(vector, rows.vectors[place])) + plus
    if best.sizes[query] < best.scores.shape[1] or is_better(
        score, rank, best.scores[query, 0], best.ranks[query, 0]
    ):
        keep(best, query, score, rank)


@compiled
def search_added(rows: Rows, first: int, last: int, sums: Sums, best: Best) -> None:
    """Look through rows (or chosen ones) ``first`` to ``last`` for those to which words add most.

    A row to which they add nothing is not among the best.
    """
    full = best.scores.shape[1]
    for query in range(sums.added.shape[0]):
        rest = sums.rests[query]
        least = worst_of(best, query) - rest
        for index in range(first, last):
            place = index if rows.chosen.size == 0 else rows.chosen[index]
            score = sums.added[query, place - sums.origin]
            if score < least:
                continue
            rank = rows.begin + place
            if rest > 0:
                score = sum_of_words(sums.words, query, rank)
            if score > 0 and (
                best.sizes[query] < full
                or is_better(score, rank, best.scores[query, 0], best.ranks[query, 0])
            ):
                keep(best, query, score, rank)
                least = worst_of(best, query) - rest
