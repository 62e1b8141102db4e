"""The application: the explorer page, the HTTP API and the guard before them."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import numpy as np
import numpy.typing as npt
from fastapi import FastAPI
from starlette.middleware.cors import CORSMiddleware

from deltavec.collection import Collection
from deltavec.collection.query import make_ready
from deltavec.core.jit import BUDGET
from deltavec.errors import InputError
from deltavec.server.errors import add_handlers
from deltavec.server.explorer import Explorer
from deltavec.server.limits import Limits
from deltavec.server.log import Observed
from deltavec.server.map_view import MapView
from deltavec.server.metrics import Metrics
from deltavec.server.middleware import Guard
from deltavec.server.openai import openai_routes
from deltavec.server.page.routes import REFERENCE, page_files, page_routes
from deltavec.server.pool import Workers
from deltavec.server.reload import Live
from deltavec.server.responses import Error
from deltavec.server.routes import SEARCHES, Quick, explorer_routes, finding
from deltavec.version import __version__

ORIGIN = re.compile(r"https?://(\[[0-9a-fA-F:.]+\]|[A-Za-z0-9.-]+)(:[0-9]{1,5})?")
TOKEN = re.compile(r"[ -~]+")
ROOT_PATH = re.compile(r"(/[A-Za-z0-9._~-]+)+")
# What FastAPI would tell a collector holds queries, which nobody is to be told; to ask for each
# request whether there is one takes as long as to read it. Older versions have none, and pass over.
NO_TELEMETRY: Any = {"tracing": False, "metrics": False, "logs": False}
DESCRIPTION = "Find documents, compare them, and see why they are alike."


def create_app(
    collection: Collection,
    *,
    token: str | None = None,
    limits: Limits | None = None,
    overview: MapView | None = None,
    loopback_only: bool = True,
    name: str = "collection",
    origins: Sequence[str] = (),
    root_path: str = "",
    shared: npt.NDArray[np.float64] | None = None,
    process: int = 0,
) -> FastAPI:
    """The application that serves a collection; any ASGI server runs it.

    Parameters
    ----------
    collection
        What `deltavec.open_collection` gave. It is only read. When its folder changes, what is
        served changes with it: see `deltavec.server.reload`.
    token
        What clients have to show as ``Authorization: Bearer TOKEN``; None lets anyone ask. The
        page itself and ``/health`` are open, and the page asks its reader for the token.
    limits
        What the server takes on.
    overview
        The map, if it has been made already; it is made here otherwise.
    loopback_only
        Whether requests must name this machine in their Host header, which keeps pages from
        elsewhere out. False for a server that others may reach.
    name
        What the collection is called on the page.
    origins
        Pages of these origins, such as ``https://example.org``, may ask too (CORS); ``*`` means
        all.
    root_path
        What a proxy puts in front of all addresses, such as ``/reviews``; it may cut it off, or
        not.
    shared, process
        Where several processes count what they do, and which row is ours: see
        `deltavec.server.metrics`.
    """
    limits = limits or Limits()
    require_settings(token, origins, root_path)
    overview = overview or MapView.of(collection, points=limits.map_points)
    BUDGET.load_compiler()
    make_ready(collection.index, collection.words)
    metrics = Metrics(shared, process)
    workers = Workers(limits, metrics.queue)
    live = Live(Explorer(collection, overview, limits, name))
    del collection, overview  # an old state is held by nobody but its requests

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        live.begin()
        yield
        live.end()
        workers.stop()

    app = FastAPI(
        title="deltavec",
        description=DESCRIPTION,
        version=__version__,
        servers=[{"url": root_path}] if root_path else None,
        docs_url=None,  # FastAPI's own pages load scripts from elsewhere
        redoc_url=None,
        redirect_slashes=False,
        lifespan=lifespan,
        responses={"default": {"model": Error}},
        telemetry=NO_TELEMETRY,
    )
    page = page_files()
    public = {*page, "/health", "/ready", "/openapi.json", REFERENCE}
    add_handlers(app)
    app.include_router(page_routes(page))
    find = finding(live, workers)
    app.include_router(explorer_routes(live, workers, metrics, find))
    app.include_router(openai_routes(lambda: live.explorer.collection.model, limits, workers))
    app.add_middleware(Quick, searches=SEARCHES, find=find)
    app.add_middleware(
        Guard, limits=limits, token=token, public=public, loopback_only=loopback_only
    )
    if origins:
        app.add_middleware(
            CORSMiddleware,
            allow_origins=list(origins),
            allow_methods=["GET", "POST"],
            allow_headers=["Authorization", "Content-Type"],
        )
    app.add_middleware(Observed, metrics=metrics, root_path=root_path)
    return app


def require_settings(token: str | None, origins: Sequence[str], root_path: str) -> None:
    """Refuse what cannot be served with.

    A token must fit into a header. An origin is a scheme, a host and perhaps a port, and nothing
    else. The root path stands in front of all addresses.
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
