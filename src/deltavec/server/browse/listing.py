"""Documents without a query: by a filter, a topic or an area of the map."""

from __future__ import annotations

import numpy as np

from deltavec.collection.topics.names import group_names
from deltavec.core.arrays import Int64s
from deltavec.search.hybrid.search import TopDocuments
from deltavec.server.browse.area import corners, inside
from deltavec.server.browse.topics import members
from deltavec.server.errors import as_json
from deltavec.server.explorer import Explorer
from deltavec.server.requests import ListRequest, SelectionRequest

WORDS = 10  # that set a selection apart


def list_documents(explorer: Explorer, request: ListRequest) -> bytes:
    """A page of documents: of a topic the most typical first, else in their order."""
    rows = selected_rows(explorer, request)
    page = rows[request.offset : request.offset + explorer.page_size(request)]
    if request.cluster is None:
        unscored = explorer.results(TopDocuments(np.zeros(len(page)), page), None, request)
        results = [result | {"score": None} for result in unscored]
    else:
        direction = explorer.clusters(request.clusters).directions[request.cluster]
        cosines = explorer.collection.index.vectors[page] @ direction
        query = explorer.collection.vector_query(direction)
        results = explorer.results(TopDocuments(cosines.astype(np.float64), page), query, request)
    return as_json({"results": results, "documents": len(rows)})


def select(explorer: Explorer, request: SelectionRequest) -> bytes:
    """How many documents are selected, and which points of the map."""
    rows = selected_rows(explorer, request)
    mask = np.zeros(len(explorer.collection), np.uint8)
    mask[rows] = 1
    points = (mask[explorer.map_view.positions.shown] + ord("0")).astype(np.uint8)
    return as_json({"documents": len(rows), "points": points.tobytes().decode("ascii")})


def selection_words(explorer: Explorer, request: SelectionRequest) -> bytes:
    """The words that set the selected documents apart from the others."""
    explorer.require_short(is_long=True)
    rows = selected_rows(explorer, request)
    labels = np.ones(len(explorer.collection), np.int32)
    labels[rows] = 0
    names = group_names(explorer.collection, labels, words=WORDS) if len(rows) else [[]]
    return as_json({"documents": len(rows), "words": names[0]})


def selected_rows(explorer: Explorer, request: SelectionRequest) -> Int64s:
    """The rows in a topic, in an area and matching a filter; all rows if none is given."""
    if request.cluster is None:
        rows = np.arange(len(explorer.collection))
    else:
        clusters = explorer.clusters(request.clusters)
        rows = members(explorer.collection, clusters, request.cluster)
    if request.area is not None:
        rows = rows[inside(explorer.map_view.positions.places, corners(request.area))[rows]]
    if request.filter is None:
        return rows
    return rows[explorer.mask(request.filter)[rows]]
