"""The addresses of the HTTP API.

Ids may hold any characters. ``/documents/{id}`` takes slashes too; an id with a line break, or such
as ``..``, which a client would resolve before it asks, goes into ``?id=``.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Annotated, Any, NamedTuple
from urllib.parse import parse_qsl

from fastapi import APIRouter, Query
from pydantic import ValidationError
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from deltavec.server import responses
from deltavec.server.batching import Request, answered
from deltavec.server.browse.exporting import exported
from deltavec.server.browse.listing import listed, selection, selection_words
from deltavec.server.errors import RequestError, as_json
from deltavec.server.explorer import Explorer, LongWorkError
from deltavec.server.map_view import MapView
from deltavec.server.metrics import MEDIA_TYPE, Metrics
from deltavec.server.middleware import route_path
from deltavec.server.pool import RETRY_AFTER, Aside, Workers
from deltavec.server.reload import Live
from deltavec.server.requests import (
    ClusterCount,
    ExplainRequest,
    ExportRequest,
    FindRequest,
    Identity,
    ListRequest,
    SearchRequest,
    SelectionRequest,
    SimilarRequest,
    StrictRequest,
    WhyRequest,
)
from deltavec.version import __version__


def json_response(content: bytes) -> Response:
    """A response of bytes that are JSON already."""
    return Response(content, media_type="application/json")


# What the short way reads.
SEARCHES: dict[str, type[Request]] = {"/search": SearchRequest, "/similar": SimilarRequest}

JSON = (b"content-type", b"application/json")

Find = Callable[[Request], Awaitable[bytes]]


def finding(live: Live, workers: Workers) -> Find:
    """What answers a search, together with those that wait beside it."""

    def answered_now(
        requests: Sequence[Request], threads: int, aside: Aside
    ) -> Iterator[bytes | Exception]:
        return answered(live.explorer, requests, threads, aside)  # all of them from one state

    return workers.sharing(answered_now)


class ShortRoute(NamedTuple):
    """An address as the API lists it."""

    path: str


class Quick:
    """The application, with a short way for what is asked most: searches by their address.

    FastAPI finds the route, reads the parameters and wraps the answer; for a search that takes
    longer than the search itself. A request for one of these addresses is read with the same class,
    and answered at once. Whatever is not plainly right goes the long way, and is told there what is
    wrong.

    Parameters
    ----------
    app
        What answers everything else.
    searches
        What is read for each of these addresses.
    find
        What answers it, as JSON.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        searches: Mapping[str, type[StrictRequest]],
        find: Callable[[Any], Awaitable[bytes]],
    ) -> None:
        self.app = app
        self.searches = searches
        self.find = find
        self.routes = {path: ShortRoute(path) for path in searches}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        request = self.read(scope)
        if request is None:
            await self.app(scope, receive, send)
            return
        scope["route"] = self.routes[route_path(scope)]
        content = await self.find(request)
        headers = [(b"content-length", b"%d" % len(content)), JSON]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": content})

    def read(self, scope: Scope) -> StrictRequest | None:
        """What is asked for; None if it goes the long way."""
        if scope["type"] != "http" or scope["method"] != "GET":
            return None
        kind = self.searches.get(route_path(scope))
        if kind is None:
            return None
        try:
            pairs = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
            asked = dict(pairs)
            return kind.model_validate(asked) if len(asked) == len(pairs) else None
        except (ValidationError, ValueError):
            return None


def explorer_routes(live: Live, workers: Workers, metrics: Metrics, find: Find) -> APIRouter:
    """The addresses of the explorer; ``find`` answers searches."""
    router = APIRouter()

    # The explorer is taken once: a request sees one state of the collection, and no other.
    # Written as JSON in the thread too: the event loop stays free.
    def answer(work: Callable[..., dict[str, Any]], *request: Any) -> bytes:
        return as_json(work(live.explorer, *request))

    def look(at: Callable[..., bytes], *request: Any) -> bytes:
        return at(live.explorer.overview, *request)

    async def respond(work: Callable[..., bytes], *request: Any) -> Response:
        return json_response(await workers.run(work, *request))

    async def respond_with(
        clusters: int | None, work: Callable[..., bytes], *request: Any
    ) -> Response:
        """The same for what clusters in another number are needed for, which takes seconds."""
        run = workers.run if clusters is None else workers.run_long
        return json_response(await run(work, *request))

    async def respond_at_length(work: Callable[..., dict[str, Any]], request: Any) -> Response:
        """The same for texts, which may be long: then beside the short requests."""
        try:
            return await respond(answer, partial(work, at_length=False), request)
        except LongWorkError:
            return json_response(await workers.run_long(answer, work, request))

    @router.get("/search", tags=["find"], response_model=responses.Results)
    async def search(request: Annotated[SearchRequest, Query()]) -> Response:
        """The documents nearest to a text."""
        return json_response(await find(request))

    @router.post("/search", tags=["find"], response_model=responses.Results)
    async def search_long(request: SearchRequest) -> Response:
        """The same, for a text too long for an address."""
        return json_response(await find(request))

    @router.get("/similar", tags=["find"], response_model=responses.Results)
    async def similar(request: Annotated[SimilarRequest, Query()]) -> Response:
        """The documents nearest to one of them, itself left out."""
        return json_response(await find(request))

    @router.get("/similar/{id:path}", tags=["find"], response_model=responses.Results)
    async def similar_to(id: Identity, shown: Annotated[FindRequest, Query()]) -> Response:
        """The same, the id in the path."""
        return json_response(await find(SimilarRequest(id=id, **shown.model_dump())))

    @router.get("/explain", tags=["explain"], response_model=responses.Why)
    async def explain(request: Annotated[ExplainRequest, Query()]) -> Response:
        """Why two texts are as alike as they are."""
        return await respond_at_length(Explorer.explain, request)

    @router.post("/explain", tags=["explain"], response_model=responses.Why)
    async def explain_long(request: ExplainRequest) -> Response:
        """The same, for texts too long for an address."""
        return await respond_at_length(Explorer.explain, request)

    @router.get("/why", tags=["explain"], response_model=responses.Found)
    async def why(request: Annotated[WhyRequest, Query()]) -> Response:
        """Why a document has its score for a query."""
        return await respond_at_length(Explorer.why, request)

    @router.post("/why", tags=["explain"], response_model=responses.Found)
    async def why_long(request: WhyRequest) -> Response:
        """The same, for a query too long for an address."""
        return await respond_at_length(Explorer.why, request)

    @router.get("/documents", tags=["look"], response_model=responses.Document)
    async def document(id: Annotated[Identity, Query()]) -> Response:
        """One document, whole, with its keywords."""
        return await respond(answer, Explorer.document, id)

    @router.get("/documents/{id:path}", tags=["look"], response_model=responses.Document)
    async def document_at(id: Identity) -> Response:
        """The same, the id in the path."""
        return await respond(answer, Explorer.document, id)

    @router.get("/list", tags=["look"], response_model=responses.Listing)
    async def list_(request: Annotated[ListRequest, Query()]) -> Response:
        """Documents that a filter leaves or a topic holds, page by page."""
        return await respond_with(request.clusters, answer, listed, request)

    @router.get("/selection", tags=["look"], response_model=responses.Selection)
    async def selection_(request: Annotated[SelectionRequest, Query()]) -> Response:
        """How many documents these are, and which points of the map."""
        return await respond_with(request.clusters, answer, selection, request)

    @router.get("/selection/words", tags=["look"], response_model=responses.SelectionWords)
    async def selection_words_(request: Annotated[SelectionRequest, Query()]) -> Response:
        """The words that set these documents apart from the others."""
        return json_response(await workers.run_long(answer, selection_words, request))

    @router.get("/selection/export", tags=["look"], response_class=PlainTextResponse)
    async def export(request: Annotated[ExportRequest, Query()]) -> Response:
        """These documents as a file."""
        content = await workers.run_long(lambda: exported(live.explorer, request))
        kind = "text/csv" if request.format == "csv" else "text/plain"
        ending = "csv" if request.format == "csv" else "txt"
        headers = {"Content-Disposition": f'attachment; filename="documents.{ending}"'}
        return Response(content, headers=headers, media_type=f"{kind}; charset=utf-8")

    @router.get("/topics", tags=["look"], response_model=responses.TopicList)
    async def topics(clusters: Annotated[ClusterCount | None, Query()] = None) -> Response:
        """Groups of like documents, named by their words."""
        return await respond_with(clusters, look, MapView.topics_json, clusters)

    @router.get("/columns", tags=["look"], response_model=responses.Columns)
    async def columns() -> Response:
        """What the columns hold, and examples of filters."""
        return await respond(look, MapView.columns_json)

    @router.get("/map", tags=["look"], response_model=responses.Map)
    async def map_() -> Response:
        """Where the documents stand in two dimensions."""
        return await respond(look, MapView.map_json)

    @router.get("/map/colors", tags=["look"], response_model=responses.MapColors)
    async def map_colors(
        by: Annotated[str, Query(max_length=10_000)],
        clusters: Annotated[ClusterCount | None, Query()] = None,
    ) -> Response:
        """What colours the points of the map: a column, or ``cluster``."""
        return await respond_with(clusters, look, MapView.color_json, by, clusters)

    @router.get("/info", tags=["server"], response_model=responses.Info)
    async def info() -> Response:
        """What is served, and what the server takes on."""
        return await respond(answer, Explorer.info)

    @router.get("/health", tags=["server"], response_model=responses.Health)
    async def health() -> dict[str, str]:
        """That the server is there. Asks for no token."""
        return {"status": "ok", "version": __version__}

    @router.get("/ready", tags=["server"], response_model=responses.Ready)
    async def ready() -> dict[str, str]:
        """That the server takes requests; refused while its queue is full. Asks for no token."""
        if not workers.ready:
            raise RequestError(503, "no more requests are taken now", headers=RETRY_AFTER)
        return {"status": "ready"}

    @router.get("/metrics", tags=["server"], response_class=PlainTextResponse)
    async def metrics_() -> Response:
        """Requests, how long they took, the queue and the memory, for Prometheus."""
        return Response(metrics.text(), media_type=MEDIA_TYPE)

    return router
