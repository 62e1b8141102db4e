"""``deltavec serve``: the explorer page and the HTTP API.

granian runs the worker processes: it replaces those that die, closes silent connections and bounds
the head of a request (docs/decisions/0028). Each worker opens the collection itself, in
the background: vectors and model are memory-mapped, so they share one copy. A map that is missing
is drawn by this process, while the workers answer.
"""

from __future__ import annotations

import atexit
import gc
import http.client
import ipaddress
import logging
import multiprocessing
import os
import signal
import socket
import sys
import threading
import webbrowser
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from deltavec.cli import spare_address_space
from deltavec.cli.mcp import mcp as mcp
from deltavec.cli.printing import plural, print_json
from deltavec.cli.progress import stages
from deltavec.errors import DeltavecError, InputError, needing

if TYPE_CHECKING:
    from starlette.applications import Starlette

    from deltavec.collection import Collection

CONNECTIONS = 4096  # of each worker; silent ones are closed after HEADER_MILLISECONDS
HEADER_MILLISECONDS = 10_000  # for the head of a request, and between two requests
HEAD_BYTES = 1 << 16  # the longest head of a request
OTHER_FILES = 64  # that a worker has open beside its connections
STOP_SECONDS = 5  # that running requests have when the server is stopped

# umap is another name of neighbors.
MapMethod = StrEnum("MapMethod", ["neighbors", "pca", "umap"])
LogFormat = StrEnum("LogFormat", ["text", "json", "none"])


@dataclass(frozen=True)
class ServerOptions:
    """Server.

    Each option is also read from the environment, as DELTAVEC_PORT.

    Parameters
    ----------
    host : ADDRESS
        Address to listen on; only this machine by default.
    port : N 0..65535
        The port; 0 takes a free one.
    token : TOKEN
        Token that clients must send; DELTAVEC_TOKEN keeps it out of sight.
    write_token : TOKEN
        Token for clients that change documents over HTTP; without it none can.
    map
        neighbors (or umap): t-SNE, stored; pca: principal components.
    max_seconds : S >= 0.1
        The time for one request.
    max_batch : N >= 1
        Texts to embed in one request.
    workers : N >= 1
        Worker processes; they share the collection's memory.
    cors : ORIGIN
        Origin whose pages may send requests, * for all.
    root_path : PATH
        Path prefix of a proxy, such as /reviews.
    trusted_proxies : ADDRESSES
        Proxies whose X-Forwarded-For names the client: addresses or networks.
    log
        The log on stderr, without texts, queries and tokens.
        Default: text in a terminal, else json
    encoder : FOLDER
        A query encoder of `deltavec index export`, for /v1/query.
    """

    host: str = "127.0.0.1"
    port: int = 8000
    token: str | None = None
    write_token: str | None = None
    map: MapMethod = MapMethod.neighbors
    max_seconds: float = 30.0
    max_batch: int = 2048
    workers: int = 1
    cors: list[str] | None = None
    root_path: str = ""
    trusted_proxies: str = ""
    log: LogFormat | None = None
    encoder: Path | None = None


def serve(
    collection: Path,
    *,
    server: ServerOptions = ServerOptions(),
    browser: bool = False,
    trust: bool = False,
    as_json: bool = False,
) -> None:
    """Serve the explorer page and the HTTP API.

    Search with results as you type, see why two documents are similar, and look at all of them on a
    map. Programs use the same addresses (listed at /docs); /v1/embeddings works with the OpenAI
    client. Changes by `deltavec index` are served after a second or two. Ctrl-C stops the server.

    Every option is also read from the environment, such as DELTAVEC_PORT.

    Parameters
    ----------
    browser : --open
        Open the page in your browser.

    Examples
    --------
    deltavec serve reviews.idx --open
    DELTAVEC_TOKEN=secret deltavec serve reviews.idx --host 0.0.0.0 --port 8080
    """
    require_extra()
    name = collection.resolve().stem
    run_server(collection, name, server, trust=trust, as_json=as_json, browser=browser)


def run_server(
    collection: Path, name: str, server: ServerOptions, *, trust: bool, as_json: bool, browser: bool
) -> None:
    """Serve a collection until a signal stops the server."""
    address = available_address(server.host, server.port)
    with stages("opening"):
        from deltavec.collection import open_collection
        from deltavec.collection.map.storage import find_cached_map
        from deltavec.io.artifacts.atomic import scratch_folder
        from deltavec.server.app import require_settings
        from deltavec.server.limits import Limits

        origins = tuple(server.cors or ())
        for secret in (server.token, server.write_token):
            require_settings(secret, origins, server.root_path)
        threads = max(1, Limits().workers // server.workers)
        limits = Limits(seconds=server.max_seconds, batch=server.max_batch, workers=threads)
        opened = open_collection(collection, trust=trust)
        documents = len(opened)
    method = "pca" if server.map == MapMethod.pca else "neighbors"
    if method == "neighbors" and not (opened.map or find_cached_map(opened)):
        threading.Thread(target=draw_map, args=(opened,), daemon=True).start()
    del opened  # each worker opens the collection itself
    settings: dict[str, Any] = {
        "token": server.token,
        "write_token": server.write_token,
        "limits": limits,
        "loopback_only": ipaddress.ip_address(address[0]).is_loopback,
        "name": name,
        "origins": origins,
        "root_path": server.root_path,
        "encoder": server.encoder,
    }
    usual = LogFormat.text if sys.stderr.isatty() else LogFormat.json
    log, proxies = server.log or usual, server.trusted_proxies

    def on_ready() -> None:
        announce(collection, address, documents, server.token, as_json)
        if browser:
            webbrowser.open(url(address))

    with scratch_folder() as folder:
        settings["metrics_folder"] = folder
        load = partial(start_app, collection, method, settings, trust, log, proxies)
        run_workers(load, server.workers, address, on_ready)


def draw_map(opened: Collection) -> None:
    """Draw the map while the workers answer."""
    from deltavec.collection.map.storage import keep_map

    try:
        keep_map(opened)
    except (DeltavecError, MemoryError, OSError) as error:
        problem = str(error) or type(error).__name__
        typer.echo(f"deltavec: warning: the map could not be drawn ({problem})", err=True)


def require_extra() -> None:
    """Raise if the packages of the server are not installed."""
    with needing("serve", "deltavec serve needs granian and starlette"):
        import granian  # noqa: F401
        import starlette  # noqa: F401


def available_address(host: str, port: int) -> tuple[str, int]:
    """The IP address and the port to listen on; raises if they are not available."""
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
    except OSError:
        raise InputError(f"expected an address of this machine for --host, got {host!r}") from None
    try:
        # Workers share the port, so granian would also share it with another server.
        with socket.create_server((host, port), family=family) as listening:
            found: tuple[str, int] = listening.getsockname()[:2]
            return found
    except OSError as error:
        raise InputError(
            f"cannot listen at {host} port {port}: {(error.strerror or str(error)).lower()}; "
            "choose another with --port, or 0 for any"
        ) from None


def run_workers(
    load: Callable[[], Callable[..., Any]],
    processes: int,
    address: tuple[str, int],
    on_ready: Callable[[], None],
) -> None:
    """Run worker processes until a signal stops them."""
    from granian import Granian
    from granian.constants import HTTPModes, Interfaces
    from granian.http import HTTP1Settings

    multiprocessing.set_start_method("spawn", force=True)  # forked threads and locks are broken
    server = Granian(
        "deltavec",
        address=address[0],
        port=address[1],
        interface=Interfaces.ASGI,
        http=HTTPModes.http1,
        http1_settings=HTTP1Settings(HEADER_MILLISECONDS, max_buffer_size=HEAD_BYTES),
        websockets=False,
        workers=processes,
        backlog=CONNECTIONS,
        backpressure=connection_limit(),
        respawn_failed_workers=True,
        workers_kill_timeout=STOP_SECONDS,
        log_enabled=False,
    )
    waiting = threading.Thread(target=wait_until_ready, args=(address, on_ready), daemon=True)
    server.on_startup(waiting.start)
    try:
        server.serve(target_loader=load, wrap_loader=False)
    except SystemExit:
        raise DeltavecError("a worker process has ended and could not be replaced") from None


def wait_until_ready(address: tuple[str, int], on_ready: Callable[[], None]) -> None:
    """Call a function as soon as a worker is ready to search."""
    while True:
        connection = http.client.HTTPConnection(*reachable(address), timeout=5)
        try:
            connection.request("GET", "/ready")
            if connection.getresponse().status == 200:
                return on_ready()
        except OSError:
            pass  # it does not listen yet
        finally:
            connection.close()
        threading.Event().wait(0.05)


def reachable(address: tuple[str, int]) -> tuple[str, int]:
    """The address by which this machine reaches a server that listens on this one."""
    host = ipaddress.ip_address(address[0])
    loopback = "127.0.0.1" if host.version == 4 else "::1"
    return (loopback if host.is_unspecified else address[0]), address[1]


def connection_limit() -> int:
    """How many connections a worker may have, after raising the limit on open files."""
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return CONNECTIONS
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = CONNECTIONS + OTHER_FILES
    if soft == resource.RLIM_INFINITY:
        return CONNECTIONS
    if soft < wanted:
        soft = wanted if hard == resource.RLIM_INFINITY else min(hard, wanted)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    return max(8, min(CONNECTIONS, soft - OTHER_FILES))


def start_app(
    folder: Path, method: str, settings: dict[str, Any], trust: bool, log: LogFormat, proxies: str
) -> Callable[..., Any]:
    """The application of one worker process, which opens the collection in the background."""
    spare_address_space()
    # granian's threads must not call a Python that is being finalized: Rust would panic.
    atexit.register(os._exit, 0)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches all; the parent stops the workers
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=stop_after, args=(parent.join,), daemon=True).start()
    from granian.utils.proxies import wrap_asgi_with_proxy_headers

    from deltavec.server.starting import StartingApp

    if log != LogFormat.none:
        write_log(log)
    app = StartingApp(partial(load_app, folder, method, settings, trust), partial(os._exit, 1))
    return wrap_asgi_with_proxy_headers(app, proxies) if proxies else app


def load_app(folder: Path, method: str, settings: dict[str, Any], trust: bool) -> Starlette:
    """The application that serves a collection."""
    from deltavec.collection import open_collection
    from deltavec.server.app import create_app
    from deltavec.server.map_view import MapView

    opened = open_collection(folder, verify=False, trust=trust)  # the parent has verified it
    map_view = MapView.at_once(opened, method, points=settings["limits"].map_points)
    app = create_app(opened, map_view=map_view, **settings)
    del opened, map_view  # only the application may keep this state open
    # The garbage collector would stop everything for long to look through what stays anyway.
    gc.collect()
    gc.freeze()
    return app


def stop_after(wait: Callable[[], object]) -> None:
    """Stop this process once the wait is over."""
    wait()
    os.kill(os.getpid(), signal.SIGTERM)


def write_log(form: LogFormat) -> None:
    """Write the log to stderr, one line per record."""
    from deltavec.server.log import JsonLines, TextLines, log

    handler = logging.StreamHandler()
    handler.setFormatter(TextLines() if form == LogFormat.text else JsonLines())
    log.addHandler(handler)
    log.setLevel(logging.INFO)
    log.propagate = False


def url(address: tuple[str, int]) -> str:
    """What to type into a browser."""
    host, port = address
    shown = "localhost" if ipaddress.ip_address(host).is_unspecified else host
    return f"http://[{shown}]:{port}/" if ":" in shown else f"http://{shown}:{port}/"


def announce(
    folder: Path, address: tuple[str, int], documents: int, token: str | None, as_json: bool
) -> None:
    """Print the address, and warn if anyone may use the server."""
    if token is None and not ipaddress.ip_address(address[0]).is_loopback:
        typer.echo(
            "deltavec: warning: others can reach this server and read all documents; set "
            "DELTAVEC_TOKEN to ask them for a token",
            err=True,
        )
    if as_json:
        print_json({"address": url(address), "collection": folder, "documents": documents})
    else:
        typer.echo(f"Serving {folder} ({plural(documents, 'document')}) at {url(address)}")
        typer.echo("Press Ctrl-C to stop.")
    typer.get_text_stream("stdout").flush()
