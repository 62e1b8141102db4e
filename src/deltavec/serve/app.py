"""The application: the explorer page, the HTTP API and the guard before them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI

from deltavec.collection import Collection
from deltavec.errors import InputError
from deltavec.serve import answers, embeddings, page_files, routes
from deltavec.serve.crew import Crew
from deltavec.serve.explorer import Explorer
from deltavec.serve.guard import Guard
from deltavec.serve.limits import Limits
from deltavec.serve.overview import Overview
from deltavec.serve.refusals import add_handlers
from deltavec.version import __version__

DESCRIPTION = "Find documents, compare them, and see why they are alike."


def create_app(
    collection: Collection,
    *,
    token: str | None = None,
    limits: Limits | None = None,
    overview: Overview | None = None,
    loopback_only: bool = True,
    name: str = "collection",
) -> FastAPI:
    """The application that serves a collection; any ASGI server runs it.

    Parameters
    ----------
    collection
        What `deltavec.open_collection` gave. It is only read.
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
    """
    limits = limits or Limits()
    require_token_text(token)
    overview = overview or Overview.of(collection, points=limits.map_points)
    crew = Crew(limits)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        yield
        crew.stop()

    app = FastAPI(
        title="deltavec",
        description=DESCRIPTION,
        version=__version__,
        docs_url=None,  # FastAPI's own pages load scripts from elsewhere
        redoc_url=None,
        redirect_slashes=False,
        lifespan=lifespan,
        responses={"default": {"model": answers.Error}},
    )
    found = page_files.read()
    public = {*found, "/health", "/openapi.json", page_files.REFERENCE}
    add_handlers(app)
    app.include_router(page_files.routes(found))
    app.include_router(routes.routes(Explorer(collection, overview, limits, name), crew))
    app.include_router(embeddings.routes(collection.model, limits, crew))
    app.add_middleware(
        Guard, limits=limits, token=token, public=public, loopback_only=loopback_only
    )
    return app


def require_token_text(token: str | None) -> None:
    """Refuse a token that cannot be sent in a header."""
    if token is None:
        return
    if not (token.isascii() and token.isprintable() and token and token == token.strip()):
        raise InputError("the token must be visible ASCII characters, with no space at either end")
