"""The loops over the lists of an approximate search, compiled by numba."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from deltavec.core.arrays import Float32s, Int64s, UInt8s
from deltavec.core.jit import compiled
from deltavec.search.kernels import Best, Queries, Rows, fast_dot, keep
from deltavec.search.quantized.kernels import (
    MOST_BLOCKS,
    ROWS,
    Coded,
    High,
    Sieve,
    consider_left,
    consider_likely,
    high_rows,
    worst_of,
)


class Shelf(NamedTuple):
    """The rows of a piece, list after list.

    Attributes
    ----------
    order : ndarray of int64
        The rows in the order of their lists.
    begins : ndarray of int64
        Where each list begins there, and where the last one ends.
    sieve : Sieve
        Their codes, in the same order.
    """

    order: Int64s
    begins: Int64s
    sieve: Sieve


@compiled
def nearest_lists(
    centres: Float32s, queries: Float32s, first: int, last: int, near: Int64s
) -> None:
    """Write the numbers of the lists that are nearest to the queries ``first`` to ``last``.

    A line of ``near`` has the nearest first, as many as there is room for but one, and then the
    number behind those of all centres: the list of the rows of zeros.
    """
    count = near.shape[1] - 1
    best = Best(
        np.empty((1, count), np.float32), np.empty((1, count), np.int64), np.zeros(1, np.int64)
    )
    for query in range(first, last):
        best.sizes[0] = 0
        for number in range(centres.shape[0]):
            score = fast_dot(centres[number], queries[query])
            if best.sizes[0] < count or score > best.scores[0, 0]:
                keep(best, 0, score, number)
        order = np.argsort(best.scores[0])
        for place in range(count):
            near[query, place] = best.ranks[0, order[count - 1 - place]]
        near[query, count] = centres.shape[0]


@compiled
def sift_lists(
    rows: Rows,
    allowed: UInt8s,
    shelf: Shelf,
    near: Int64s,
    queries: Queries,
    coded: Coded,
    first: int,
    last: int,
    best: Best,
) -> None:
    """Look through the lists near the queries ``first`` to ``last`` for the best rows of each.

    ``allowed`` says which rows may be found; all if it is empty.
    """
    longest = 0
    for number in near[first:last].flat:
        longest = max(longest, shelf.begins[number + 1] - shelf.begins[number])
    most = min(MOST_BLOCKS, longest // ROWS + 2)
    high = High(np.empty(most * ROWS, np.int64), np.empty(most * ROWS, np.float32))
    for query in range(first, last):
        for number in near[query]:
            low, up = shelf.begins[number], shelf.begins[number + 1]
            begin, end = low // ROWS, -(-up // ROWS) if up > low else low // ROWS
            while begin < end:
                stop = min(begin + most, end)
                worst = worst_of(best, query)
                found = high_rows(shelf.sieve, begin, stop, coded, query, worst, high, 0)
                found = own_rows(shelf, low, up, high, found)
                if worst == -np.inf:  # of all these rows the likely best tell most that are not
                    found = consider_likely(
                        rows, allowed, rows.vectors.shape[0], high, 0, found, queries, query, best
                    )
                elif allowed.size > 0:
                    found = allowed_only(allowed, high, found)
                consider_left(rows, high, found, queries, query, best)
                begin = stop


@compiled
def own_rows(shelf: Shelf, low: int, up: int, high: High, found: int) -> int:
    """Put rows in the place of where they stand on the shelf; how many are between low and up.

    The others are of the list before, or of the next.
    """
    own = 0
    for number in range(found):
        place = high.places[number]
        if low <= place < up:
            high.places[own], high.scores[own] = shelf.order[place], high.scores[number]
            own += 1
    return own


@compiled
def allowed_only(allowed: UInt8s, high: High, found: int) -> int:
    """Leave out the rows that may not be found; how many are left."""
    left = 0
    for number in range(found):
        if allowed[high.places[number]] > 0:
            high.places[left], high.scores[left] = high.places[number], high.scores[number]
            left += 1
    return left
