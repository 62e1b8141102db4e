"""Approximate search: the rows of the lists that are nearest to a query, scored as an exact search.

Where lists are of no use the search is exact: for a query of zeros, where nearly as many rows are
wanted as there are, where half of all lists would have to be looked through, or where a filter
leaves so few rows that looking at each is quicker.
"""

from __future__ import annotations

import numpy as np

from deltavec.core.arrays import Int64s, UInt8s, frozen
from deltavec.core.threads import on_threads
from deltavec.search import kernels
from deltavec.search.approximately.kernels import nearest_lists, sift_lists
from deltavec.search.approximately.lists import Lists
from deltavec.search.kernels import Queries, Rows
from deltavec.search.matrix import Pieces
from deltavec.search.quantized.build import coded_queries
from deltavec.search.topk import (
    NOBODY,
    NONE,
    Ranked,
    Search,
    Sizes,
    best_rows,
    chosen_in,
    nothing_found,
    ranked,
)

# A filter that leaves fewer rows than this, or this share, is searched exactly.
FEW_ROWS = 5_000
SMALL_SHARE = 0.02
LARGE_SHARE = 0.1
QUERIES_A_TASK = 16


def likely_best_rows(search: Search, lists: Lists) -> Ranked:
    """The k best rows for each query, of those that were looked at."""
    vectors = search.queries.arrays[0]
    rows, count = len(search.pieces), search.candidates
    result = search.unanswered()
    open_queries = np.arange(len(vectors))
    # The fewer rows may be found, the farther away they are.
    looked_at = -(-lists.expansion * rows // max(1, count))
    useful = count > max(FEW_ROWS, SMALL_SHARE * rows) and 0 < search.k <= LARGE_SHARE * rows
    if useful and 2 * looked_at <= len(lists.centres):
        directed = np.flatnonzero(vectors.any(axis=1))
        found = best_in_lists(search, lists, directed, looked_at)
        done = (found.ranks < NOBODY).all(axis=1)
        if len(directed) == len(vectors) and done.all():
            return found
        for whole, part in zip(result, found, strict=True):
            whole[directed[done]] = part[done]
        open_queries = np.setdiff1d(open_queries, directed[done])
    if len(open_queries):
        rest = Pieces((frozen(vectors[open_queries]),), search.queries.length_error)
        exact = best_rows(search._replace(queries=rest))
        result.scores[open_queries], result.ranks[open_queries] = exact
    return result


def best_in_lists(search: Search, lists: Lists, numbers: Int64s, looked_at: int) -> Ranked:
    """The best rows for some queries in so many lists each; nobody's where there are fewer."""
    pieces, k = search.pieces, search.k
    error = search.queries.length_error
    margin = kernels.margin(pieces.dimensions, pieces.length_error, error)
    vectors = frozen(search.queries.arrays[0][numbers])
    queries = Queries(vectors, frozen(np.full(len(vectors), margin, np.float32)))
    best = nothing_found(len(vectors), k, np.float32)
    parts = []
    for (begin, array), (shelf, made) in zip(
        pieces, lists.shelves(pieces, search.threads), strict=True
    ):
        coded = coded_queries(vectors, error, pieces.length_error, made, margin)
        allowed = allowed_rows(search.chosen, begin, len(array))
        parts.append((Rows(array, begin, NONE, search.ranks), allowed, shelf, coded))

    near = np.empty((len(vectors), looked_at + 1), np.int64)

    def look(first: int) -> None:
        last = min(first + QUERIES_A_TASK, len(vectors))
        nearest_lists(lists.centres, vectors, first, last, near)
        for rows, allowed, shelf, coded in parts:
            sift_lists(rows, allowed, shelf, near, queries, coded, first, last, best)

    tasks = range(0, len(vectors), QUERIES_A_TASK)
    numbers_read = len(vectors) * pieces.dimensions * looked_at * len(pieces)
    workers = Sizes().workers(numbers_read // max(1, len(lists.centres)), search.threads)
    for _ in on_threads(look, tasks, workers):
        pass
    return ranked([best], k)


def allowed_rows(chosen: Int64s | None, begin: int, count: int) -> UInt8s:
    """For each row of a piece whether it may be found; nothing if all may."""
    here = chosen_in(chosen, begin, count)
    allowed = np.zeros(0 if here is None else count, np.uint8)
    if here is not None:
        allowed[here] = 1
    return frozen(allowed)
