"""The processes of ``deltavec serve``: this one alone, or several that share a socket.

Each of several opens the collection for itself; its vectors and its model are mapped, so that there
is one copy of them in memory, and follows what becomes of it. The map is made once and handed on. A
process that dies is replaced.
"""

from __future__ import annotations

import gc
import logging
import multiprocessing
import signal
import socket
import threading
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import TYPE_CHECKING, Any

from deltavec.cli.commands.serve import MOST_CONNECTIONS
from deltavec.errors import DeltavecError

if TYPE_CHECKING:
    from fastapi import FastAPI

    from deltavec.collection import Collection
    from deltavec.server.limits import Limits
    from deltavec.server.map_view import Drawn, MapView

OTHER_FILES = 64  # that a process has open beside its connections
GRACE = 5  # seconds that running requests have when the server is stopped


@dataclass(frozen=True)
class Settings:
    """What is served, and how."""

    folder: Path
    token: str | None
    max_seconds: float
    max_batch: int
    processes: int
    origins: tuple[str, ...]
    root_path: str
    log: bool
    loopback_only: bool
    trust: bool

    @property
    def limits(self) -> Limits:
        """What one process takes on; the cores are shared out among them."""
        from deltavec.server.limits import Limits

        threads = max(1, Limits().workers // self.processes)
        return Limits(seconds=self.max_seconds, batch=self.max_batch, workers=threads)

    def application(self, opened: Collection, overview: MapView, **counting: Any) -> FastAPI:
        """The application, and its log if one is wanted."""
        from deltavec.server.app import create_app

        if self.log:
            write_log()
        return create_app(
            opened,
            token=self.token,
            limits=self.limits,
            overview=overview,
            loopback_only=self.loopback_only,
            name=self.folder.resolve().stem,
            origins=self.origins,
            root_path=self.root_path,
            **counting,
        )


def write_log() -> None:
    """Write what the server logs to stderr, a line of JSON each."""
    from deltavec.server.log import JsonLines, log

    handler = logging.StreamHandler()
    handler.setFormatter(JsonLines())
    log.addHandler(handler)
    log.setLevel(logging.INFO)
    log.propagate = False


def run(app: FastAPI, listening: socket.socket, parent: Connection | None = None) -> None:
    """Serve until a signal says to stop, or the parent is gone; then finish what has begun."""
    import uvicorn

    from deltavec.server.patience import ImpatientProtocol

    server = uvicorn.Server(
        uvicorn.Config(
            app,
            http=ImpatientProtocol,
            log_config=None,
            log_level="critical",
            access_log=False,
            ws="none",
            server_header=False,
            proxy_headers=False,
            timeout_graceful_shutdown=GRACE,
            limit_concurrency=most_connections(),
        )
    )

    def stop(number: int, frame: Any) -> None:
        server.should_exit = True

    def stop_with(parent: Connection) -> None:
        wait([parent])  # nothing is ever sent: it ends with the parent
        server.should_exit = True

    # uvicorn raises what it caught once more when it is done: that ends here, with exit code 0.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, stop)
    if parent is not None:
        threading.Thread(target=stop_with, args=(parent,), daemon=True).start()
    # What is there now stays: to look through it for what can go would stop everything for long.
    gc.collect()
    gc.freeze()
    server.run(sockets=[listening])


def most_connections() -> int:
    """How many connections there may be: fewer where the system lets us open few files."""
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return MOST_CONNECTIONS
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MOST_CONNECTIONS + OTHER_FILES
    if soft != resource.RLIM_INFINITY and soft < wanted:
        soft = wanted if hard == resource.RLIM_INFINITY else min(hard, wanted)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    if soft == resource.RLIM_INFINITY:
        return MOST_CONNECTIONS
    return max(8, min(MOST_CONNECTIONS, soft - OTHER_FILES))


def serve_together(
    settings: Settings,
    drawn: Drawn,
    listening: socket.socket,
    on_ready: Callable[[], None],
) -> None:
    """Serve in several processes until a signal says to stop."""
    import numpy as np

    from deltavec.io.artifacts.atomic import scratch_folder
    from deltavec.server.metrics import WIDTH

    stopping = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda number, frame: stopping.set())
    with scratch_folder() as folder:
        counts = folder / "counts"
        counts.write_bytes(np.zeros((settings.processes, WIDTH)).tobytes())
        children = [
            Child(settings, drawn, listening, counts, number)
            for number in range(settings.processes)
        ]
        try:
            for child in children:
                child.begin()
            if all(child.is_ready(stopping) for child in children):
                on_ready()
            elif not stopping.is_set():
                raise DeltavecError("a process that was to serve has ended before it was ready")
            while not stopping.is_set():
                wait([child.process.sentinel for child in children], timeout=0.2)
                for child in children:
                    if not stopping.is_set() and not child.process.is_alive():
                        child.begin()
        finally:
            for child in children:
                child.end()


class Child:
    """One of several processes, which can be begun again.

    Parameters
    ----------
    *arguments
        What `serve_beside` takes, but for the connection to this process.
    """

    def __init__(self, *arguments: Any) -> None:
        self.arguments = arguments
        self.process: BaseProcess
        self.ours: Connection

    def begin(self) -> None:
        """Start the process."""
        context = multiprocessing.get_context("spawn")
        self.ours, theirs = context.Pipe()
        self.process = context.Process(target=serve_beside, args=(*self.arguments, theirs))
        self.process.start()
        theirs.close()

    def is_ready(self, stopping: threading.Event) -> bool:
        """Whether it serves, waited for; it may end before, or the wait."""
        while not stopping.is_set():
            if self.ours.poll(0.2):
                try:
                    return bool(self.ours.recv_bytes())
                except EOFError:
                    return False
        return False

    def end(self) -> None:
        """Stop the process, and wait until it has."""
        if hasattr(self, "process"):
            self.process.terminate()
            self.process.join(GRACE + 5)
            self.process.kill()


def serve_beside(
    settings: Settings,
    drawn: Drawn,
    listening: socket.socket,
    counts: Path,
    number: int,
    parent: Connection,
) -> None:
    """Serve in a process of its own, beside others."""
    import numpy as np

    from deltavec.collection import open_collection
    from deltavec.server.map_view import MapView
    from deltavec.server.metrics import WIDTH

    # The parent has read all of it.
    opened = open_collection(settings.folder, verify=False, trust=settings.trust)
    shared = np.memmap(counts, np.float64, "r+", shape=(settings.processes, WIDTH))
    overview = MapView(opened, drawn, points=settings.limits.map_points)
    app = settings.application(opened, overview, shared=shared, process=number)
    del opened, overview  # the application follows what becomes of it
    parent.send_bytes(b"ready")
    run(app, listening, parent)
