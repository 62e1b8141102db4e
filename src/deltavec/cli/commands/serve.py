"""``deltavec serve`` and ``explore``: the explorer page and the HTTP API.

granian runs the worker processes: it replaces those that die, closes silent connections and bounds
the head of a request (docs/decisions/0028). Each worker opens the collection itself, in
the background: vectors and model are memory-mapped, so they share one copy. A map that is missing
is drawn by this process, and it finds the topics, while the workers answer.
"""

from __future__ import annotations

import atexit
import gc
import hashlib
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

from deltavec.cli import M_ARENA_MAX, M_MMAP_THRESHOLD, call_glibc, options, spare_address_space
from deltavec.cli.commands.index import split_names
from deltavec.cli.inputs import open_corpus, require_rereadable
from deltavec.cli.printing import notice, plural, print_json, warned
from deltavec.cli.progress import stages
from deltavec.errors import DeltavecError, InputError, needing

if TYPE_CHECKING:
    from starlette.applications import Starlette

    from deltavec.collection.collection import Collection

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
    collection: list[str],
    *,
    server: ServerOptions = ServerOptions(),
    browser: bool = False,
    trust: bool = False,
    as_json: bool = False,
) -> None:
    """Serve the explorer page and the HTTP API.

    Search with results as you type, see why two documents are similar, and look at all of them on a
    map. Programs use the same addresses (listed at /docs); /v1/embeddings works with the OpenAI
    client. Changes by `deltavec index` are served within a second. Ctrl-C stops the server.

    With addresses of several servers, whose collections have the same model, this one searches all
    of them as one collection; it has no page.

    Every option is also read from the environment, such as DELTAVEC_PORT.

    Parameters
    ----------
    collection : REVIEWS.idx
        What `deltavec index build` wrote; or the addresses of several servers.
    browser : --open
        Open the page in your browser.

    Examples
    --------
    deltavec serve reviews.idx --open
    deltavec serve http://10.0.0.2:8000 http://10.0.0.3:8000
    DELTAVEC_TOKEN=secret deltavec serve reviews.idx --host 0.0.0.0 --port 8080
    """
    require_extra()
    if any(one.startswith(("http://", "https://")) for one in collection):
        run_front(collection, server, as_json=as_json)
    elif len(collection) > 1:
        expected = "expected one collection, or the addresses of several servers"
        raise InputError(f"{expected}, got {len(collection)} folders: serve each of them first")
    else:
        folder = Path(collection[0])
        name = folder.resolve().stem
        run_server(folder, name, server, trust=trust, as_json=as_json, browser=browser)


def run_server(
    collection: Path, name: str, server: ServerOptions, *, trust: bool, as_json: bool, browser: bool
) -> None:
    """Serve a collection until a signal stops the server."""
    address = available_address(server.host, server.port)
    with stages("opening"):
        from deltavec.collection.map.storage import find_cached_map
        from deltavec.collection.open import open_collection
        from deltavec.io.artifacts.atomic import scratch_folder

        settings = app_settings(server, address)
        opened = open_collection(collection, trust=trust)
        documents, local = len(opened), opened.path
    method = "pca" if server.map == MapMethod.pca else "neighbors"
    to_draw = method == "neighbors" and not (opened.map or find_cached_map(opened))
    settings |= {"write_token": server.write_token, "name": name, "encoder": server.encoder}
    about = {"collection": collection, "documents": documents}
    shown = f"{collection} ({plural(documents, 'document')})"
    on_ready = partial(announce, shown, about, address, server.token, as_json, browser)
    with scratch_folder() as folder:
        topics = folder / "topics.json"
        prepare = partial(prepare_page, opened, topics, to_draw)
        preparing = threading.Thread(target=prepare, daemon=True)
        preparing.start()
        del opened, prepare  # each worker opens the collection itself
        load = partial(load_app, local, method, trust, topics)
        run_workers(load, settings, server, address, on_ready)
    if preparing.is_alive():  # when Python ends, it may stop inside of C++, which ends with SIGABRT
        sys.stdout.flush()
        os._exit(0)


def run_front(addresses: list[str], server: ServerOptions, *, as_json: bool) -> None:
    """Serve what other servers have until a signal stops the server."""
    from deltavec.server.shards import ShardServer

    for one in addresses:
        ShardServer(one, server.token, server.max_seconds)  # raises if it is no address
    address = available_address(server.host, server.port)
    shown = plural(len(addresses), "server")
    on_ready = partial(announce, shown, {"shards": addresses}, address, server.token, as_json)
    settings = app_settings(server, address)
    load = partial(load_front, addresses)
    run_workers(load, settings, server, address, on_ready, probe="/health")


def app_settings(server: ServerOptions, address: tuple[str, int]) -> dict[str, Any]:
    """What every application takes; raises if something of it is not valid."""
    from deltavec.server.app import require_settings
    from deltavec.server.limits import Limits

    origins = tuple(server.cors or ())
    for secret in (server.token, server.write_token):
        require_settings(secret, origins, server.root_path)
    threads = max(1, Limits().workers // server.workers)
    return {
        "token": server.token,
        "limits": Limits(seconds=server.max_seconds, batch=server.max_batch, workers=threads),
        "loopback_only": ipaddress.ip_address(address[0]).is_loopback,
        "origins": origins,
        "root_path": server.root_path,
    }


def prepare_page(opened: Collection, topics: Path, to_draw: bool) -> None:
    """Find the topics, and draw the map if there is none, while the workers answer."""
    from deltavec.collection.map.storage import keep_map
    from deltavec.server.map_view import write_topics

    try:
        write_topics(opened, topics)
        if to_draw:
            keep_map(opened)
    except (DeltavecError, MemoryError, OSError) as error:
        warned(f"the map could not be drawn ({str(error) or type(error).__name__})")


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
    load: Callable[[dict[str, Any]], Starlette],
    settings: dict[str, Any],
    options: ServerOptions,
    address: tuple[str, int],
    on_ready: Callable[[], None],
    probe: str = "/ready",
) -> None:
    """Run worker processes until a signal stops them."""
    from granian import Granian
    from granian.constants import HTTPModes, Interfaces
    from granian.http import HTTP1Settings

    from deltavec.io.artifacts.atomic import scratch_folder

    usual = LogFormat.text if sys.stderr.isatty() else LogFormat.json
    multiprocessing.set_start_method("spawn", force=True)  # forked threads and locks are broken
    server = Granian(
        "deltavec",
        address=address[0],
        port=address[1],
        interface=Interfaces.ASGI,
        http=HTTPModes.http1,
        http1_settings=HTTP1Settings(HEADER_MILLISECONDS, max_buffer_size=HEAD_BYTES),
        websockets=False,
        workers=options.workers,
        backlog=CONNECTIONS,
        backpressure=connection_limit(),
        respawn_failed_workers=True,
        workers_kill_timeout=STOP_SECONDS,
        log_enabled=False,
    )
    wait = partial(wait_until_ready, address, probe, on_ready)
    server.on_startup(threading.Thread(target=wait, daemon=True).start)
    with scratch_folder() as folder:
        loading = partial(load, {**settings, "metrics_folder": folder})
        start = partial(start_app, loading, options.log or usual, options.trusted_proxies)
        try:
            server.serve(target_loader=start, wrap_loader=False)
        except SystemExit:
            raise DeltavecError("a worker process has ended and could not be replaced") from None


def wait_until_ready(address: tuple[str, int], probe: str, on_ready: Callable[[], None]) -> None:
    """Call a function as soon as a worker answers a probe with 200."""
    while True:
        connection = http.client.HTTPConnection(*reachable(address), timeout=5)
        try:
            connection.request("GET", probe)
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
    most = sys.maxsize if hard == resource.RLIM_INFINITY else hard
    if soft != resource.RLIM_INFINITY and soft < (wanted := CONNECTIONS + OTHER_FILES):
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(most, wanted), hard))
    return max(8, min(CONNECTIONS, most - OTHER_FILES))


def start_app(load: Callable[[], Starlette], log: LogFormat, proxies: str) -> Callable[..., Any]:
    """The application of one worker process, which is loaded in the background."""
    spare_address_space()
    # Freed memory is used again by all threads, and large arrays go back to the system.
    call_glibc("mallopt", M_ARENA_MAX, 1)
    call_glibc("mallopt", M_MMAP_THRESHOLD, 4 << 20)
    # granian's threads must not call a Python that is being finalized: Rust would panic.
    atexit.register(os._exit, 0)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches all; the parent stops the workers
    if parent := multiprocessing.parent_process():
        threading.Thread(target=stop_after, args=(parent.join,), daemon=True).start()
    from granian.utils.proxies import wrap_asgi_with_proxy_headers

    from deltavec.server.middleware import StartingApp

    if log != LogFormat.none:
        write_log(log)
    app = StartingApp(load, partial(os._exit, 1))
    return wrap_asgi_with_proxy_headers(app, proxies) if proxies else app


def load_front(addresses: list[str], settings: dict[str, Any]) -> Starlette:
    """The application in front of several servers."""
    from deltavec.server.app import create_front

    return create_front(addresses, **settings)


def load_app(
    folder: Path, method: str, trust: bool, topics: Path, settings: dict[str, Any]
) -> Starlette:
    """The application that serves a collection."""
    from deltavec.collection.open import open_collection
    from deltavec.core.jit import BUDGET
    from deltavec.server.app import create_app
    from deltavec.server.map_view import MapView

    BUDGET.load_compiler()  # first: without it, words are looked up in large dictionaries
    opened = open_collection(folder, verify=False, trust=trust)  # the parent has verified it
    points = settings["limits"].map_points
    map_view = MapView.of(opened, method, points=points, topics=topics, at_once=True)
    app = create_app(opened, map_view=map_view, **settings)
    del opened, map_view  # only the application may keep this state open
    # The garbage collector would stop everything for long to look through what stays anyway.
    gc.collect()
    gc.freeze()
    call_glibc("malloc_trim", 0)  # give back what opening took
    return app


def stop_after(wait: Callable[[], object]) -> None:
    """Stop this process once the wait is over."""
    wait()
    os.kill(os.getpid(), signal.SIGTERM)


def write_log(form: LogFormat) -> None:
    """Write the log to stderr, one line per record."""
    from deltavec.server.metrics import JsonLines, TextLines, log

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
    shown: str,
    about: dict[str, Any],
    address: tuple[str, int],
    token: str | None,
    as_json: bool,
    browser: bool = False,
) -> None:
    """Print the address, and warn if anyone may use the server; open the page if asked to."""
    if token is None and not ipaddress.ip_address(address[0]).is_loopback:
        warned("others can reach this server and read all documents; set DELTAVEC_TOKEN")
    if as_json:
        print_json({"address": url(address), **about})
    else:
        typer.echo(f"Serving {shown} at {url(address)}")
        typer.echo("Press Ctrl-C to stop.")
    typer.get_text_stream("stdout").flush()
    if browser:
        webbrowser.open(url(address))


RESERVED = ("id", "text")  # columns that every collection has


def explore(
    corpus: str,
    *,
    output: Path | None = None,
    id_column: str | None = None,
    keep: list[str] | None = None,
    files: options.CorpusOptions = options.CorpusOptions(),
    port: int = 0,
    browser: bool = True,
    threads: int | None = None,
    as_json: bool = False,
) -> None:
    """Search and explore a file in your browser.

    Learns a model from the documents, builds a collection and serves it. The collection is kept in
    your cache folder and used again until the file changes. A collection (.idx) is served as it is.

    Parameters
    ----------
    output : REVIEWS.idx, -o
        Keep the collection in this folder, not in the cache.
    keep : COLUMNS
        Columns to show and to filter by: rating,city.
        Default: all
    port : N 0..65535
        The port; 0: a free one.
    browser : --open/--no-open
        Open the page in your browser.

    Examples
    --------
    deltavec explore reviews.csv
    deltavec explore reviews.parquet --column review --id-column id -o reviews.idx
    """
    require_extra()
    folder = Path(corpus)
    if not (folder / "collection.json").is_file():
        require_rereadable(corpus)
        folder = find_or_build(corpus, files, output, id_column, keep, threads)
    server = ServerOptions(port=port, log=LogFormat.none)
    name = folder.resolve().stem if output else Path(corpus).stem
    run_server(folder, name, server, trust=False, as_json=as_json, browser=browser)


def find_or_build(
    source: str,
    files: options.CorpusOptions,
    output: Path | None,
    id_column: str | None,
    keep: list[str] | None,
    threads: int | None,
) -> Path:
    """The folder of the collection of a corpus, which is built if it is missing or outdated."""
    with stages("opening") as work:
        from deltavec.collection.build import build_collection

        corpus = open_corpus(source, files)
        others = {*corpus.columns} - {corpus.column, id_column, *RESERVED}
        kept = split_names(keep or [one for one in corpus.columns if one in others], corpus)
        fingerprint = " ".join([str(corpus.identity), str(id_column), *kept])
        folder = output or cached_folder(source, corpus.column)
        stamp = folder.with_suffix(".fingerprint")
        is_there = folder.is_dir() and stamp.is_file()
        if is_there and stamp.read_text("utf-8") == fingerprint:
            return folder
        progress: Any = {"on_progress": work.report, "on_stage": work.begin, "threads": threads}
        built = build_collection(None, corpus, folder, id_column=id_column, keep=kept, **progress)
        stamp.write_text(fingerprint, "utf-8")
    notice(f"{plural(len(built), 'document')} in {folder}")
    return folder


def cached_folder(source: str, column: str) -> Path:
    """The folder in the user's cache for the collection of a corpus."""
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    digest = hashlib.sha256(f"{Path(source).absolute()} {column}".encode()).hexdigest()[:12]
    parent = home / "deltavec" / "explore"
    parent.mkdir(parents=True, exist_ok=True)
    return parent / f"{Path(source).stem or 'corpus'}-{digest}.idx"
