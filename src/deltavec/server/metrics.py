"""The log of requests and errors, and counters and gauges in the Prometheus text format.

Several worker processes may serve one collection. Each one writes its numbers to a memory-mapped
file of its own, named after its process id, in a folder that all of them read. No lock is needed,
and any worker can report the sums.

The log has one line for each request and each error, as JSON or as text. It never holds a query, a
text, an id or a token. A request is logged with its address as the API lists it
(``/documents/{id}``), an error with its type and the lines of code it passed.
"""

from __future__ import annotations

import json
import logging
import os
import re
import secrets
import sys
import time
import traceback
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path, PurePath
from typing import Any

import numpy as np
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from deltavec.core.arrays import Float64s

BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
STATUSES = (200, 304, 400, 401, 404, 405, 408, 413, 421, 422, 500, 503, 504)
OTHER = "other"  # address or status
GAUGES = {
    "deltavec_requests_working": "Requests that are worked on.",
    "deltavec_requests_waiting": "Requests that wait for a thread.",
    "deltavec_resident_memory_bytes": "Memory of each process, shared pages included.",
}
# Per address: a count for each status and for others, the buckets, the overflow and the seconds.
PER_ADDRESS = len(STATUSES) + 1 + len(BUCKETS) + 1 + 1
MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8"


class Metrics:
    """Request counts, durations, queue length and memory.

    Parameters
    ----------
    addresses
        The addresses of the API; others are counted together.
    folder
        Where the processes that serve together keep their numbers; None for one process alone.
    """

    def __init__(self, addresses: Sequence[str] = (), folder: Path | None = None) -> None:
        self.folder = folder
        self.addresses = (*addresses, OTHER)
        self.positions = {address: position for position, address in enumerate(self.addresses)}
        self.row: Float64s = np.zeros(len(GAUGES) + len(self.addresses) * PER_ADDRESS)
        if folder is not None:
            name = folder / str(os.getpid())
            self.row = np.memmap(name, np.float64, "w+", shape=self.row.shape)

    def count(self, address: str, status: int, seconds: float) -> None:
        """Count an answered request."""
        position = self.positions.get(address, len(self.addresses) - 1)
        own = self.row[len(GAUGES) + position * PER_ADDRESS :][:PER_ADDRESS]
        own[STATUSES.index(status) if status in STATUSES else len(STATUSES)] += 1
        own[len(STATUSES) + 1 + bisect_left(BUCKETS, seconds)] += 1
        own[-1] += seconds

    def set_queue(self, working: int, waiting: int) -> None:
        """Set how many requests are worked on and how many wait."""
        self.row[:2] = working, waiting

    def read_memory(self) -> None:
        """Set the memory of this process."""
        self.row[2] = resident_memory()

    def text(self) -> str:
        """All numbers for Prometheus, summed over the processes; gauges for each one."""
        self.read_memory()
        rows = {os.getpid(): self.row}
        for file in sorted(self.folder.iterdir()) if self.folder else ():
            rows[int(file.name)] = np.fromfile(file, np.float64, len(self.row))
        return "".join(f"{line}\n" for line in self._lines(rows))

    def _lines(self, rows: dict[int, Float64s]) -> Iterator[str]:
        total = np.sum(list(rows.values()), axis=0)[len(GAUGES) :].reshape(-1, PER_ADDRESS)
        counted = [
            (address, row)
            for address, row in zip(self.addresses, total, strict=True)
            if row[: len(STATUSES) + 1].any()
        ]
        yield "# HELP deltavec_requests_total Requests by address and status."
        yield "# TYPE deltavec_requests_total counter"
        for address, row in counted:
            for status, number in zip((*STATUSES, OTHER), row, strict=False):
                if number:
                    labels = f'address="{address}",status="{status}"'
                    yield f"deltavec_requests_total{{{labels}}} {number:.0f}"
        yield "# HELP deltavec_request_seconds Duration of requests."
        yield "# TYPE deltavec_request_seconds histogram"
        for address, row in counted:
            label = f'address="{address}"'
            cumulative = np.cumsum(row[len(STATUSES) + 1 : -1])
            for bound, number in zip((*BUCKETS, "+Inf"), cumulative, strict=True):
                yield f'deltavec_request_seconds_bucket{{{label},le="{bound}"}} {number:.0f}'
            yield f"deltavec_request_seconds_sum{{{label}}} {row[-1]:.6f}"
            yield f"deltavec_request_seconds_count{{{label}}} {cumulative[-1]:.0f}"
        running = {process: row for process, row in rows.items() if is_running(process)}
        for column, (name, description) in enumerate(GAUGES.items()):
            yield f"# HELP {name} {description}"
            yield f"# TYPE {name} gauge"
            for process, row in running.items():
                yield f'{name}{{process="{process}"}} {row[column]:.0f}'


def is_running(process: int) -> bool:
    """Whether a process exists; on Windows, where one worker serves, whether it is this one."""
    if process == os.getpid() or sys.platform == "win32":
        return process == os.getpid()
    try:
        os.kill(process, 0)
    except OSError:
        return False
    return True


def resident_memory() -> int:
    """Bytes of this process in memory; 0 where the system does not say."""
    if sys.platform == "linux":
        pages = int(Path("/proc/self/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE")
    return 0


log = logging.getLogger("deltavec.server")

METHODS = frozenset(("DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT"))
FIELDS = "fields"
REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")  # of a proxy, for instance; others are replaced


class JsonLines(logging.Formatter):
    """Formats a record as one line of JSON: time, level, event, and its own fields."""

    def format(self, record: logging.LogRecord) -> str:
        """The line of a record."""
        when = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        about = {"time": when, "level": record.levelname.lower(), "event": record.getMessage()}
        return json.dumps({**about, **getattr(record, FIELDS, {})})


class TextLines(logging.Formatter):
    """Formats a record as one line for people: time, event, and its own fields."""

    def format(self, record: logging.LogRecord) -> str:
        """The line of a record."""
        fields = getattr(record, FIELDS, {})
        when = datetime.fromtimestamp(record.created).strftime("%H:%M:%S")
        if "status" not in fields:
            about = " ".join(f"{name}={value}" for name, value in fields.items())
            return f"{when} {record.getMessage()} {about}".rstrip()
        took = f"{1000 * fields['seconds']:.1f} ms"
        return f"{when} {fields['status']} {fields['method']} {fields['address']} {took}"


def log_error(error: BaseException) -> None:
    """Log an internal error: its type and where it happened, not its message."""
    frames = traceback.extract_tb(error.__traceback__)
    places = [f"{PurePath(at.filename).name}:{at.lineno} {at.name}" for at in frames]
    fields = {"error": type(error).__name__, "places": places}
    log.error("unexpected error; this is a bug in deltavec", extra={FIELDS: fields})


class LogMiddleware:
    """Counts and logs each response.

    Parameters
    ----------
    app
        The application.
    metrics
        Where responses are counted.
    root_path
        A path that a proxy puts in front of all addresses.
    """

    def __init__(self, app: ASGIApp, *, metrics: Metrics, root_path: str = "") -> None:
        self.app = app
        self.metrics = metrics
        self.root_path = root_path

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        begun = time.perf_counter()
        scope["root_path"] = self.root_path
        status, size = 0, 0
        given = Headers(scope=scope).get("x-request-id", "")
        request_id = given if REQUEST_ID.fullmatch(given) else secrets.token_hex(8)

        async def count_and_send(message: Message) -> None:
            nonlocal status, size
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"].append((b"x-request-id", request_id.encode()))
            size += len(message.get("body", b""))
            await send(message)

        try:
            await self.app(scope, receive, count_and_send)
        finally:
            seconds = time.perf_counter() - begun
            address = address_of(scope)
            self.metrics.count(address, status, seconds)
            if log.isEnabledFor(logging.INFO):
                fields: dict[str, Any] = {
                    "id": request_id,
                    "method": scope["method"] if scope["method"] in METHODS else OTHER,
                    "address": address,
                    "status": status,
                    "seconds": round(seconds, 6),
                    "bytes": size,
                    "client": (scope.get("client") or ("",))[0],
                }
                log.info("request", extra={FIELDS: fields})


def address_of(scope: Scope) -> str:
    """The address as the API lists it; one that it does not list is not repeated."""
    return str(getattr(scope.get("endpoint"), "address", OTHER))
