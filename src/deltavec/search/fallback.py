"""Exact search without the compiler: every row is scored, nothing is passed over.

For the first searches of a process (`deltavec.core.jit`). A score is the same sum, taken in the
same order, as `deltavec.search.kernels.cosine` and `deltavec.search.lexical.kernels.lexical_score`
take it, and so the same to the last bit.
"""

from __future__ import annotations

import numpy as np

from deltavec.core.arrays import Float32s, Float64s, Int64s
from deltavec.search.kernels import Queries, Rows, TopK
from deltavec.search.lexical.bm25 import saturate
from deltavec.search.lexical.kernels import QueryTerms
from deltavec.search.matrix import in_turn


def search_rows(rows: Rows, queries: Queries, terms: QueryTerms, best: TopK) -> None:
    """Search rows for the best of each query, as the kernels of `deltavec.search.topk` do."""
    places = np.flatnonzero(rows.allowed) if len(rows.allowed) else np.arange(len(rows.vectors))
    for query, scale in enumerate(queries.scales.tolist()):
        scores = lexical_scores(rows, terms, query)
        if scale:
            near = cosines(rows.vectors, queries.vectors[query])
            scores = scale * near.astype(np.float64) + scores
        kept = places[~np.isnan(scores[places]) if scale else scores[places] > 0]
        ranks = rows.ranks[rows.begin + kept] if len(rows.ranks) else rows.begin + kept
        one = best.at(slice(query, query + 1))
        both = np.append(one.scores, scores[None, kept], axis=1)
        keep_best(one, both, np.append(one.ranks, ranks[None], axis=1))


def keep_best(best: TopK, scores: Float64s, ranks: Int64s) -> None:
    """Keep the best of these rows; those that are not there have the score minus infinity."""
    k = best.scores.shape[1]
    line = np.arange(len(scores))[:, None]
    order = np.lexsort((ranks, -scores))[:, :k][:, ::-1]
    # Ascending, those that are not there behind the others: a heap, full or not.
    order = order[line, np.argsort(scores[line, order] == -np.inf, axis=1, kind="stable")]
    best.scores[:], best.ranks[:] = scores[line, order], ranks[line, order]
    best.sizes[:] = (best.scores > -np.inf).sum(axis=1)


def cosines(rows: Float32s, query: Float32s) -> Float32s:
    """The cosine of each row with the query."""
    with np.errstate(divide="ignore", invalid="ignore"):
        squares = in_turn(query[None], query) * in_turn(rows, rows)
        return np.where(squares == 0, 0, in_turn(rows, query) / np.sqrt(squares)).astype(np.float32)


def lexical_scores(rows: Rows, terms: QueryTerms, query: int) -> Float64s:
    """What the terms of a query add to each row."""
    added = np.zeros(len(rows.vectors))
    for place in range(terms.begins[query], terms.ends[query]):
        begin, end = terms.postings.begins[terms.terms[place] : terms.terms[place] + 2]
        documents, counts = terms.postings.documents[begin:end], terms.postings.counts[begin:end]
        inside = (documents >= 0) & (documents < len(added))  # others: a file from elsewhere
        documents, counts = documents[inside], counts[inside]
        added[documents] += terms.weights[place] * saturate(counts, terms.norms[documents])
    return added
