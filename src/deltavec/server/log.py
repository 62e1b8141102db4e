"""The log: one line for each request and each error, as JSON or as text.

It never holds a query, a text, an id or a token. A request is logged with its address as the API
lists it (``/documents/{id}``), an error with its type and the lines of code it passed.
"""

from __future__ import annotations

import json
import logging
import re
import secrets
import time
import traceback
from datetime import UTC, datetime
from pathlib import PurePath
from typing import Any

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from deltavec.server.metrics import OTHER, Metrics

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
