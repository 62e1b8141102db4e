"""Upper bounds of hybrid scores.

With h the upper bound of a row's cosine from its int8 codes, w h plus the row's lexical score
bounds its hybrid score, since rounding is monotone. Non-essential terms may be left out at first. A
row then gets the most that they can add, and its own contributions are looked up if it is a
candidate.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from deltavec.core.arrays import Float32s, Float64s, Int32s, Int64s
from deltavec.core.jit import compiled
from deltavec.search.kernels import Queries, Rows, TopK, cosine, fast_dot, is_better, keep
from deltavec.search.lexical.kernels import QueryTerms, add_query_scores, lexical_score
from deltavec.search.quantized.kernels import (
    FEW_ROWS,
    FEWER_BLOCKS,
    MOST_BLOCKS,
    ROWS,
    Codes,
    QuantizedSearch,
    QueryCodes,
    add_products,
    first_blocks,
    kth_best,
)

HIGHEST_SCORE = 1 + 1e-6


class HybridTerms(NamedTuple):
    """The parts of hybrid queries but their vectors."""

    words: QueryTerms
    most: Float64s  # (queries,): the most that non-essential terms can add
    scales: Float64s  # (queries,): the factor of the cosine; 0 for keyword search


class ScoreBounds(NamedTuple):
    """The lexical part of scores, for each query and each row from ``origin`` on."""

    origin: int
    added: Float64s  # (queries, rows): at most ``rests`` below the lexical score
    rests: Float64s  # (queries,)
    terms: HybridTerms


@compiled
def add_lexical(best: TopK, first: int, sums: ScoreBounds) -> None:
    """Write the lexical scores of each query for the documents from ``first`` on.

    Non-essential terms are left out if the threshold is far above what they can add, since few
    documents then have to be looked up again.
    """
    full = best.scores.shape[1]
    for query in range(sums.added.shape[0]):
        rest = sums.terms.most[query]
        essential_only = rest > 0 and best.sizes[query] == full and best.scores[query, 0] > 2 * rest
        sums.rests[query] = rest if essential_only else 0.0
        add_query_scores(sums.terms.words, query, essential_only, first, sums.added[query])


@compiled
def candidates_in_block(
    kept: Codes,
    block: int,
    coded: QueryCodes,
    query: int,
    worst: Any,
    scale: float,
    added: Float64s,
    products: Int32s,
    places: Int64s,
    found: int,
) -> int:
    """Append the rows of a block whose upper bound reaches the threshold; return their number.

    ``added`` starts with the first row of the block.
    """
    add_products(kept.codes, block, coded.codes[query], products)
    slack, step = coded.slacks[query], coded.steps[query]
    stretched = coded.margins[query] * kept.slacks[block]
    count = np.int64(0)
    for row in range(added.size):
        high = kept.steps[block, row] * (step * np.float32(products[row]) + stretched)
        count += np.int64(scale * np.float64(high + slack) + added[row] >= worst)
    for row in range(added.size if count else 0):
        high = kept.steps[block, row] * (step * np.float32(products[row]) + stretched)
        if scale * np.float64(high + slack) + added[row] >= worst:
            places[found] = block * ROWS + row
            found += 1
    return found


@compiled
def find_candidates(
    codes: QuantizedSearch,
    first: int,
    last: int,
    query: int,
    worst: Any,
    scale: float,
    added: Float64s,
    places: Int64s,
) -> int:
    """Write the candidates of blocks ``first`` to ``last``; return their number.

    ``added`` starts with the first row of these blocks. If no lexical score suffices even with the
    highest cosine, no code is read; if only a few do, all of them are candidates.
    """
    reach = worst - scale * HIGHEST_SCORE
    products = np.empty(ROWS, np.int32)
    has_heads = codes.heads.slacks.size > 0
    found = 0
    for block in range(first, last):
        begin = (block - first) * ROWS
        here = added[begin : min(begin + ROWS, added.size)]
        count = count_candidates(reach, here)
        if count <= FEW_ROWS:
            for row in range(here.size if count else 0):
                if here[row] >= reach:
                    places[found] = block * ROWS + row
                    found += 1
            continue
        if has_heads and worst > -np.inf:
            kept, coded = codes.heads, codes.query_heads
            few = candidates_in_block(
                kept, block, coded, query, worst, scale, here, products, places, found
            )
            if few - found <= FEW_ROWS:
                found = few
                continue
        kept, coded = codes.rows, codes.queries
        found = candidates_in_block(
            kept, block, coded, query, worst, scale, here, products, places, found
        )
    return found


@compiled
def scan_sums(
    rows: Rows,
    codes: QuantizedSearch,
    first: int,
    last: int,
    queries: Queries,
    sums: ScoreBounds,
    best: TopK,
) -> None:
    """Scan the codes of rows ``first`` to ``last`` for the best hybrid scores."""
    count = queries.vectors.shape[0]
    most = MOST_BLOCKS if count == 1 else FEWER_BLOCKS
    places = np.empty(most * ROWS, np.int64)
    begin, end, blocks = first // ROWS, -(-last // ROWS), first_blocks(best, 1, most)
    while begin < end:
        stop = min(begin + blocks, end)
        for query in range(count):
            scale = sums.terms.scales[query]
            added = sums.added[query, begin * ROWS - sums.origin : last - sums.origin]
            least = kth_best(best, query) - sums.rests[query]
            found = find_candidates(codes, begin, stop, query, least, scale, added, places)
            for place in places[:found]:
                if codes.allowed.size == 0 or codes.allowed[place] > 0:
                    rescore(rows, place, queries, query, sums, best)
        begin, blocks = stop, min(2 * blocks, most)


@compiled
def search_blocks(
    rows: Rows,
    codes: QuantizedSearch,
    first: int,
    last: int,
    queries: Queries,
    terms: HybridTerms,
    memory: Float64s,
    best: TopK,
) -> None:
    """Search rows ``first`` to ``last``, as many at once as fit into ``memory``.

    ``memory`` has a multiple of `ROWS` numbers for each query.
    """
    count = queries.vectors.shape[0]
    size = memory.size // count
    rests = np.zeros(count)
    for begin in range(first, last, size):
        end = min(begin + size, last)
        added = memory[: count * (end - begin)].reshape(count, end - begin)
        sums = ScoreBounds(begin, added, rests, terms)
        add_lexical(best, rows.begin + begin, sums)
        scan_sums(rows, codes, begin, end, queries, sums, best)


@compiled
def rescore_products(
    rows: Rows, first: int, products: Float32s, queries: Queries, sums: ScoreBounds, best: TopK
) -> None:
    """Look for the best sums among the rows (or chosen ones) from ``first`` on.

    ``products`` has a row for each query and a column for each row looked at.
    """
    columns = products.shape[1]
    places = np.empty(ROWS, np.int64)
    totals = np.empty(ROWS, np.float64)
    for query in range(products.shape[0]):
        scale = sums.terms.scales[query]
        slack = scale * np.float64(queries.margins[query])
        least = kth_best(best, query) - sums.rests[query]
        for begin in range(0, columns, ROWS):
            count = min(ROWS, columns - begin)
            for row in range(count):
                index = first + begin + row
                places[row] = index if rows.chosen.size == 0 else rows.chosen[index]
                fast = scale * np.float64(products[query, begin + row])
                totals[row] = fast + slack + sums.added[query, places[row] - sums.origin]
            if count_candidates(least, totals[:count]) == 0:
                continue
            for row in range(count):
                if totals[row] >= least:
                    rescore(rows, places[row], queries, query, sums, best)
                    least = kth_best(best, query) - sums.rests[query]


@compiled
def count_candidates(bound: Any, numbers: Float64s) -> Any:
    """How many of these numbers are at or above the bound."""
    count = np.int64(0)
    for place in range(numbers.size):
        count += np.int64(numbers[place] >= bound)
    return count


@compiled
def rescore(
    rows: Rows, place: int, queries: Queries, query: int, sums: ScoreBounds, best: TopK
) -> None:
    """Compute the hybrid score of one row, and keep it if it is among the best."""
    added, rest = sums.added[query, place - sums.origin], sums.rests[query]
    rescore_with(rows, place, queries, query, added, rest, sums.terms, best)


@compiled
def rescore_with(
    rows: Rows,
    place: int,
    queries: Queries,
    query: int,
    added: float,
    rest: float,
    terms: HybridTerms,
    best: TopK,
) -> None:
    """Like `rescore`, for a row whose lexical score is at most ``rest`` above ``added``."""
    vector, rank, scale = queries.vectors[query], rows.begin + place, terms.scales[query]
    if terms.words.norms[rank] == np.inf:  # deleted
        return
    slack = scale * np.float64(queries.margins[query])
    fast = scale * np.float64(fast_dot(rows.vectors[place], vector)) + slack + added
    if fast < kth_best(best, query) - rest:
        return
    # Looking terms up takes longer than the product: only if some were left out.
    plus = lexical_score(terms.words, query, rank, False) if rest > 0 else added
    keep_better(best, query, scale * np.float64(cosine(vector, rows.vectors[place])) + plus, rank)


@compiled
def keep_better(best: TopK, query: int, score: float, rank: int) -> None:
    """Keep a document if it is among the best."""
    if best.sizes[query] < best.scores.shape[1] or is_better(
        score, rank, best.scores[query, 0], best.ranks[query, 0]
    ):
        keep(best, query, score, rank)


@compiled
def search_added(rows: Rows, first: int, last: int, sums: ScoreBounds, best: TopK) -> None:
    """Search rows (or allowed rows) ``first`` to ``last`` by lexical score alone.

    A row with the score 0 is not a hit.
    """
    for query in range(sums.added.shape[0]):
        rest = sums.rests[query]
        least = kth_best(best, query) - rest
        for index in range(first, last):
            place = index if rows.chosen.size == 0 else rows.chosen[index]
            score = sums.added[query, place - sums.origin]
            if score < least:
                continue
            if rest > 0:
                score = lexical_score(sums.terms.words, query, rows.begin + place, False)
            if score > 0:
                keep_better(best, query, score, rows.begin + place)
                least = kth_best(best, query) - rest
