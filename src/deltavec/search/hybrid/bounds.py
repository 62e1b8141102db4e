"""The scan of rows: upper bounds of scores, and exact scores of the rows that reach them.

A row with the lexical score l needs a cosine of at least (t - l) / w to reach the threshold t of a
query whose cosine counts w times. Its int8 codes, or a fast product, bound its cosine from above
(`deltavec.search.quantized.kernels`, `deltavec.search.kernels`). Rows that stay below are skipped.
The others are scored exactly. A query without terms is scanned in the same way: its rows have the
lexical score 0.

Non-essential terms may be left out at first. A row then gets the most that they can add, and its
own contributions are looked up if it is a candidate.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from deltavec.core.arrays import Float32s, Float64s, Int64s
from deltavec.core.jit import compiled, inlined
from deltavec.search.kernels import Queries, Rows, TopK, cosine, fast_dot, is_better, keep, kth_best
from deltavec.search.lexical.kernels import QueryTerms, add_query_scores, lexical_score
from deltavec.search.quantized.kernels import ROWS, QuantizedSearch, bound_block

HIGHEST_SCORE = 1 + 1e-6
MOST_BLOCKS = 256
FIRST_BLOCKS = 32  # their best rows give a threshold for the next blocks
FEWER_BLOCKS = 32  # their heads stay in the cache while several queries scan them
FEW_ROWS = 4  # of a block: reading these costs no more than reading all codes
ROUNDED = 2.0**-22  # more than the rounding to float32


class Search(NamedTuple):
    """Rows of one array, what is looked for in them, and the best so far."""

    rows: Rows
    queries: Queries
    terms: QueryTerms
    best: TopK


class Candidates(NamedTuple):
    """Rows that may be among the best, upper bounds of their scores, and their lexical scores.

    The last two may be one array, of partial lexical scores.
    """

    places: Int64s
    bounds: Float64s
    added: Float64s


@compiled
def add_lexical(terms: QueryTerms, best: TopK, query: int, first: int, added: Float64s) -> Any:
    """Write the lexical scores of the rows from ``first`` on; the most that is missing of one.

    Non-essential terms are left out if the threshold is far above what they can add, since few
    documents then have to be looked up again.
    """
    rest = terms.most[query]
    is_far = rest > 0 and kth_best(best, query) > 2 * rest
    add_query_scores(terms, query, is_far, first, added)
    return rest if is_far else 0.0


@inlined
def write_needed(least: Any, scale: float, slack: Any, added: Float64s, needed: Float32s) -> None:
    """Write the product that each row needs, within the slack, to reach a score.

    ``added`` are the lexical scores of the rows; without any, all rows need the same.
    """
    factor = 1 / scale
    if added.size == 0:
        x = least * factor - slack
        needed[:] = np.float32(x - ROUNDED * abs(x))
    for row in range(added.size):
        x = (least - added[row]) * factor - slack
        needed[row] = np.float32(x - ROUNDED * (1 + abs(x)))
    if added.size > 0:
        needed[added.size :] = np.inf


@compiled
def count_up_to(bound: Any, numbers: Float32s) -> Any:
    """How many of these numbers are at or below the bound."""
    count = np.int32(0)
    for place in range(numbers.size):
        count += np.int32(numbers[place] <= bound)
    return count


@compiled
def candidate_rows(
    rows: Rows,
    codes: QuantizedSearch,
    first: int,
    last: int,
    query: int,
    least: Any,
    scale: float,
    added: Float64s,
    high: Candidates,
    found: int,
) -> int:
    """Append the candidates of blocks ``first`` to ``last``; return how many there are.

    ``added`` are the lexical scores from the first row on, if there are any. If few rows of a block
    can reach the score with the highest cosine, they are candidates, and no code is read.
    """
    products, bounds = np.empty(ROWS, np.int32), np.empty(ROWS, np.float32)
    needs = np.empty((2, ROWS), np.float32)
    has_heads = codes.heads.slacks.size > 0 and least > -np.inf
    slacks = codes.query_heads.slacks[query], codes.queries.slacks[query]
    for stage in range(2 if added.size == 0 else 0):
        write_needed(least, scale, slacks[stage], added, needs[stage])
    for block in range(first, last):
        here = added[(block - first) * ROWS : (block - first + 1) * ROWS]
        stage, count = 0 if has_heads else 1, FEW_ROWS + 1
        if added.size > 0:
            highest = np.float32(HIGHEST_SCORE - slacks[stage])
            write_needed(least, scale, slacks[stage], here, needs[stage])
            count = count_up_to(highest, needs[stage])
            bounds[:] = highest
        if has_heads and count > FEW_ROWS:
            count = bound_block(
                codes.heads, block, codes.query_heads, query, needs[0], products, bounds
            )
            if count > FEW_ROWS:
                stage = 1
                if added.size > 0:
                    write_needed(least, scale, slacks[1], here, needs[1])
        if stage == 1 and count > FEW_ROWS:
            count = bound_block(codes.rows, block, codes.queries, query, needs[1], products, bounds)
        for row in range(min(ROWS, rows.vectors.shape[0] - block * ROWS) if count > 0 else 0):
            place = block * ROWS + row
            allowed = rows.allowed.size == 0 or rows.allowed[place] > 0
            if allowed and bounds[row] >= needs[stage, row]:
                lexical = here[row] if added.size > 0 else 0.0
                high.places[found] = place
                high.bounds[found] = scale * np.float64(bounds[row] + slacks[stage]) + lexical
                high.added[found] = lexical
                found += 1
    return found


@compiled
def rescore_top(
    search: Search, query: int, rest: float, high: Candidates, first: int, found: int
) -> None:
    """Rescore the k candidates from ``first`` on with the highest bounds, to raise the threshold.

    Their bounds become minus infinity.
    """
    best, k = search.best, search.best.scores.shape[1]
    likely = TopK(np.empty((1, k)), np.empty((1, k), np.int64), np.zeros(1, np.int64))
    for number in range(first, found):
        if likely.sizes[0] < k or high.bounds[number] > likely.scores[0, 0]:
            keep(likely, 0, high.bounds[number], number)
    for number in likely.ranks[0, : likely.sizes[0]]:
        place, added = high.places[number], high.added[number]
        if fast_score(search, place, query, added) >= kth_best(best, query) - rest:
            rescore(search, place, query, added, rest)
        high.bounds[number] = -np.inf


@compiled
def drop_hopeless(high: Candidates, first: int, found: int, least: Any) -> int:
    """Keep the candidates from ``first`` on that may still win; return how many there are in all.

    They wait until the threshold is higher, when most of them need not be read.
    """
    left = first
    for number in range(first, found):
        if high.bounds[number] > -np.inf and high.bounds[number] >= least:
            high.places[left], high.bounds[left] = high.places[number], high.bounds[number]
            high.added[left] = high.added[number]
            left += 1
    return left


@compiled
def rescore_rest(
    search: Search, query: int, rest: float, high: Candidates, found: int, missing: float
) -> None:
    """Rescore the remaining candidates, whose bounds lack as much as is ``missing``."""
    least = kth_best(search.best, query) - rest
    for number in range(found):
        place, added = high.places[number], high.added[number]
        may_win = high.bounds[number] + missing >= least
        if may_win and fast_score(search, place, query, added) >= least:
            rescore(search, place, query, added, rest)
            least = kth_best(search.best, query) - rest


@compiled
def scan_codes(
    search: Search, codes: QuantizedSearch, first: int, last: int, memory: Float64s
) -> None:
    """Search rows ``first``, a multiple of `ROWS`, to ``last`` for the best of each query.

    ``memory`` holds the lexical scores of so many rows, a multiple of `ROWS`, of all queries.
    """
    rows, queries, terms, best = search
    count = queries.scales.size
    lexical = terms.terms.size > 0
    size = memory.size // count if lexical else max(last - first, 1)
    most = MOST_BLOCKS if count == 1 else FEWER_BLOCKS
    room = 2 * most * ROWS
    places, numbers = np.empty((count, room), np.int64), np.empty((2, count, room))
    left, rests = np.zeros(count, np.int64), np.zeros(count)
    added = memory[:0].reshape(1, 0)
    for start in range(first, last, size):
        limit = min(start + size, last)
        if lexical:
            added = memory[: count * (limit - start)].reshape(count, limit - start)
            for query in range(count):
                rests[query] = add_lexical(terms, best, query, start, added[query])
        begin, end = start // ROWS, -(-limit // ROWS)
        is_full = best.sizes.min() == best.scores.shape[1]
        blocks = most if is_full else min(1 if lexical else FIRST_BLOCKS, most)
        while begin < end:
            stop = min(begin + blocks, end)
            for query in range(count):
                high = Candidates(places[query], numbers[0, query], numbers[1, query])
                rest = rests[query]
                if left[query] > room - (stop - begin) * ROWS:
                    rescore_rest(search, query, rest, high, left[query], 0.0)
                    left[query] = 0
                least, before = kth_best(best, query) - rest, left[query]
                own = added[query, begin * ROWS - start :] if lexical else added[0]
                found = candidate_rows(
                    rows, codes, begin, stop, query, least, queries.scales[query], own, high, before
                )
                rescore_top(search, query, rest, high, before, found)
                least = kth_best(best, query) - rest
                left[query] = drop_hopeless(high, before, found, least)
            # The higher the threshold, the fewer candidates a block has.
            begin, blocks = stop, min(2 * blocks, most)
        for query in range(count):
            high = Candidates(places[query], numbers[0, query], numbers[1, query])
            rescore_rest(search, query, rests[query], high, left[query], 0.0)
            left[query] = 0


@compiled
def scan_products(search: Search, first: int, products: Float32s, memory: Float64s) -> None:
    """Search the rows from ``first`` on, given their products.

    ``products`` has a row for each query and a column for each row looked at, and ``memory`` room
    for as many lexical scores.
    """
    rows, queries, terms, best = search
    columns = products.shape[1]
    needed = np.empty(ROWS, np.float32)
    for query in range(products.shape[0]):
        scale, rest, added = queries.scales[query], 0.0, memory[:0]
        if terms.terms.size > 0:
            added = memory[:columns]
            rest = add_lexical(terms, best, query, first, added)
        for begin in range(0, columns, ROWS):
            line = products[query, begin : min(begin + ROWS, columns)]
            least = kth_best(best, query) - rest
            write_needed(least, scale, queries.margin, added[begin : begin + ROWS], needed)
            count = np.int32(0)
            for row in range(line.size):
                count += np.int32(line[row] >= needed[row])
            for row in range(line.size if count > 0 else 0):
                place = first + begin + row
                allowed = rows.allowed.size == 0 or rows.allowed[place] > 0
                if allowed and line[row] >= needed[row]:
                    lexical = added[begin + row] if added.size > 0 else 0.0
                    rescore(search, place, query, lexical, rest)


@inlined
def fast_score(search: Search, place: int, query: int, added: Any) -> Any:
    """An upper bound of a row's score by a fast product, given its lexical score."""
    scale = search.queries.scales[query]
    if scale == 0:
        return added
    product = fast_dot(search.rows.vectors[place], search.queries.vectors[query])
    return scale * (np.float64(product) + search.queries.margin) + added


@compiled
def rescore(search: Search, place: int, query: int, added: float, rest: float) -> None:
    """Compute the exact score of a row and keep it if it is among the best.

    Its lexical score is ``added``, to be looked up if there may be a ``rest``. In keyword search a
    row without any term of the query is not a hit.
    """
    rows, queries, terms, best = search
    # Looking terms up takes longer than a product: only if some were left out.
    score = lexical_score(terms, query, place, False) if rest > 0 else added
    if queries.scales[query] > 0:
        near = cosine(queries.vectors[query], rows.vectors[place])
        score = queries.scales[query] * np.float64(near) + score
    elif score <= 0:
        return
    rank = rows.begin + place
    if rows.ranks.size > 0:
        rank = rows.ranks[rank]
    is_full = best.sizes[query] == best.scores.shape[1]
    if not is_full or is_better(score, rank, best.scores[query, 0], best.ranks[query, 0]):
        keep(best, query, score, rank)
