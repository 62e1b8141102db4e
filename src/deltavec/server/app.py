"""The ASGI application: explorer page, HTTP API and middleware."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.routing import Route

from deltavec.collection.collection import Collection
from deltavec.collection.query import make_ready
from deltavec.collection.warm import compile_searches, compile_updates
from deltavec.core.jit import BUDGET
from deltavec.errors import InputError
from deltavec.server.batching import Pools
from deltavec.server.errors import handle_http_error
from deltavec.server.explorer import Explorer
from deltavec.server.limits import Limits
from deltavec.server.map_view import MapView
from deltavec.server.metrics import LogMiddleware, Metrics
from deltavec.server.middleware import Guard, LimitMiddleware
from deltavec.server.page.routes import PageFile, openapi, page_files
from deltavec.server.reload import Reloader
from deltavec.server.routes import FRONT_OPERATIONS, OPERATIONS, Api, Operation
from deltavec.server.shards import AT_ONCE, FanOut, ShardServer

ORIGIN = re.compile(r"https?://(\[[0-9a-fA-F:.]+\]|[A-Za-z0-9.-]+)(:[0-9]{1,5})?")
COMPRESSED_FROM = 2_000  # bytes of a response, if the client accepts gzip
TOKEN = re.compile(r"[ -~]+")
ROOT_PATH = re.compile(r"(/[A-Za-z0-9._~-]+)+")


def create_app(
    collection: Collection,
    *,
    token: str | None = None,
    write_token: str | None = None,
    limits: Limits | None = None,
    map_view: MapView | None = None,
    loopback_only: bool = True,
    name: str = "collection",
    origins: Sequence[str] = (),
    root_path: str = "",
    metrics_folder: Path | None = None,
    encoder: Path | None = None,
) -> Starlette:
    """The application that serves a collection; any ASGI server runs it.

    Parameters
    ----------
    collection
        A collection, as `deltavec.open_collection` returns it. When its folder changes, the
        application serves the new state: see `deltavec.server.reload`.
    token
        What clients send as ``Authorization: Bearer TOKEN``; None for no authentication. The page
        itself and ``/health`` are public, and the page asks its user for the token.
    write_token
        What clients that write documents send instead; None to refuse all writes.
    limits
        How much one request may ask for, and how many are worked on at once.
    map_view
        The map, if it is at hand; otherwise it is computed here.
    loopback_only
        Whether the Host header must name this machine, which stops DNS rebinding. False for a
        server that others may reach.
    name
        The collection's name on the page.
    origins
        Origins, such as ``https://example.org``, whose pages may send requests (CORS); ``*`` for
        all.
    root_path
        A path that a proxy puts in front of all addresses, such as ``/reviews``; the proxy may
        strip it or not.
    metrics_folder
        Where several processes share their metrics: see `deltavec.server.metrics`.
    encoder
        The folder of a query encoder, which ``/v1/query`` encodes with.

    Examples
    --------
    >>> from deltavec.server.app import create_app
    >>> app = create_app(news, token="something-long")  # an ASGI application
    """
    limits = limits or Limits()
    for secret in (token, write_token):
        require_settings(secret, origins, root_path)
    map_view = map_view or MapView.of(collection, points=limits.map_points)
    BUDGET.load_compiler()
    make_ready(collection.index, collection.words)
    compile_searches(collection)
    if write_token is not None:
        compile_updates(collection.model)
    metrics = metrics_of(OPERATIONS, metrics_folder)
    pools = Pools(limits, metrics)
    from deltavec.collection.export.encoder import load_query_encoder

    loaded = load_query_encoder(encoder) if encoder else None
    reloader = Reloader(Explorer(collection, map_view, limits, name, encoder=loaded), metrics)
    api = Api(reloader, pools, metrics)
    del collection, map_view  # only requests may keep an old state open

    def stop() -> None:
        reloader.stop()
        pools.stop()
        api.batcher.stop()
        api.writer.stop()
        api.writer.pool.executor.shutdown()

    page = page_files(openapi(OPERATIONS, root_path, limits))
    guard = Guard(limits, token, loopback_only, write_token, origins, root_path)
    return assemble(OPERATIONS, page, api, guard, reloader.start, stop)


def create_front(
    addresses: Sequence[str],
    *,
    token: str | None = None,
    limits: Limits | None = None,
    loopback_only: bool = True,
    origins: Sequence[str] = (),
    root_path: str = "",
    metrics_folder: Path | None = None,
) -> Starlette:
    """The application in front of several servers, which searches their collections as one.

    Parameters
    ----------
    addresses
        The addresses of the servers, such as ``http://10.0.0.2:8000``. Their collections must have
        the same model.
    token
        What clients send, and what the servers are sent.
    limits, loopback_only, origins, root_path, metrics_folder
        As for `create_app`.
    """
    limits = limits or Limits()
    limits = replace(limits, deepest=limits.k)  # so many are asked of every server
    require_settings(token, origins, root_path)
    metrics = metrics_of(FRONT_OPERATIONS, metrics_folder)
    servers = [ShardServer(address, token, limits.seconds) for address in addresses]
    front = FanOut(
        servers, Pools(replace(limits, workers=AT_ONCE // len(servers)), metrics), metrics, limits
    )
    page = page_files(openapi(FRONT_OPERATIONS, root_path, limits))
    page = [file for file in page if file.path in ("/docs", "/openapi.json", "/favicon.ico")]
    guard = Guard(limits, token, loopback_only, None, origins, root_path)
    return assemble(FRONT_OPERATIONS, page, front, guard, lambda: None, front.stop)


def metrics_of(operations: Sequence[Operation], folder: Path | None) -> Metrics:
    """The metrics of the addresses of some operations."""
    return Metrics(tuple(dict.fromkeys(one.address for one in operations)), folder)


def assemble(
    operations: Sequence[Operation],
    page: Sequence[PageFile],
    api: Api | FanOut,
    guard: Guard,
    start: Callable[[], object],
    stop: Callable[[], object],
) -> Starlette:
    """The application of some operations and files, behind all middleware."""

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        start()
        yield
        stop()

    cors = Middleware(
        CORSMiddleware,
        allow_origins=list(guard.origins),
        allow_methods=["GET", "POST", "DELETE"],
        allow_headers=["Authorization", "Content-Type"],
    )
    public = {"/health", "/ready", *(file.path for file in page)}
    app = Starlette(
        routes=[
            *(Route(one.path, one, methods=[one.method]) for one in operations),
            *(Route(file.path, file, methods=["GET"]) for file in page),
        ],
        middleware=[
            Middleware(LogMiddleware, metrics=api.metrics, root_path=guard.root_path),
            Middleware(GZipMiddleware, minimum_size=COMPRESSED_FROM, compresslevel=4),
            *([cors] if guard.origins else []),
            Middleware(LimitMiddleware, guard=guard, public=public),
        ],
        exception_handlers={HTTPException: handle_http_error},
        lifespan=lifespan,
    )
    app.router.redirect_slashes = False
    app.state.api = api
    return app


def require_settings(token: str | None, origins: Sequence[str], root_path: str) -> None:
    """Raise if the token, an origin or the root path is not valid.

    A token must fit into a header. An origin is a scheme, a host and perhaps a port, and nothing
    else.
    """
    if token is not None and (not TOKEN.fullmatch(token) or token != token.strip()):
        raise InputError("the token must be visible ASCII characters, with no space at either end")
    for origin in origins:
        if origin != "*" and not ORIGIN.fullmatch(origin):
            raise InputError(
                f"expected an origin such as https://example.org, or *, got {origin!r:.100}"
            )
    if root_path and not ROOT_PATH.fullmatch(root_path):
        raise InputError(
            f"expected a path such as /reviews, without a slash at its end, got {root_path!r:.100}"
        )
