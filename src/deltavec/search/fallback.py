"""Exact search without the compiler: every row is scored, nothing is passed over.

For the first searches of a process (`deltavec.core.jit`). A score is the same sum, taken in the
same order, as `deltavec.search.kernels.cosine` and `deltavec.search.lexical.kernels.lexical_score`
take it, and so the same to the last bit.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from deltavec.core.arrays import Float32s, Float64s, Int64s, require_mapped
from deltavec.search.hybrid.search import TopDocuments
from deltavec.search.lexical.bm25 import saturate
from deltavec.search.lexical.index import HybridQuery, SegmentPart
from deltavec.search.matrix import ChunkedMatrix, in_turn
from deltavec.search.topk import Search, TopRows


def best_rows(search: Search) -> TopRows:
    """The k best rows for each query: what `deltavec.search.topk.best_rows` gives."""
    require_mapped(*search.pieces.arrays)
    found = search.unanswered()
    numbers = rows_to_find(search.pieces, search.chosen)
    ranks = search.ranks[numbers] if len(search.ranks) else numbers
    for place, query in enumerate(search.queries.arrays[0]):
        scores = cosines(search.pieces, query)[numbers]
        best = best_first(scores, ranks, search.k)
        # Fewer than k if some are no numbers: what is left of the places says so.
        found.scores[place], found.ranks[place] = -np.inf, np.iinfo(np.int64).max
        found.scores[place, : len(best)] = scores[best]
        found.ranks[place, : len(best)] = ranks[best]
    return found


def best_in_part(
    pieces: ChunkedMatrix,
    part: SegmentPart,
    wanted: Sequence[HybridQuery],
    k: int,
    chosen: Int64s | None,
    thresholds: Float64s,
) -> list[TopDocuments]:
    """The k best documents of a segment, as `hybrid.search.best_in_part` finds them."""
    found = []
    for one in wanted:
        scores = lexical_scores(part, one)
        numbers = np.flatnonzero(part.norms < np.inf) if chosen is None else chosen
        if one.scale:
            cosine = cosines(pieces, one.vector.astype(np.float32))
            scores = one.scale * cosine.astype(np.float64) + scores
        else:
            numbers = numbers[scores[numbers] > 0]
        numbers = numbers[best_first(scores[numbers], numbers, k)]
        found.append(TopDocuments(scores[numbers], numbers))
    return found


def rows_to_find(pieces: ChunkedMatrix, chosen: Int64s | None) -> Int64s:
    """The numbers of the rows that may be found."""
    if chosen is None:
        return np.arange(len(pieces)) if pieces.live is None else pieces.live
    return chosen


def cosines(pieces: ChunkedMatrix, query: Float32s) -> Float32s:
    """The score of each row with the query."""
    own = in_turn(query[None], query)
    scores = [np.zeros(0)]
    for rows in pieces.arrays:
        with np.errstate(divide="ignore", invalid="ignore"):
            squares = own * in_turn(rows, rows)
            scores.append(np.where(squares == 0, 0, in_turn(rows, query) / np.sqrt(squares)))
    return np.concatenate(scores).astype(np.float32)


def lexical_scores(part: SegmentPart, query: HybridQuery) -> Float64s:
    """What the terms of a query, whose numbers are places in the segment, add to each document."""
    added = np.zeros(len(part.norms))
    for place, weight in zip(query.terms.tolist(), query.weights.tolist(), strict=True):
        documents, counts = part.segment.postings_at(place)
        added[documents] += weight * saturate(counts, part.norms[documents])
    return added


def best_first(scores: npt.NDArray[np.floating], ranks: Int64s, k: int) -> Int64s:
    """The places of the k best, by score and then by rank; what is no number is left out."""
    order = np.lexsort((ranks, -scores))[:k]
    kept: Int64s = order[~np.isnan(scores[order])]
    return kept
