"""The operations of the HTTP API.

Ids may hold any characters. ``/documents/{id}`` takes slashes too. An id with a line break, or one
such as ``..``, which clients resolve before they send it, goes into ``?id=``.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, wraps
from typing import Any, TypeAlias, get_type_hints
from urllib.parse import parse_qsl

from pydantic import BaseModel, ValidationError
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from deltavec.server import explorer, openai, requests, shards
from deltavec.server.batching import Batcher, Pool, Pools, TurnLock
from deltavec.server.errors import (
    RequestError,
    as_json,
    busy,
    invalid,
    json_response,
    validation_error,
)
from deltavec.server.explorer import Explorer, LongWorkError
from deltavec.server.map_view import CLUSTER, describe_topics
from deltavec.server.metrics import MEDIA_TYPE, Metrics
from deltavec.server.reload import CollectionWriter, Reloader
from deltavec.version import __version__

JSON_LINES = ("application/x-ndjson", "application/jsonl", "application/jsonlines")

Respond: TypeAlias = Callable[[Any, Any], Awaitable[Response]]  # of the Api and a request
Work: TypeAlias = Callable[[Any, Any], bytes]  # of the explorer, or of what asks other servers


@dataclass(frozen=True)
class Operation:
    """An operation of the HTTP API: an ASGI application, and its description.

    Attributes
    ----------
    method, path : str
        Its address, as Starlette's router has it.
    tag : str
        Its group in the OpenAPI schema.
    returns : str or None
        The response, by its name in ``responses.json``; None for plain text.
    respond : callable
        What gives the response to a request. The type of the request is that of its argument
        ``request``; the OpenAPI schema has its name and its docstring.
    """

    method: str
    path: str
    tag: str
    returns: str | None
    respond: Respond

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        api = scope["app"].state.api
        if self.method == "POST":
            fields = await read_body(Request(scope, receive), lines=self.path == "/documents")
        else:
            query = scope["query_string"].decode("latin-1")
            fields = {**dict(parse_qsl(query, keep_blank_values=True)), **scope["path_params"]}
        try:
            request = self.takes.model_validate(fields, context=api.limits)
        except ValidationError as error:
            raise validation_error(error) from None
        response = await self.respond(api, request)
        await response(scope, receive, send)

    @cached_property
    def takes(self) -> type[BaseModel]:
        """The request. Its fields come from the path, and from the query or a JSON body."""
        found: type[BaseModel] = get_type_hints(self.respond)["request"]
        return found

    @property
    def address(self) -> str:
        """The path without the converters of the router."""
        return self.path.replace(":path}", "}")


async def read_body(request: Request, *, lines: bool = False) -> Any:
    """The JSON value in the body of a request; or documents, one in each line."""
    subtype = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if lines and subtype in JSON_LINES:
        try:
            written = (await request.body()).splitlines()
            return {"documents": [json.loads(line) for line in written if line.strip()]}
        except (ValueError, RecursionError):
            raise RequestError(400, "expected a JSON object in each line of the body") from None
    if not (subtype.startswith("application/") and subtype.endswith(("/json", "+json"))):
        raise invalid(
            "expected a JSON object in the body, with the header Content-Type: application/json"
        )
    try:
        return json.loads(await request.body())
    except (ValueError, RecursionError):
        raise RequestError(400, "expected a JSON object in the body, got something else") from None


class Api:
    """What answers the operations, in a thread pool or at once.

    Parameters
    ----------
    reloader
        What is served at the moment.
    pools
        The threads.
    metrics
        What ``/metrics`` reports.
    """

    def __init__(self, reloader: Reloader, pools: Pools, metrics: Metrics) -> None:
        self.reloader = reloader
        self.pools = pools
        self.metrics = metrics
        self.limits = limits = reloader.explorer.limits
        self.batcher = Batcher(pools.short, self._search)
        self.writes = CollectionWriter(reloader, limits.seconds)
        self.writer = Batcher(Pool(pools, "deltavec-write", 1, limits.waiting), self.writes.write)

    def _search(
        self, batch: Sequence[requests.FindRequest], threads: int, turn: TurnLock
    ) -> Iterator[bytes | Exception]:
        # The explorer is taken once: a batch sees one state of the collection.
        return explorer.search(self.reloader.explorer, batch, threads, turn)

    async def search(self, request: requests.SearchRequest) -> Response:
        """The documents that match a text best. POST takes texts too long for an address."""
        return json_response(await self.batcher.run(request))

    async def similar(self, request: requests.SimilarRequest) -> Response:
        """The documents most similar to one of them, itself left out."""
        return json_response(await self.batcher.run(request))

    async def write_documents(self, request: requests.WriteRequest) -> Response:
        """Add documents, or put them in the place of those with their ids. Needs the write token.

        Answered when they are on disk.
        """
        return json_response(await self.writer.run(request))

    async def remove_document(self, request: requests.RemoveRequest) -> Response:
        """Remove a document; none is removed if there is none. Needs the write token."""
        return json_response(await self.writer.run(request))

    async def remove_documents(self, request: requests.RemoveByFilterRequest) -> Response:
        """Remove the documents that a filter lets through. Needs the write token."""
        return json_response(await self.writer.run(request))

    async def run(self, work: Work, request: Any) -> bytes:
        """The result of some work, done in the pool for long requests if it turns out to be long.

        The explorer is taken once: a request sees one state of the collection.
        """
        current = self.reloader.explorer
        try:
            return await self.pools.short.run(work, current, request)
        except LongWorkError:
            pass
        return await self.pools.long.run(work, replace(current, at_length=True), request)

    async def export(self, request: requests.ExportRequest) -> Response:
        """The selected documents as a file."""
        content = await self.run(explorer.export, request)
        kind, ending = ("csv", "csv") if request.format == "csv" else ("plain", "txt")
        headers = {"Content-Disposition": f'attachment; filename="documents.{ending}"'}
        return Response(content, headers=headers, media_type=f"text/{kind}; charset=utf-8")

    async def health(self, request: requests.NoRequest) -> Response:
        """Whether the server runs. Needs no token."""
        return json_response(as_json({"status": "ok", "version": __version__}))

    async def ready(self, request: requests.NoRequest) -> Response:
        """Whether the server accepts requests; 503 while its queue is full. Needs no token."""
        if not self.pools.ready:
            raise busy("no more requests are taken now")
        return json_response(as_json({"status": "ready"}))

    async def report(self, request: requests.NoRequest) -> Response:
        """Request counts, durations, queue length and memory for Prometheus."""
        return Response(self.metrics.text(), media_type=MEDIA_TYPE)


def topics(explorer: Explorer, request: requests.TopicsRequest) -> bytes:
    """Groups of similar documents, named by their words."""
    clusters = explorer.clusters(request.clusters)
    return explorer.map_view.cached(f"topics {len(clusters)}", lambda: describe_topics(clusters))


def map_colors(explorer: Explorer, request: requests.ColorsRequest) -> bytes:
    """What colors the points of the map: a column, or ``cluster``."""
    map_view, by = explorer.map_view, request.by
    if by not in map_view.color_names:
        choices = ", ".join(map_view.color_names) or "nothing, as there are no columns"
        raise invalid(f"the map can be colored by: {choices}"[:1000], "by")
    if request.filter is not None:
        explorer.mask(request.filter)
    clusters = explorer.clusters(request.clusters) if by == CLUSTER else None
    key = f"colors {clusters and len(clusters)} {by} {request.filter}"
    return map_view.cached(key, lambda: map_view.colors(by, clusters, request.filter)._asdict())


def columns(explorer: Explorer, request: requests.FilteredRequest) -> bytes:
    """What the columns hold, how often (facets), and examples of filters."""
    if request.filter is not None:
        explorer.mask(request.filter)
    view, filter = explorer.map_view, request.filter
    return view.cached(f"columns {filter}", lambda: view.columns(filter))


def map_points(explorer: Explorer, request: requests.NoRequest) -> bytes:
    """The documents as points in two dimensions."""
    return explorer.map_view.cached("map", explorer.map_view.map_points)


def run(work: Work) -> Respond:
    """What answers with the result of some work, which is done in a thread."""

    @wraps(work)
    async def respond(api: Api, request: Any) -> Response:
        return json_response(await api.run(work, request))

    return respond


OPENAI = "OpenAI-compatible"
SHARDS = "one of several servers"
OPERATIONS = (
    Operation("GET", "/search", "find", "Results", Api.search),
    Operation("POST", "/search", "find", "Results", Api.search),
    Operation("GET", "/similar", "find", "Results", Api.similar),
    Operation("GET", "/similar/{id:path}", "find", "Results", Api.similar),
    Operation("GET", "/explain", "explain", "Why", run(explorer.explain)),
    Operation("POST", "/explain", "explain", "Why", run(explorer.explain)),
    Operation("GET", "/why", "explain", "Found", run(explorer.why)),
    Operation("POST", "/why", "explain", "Found", run(explorer.why)),
    Operation("GET", "/documents", "look", "Document", run(explorer.document)),
    Operation("GET", "/documents/{id:path}", "look", "Document", run(explorer.document)),
    Operation("POST", "/documents", "write", "Written", Api.write_documents),
    Operation("DELETE", "/documents", "write", "Removed", Api.remove_documents),
    Operation("DELETE", "/documents/{id:path}", "write", "Removed", Api.remove_document),
    Operation("GET", "/list", "look", "Listing", run(explorer.list_documents)),
    Operation("GET", "/duplicates", "look", "DuplicateList", run(explorer.list_duplicates)),
    Operation("GET", "/selection", "look", "Selection", run(explorer.select)),
    Operation("GET", "/selection/words", "look", "SelectionWords", run(explorer.selection_words)),
    Operation("GET", "/selection/export", "look", None, Api.export),
    Operation("GET", "/topics", "look", "TopicList", run(topics)),
    Operation("GET", "/columns", "look", "Columns", run(columns)),
    Operation("GET", "/map", "look", "Map", run(map_points)),
    Operation("GET", "/map/colors", "look", "MapColors", run(map_colors)),
    Operation("GET", "/info", "server", "Info", run(explorer.info)),
    Operation("GET", "/stats", "server", "Stats", run(explorer.stats)),
    Operation("GET", "/health", "server", "Health", Api.health),
    Operation("GET", "/ready", "server", "Ready", Api.ready),
    Operation("GET", "/metrics", "server", None, Api.report),
    Operation("POST", "/shards/forms", SHARDS, "ShardForms", run(shards.forms)),
    Operation("POST", "/shards/sums", SHARDS, "ShardSums", run(shards.sums)),
    Operation("POST", "/shards/search", SHARDS, "Results", run(shards.search_shard)),
    Operation("POST", "/shards/why", SHARDS, "Found", run(shards.explain_shard)),
    Operation("GET", "/v1/query", "find", "EncodedQuery", run(openai.encode_query)),
    Operation("POST", "/v1/embeddings", OPENAI, "Embeddings", run(openai.embeddings)),
    Operation("GET", "/v1/models", OPENAI, "Models", run(openai.models)),
    Operation("GET", "/v1/models/{name}", OPENAI, "Model", run(openai.one_model)),
)

FanOut = shards.FanOut
FRONT_OPERATIONS = (
    Operation("GET", "/search", "find", "Results", run(FanOut.search)),
    Operation("POST", "/search", "find", "Results", run(FanOut.search)),
    Operation("GET", "/why", "explain", "Found", run(FanOut.why)),
    Operation("POST", "/why", "explain", "Found", run(FanOut.why)),
    Operation("GET", "/documents", "look", "Document", run(FanOut.document)),
    Operation("GET", "/documents/{id:path}", "look", "Document", run(FanOut.document)),
    Operation("GET", "/info", "server", "ShardsInfo", run(FanOut.info)),
    Operation("GET", "/health", "server", "Health", Api.health),
    Operation("GET", "/ready", "server", "Ready", run(FanOut.ready)),
    Operation("GET", "/metrics", "server", None, Api.report),
)
