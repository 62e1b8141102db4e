"""The best documents for queries with terms, with a vector, or with both."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from deltavec.core.arrays import Float64s, Int64s, UInt8s
from deltavec.search.lexical.index import HybridQuery, InvertedIndex
from deltavec.search.matrix import ChunkedMatrix
from deltavec.search.topk import ALL, NOBODY, QueryBatch, Sizes, best_rows


class TopDocuments(NamedTuple):
    """Scores and row numbers of the best documents, best first."""

    scores: Float64s
    numbers: Int64s


def best_documents(
    pieces: ChunkedMatrix,
    index: InvertedIndex | None,
    wanted: Sequence[HybridQuery],
    k: int,
    *,
    allowed: UInt8s = ALL,
    threads: int | None = None,
    sizes: Sizes | None = None,
) -> list[TopDocuments]:
    """The k best documents for each query, by score and then by number.

    Parameters are those of `deltavec.search.topk.best_rows`.
    """
    cut, found = sizes or Sizes(), {}
    for with_vector in (True, False):
        places = [n for n, one in enumerate(wanted) if bool(one.scale) == with_vector]
        for first in range(0, len(places), cut.queries):
            some = places[first : first + cut.queries]
            batch = QueryBatch.of([wanted[place] for place in some], pieces)
            best = best_rows(
                pieces, batch, k, index=index, allowed=allowed, threads=threads, sizes=cut
            )
            for place, scores, ranks in zip(some, *best, strict=True):
                there = ranks < NOBODY
                found[place] = TopDocuments(scores[there], ranks[there])
    return [found[place] for place in range(len(wanted))]
