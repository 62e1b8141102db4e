"""``deltavec serve``: the explorer page and the HTTP API."""

from __future__ import annotations

import ipaddress
import signal
import socket
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from deltavec.cli import options
from deltavec.cli.collections import Folder
from deltavec.cli.printing import counted, print_json
from deltavec.cli.progress import stages
from deltavec.errors import InputError, MissingDependencyError

if TYPE_CHECKING:
    from fastapi import FastAPI

EXAMPLES = (
    "deltavec serve reviews.idx",
    "deltavec serve reviews.idx --host 0.0.0.0 --port 8080 --token SECRET",
)
GRACE = 5  # seconds that running requests have when the server is stopped
MOST_CONNECTIONS = 1000


class MapMethod(StrEnum):
    """How documents are placed on the map."""

    pca = "pca"
    umap = "umap"


def serve(
    collection: Folder,
    host: Annotated[
        str, typer.Option(metavar="ADDRESS", help="Where to listen; only this machine by default.")
    ] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(min=0, max=65_535, metavar="N", help="The port; 0 takes a free one.")
    ] = 8000,
    token: Annotated[
        str | None,
        typer.Option(
            envvar="DELTAVEC_TOKEN",
            metavar="TOKEN",
            show_default=False,
            help="What clients have to show; better given as DELTAVEC_TOKEN, since others see "
            "the command line.",
        ),
    ] = None,
    placed_by: Annotated[
        MapMethod, typer.Option("--map", help="How the map is made; umap needs umap-learn.")
    ] = MapMethod.pca,
    max_seconds: Annotated[
        float, typer.Option(min=0.1, metavar="S", help="The time for one request.")
    ] = 30.0,
    max_batch: Annotated[
        int, typer.Option(min=1, metavar="N", help="Texts to embed in one request.")
    ] = 2048,
    as_json: options.AsJson = False,
) -> None:
    """Explore a collection in the browser, and ask it over HTTP.

    Search with results as you type, see why two documents are alike, and look at all of them on a
    map. Programs use the same addresses (listed at /docs); /v1/embeddings is what the OpenAI client
    expects. Ctrl-C stops it.
    """
    require_extra()
    with listening_socket(host, port) as listening:
        with stages("opening") as work:
            from deltavec.collection import open_collection
            from deltavec.serve.app import create_app
            from deltavec.serve.limits import Limits
            from deltavec.serve.overview import Overview

            opened = open_collection(collection)
            limits = Limits(seconds=max_seconds, batch=max_batch)
            overview = Overview.of(
                opened, placed_by.value, points=limits.map_points, on_stage=work.begin
            )
            app = create_app(
                opened,
                token=token,
                limits=limits,
                overview=overview,
                loopback_only=is_loopback(listening),
                name=collection.resolve().stem,
            )
        announce(collection, listening, len(opened), token, as_json)
        run(app, listening)


def require_extra() -> None:
    """Refuse to begin without what the server is made of."""
    try:
        import fastapi  # noqa: F401
        import uvicorn  # noqa: F401
    except ImportError:
        raise MissingDependencyError(
            "deltavec serve needs fastapi and uvicorn: pip install 'deltavec[serve]'"
        ) from None


def listening_socket(host: str, port: int) -> socket.socket:
    """A socket that listens; a client that comes before the server is ready waits."""
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
    except OSError:
        raise InputError(f"expected an address of this machine for --host, got {host!r}") from None
    try:
        listening = socket.create_server((host, port), family=family, backlog=MOST_CONNECTIONS)
    except OSError as error:
        raise InputError(
            f"cannot listen at {host} port {port}: {(error.strerror or str(error)).lower()}; "
            "choose another with --port, or 0 for any"
        ) from None
    # Its connections inherit this: otherwise the second half of an answer waits 40 ms for the
    # first to be acknowledged. asyncio would see to it, but not for a socket that it was given.
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listening


def is_loopback(listening: socket.socket) -> bool:
    """Whether only this machine can reach the socket."""
    return ipaddress.ip_address(listening.getsockname()[0]).is_loopback


def address_of(listening: socket.socket) -> str:
    """What to type into a browser."""
    host, port = listening.getsockname()[:2]
    shown = "localhost" if ipaddress.ip_address(host).is_unspecified else host
    return f"http://[{shown}]:{port}/" if ":" in shown else f"http://{shown}:{port}/"


def announce(
    folder: Path, listening: socket.socket, documents: int, token: str | None, as_json: bool
) -> None:
    """Say where the explorer is, and warn if anyone may use it."""
    address = address_of(listening)
    if token is None and not is_loopback(listening):
        typer.echo(
            "deltavec: warning: others can reach this server and read all documents; set "
            "DELTAVEC_TOKEN to ask them for a token",
            err=True,
        )
    if as_json:
        print_json({"address": address, "collection": folder, "documents": documents})
    else:
        typer.echo(f"{counted(documents, 'document')} of {folder} at {address} (Ctrl-C stops)")
    typer.get_text_stream("stdout").flush()


def run(app: FastAPI, listening: socket.socket) -> None:
    """Serve until a signal says to stop; then finish what has begun."""
    import uvicorn

    server = uvicorn.Server(
        uvicorn.Config(
            app,
            log_config=None,
            log_level="critical",
            access_log=False,
            ws="none",
            server_header=False,
            proxy_headers=False,
            timeout_graceful_shutdown=GRACE,
            limit_concurrency=MOST_CONNECTIONS,
        )
    )

    def stop(number: int, frame: Any) -> None:
        server.should_exit = True

    # uvicorn raises what it caught once more when it is done: that ends here, with exit code 0.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, stop)
    server.run(sockets=[listening])
