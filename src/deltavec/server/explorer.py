"""What the HTTP API and the page ask of a collection; responses are JSON texts.

All functions here run in threads and only read. Each one takes the explorer and a request: searches
and explanations first, then documents without a query, by a filter, a topic or an area of the map.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow.compute as pc

from deltavec.collection.answers import AnalyzedText, Excerpt, Hit, QueryWord, excerpt
from deltavec.collection.collection import Collection
from deltavec.collection.query import Query, suggestions
from deltavec.collection.topics.clusters import Clusters
from deltavec.collection.topics.names import group_names
from deltavec.core.arrays import Float32s, Float64s, Int64s
from deltavec.core.explain import Contributions, Removal, WordShare, removal, shares, top_pairs
from deltavec.core.threads import stop_if_cancelled
from deltavec.errors import InputError
from deltavec.io.output.tables import json_value, rows_of
from deltavec.search.shingles import Marks, shared_spans
from deltavec.search.topk import TopDocuments
from deltavec.server.batching import TurnLock
from deltavec.server.errors import EXACT_INTEGERS, SCHEMAS, RequestError, as_json, invalid, plain
from deltavec.server.limits import Limits
from deltavec.server.map_view import MapView
from deltavec.server.requests import (
    DocumentRequest,
    DuplicatesRequest,
    ExplainRequest,
    ExportRequest,
    FindRequest,
    ListRequest,
    NoRequest,
    SearchRequest,
    SelectionRequest,
    SimilarRequest,
    WhyRequest,
)
from deltavec.version import __version__

if TYPE_CHECKING:
    from deltavec.collection.export.encoder import QueryEncoder

Result = TypeVar("Result")

KEYWORDS = 10
LISTED_WORDS = 40  # of each text in an explanation; the others are summed up
LISTED_UNKNOWN = 50
LONG_TEXT = 20_000  # characters: some hundredths of a second to tokenize and embed
LONG_WORK = 1_000_000  # pairs of words: about the same


class LongWorkError(Exception):
    """The work would take seconds, and belongs into the pool for long requests."""


@dataclass(frozen=True, eq=False)
class Explorer:
    """A collection to be explored.

    Attributes
    ----------
    collection : Collection
        The documents and their vectors.
    map_view : MapView
        The map.
    limits : Limits
        What one request may ask for.
    name : str
        The collection's name on the page.
    at_length : bool
        Whether long work is done; if not, it raises `LongWorkError`.
    encoder : QueryEncoder or None
        What encodes queries for documents in another store.
    """

    collection: Collection
    map_view: MapView
    limits: Limits
    name: str
    at_length: bool = False
    encoder: QueryEncoder | None = None

    def require_short(self, is_long: bool) -> None:
        """Raise if the work is long and this is not the place for it."""
        if is_long and not self.at_length:
            raise LongWorkError

    def query(self, query: str, by: str | None) -> Query:
        """The parsed query; raises if the collection cannot answer it."""
        try:
            return self.collection.query(query, by=by)
        except InputError as error:
            raise invalid(str(error), "by") from None

    def row(self, identity: str, param: str = "id") -> int:
        """The row of a document; raises if there is none with this id."""
        # Not Collection.row: it suggests similar ids, which takes seconds.
        row = self.collection.find_row(identity)
        if row is None:
            raise RequestError(404, "there is no document with this id", param=param)
        return row

    def page_size(self, request: FindRequest | ListRequest) -> int:
        """How many documents to show; raises if the filter is not valid."""
        k = min(request.k, self.limits.k)  # what was asked for is within; the default may not be
        if isinstance(request, FindRequest):  # ranks all that come before them, too
            require_last(request.offset + k, self.limits)
        if request.filter is not None:
            self.mask(request.filter)
        return k

    def mask(self, filter: str) -> npt.NDArray[np.bool_]:
        """Which documents match a filter."""
        try:
            return self.collection.mask(filter)
        except InputError as error:
            raise invalid(str(error), "filter") from None

    def sort_keys(self, sort: str) -> tuple[str, str]:
        """The column to sort by, and the direction; raises if there is no such column."""
        name = sort.removeprefix("-")
        if name not in self.collection.columns:
            raise invalid(f"expected a column to sort by, got {sort!r:.60}", "sort")
        return name, "descending" if sort.startswith("-") else "ascending"

    def order_by(self, sort: str, rows: Int64s) -> Int64s:
        """The order of some rows by a column; those without a value come last."""
        name, direction = self.sort_keys(sort)
        values = self.collection.documents(rows).column(name).combine_chunks()
        order: Int64s = pc.array_sort_indices(values, order=direction).to_numpy().astype(np.int64)
        return order

    def clusters(self, count: int | None) -> Clusters:
        """The topics; in a number that was not asked for before they take seconds."""
        self.require_short(not self.map_view.is_known(count))
        return self.map_view.clusters_of(count)

    def results(
        self, found: TopDocuments, query: Query | None, request: FindRequest | ListRequest
    ) -> list[dict[str, Any]]:
        """The documents that were found, with the contributions of their words if asked for."""
        length = min(request.length, self.limits.excerpt_length)
        asked = query if request.explain else None
        longest = self.limits.explained_length
        hits = self.collection.hits(found, asked, length=length, longest=longest)
        positions = self.map_view.positions.of(found.numbers)
        return [as_result(*each) for each in zip(hits, positions, strict=True)]

    def explainable(self, text: str, param: str) -> AnalyzedText:
        """A text to be explained; raises if it is too long."""
        self.require_short(len(text) > LONG_TEXT)
        stop_if_cancelled()
        if len(text) > self.limits.explained_length:
            raise invalid(
                f"the document is longer than {self.limits.explained_length:,} characters, too "
                "long to be explained",
                param,
            )
        return AnalyzedText(self.collection.model, text)

    def stored(self, row: int, param: str) -> AnalyzedText:
        """A stored document, to be explained."""
        text = self.collection.documents([row]).column("text")[0].as_py() or ""
        return self.explainable(text, param)

    def require_pairs(self, a: Contributions, b: Contributions) -> None:
        """Raise if the words of two texts make too many pairs to compare."""
        pairs = len(a.words) * len(b.words)
        if pairs > self.limits.explained_pairs:
            raise invalid(
                f"the texts have {pairs:,} pairs of different words, and "
                f"{self.limits.explained_pairs:,} can be compared: send shorter ones"
            )
        self.require_short(pairs > LONG_WORK)


def search(
    explorer: Explorer, requests: Sequence[FindRequest], threads: int, turn: TurnLock | None = None
) -> Iterator[bytes | Exception]:
    """The response to each search of a batch, or its error.

    All of them are ranked at once, with the lock of the batch released.
    """
    queries = [attempt(parse_search, explorer, request) for request in requests]
    valid = [query for query in queries if isinstance(query, Query)]
    with turn.released() if turn else nullcontext():
        ranked = attempt(explorer.collection.best, valid, threads=threads)
    found = iter([ranked] * len(valid) if isinstance(ranked, Exception) else ranked)
    for request, query in zip(requests, queries, strict=True):
        best = query if isinstance(query, Exception) else next(found)
        yield (
            best if isinstance(best, Exception) else attempt(render, explorer, request, query, best)
        )


def parse_search(explorer: Explorer, request: FindRequest) -> Query:
    """The query of a search request; raises if it cannot be answered."""
    if isinstance(request, SimilarRequest):
        row = explorer.row(request.id)
        query = explorer.collection.vector_query(explorer.collection.index.take([row])[0], row=row)
    else:
        assert isinstance(request, SearchRequest)
        query = replace(explorer.query(request.query, request.by), broad=request.broad)
    k = request.offset + explorer.page_size(request)
    if request.sort is not None:
        explorer.sort_keys(request.sort)
        k = max(k, explorer.limits.k)
    return replace(query, k=k, filter=request.filter)


def render(explorer: Explorer, request: FindRequest, query: Query, best: TopDocuments) -> bytes:
    """The response to a search that found these documents."""
    order = np.arange(len(best.numbers))
    if request.sort is not None:
        order = explorer.order_by(request.sort, best.numbers)
    order = order[request.offset : request.offset + explorer.page_size(request)]
    page = TopDocuments(best.scores[order], best.numbers[order])
    unknown = query.unknown[:LISTED_UNKNOWN]
    return as_json(
        {
            "results": explorer.results(page, query, request),
            "unknown": unknown,
            "suggestions": suggestions(unknown, explorer.collection.model.vocabulary),
            "matches": explorer.collection.count_matches(query),
            "by": query.by,
        }
    )


def attempt(work: Callable[..., Result], *arguments: Any, **options: Any) -> Result | Exception:
    """The result of the work, or the exception that it raised."""
    try:
        return work(*arguments, **options)
    except Exception as error:
        return error


def why(explorer: Explorer, request: WhyRequest) -> bytes:
    """Why a document has its score for a query."""
    explorer.require_short(len(request.query) > LONG_TEXT)
    query = explorer.query(request.query, request.by)
    count = min(request.pairs, explorer.limits.pairs)
    row = explorer.row(request.id)
    match = explorer.collection.match(query, row, explorer.stored(row, "id").text)
    explorer.require_pairs(query.contributions, match.contributions)
    why = match.explain(count)
    return as_json(
        {
            "by": why.by,
            "score": why.score,
            **strongest_words(why.words),
            "center": why.center,
            "matched": why.matched,
            "near": [pair._asdict() for pair in why.near],
            "unknown": why.unknown[:LISTED_UNKNOWN],
        }
    )


def explain(explorer: Explorer, request: ExplainRequest) -> bytes:
    """Why two texts are as similar as they are."""
    count = min(request.pairs, explorer.limits.pairs)
    length = min(request.length, explorer.limits.excerpt_length)
    a = read_side(explorer, "a", request.text_a, request.id_a)
    b = read_side(explorer, "b", request.text_b, request.id_b)
    documents = a.contributions, b.contributions
    explorer.require_pairs(*documents)
    removed = removal(*documents, explorer.collection.model.table)
    marks = shared_spans(a.text, b.text)
    return as_json(
        {
            "cosine": float(a.contributions.vector @ b.contributions.vector),
            "a": explained_side(request.id_a, a, b, length, marks[0]),
            "b": explained_side(request.id_b, b, a, length, marks[1]),
            "together": [pair._asdict() for pair in top_pairs(*documents, count)],
            "apart": [pair._asdict() for pair in top_pairs(*documents, count, -1)],
            "removed": removed and removed_part(removed),
        }
    )


def read_side(
    explorer: Explorer, side: str, text: str | None, identity: str | None
) -> AnalyzedText:
    """One of the two texts of an explanation: the text itself, or that of a document."""
    if text is not None and identity is None:
        return explorer.explainable(text, f"text_{side}")
    if identity is not None and text is None:
        return explorer.stored(explorer.row(identity, f"id_{side}"), f"id_{side}")
    got = "neither" if text is None else "both"
    raise invalid(f"expected either text_{side} or id_{side}, got {got}", f"text_{side}")


def document(explorer: Explorer, request: DocumentRequest) -> bytes:
    """One whole document with its keywords."""
    row = explorer.row(request.id)
    entry = explorer.collection.entries([row])[0]
    text = entry.pop("text") or ""
    words: Sequence[WordShare] = ()
    if len(text) <= explorer.limits.explained_length:
        apart = explorer.collection.model.decompose(text)
        words = shares(apart, apart.vector).words[:KEYWORDS]
    return as_json(
        {
            "id": entry.pop("id"),
            "text": text,
            "columns": {name: json_value(entry[name], largest=EXACT_INTEGERS) for name in entry},
            "position": explorer.map_view.positions.of(np.array([row]))[0],
            "keywords": [{"word": word.word, "share": word.share} for word in words],
        }
    )


def info(explorer: Explorer, request: NoRequest) -> bytes:
    """What is served, and the limits of the server."""
    return as_json(
        {
            "version": __version__,
            "name": explorer.name,
            "documents": len(explorer.collection),
            "dimensions": explorer.collection.model.dimensions,
            "columns": list(explorer.collection.columns),
            "color_by": explorer.map_view.color_names,
            "map": explorer.map_view.drawn.positions.method,
            "state": explorer.collection.description.state,
            "limits": asdict(explorer.limits),
            "collection": plain(explorer.collection.info()),
        }
    )


def stats(explorer: Explorer, request: NoRequest) -> bytes:
    """How the collection changes, and whether its model should be fitted anew."""
    info = explorer.collection.info()
    return as_json({name: info[name] for name in SCHEMAS["Stats"]["properties"]})


def require_last(last: int, limits: Limits) -> None:
    """Raise if a page ends beyond the last result of a search."""
    if last > limits.last + 1:
        message = f"offset + k must be at most {limits.last + 1:,}, got {last:,}"
        raise invalid(message, "offset")


def passage(shown: Excerpt, text: str) -> dict[str, Any]:
    """An excerpt of a text; contributions have six digits, to keep the JSON short."""
    pieces = shown.pieces and [(piece, share and round(share, 6)) for piece, share in shown.pieces]
    return {"text": shown.text, "begin": shown.begin, "length": len(text), "pieces": pieces}


def as_result(hit: Hit, position: tuple[float, float] | None) -> dict[str, Any]:
    """A hit with an excerpt, as the response has it."""
    return {
        "id": hit.id,
        "score": hit.score,
        **passage(hit.excerpt, hit.text),
        "columns": {name: plain(value) for name, value in hit.columns.items()},
        "position": position,
        "matched": hit.excerpt.matched,
    }


def explained_side(
    identity: str | None, one: AnalyzedText, other: AnalyzedText, length: int, marks: Marks
) -> dict[str, Any]:
    """One of two texts with the contributions of its words, and what the other has too."""
    added = shares(one.contributions, other.contributions.vector)
    shown = excerpt(one.text, one.spans, added.by_word, length)
    return {
        "id": identity,
        **passage(shown, one.text),
        "same": split_marked(shown, marks),
        **strongest_words(added.words),
        "offset": added.offset,
        "unknown": one.contributions.unknown[:LISTED_UNKNOWN],
    }


def split_marked(shown: Excerpt, marks: Marks) -> list[tuple[str, bool]]:
    """An excerpt in pieces, and whether each is marked."""
    last = len(shown.text)
    borders = [min(max(at - shown.begin, 0), last) for mark in marks for at in mark]
    ends = zip([0, *borders], [*borders, last], strict=True)
    pieces = [(shown.text[i:j], bool(number % 2)) for number, (i, j) in enumerate(ends)]
    return [piece for piece in pieces if piece[0]]


def strongest_words(words: Sequence[WordShare | QueryWord]) -> dict[str, Any]:
    """The words that contribute most, the largest first, and the sum of the others."""
    strongest = sorted(words, key=lambda word: -abs(word.share))
    first, others = strongest[:LISTED_WORDS], strongest[LISTED_WORDS:]
    return {
        "words": [word._asdict() for word in sorted(first, key=lambda word: -word.share)],
        "other_words": len(others),
        "other_share": sum(word.share for word in others),
    }


def removed_part(removed: Removal) -> dict[str, Any]:
    """What the removal of components subtracted."""
    part = removed._asdict()
    for name in ("words_a", "words_b"):
        part[name] = [{"word": word, "share": share} for word, share in part[name]]
    return part


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
