"""Documents without a query: by a filter, a topic or an area of the map; lists and exports."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

import numpy as np
import numpy.typing as npt

from deltavec.collection.topics.names import group_names
from deltavec.core.arrays import Float32s, Float64s, Int64s
from deltavec.io.output.tables import json_value, rows_of
from deltavec.search.hybrid.search import TopDocuments
from deltavec.server.errors import as_json, invalid
from deltavec.server.explorer import Explorer
from deltavec.server.requests import DuplicatesRequest, ExportRequest, ListRequest, SelectionRequest

WORDS = 10  # that set a selection apart
FEWEST_CORNERS = 3
MOST_CORNERS = 400
FORMULA = ("=", "+", "-", "@", "\t", "\r")  # what a formula begins with


def list_documents(explorer: Explorer, request: ListRequest) -> bytes:
    """A page of documents: of a topic the most typical first, else in their order."""
    rows = selected_rows(explorer, request)
    if request.sort is not None:
        rows = rows[explorer.order_by(request.sort, rows)]
    page = rows[request.offset : request.offset + explorer.page_size(request)]
    if request.cluster is None:
        unscored = explorer.results(TopDocuments(np.zeros(len(page)), page), None, request)
        results = [result | {"score": None} for result in unscored]
    else:
        direction = explorer.clusters(request.clusters).directions[request.cluster]
        cosines = explorer.collection.index.take(page) @ direction
        query = explorer.collection.vector_query(direction)
        results = explorer.results(TopDocuments(cosines.astype(np.float64), page), query, request)
    return as_json({"results": results, "documents": len(rows)})


def list_duplicates(explorer: Explorer, request: DuplicatesRequest) -> bytes:
    """Pairs of documents that share text, those that share most first."""
    collection, limits = explorer.collection, explorer.limits
    if len(collection) > limits.compared:
        raise invalid(f"near-duplicates are listed of at most {limits.compared:,} documents")
    explorer.require_short("duplicates" not in vars(explorer.map_view))
    pairs = explorer.map_view.duplicates
    count, length = min(request.k, limits.k), min(request.length, limits.excerpt_length)
    columns = [column[request.offset : request.offset + count].tolist() for column in pairs]
    listed = [dict(zip(pairs._fields, row, strict=True)) for row in zip(*columns, strict=True)]
    for pair in listed:
        texts = collection.documents([pair["a"], pair["b"]]).column("text").to_pylist()
        pair |= {"text_a": texts[0][:length], "text_b": texts[1][:length]}
    return as_json({"pairs": listed, "documents": len(pairs.a)})


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


def export(explorer: Explorer, request: ExportRequest) -> bytes:
    """The selected documents as a CSV file with all columns, or their ids, one a line."""
    explorer.require_short(is_long=True)
    rows = selected_rows(explorer, request)
    collection = explorer.collection
    if request.format == "ids":
        ids = collection.ids.take(rows).to_pylist()
        return "".join(f"{id_line(one)}\n" for one in ids).encode()
    if len(rows) > explorer.limits.exported:
        raise invalid(
            f"at most {explorer.limits.exported:,} documents can be exported as a table, these "
            f"are {len(rows):,}: take their ids, or choose fewer"
        )
    names = ["id", "text", *collection.columns]
    file = io.StringIO()
    table = csv.writer(file, lineterminator="\n")
    table.writerow([*names, "map_x", "map_y"])
    positions = explorer.map_view.positions.of(rows)
    for position, entry in zip(positions, rows_of(collection.documents(rows)), strict=True):
        cells = (cell(entry[name], request.formulas) for name in names)
        table.writerow([*cells, *(position or (None, None))])
    return file.getvalue().encode()


def id_line(id: str) -> str:
    """An id as a line of a file; as JSON if it is empty, not printable, or could be JSON itself."""
    return id if id.isprintable() and id[:1] not in ("", '"') else json.dumps(id)


def cell(value: Any, formulas: bool) -> Any:
    """A whole value as a cell of a table; lists and objects as JSON.

    Text that a spreadsheet would run as a formula gets an apostrophe, unless formulas are wanted.
    """
    value = json_value(value)
    if isinstance(value, str) and value.startswith(FORMULA) and not formulas:
        return f"'{value}"
    return json.dumps(value, ensure_ascii=False) if isinstance(value, list | dict) else value


def selected_rows(explorer: Explorer, request: SelectionRequest) -> Int64s:
    """The rows in a topic, in an area and matching a filter; all rows if none is given.

    Those of a topic come in the order of their similarity to its centroid.
    """
    rows = np.arange(len(explorer.collection))
    if request.cluster is not None:
        clusters = explorer.clusters(request.clusters)
        if request.cluster >= len(clusters):
            message = f"cluster must be from 0 to {len(clusters) - 1}, got {request.cluster}"
            raise invalid(message, "cluster")
        rows = np.flatnonzero(clusters.labels == request.cluster)
        cosines = explorer.collection.index.take(rows) @ clusters.directions[request.cluster]
        rows = rows[np.argsort(-cosines, kind="stable")]
    if request.area is not None:
        rows = rows[inside(explorer.map_view.positions.places, corners(request.area))[rows]]
    return rows if request.filter is None else rows[explorer.mask(request.filter)[rows]]


def corners(area: str) -> Float64s:
    """The corners of a polygon given as ``x,y x,y x,y``."""
    try:
        found = np.array([[float(number) for number in one.split(",")] for one in area.split()])
    except ValueError:
        found = np.empty((0, 0))
    if found.ndim != 2 or found.shape[1:] != (2,) or not np.isfinite(found).all():
        raise invalid("expected an area such as 0,0 0.5,0 0.5,0.5", "area")
    if not FEWEST_CORNERS <= len(found) <= MOST_CORNERS:
        message = f"an area has from {FEWEST_CORNERS} to {MOST_CORNERS} corners, got {len(found)}"
        raise invalid(message, "area")
    return found


def inside(points: Float32s, polygon: Float64s) -> npt.NDArray[np.bool_]:
    """Which points are inside a polygon, by the even-odd rule.

    Points without coordinates are not.
    """
    x, y = points.astype(np.float64).T
    odd: npt.NDArray[np.bool_] = np.zeros(len(points), bool)
    for (x1, y1), (x2, y2) in zip(polygon, np.roll(polygon, 1, axis=0), strict=True):
        if y1 != y2:
            crosses = (y1 > y) != (y2 > y)
            odd ^= crosses & (x < (x2 - x1) * (y - y1) / (y2 - y1) + x1)
    odd &= ~np.isnan(x)
    return odd
