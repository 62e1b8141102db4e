"""What the HTTP API and the page ask of a collection; responses are JSON texts.

All functions here run in threads and only read. Each one takes the explorer and a request.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from deltavec.collection import Clusters, Collection
from deltavec.collection.excerpts import Excerpt, Piece, Read, excerpt, read
from deltavec.collection.hits import Nearest
from deltavec.collection.query import NO_VECTOR, Query, QueryRequest
from deltavec.collection.why import QueryWord, document_shares, explain_score, shared_words
from deltavec.core.explain import Contributions as TakenApart
from deltavec.core.explain import Removal, WordShare, bottom_pairs, removal, shares, top_pairs
from deltavec.core.threads import stop_if_cancelled
from deltavec.errors import InputError
from deltavec.server.batching import TurnLock
from deltavec.server.errors import RequestError, as_json
from deltavec.server.limits import Limits
from deltavec.server.map_view import MapView
from deltavec.server.requests import (
    DocumentRequest,
    ExplainRequest,
    FindRequest,
    ListRequest,
    NoRequest,
    SearchRequest,
    SimilarRequest,
    WhyRequest,
)
from deltavec.server.responses import plain
from deltavec.version import __version__

Result = TypeVar("Result")

KEYWORDS = 10
LISTED_WORDS = 40  # of each text in an explanation; the others are summed up
LISTED_UNKNOWN = 50
FILTER_LENGTH = 2000
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
    """

    collection: Collection
    map_view: MapView
    limits: Limits
    name: str
    at_length: bool = False

    def require_short(self, is_long: bool) -> None:
        """Raise if the work is long and this is not the place for it."""
        if is_long and not self.at_length:
            raise LongWorkError

    def read(self, query: str, by: str | None) -> Query:
        """The parsed query; raises if the collection cannot answer it."""
        self.require_text("query", query)
        try:
            return self.collection.read(query, by)
        except InputError as error:
            raise RequestError(422, str(error), param="by") from None

    def row(self, identity: str, param: str = "id") -> int:
        """The row of a document; raises if there is none with this id."""
        # Not Collection.row: it looks for ids that are spelled alike, which takes seconds.
        row = self.collection.find_row(identity)
        if row is None:
            raise RequestError(404, "there is no document with this id", param=param)
        return row

    def page_size(self, request: FindRequest | ListRequest) -> int:
        """How many documents to show; raises if the filter is not valid."""
        k = within("k", request.k, 10, self.limits.k)
        if isinstance(request, FindRequest):  # ranks all that come before them, too
            deepest = max(self.limits.k, self.limits.deepest)
            require_at_most("offset + k", request.offset + k, deepest, param="offset")
        if request.filter is not None:
            self.mask(request.filter)
        return k

    def mask(self, filter: str) -> npt.NDArray[np.bool_]:
        """Which documents match a filter."""
        require_at_most("filter", len(filter), FILTER_LENGTH, "characters")
        try:
            return self.collection.mask(filter)
        except InputError as error:
            raise RequestError(422, str(error), param="filter") from None

    def clusters(self, count: int | None) -> Clusters:
        """The topics; in a number that was not asked for before they take seconds."""
        self.require_short(not self.map_view.topics.is_known(count))
        return self.map_view.topics.of(count)

    def require_text(self, name: str, text: str) -> None:
        """Raise if a text is too long."""
        require_at_most(name, len(text), self.limits.text_length, "characters")

    def results(
        self, found: Nearest, query: Query | None, request: FindRequest | ListRequest
    ) -> list[dict[str, Any]]:
        """The documents that were found, with the contributions of their words if asked for."""
        length = within("length", request.length, 1000, self.limits.excerpt_length)
        asked = query if request.explain else None
        positions = self.map_view.positions.of(found.rows)
        entries = self.collection.entries(found.rows)
        hits = zip(found.rows.tolist(), found.scores.tolist(), entries, positions, strict=True)
        return [
            {
                "id": entry.pop("id"),
                "score": score,
                **self.result(row, entry, asked, length),
                "position": position,
            }
            for row, score, entry, position in hits
        ]

    def result(
        self, row: int, entry: dict[str, Any], query: Query | None, length: int
    ) -> dict[str, Any]:
        """One document that was found, explained if there is a query."""
        stop_if_cancelled()
        text = entry.pop("text") or ""
        shown = Excerpt(0, text[:length], [])
        matched: tuple[str, ...] = ()
        is_explained = query is not None and len(text) <= self.limits.explained_length
        if query is not None and is_explained:
            apart, words = read(self.collection.model, text), self.collection.words
            near = shares(apart.document, query.vector).by_word
            added = document_shares(query, words, row, apart.tokenize, near)
            matched = shared_words(query, words, apart.tokenize)
            shown = excerpt(text, apart.spans, added, length)
        return {
            "text": shown.text,
            "begin": shown.begin,
            "length": len(text),
            "columns": plain_columns(entry),
            "matched": matched,
            "pieces": rounded(shown.pieces) if is_explained else None,
        }

    def explainable(self, text: str, param: str) -> Read:
        """A text, tokenized and embedded; raises if it is too long to be explained."""
        self.require_short(len(text) > LONG_TEXT)
        stop_if_cancelled()
        if len(text) > self.limits.explained_length:
            raise RequestError(
                422,
                f"the document is longer than {self.limits.explained_length:,} characters, too "
                "long to be explained",
                param=param,
            )
        return read(self.collection.model, text)

    def stored(self, row: int, param: str) -> Read:
        """A stored document, to be explained."""
        text = self.collection.documents([row]).column("text")[0].as_py() or ""
        return self.explainable(text, param)

    def require_pairs(self, a: TakenApart, b: TakenApart) -> None:
        """Raise if the words of two texts make too many pairs to compare."""
        pairs = len(a.words) * len(b.words)
        if pairs > self.limits.explained_pairs:
            raise RequestError(
                422,
                f"the texts have {pairs:,} pairs of different words, and "
                f"{self.limits.explained_pairs:,} can be compared: send shorter ones",
            )
        self.require_short(pairs > LONG_WORK)


class Search(NamedTuple):
    """A search request with its parsed query and what to rank."""

    request: SearchRequest | SimilarRequest
    query: Query
    asked: QueryRequest


def search(
    explorer: Explorer,
    requests: Sequence[SearchRequest | SimilarRequest],
    threads: int,
    turn: TurnLock | None = None,
) -> Iterator[bytes | Exception]:
    """The response to each search of a batch, or its error.

    Searches with the same filter are ranked in one pass, with the lock of the batch released.
    """
    searches = [attempt(read_search, explorer, request) for request in requests]
    valid = {n: one for n, one in enumerate(searches) if isinstance(one, Search)}
    found: dict[int, Nearest | Exception] = {}
    for filter in dict.fromkeys(one.request.filter for one in valid.values()):
        numbers = [n for n, one in valid.items() if one.request.filter == filter]
        asked = [valid[n].asked for n in numbers]
        with turn.released() if turn else nullcontext():
            ranked = attempt(explorer.collection.answers, asked, filter=filter, threads=threads)
        each = [ranked] * len(numbers) if isinstance(ranked, Exception) else ranked
        found |= dict(zip(numbers, each, strict=True))
    for n, one in enumerate(searches):
        hits = one if isinstance(one, Exception) else found[n]
        yield hits if isinstance(hits, Exception) else attempt(render, explorer, valid[n], hits)


def read_search(explorer: Explorer, request: SearchRequest | SimilarRequest) -> Search:
    """A search request, parsed; raises if it cannot be answered."""
    if isinstance(request, SimilarRequest):
        row = explorer.row(request.id)
        k = request.offset + explorer.page_size(request)
        vector = explorer.collection.index.vectors[row]
        query = explorer.collection.read([], "semantic").towards(vector)
        return Search(request, query, QueryRequest(k, vector, without=row))
    query = explorer.read(request.query, request.by)
    k = request.offset + explorer.page_size(request)
    if query.by == "semantic":
        vector = explorer.collection.model.embed([request.query], threads=1)[0]
        return Search(request, query, QueryRequest(k, vector))
    return Search(request, query, QueryRequest(k, NO_VECTOR, query))


def render(explorer: Explorer, search: Search, found: Nearest) -> bytes:
    """The response to a search for which these documents were found."""
    request, query, _ = search
    unknown = [] if isinstance(request, SimilarRequest) else query.unknown[:LISTED_UNKNOWN]
    page = Nearest(found.rows[request.offset :], found.scores[request.offset :])
    results = explorer.results(page, query, request)
    return as_json({"results": results, "unknown": unknown, "by": query.by})


def attempt(work: Callable[..., Result], *arguments: Any, **options: Any) -> Result | Exception:
    """The result of the work, or the exception that it raised."""
    try:
        return work(*arguments, **options)
    except Exception as error:
        return error


def why(explorer: Explorer, request: WhyRequest) -> bytes:
    """Why a document has its score for a query."""
    explorer.require_short(len(request.query) > LONG_TEXT)
    query = explorer.read(request.query, request.by)
    count = within("pairs", request.pairs, 10, explorer.limits.pairs)
    row = explorer.row(request.id)
    apart = explorer.stored(row, "id")
    explorer.require_pairs(query.contributions, apart.document)
    vector, words = explorer.collection.index.vectors[row], explorer.collection.words
    why = explain_score(query, words, row, vector, apart.tokenize, apart.document, count)
    return as_json(
        {
            "by": why.by,
            "score": why.score,
            **strongest_words(why.words),
            "centre": why.centre,
            "matched": why.matched,
            "near": [pair._asdict() for pair in why.near],
            "unknown": why.unknown[:LISTED_UNKNOWN],
        }
    )


def explain(explorer: Explorer, request: ExplainRequest) -> bytes:
    """Why two texts are as similar as they are."""
    count = within("pairs", request.pairs, 10, explorer.limits.pairs)
    length = within("length", request.length, 2000, explorer.limits.excerpt_length)
    a = read_side(explorer, "a", request.text_a, request.id_a)
    b = read_side(explorer, "b", request.text_b, request.id_b)
    documents = a.document, b.document
    explorer.require_pairs(*documents)
    removed = removal(*documents, explorer.collection.model.folded)
    return as_json(
        {
            "cosine": float(a.document.vector @ b.document.vector),
            "a": explained_side(request.id_a, a, b, length),
            "b": explained_side(request.id_b, b, a, length),
            "together": [pair._asdict() for pair in top_pairs(*documents, count)],
            "apart": [pair._asdict() for pair in bottom_pairs(*documents, count)],
            "removed": removed and removed_part(removed),
        }
    )


def read_side(explorer: Explorer, side: str, text: str | None, identity: str | None) -> Read:
    """One of the two texts of an explanation: the text itself, or that of a document."""
    if text is not None and identity is None:
        explorer.require_text(f"text_{side}", text)
        return explorer.explainable(text, f"text_{side}")
    if identity is not None and text is None:
        return explorer.stored(explorer.row(identity, f"id_{side}"), f"id_{side}")
    got = "neither" if text is None else "both"
    raise RequestError(
        422, f"expected either text_{side} or id_{side}, got {got}", param=f"text_{side}"
    )


def document(explorer: Explorer, request: DocumentRequest) -> bytes:
    """One whole document with its keywords."""
    row = explorer.row(request.id)
    entry = explorer.collection.entries([row])[0]
    text = entry.pop("text") or ""
    words: Sequence[WordShare] = ()
    if len(text) <= explorer.limits.explained_length:
        apart = read(explorer.collection.model, text).document
        words = shares(apart, apart.vector).words[:KEYWORDS]
    return as_json(
        {
            "id": entry.pop("id"),
            "text": text,
            "columns": plain_columns(entry),
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
            "map": explorer.map_view.positions.method,
            "state": explorer.map_view.state,
            "limits": asdict(explorer.limits),
            "collection": plain(explorer.collection.info()),
        }
    )


def within(name: str, asked: int | None, default: int, most: int) -> int:
    """What is asked for if it is within the limit; else the default, up to the limit."""
    if asked is None:
        return min(default, most)
    require_at_most(name, asked, most)
    return asked


def require_at_most(
    name: str, value: int, most: int, unit: str = "", *, param: str | None = None
) -> None:
    """Raise if a value is beyond its limit."""
    if value > most:
        unit = unit and f" {unit}"
        message = f"{name} must be at most {most:,}{unit}, got {value:,}"
        raise RequestError(422, message, param=param or name)


def plain_columns(columns: Mapping[str, Any]) -> dict[str, Any]:
    """The columns of a document as JSON values."""
    return {name: plain(value) for name, value in columns.items()}


def rounded(pieces: list[Piece]) -> list[Piece]:
    """Pieces for the screen: contributions to six digits, half as long as JSON."""
    return [(text, share and round(share, 6)) for text, share in pieces]


def explained_side(identity: str | None, one: Read, other: Read, length: int) -> dict[str, Any]:
    """One of two texts with the contributions of its words."""
    added = shares(one.document, other.document.vector)
    shown = excerpt(one.text, one.spans, added.by_word, length)
    return {
        "id": identity,
        "text": shown.text,
        "begin": shown.begin,
        "length": len(one.text),
        "pieces": rounded(shown.pieces),
        **strongest_words(added.words),
        "offset": added.offset,
        "unknown": one.document.unknown[:LISTED_UNKNOWN],
    }


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
