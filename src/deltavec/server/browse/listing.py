"""Documents that no query looks for: what a filter leaves, a topic or an area holds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from deltavec.collection.hits import Nearest
from deltavec.collection.topics.names import group_names
from deltavec.core.arrays import Int64s
from deltavec.server.browse.area import corners, inside
from deltavec.server.requests import ListRequest, SelectionRequest

if TYPE_CHECKING:
    from deltavec.server.explorer import Explorer

WORDS = 10  # that tell some documents from the others


def listed(explorer: Explorer, request: ListRequest) -> dict[str, Any]:
    """A page of them: of a topic the most typical first, else in their order."""
    rows = selected(explorer, request)
    k = explorer.wanted(request)
    page = rows[request.offset : request.offset + k]
    if request.cluster is None:
        unscored = explorer.results(Nearest(page, np.zeros(len(page))), None, request)
        results = [result | {"score": None} for result in unscored]
    else:
        direction = explorer.overview.topics.of(request.clusters).directions[request.cluster]
        cosines = explorer.collection.index.vectors[page] @ direction
        query = explorer.collection.read([], "meaning").towards(direction)
        results = explorer.results(Nearest(page, cosines), query, request)
    return {"results": results, "documents": len(rows)}


def selection(explorer: Explorer, request: SelectionRequest) -> dict[str, Any]:
    """How many they are, and which points of the map."""
    rows = selected(explorer, request)
    inside = np.zeros(len(explorer.collection), np.uint8)
    inside[rows] = 1
    points = (inside[explorer.overview.positions.shown] + ord("0")).astype(np.uint8)
    return {"documents": len(rows), "points": points.tobytes().decode("ascii")}


def selected(explorer: Explorer, request: SelectionRequest) -> Int64s:
    """The rows that a topic holds, an area has and a filter leaves; all if none is given."""
    if request.cluster is None:
        rows = np.arange(len(explorer.collection))
    else:
        rows = explorer.overview.topics.members(request.cluster, request.clusters)
    if request.area is not None:
        places = explorer.overview.positions.places
        rows = rows[inside(places, corners(request.area))[rows]]
    if request.filter is None:
        return rows
    return rows[explorer.mask(request.filter)[rows]]


def selection_words(explorer: Explorer, request: SelectionRequest) -> dict[str, Any]:
    """The words that set these documents apart from the others."""
    rows = selected(explorer, request)
    labels = np.ones(len(explorer.collection), np.int32)
    labels[rows] = 0
    names = group_names(explorer.collection, labels, words=WORDS) if len(rows) else [[]]
    return {"documents": len(rows), "words": names[0]}
