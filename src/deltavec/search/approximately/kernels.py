"""The loop over the lists of an approximate search, compiled by numba."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from deltavec.core.kernels import Int64s, UInt8s, compiled
from deltavec.search.kernels import Best, Queries, Rows, bound_of, consider, fast_dot
from deltavec.search.sieve.kernels import MOST_BLOCKS, ROWS, Coded, High, Sieve, high_rows, worst_of


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
def sift_lists(
    rows: Rows,
    allowed: UInt8s,
    shelf: Shelf,
    numbers: Int64s,
    queries: Queries,
    coded: Coded,
    query: int,
    best: Best,
) -> None:
    """Look through the lists of these numbers for the best rows of one query.

    ``allowed`` says which rows may be found; all if it is empty.
    """
    high = High(np.empty(MOST_BLOCKS * ROWS, np.int64), np.empty(MOST_BLOCKS * ROWS, np.float32))
    vector = queries.vectors[query]
    for number in numbers:
        first, last = shelf.begins[number], shelf.begins[number + 1]
        begin, end = first // ROWS, -(-last // ROWS) if last > first else first // ROWS
        while begin < end:
            stop = min(begin + MOST_BLOCKS, end)
            worst = worst_of(best, query)
            found = high_rows(shelf.sieve, begin, stop, coded, query, worst, high, 0)
            bound = bound_of(best, queries, query)
            for place in high.places[:found]:
                if place < first or place >= last:  # of the list before, or of the next
                    continue
                row = shelf.order[place]
                if allowed.size > 0 and allowed[row] == 0:
                    continue
                if fast_dot(rows.vectors[row], vector) >= bound:
                    bound = consider(rows, row, queries, query, best)
            begin = stop
