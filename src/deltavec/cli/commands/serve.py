"""``deltavec serve``: the explorer page and the HTTP API."""

from __future__ import annotations

import ipaddress
import socket
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from deltavec.cli import options
from deltavec.cli.printing import counted, print_json
from deltavec.cli.progress import stages
from deltavec.errors import InputError, needing

EXAMPLES = (
    "deltavec serve reviews.idx",
    "deltavec serve reviews.idx --host 0.0.0.0 --port 8080 --token SECRET",
)
MOST_CONNECTIONS = 1000


# How documents are placed on the map; umap is what neighbors took the place of.
MapMethod = StrEnum("MapMethod", ["neighbors", "pca", "umap"])


def serve(
    collection: options.Collection,
    host: Annotated[
        str,
        options.option("ADDRESS", "Where to listen; only this machine by default.", default=True),
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
        MapMethod,
        typer.Option(
            "--map",
            help="How the map is made: like documents near each other, drawn once and stored with "
            "the collection; or along two principal components, at once. umap is neighbors.",
        ),
    ] = MapMethod.neighbors,
    max_seconds: Annotated[
        float, typer.Option(min=0.1, metavar="S", help="The time for one request.")
    ] = 30.0,
    max_batch: Annotated[int, options.count("Texts to embed in one request.")] = 2048,
    processes: Annotated[
        int,
        options.count(
            "Processes that answer side by side; they share the collection's memory.", "--workers"
        ),
    ] = 1,
    cors: Annotated[
        list[str] | None,
        options.option(
            "ORIGIN",
            "Let pages of this origin ask, such as https://example.org, or * for all. May be "
            "given again.",
        ),
    ] = None,
    root_path: Annotated[
        str,
        options.option("PATH", "What a proxy puts in front of all addresses, such as /reviews."),
    ] = "",
    log: Annotated[
        bool,
        typer.Option(
            "--log/--no-log",
            help="Write a line of JSON to stderr for each request and error; never a text, a "
            "query or a token.",
        ),
    ] = True,
    trust: options.Trust = False,
    as_json: options.AsJson = False,
) -> None:
    """Explore a collection in the browser, and ask it over HTTP.

    Search with results as you type, see why two documents are alike, and look at all of them on a
    map. Programs use the same addresses (listed at /docs); /v1/embeddings is what the OpenAI client
    expects. What `deltavec index` changes is served a second or two later. Ctrl-C stops it.
    """
    require_extra()
    with listening_socket(host, port) as listening:
        from deltavec.cli.commands.serve_processes import Settings, run, serve_together

        settings = Settings(
            collection,
            token=token,
            max_seconds=max_seconds,
            max_batch=max_batch,
            processes=processes,
            origins=tuple(cors or ()),
            root_path=root_path,
            log=log,
            loopback_only=is_loopback(listening),
            trust=trust,
        )
        with stages("opening") as work:
            from deltavec.collection import open_collection
            from deltavec.collection.map.storage import with_map_kept
            from deltavec.server.app import require_settings
            from deltavec.server.map_view import MapView

            require_settings(token, settings.origins, root_path)
            opened = open_collection(collection, trust=trust)
            stored = None
            if placed_by != MapMethod.pca and opened.map is None:
                opened, stored = with_map_kept(opened, on_stage=work.begin, on_progress=work.reach)
            overview = MapView.of(
                opened,
                "pca" if placed_by == MapMethod.pca else "neighbors",
                points=settings.limits.map_points,
                on_stage=work.begin,
                stored=stored,
            )

        ready = partial(announce, collection, listening, len(opened), token, as_json)
        if processes > 1:
            drawn = overview.drawn
            del opened, overview  # each process opens the collection, and lets go of it, by itself
            serve_together(settings, drawn, listening, ready)
        else:
            app = settings.application(opened, overview)
            del opened, overview  # the application follows what becomes of it
            ready()
            run(app, listening)


def require_extra() -> None:
    """Refuse to begin without what the server is made of."""
    with needing("serve", "deltavec serve needs fastapi and uvicorn"):
        import fastapi  # noqa: F401
        import uvicorn  # noqa: F401


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
