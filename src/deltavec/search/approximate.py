"""Approximate search: rows that a walk through a graph proposes, scored as an exact search would.

Where the graph is of no use the search is exact: a query of zeros, nearly as many rows wanted as
there are, or a filter that leaves so few rows that looking at each is quicker.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from deltavec.core.arrays import frozen
from deltavec.core.kernels import Int64s
from deltavec.search.exact import Ranked, Search, best_rows
from deltavec.search.graph import Graph, Proposed, contained, scored
from deltavec.search.rows import Pieces

# So many times as many rows as are wanted are taken from the graph, which rounds scores.
PROPOSED_A_HIT = 2
# A filter that leaves fewer rows than this, or this share, is searched exactly.
FEW_ROWS = 5_000
SMALL_SHARE = 0.02
LARGE_SHARE = 0.1
TRIES = 3


def likely_best_rows(search: Search, graph: Graph) -> Ranked:
    """The k best rows for each query, of those that were looked at."""
    vectors = search.queries.arrays[0]
    rows, count = len(search.pieces), search.candidates
    result = search.unanswered()
    open_queries = np.arange(len(vectors))
    wanted = PROPOSED_A_HIT * search.k
    if search.chosen is not None:
        wanted = int(wanted * rows / max(1, count)) + 1
    if count > FEW_ROWS and count > SMALL_SHARE * rows:
        open_queries = open_queries[vectors.any(axis=1)]
        for _ in range(TRIES):
            if not len(open_queries) or wanted > LARGE_SHARE * rows:
                break
            done = search_graph(search, graph, open_queries, wanted, result)
            open_queries = open_queries[~done]
            wanted *= 4
        zero_queries = np.flatnonzero(~vectors.any(axis=1))
        open_queries = np.union1d(open_queries, zero_queries)
    if len(open_queries):
        rest = Pieces((frozen(vectors[open_queries]),), search.queries.length_error)
        exact = best_rows(search._replace(queries=rest))
        result.scores[open_queries], result.ranks[open_queries] = exact
    return result


def search_graph(
    search: Search, graph: Graph, numbers: Int64s, wanted: int, result: Ranked
) -> npt.NDArray[np.bool_]:
    """Write the best of so many proposed rows for these queries; which of them got all k."""
    k, ranks, chosen = search.k, search.ranks, search.chosen
    batch = search.queries.arrays[0][numbers]
    proposed = graph.proposed(batch, wanted, search.threads)
    zeros = graph.zeros
    if chosen is not None:
        allowed = contained(proposed.rows, chosen)
        proposed = Proposed(proposed.queries[allowed], proposed.rows[allowed])
        zeros = zeros[contained(zeros, chosen)]
    scores = scored(search.pieces, batch, proposed)
    owners, found = proposed.queries, rank_of(ranks, proposed.rows)
    if len(zeros):
        best_zeros = np.sort(rank_of(ranks, zeros))[:k]
        owners = np.concatenate([owners, np.repeat(np.arange(len(batch)), len(best_zeros))])
        found = np.concatenate([found, np.tile(best_zeros, len(batch))])
        scores = np.concatenate([scores, np.zeros(len(found) - len(scores), np.float32)])
    order = np.lexsort((found, -scores, owners))
    counts = np.bincount(owners, minlength=len(batch))
    done: npt.NDArray[np.bool_] = counts >= k
    begins = np.cumsum(counts) - counts
    places = order[begins[done][:, None] + np.arange(k)]
    result.scores[numbers[done]] = scores[places]
    result.ranks[numbers[done]] = found[places]
    return done


def rank_of(ranks: Int64s, rows: Int64s) -> Int64s:
    """The rank of each row."""
    return ranks[rows] if len(ranks) else rows
