"""Searches that wait at the same moment, answered together.

Each is read by itself, all of them look through the documents in one pass, and each answer is
written as soon as its turn comes. What one of them gets wrong is its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from typing import Any, NamedTuple, TypeVar

from deltavec.collection.hits import Nearest
from deltavec.collection.query import NO_VECTOR, Asked, Query
from deltavec.server.errors import as_json
from deltavec.server.explorer import LISTED_UNKNOWN, Explorer, after
from deltavec.server.pool import Aside
from deltavec.server.requests import SearchRequest, SimilarRequest

Result = TypeVar("Result")

Request = SearchRequest | SimilarRequest


class Prepared(NamedTuple):
    """A request that was read."""

    request: Request
    query: Query
    asked: Asked


def answered(
    explorer: Explorer, requests: Sequence[Request], threads: int, aside: Aside = nullcontext
) -> Iterator[bytes | Exception]:
    """The answer to each request as JSON, or why there is none.

    Documents are looked through ``aside``: others read their requests and write their answers
    meanwhile.
    """
    prepared = [attempt(prepare, explorer, request) for request in requests]
    ready = {place: one for place, one in enumerate(prepared) if isinstance(one, Prepared)}
    found: dict[int, Nearest | Exception] = {}
    for filter in dict.fromkeys(one.request.filter for one in ready.values()):
        places = [place for place, one in ready.items() if one.request.filter == filter]
        asked = [ready[place].asked for place in places]
        with aside():
            best = attempt(explorer.collection.answers, asked, filter=filter, threads=threads)
        each = [best] * len(places) if isinstance(best, Exception) else best
        found |= dict(zip(places, each, strict=True))
    for place, one in enumerate(prepared):
        hits = one if isinstance(one, Exception) else found[place]
        if isinstance(hits, Exception):
            yield hits
        else:
            yield attempt(written, explorer, ready[place], hits)


def prepare(explorer: Explorer, request: Request) -> Prepared:
    """A request, read; one that cannot be answered is refused."""
    if isinstance(request, SimilarRequest):
        row = explorer.row(request.id)
        k = request.offset + explorer.wanted(request)
        vector = explorer.collection.index.vectors[row]
        query = explorer.collection.read([], "meaning").towards(vector)
        return Prepared(request, query, Asked(k, vector, without=row))
    query = explorer.read(request.query, request.by)
    k = request.offset + explorer.wanted(request)
    if query.by == "meaning":
        vector = explorer.collection.model.embed([request.query], threads=1)[0]
        return Prepared(request, query, Asked(k, vector))
    return Prepared(request, query, Asked(k, NO_VECTOR, query))


def written(explorer: Explorer, prepared: Prepared, found: Nearest) -> bytes:
    """The answer to a request for which these documents were found."""
    request, query, _ = prepared
    unknown = [] if isinstance(request, SimilarRequest) else query.unknown[:LISTED_UNKNOWN]
    shown = explorer.results(after(found, request.offset), query, request)
    return as_json({"results": shown, "unknown": unknown, "by": query.by})


def attempt(work: Callable[..., Result], *arguments: Any, **options: Any) -> Result | Exception:
    """What the work gives, or what it failed with."""
    try:
        return work(*arguments, **options)
    except Exception as error:
        return error
