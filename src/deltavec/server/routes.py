"""The operations of the HTTP API.

Ids may hold any characters. ``/documents/{id}`` takes slashes too. An id with a line break, or one
such as ``..``, which clients resolve before they send it, goes into ``?id=``.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any
from urllib.parse import parse_qsl

from pydantic import BaseModel, ValidationError
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from deltavec.server import explorer, openai, responses
from deltavec.server.batching import Batcher, TurnLock
from deltavec.server.browse.colors import CLUSTER
from deltavec.server.browse.exporting import export
from deltavec.server.browse.listing import list_documents, select, selection_words
from deltavec.server.errors import RequestError, as_json, json_response, validation_error
from deltavec.server.explorer import Explorer, LongWorkError
from deltavec.server.metrics import MEDIA_TYPE, Metrics
from deltavec.server.pool import RETRY_AFTER, Pools
from deltavec.server.reload import Reloader
from deltavec.server.requests import (
    ColorsRequest,
    DocumentRequest,
    EmbeddingsRequest,
    ExplainRequest,
    ExportRequest,
    ListRequest,
    ModelRequest,
    NoRequest,
    SearchRequest,
    SelectionRequest,
    SimilarRequest,
    TopicsRequest,
    WhyRequest,
)
from deltavec.version import __version__


@dataclass(frozen=True)
class Operation:
    """An operation of the HTTP API: an ASGI application, and its description.

    Attributes
    ----------
    method, path : str
        Its address, as Starlette's router has it.
    name, tag : str
        Its name and its group in the OpenAPI schema.
    takes : type of BaseModel
        The request. Its fields come from the path, and from the query or a JSON body.
    returns : type of BaseModel or None
        The response; None for plain text.
    respond : callable
        What gives the response to a request.
    description : str
        What it returns, for the OpenAPI schema.
    """

    method: str
    path: str
    name: str
    tag: str
    takes: type[BaseModel]
    returns: type[BaseModel] | None
    respond: Callable[[Any], Awaitable[Response]]
    description: str

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if self.method == "POST":
            fields = await read_body(Request(scope, receive))
        else:
            query = scope["query_string"].decode("latin-1")
            fields = {**dict(parse_qsl(query, keep_blank_values=True)), **scope["path_params"]}
        try:
            request = self.takes.model_validate(fields)
        except ValidationError as error:
            raise validation_error(error) from None
        response = await self.respond(request)
        await response(scope, receive, send)

    @property
    def address(self) -> str:
        """The path without the converters of the router."""
        return self.path.replace(":path}", "}")


async def read_body(request: Request) -> Any:
    """The JSON value in the body of a request."""
    subtype = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if not (subtype.startswith("application/") and subtype.endswith(("/json", "+json"))):
        message = "expected a JSON object in the body, with the header Content-Type"
        raise RequestError(422, f"{message}: application/json")
    try:
        return json.loads(await request.body())
    except (ValueError, RecursionError):
        message = "expected a JSON object in the body, got something else"
        raise RequestError(400, message) from None


Work = Callable[[Explorer, Any], bytes]


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
        self.batcher = Batcher(pools.short, self._search)

    def _search(
        self, requests: Sequence[SearchRequest | SimilarRequest], threads: int, turn: TurnLock
    ) -> Iterator[bytes | Exception]:
        # The explorer is taken once: a batch sees one state of the collection.
        return explorer.search(self.reloader.explorer, requests, threads, turn)

    async def search(self, request: SearchRequest | SimilarRequest) -> Response:
        """The response to a search, which shares a batch with others that wait."""
        return json_response(await self.batcher.run(request))

    async def run(self, work: Work, request: Any) -> Response:
        """The response that some work gives."""
        return json_response(await self.run_work(work, request))

    async def run_work(self, work: Work, request: Any) -> bytes:
        """What some work gives, done in the pool for long requests if it turns out to be long."""
        current = self.reloader.explorer
        try:
            return await self.pools.short.run(work, current, request)
        except LongWorkError:
            pass
        return await self.pools.long.run(work, replace(current, at_length=True), request)

    async def export(self, request: ExportRequest) -> Response:
        """A selection as a file."""
        content = await self.run_work(export, request)
        kind, ending = ("csv", "csv") if request.format == "csv" else ("plain", "txt")
        headers = {"Content-Disposition": f'attachment; filename="documents.{ending}"'}
        return Response(content, headers=headers, media_type=f"text/{kind}; charset=utf-8")

    async def health(self, request: NoRequest) -> Response:
        """That the server runs."""
        return json_response(as_json({"status": "ok", "version": __version__}))

    async def ready(self, request: NoRequest) -> Response:
        """That the queue is not full."""
        if not self.pools.ready:
            raise RequestError(503, "no more requests are taken now", headers=RETRY_AFTER)
        return json_response(as_json({"status": "ready"}))

    async def report(self, request: NoRequest) -> Response:
        """The metrics."""
        return Response(self.metrics.text(), media_type=MEDIA_TYPE)


def topics(explorer: Explorer, request: TopicsRequest) -> bytes:
    """Clusters with their names."""
    return explorer.map_view.topics_json(explorer.clusters(request.clusters))


def map_colors(explorer: Explorer, request: ColorsRequest) -> bytes:
    """A value for each point of the map."""
    explorer.map_view.require_color(request.by)
    is_other = request.by == CLUSTER and request.clusters is not None
    clusters = explorer.clusters(request.clusters) if is_other else None
    return explorer.map_view.color_json(request.by, clusters)


def columns(explorer: Explorer, request: NoRequest) -> bytes:
    """The columns with examples of filters."""
    return explorer.map_view.columns_json()


def map_points(explorer: Explorer, request: NoRequest) -> bytes:
    """The points of the map."""
    return explorer.map_view.map_json()


# fmt: off
def operations(api: Api) -> list[Operation]:
    """All operations, in the order of the reference."""
    def run(work: Work) -> Callable[[Any], Awaitable[Response]]:
        return partial(api.run, work)

    return [
        Operation("GET", "/search", "search", "find", SearchRequest,
                  responses.Results, api.search, "The documents that match a text best."),
        Operation("POST", "/search", "search_long", "find", SearchRequest,
                  responses.Results, api.search, "The same, for a text too long for an address."),
        Operation("GET", "/similar", "similar", "find", SimilarRequest,
                  responses.Results, api.search,
                  "The documents most similar to one of them, itself left out."),
        Operation("GET", "/similar/{id:path}", "similar_to", "find", SimilarRequest,
                  responses.Results, api.search, "The same, the id in the path."),
        Operation("GET", "/explain", "explain", "explain", ExplainRequest,
                  responses.Why, run(explorer.explain),
                  "Why two texts are as similar as they are."),
        Operation("POST", "/explain", "explain_long", "explain", ExplainRequest,
                  responses.Why, run(explorer.explain),
                  "The same, for texts too long for an address."),
        Operation("GET", "/why", "why", "explain", WhyRequest,
                  responses.Found, run(explorer.why), "Why a document has its score for a query."),
        Operation("POST", "/why", "why_long", "explain", WhyRequest,
                  responses.Found, run(explorer.why),
                  "The same, for a query too long for an address."),
        Operation("GET", "/documents", "document", "look", DocumentRequest,
                  responses.Document, run(explorer.document),
                  "One whole document with its keywords."),
        Operation("GET", "/documents/{id:path}", "document_at", "look", DocumentRequest,
                  responses.Document, run(explorer.document), "The same, the id in the path."),
        Operation("GET", "/list", "list", "look", ListRequest,
                  responses.Listing, run(list_documents),
                  "Documents by filter, topic or area, page by page."),
        Operation("GET", "/selection", "selection", "look", SelectionRequest,
                  responses.Selection, run(select),
                  "How many documents, and which points of the map."),
        Operation("GET", "/selection/words", "selection_words", "look", SelectionRequest,
                  responses.SelectionWords, run(selection_words),
                  "The words that set these documents apart."),
        Operation("GET", "/selection/export", "export", "look", ExportRequest,
                  None, api.export, "These documents as a file."),
        Operation("GET", "/topics", "topics", "look", TopicsRequest,
                  responses.TopicList, run(topics),
                  "Groups of similar documents, named by their words."),
        Operation("GET", "/columns", "columns", "look", NoRequest,
                  responses.Columns, run(columns),
                  "What the columns hold, and examples of filters."),
        Operation("GET", "/map", "map", "look", NoRequest,
                  responses.Map, run(map_points), "The documents as points in two dimensions."),
        Operation("GET", "/map/colors", "map_colors", "look", ColorsRequest,
                  responses.MapColors, run(map_colors),
                  "What colors the points of the map: a column, or ``cluster``."),
        Operation("GET", "/info", "info", "server", NoRequest,
                  responses.Info, run(explorer.info),
                  "What is served, and the limits of the server."),
        Operation("GET", "/health", "health", "server", NoRequest,
                  responses.Health, api.health, "Whether the server runs. Needs no token."),
        Operation("GET", "/ready", "ready", "server", NoRequest,
                  responses.Ready, api.ready, "503 while the queue is full. Needs no token."),
        Operation("GET", "/metrics", "metrics", "server", NoRequest,
                  None, api.report, "Request counts, durations, queue and memory for Prometheus."),
        Operation("POST", "/v1/embeddings", "embeddings", "OpenAI-compatible", EmbeddingsRequest,
                  responses.Embeddings, run(openai.embeddings), "Texts as vectors."),
        Operation("GET", "/v1/models", "models", "OpenAI-compatible", NoRequest,
                  responses.Models, run(openai.models), "The names of the model."),
        Operation("GET", "/v1/models/{name}", "one_model", "OpenAI-compatible", ModelRequest,
                  responses.Model, run(openai.one_model), "One of the names."),
    ]
# fmt: on
