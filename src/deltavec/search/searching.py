"""One search of an index, exact or approximate, from what was asked to what is shown."""

from __future__ import annotations

from typing import NamedTuple

import numpy.typing as npt

from deltavec.search.approximate import likely_best_rows
from deltavec.search.exact import best_rows
from deltavec.search.graph import Graph
from deltavec.search.hits import Hits
from deltavec.search.ids import Ids
from deltavec.search.requests import Where, as_queries, chosen_rows, require_count
from deltavec.search.rows import Pieces


class State(NamedTuple):
    """Rows, their ids and their graph; replaced whole, so that a search sees one or the other."""

    pieces: Pieces
    ids: Ids
    graph: Graph | None


def searched(
    state: State, queries: npt.ArrayLike, k: int, where: Where | None, threads: int
) -> Hits:
    """What `Index.search` gives."""
    pieces, ids, graph = state
    wanted = as_queries(queries, pieces.dimensions)
    require_count(k)
    chosen = chosen_rows(where, ids)
    k = min(int(k), len(pieces) if chosen is None else len(chosen))
    if graph:
        found = likely_best_rows(
            pieces, graph, ids.ranks, wanted, k, chosen=chosen, threads=threads
        )
    else:
        found = best_rows(pieces, ids.ranks, wanted, k, chosen=chosen, threads=threads)
    return Hits(ids.at(ids.rows_at(found.ranks)), found.scores)
