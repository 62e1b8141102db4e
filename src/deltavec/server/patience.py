"""Connections: closed if no request comes, and written to once for each answer.

uvicorn waits for ever for the first request of a connection, and for the rest of its headers. A few
hundred silent connections would then shut everybody else out. Nor does it bound how long a head is
where httptools reads it: all of it is kept until it is whole.

It writes the head of an answer and its body one after the other, and wakes up the client for each.
"""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.auto import AutoHTTPProtocol

SECONDS = 10.0  # for the head of a request, from its connection or its first byte on
CROWDED = 0.5  # of as many connections as there may be; then a silent one goes for each new one
SPARED = 1.0  # seconds in which a new connection is never closed for being silent
LONGEST_HEAD = 1 << 16  # bytes, of a request's head or of what follows its body; as h11 has it

LONGEST_HELD = 1 << 16  # bytes of answers that are gathered

COUNTED = hasattr(AutoHTTPProtocol, "on_headers_complete")  # httptools reads, not h11


class Gathered:
    """A transport that sends what is written within a step of the event loop together.

    Parameters
    ----------
    transport
        What sends.
    """

    def __init__(self, transport: Any) -> None:
        self.transport = transport
        self.held: list[bytes] = []
        self.size = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self.transport, name)

    def write(self, data: bytes) -> None:
        """Send this, soon; at once if it is much."""
        if not self.held:
            asyncio.get_running_loop().call_soon(self.flush)
        self.held.append(data)
        self.size += len(data)
        if self.size > LONGEST_HELD:
            self.flush()

    def flush(self) -> None:
        """Send what is held."""
        if self.held:
            gathered = b"".join(self.held)
            self.held, self.size = [], 0
            self.transport.write(gathered)

    def close(self) -> None:
        """Send what is held, and no more."""
        self.flush()
        self.transport.close()


class ImpatientProtocol(AutoHTTPProtocol):  # type: ignore[misc, valid-type]
    """A connection that is closed unless the head of a request is whole in time."""

    waiting_since: float | None = None
    timer: asyncio.TimerHandle | None = None
    unread = 0  # bytes since a head, a piece of a body or a request was whole; h11 counts its own

    def connection_made(self, transport: Any) -> None:
        """Begin to wait; where there are many connections, let the most silent one go."""
        super().connection_made(Gathered(transport))
        self._wait()
        most = self.config.limit_concurrency or 0
        others = [one for one in self.connections if one is not self and one.is_waiting()]
        if most and others and len(self.connections) > CROWDED * most:
            min(others, key=lambda one: one.waiting_since).give_up()

    def is_waiting(self) -> bool:
        """Whether there is no request here, and has been none for a while."""
        since = self.waiting_since
        return since is not None and self.loop.time() - since > SPARED

    def data_received(self, data: bytes) -> None:
        """Read on, and wait as long as the head of a request is not whole."""
        self.unread += len(data) if COUNTED else 0
        super().data_received(data)
        if self.unread > LONGEST_HEAD and not self.transport.is_closing():
            self.send_400_response("The head of the request is too long.")
        if self.cycle is None or self.cycle.response_complete:
            if self.timer is None:
                self._wait()
        else:
            self._answer()

    def on_headers_complete(self) -> None:
        """Begin to count anew: httptools has a head."""
        self.unread = 0
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """Begin to count anew: httptools has a piece of a body."""
        self.unread = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        """Begin to count anew: httptools has all of a request."""
        self.unread = 0
        super().on_message_complete()

    def connection_lost(self, error: Exception | None) -> None:
        """Wait no longer."""
        self._answer()
        super().connection_lost(error)

    def give_up(self) -> None:
        """Close the connection, which has no request."""
        self._answer()
        self.transport.abort()

    def _wait(self) -> None:
        self.waiting_since = self.loop.time()
        self.timer = self.loop.call_later(SECONDS, self.give_up)

    def _answer(self) -> None:
        self.waiting_since = None
        if self.timer is not None:
            self.timer.cancel()
            self.timer = None
