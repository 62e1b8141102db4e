"""Authentication, limits and security headers; answers while the application is loaded.

The checks come in this order: Host header, token, size of the body while it is read, time. Every
response carries the headers that restrict what a browser does with it.

The application is made in the background. ``/health`` is 200 at once, so that a liveness probe does
not end a server that opens a large collection, and ``/ready`` is 503 until the application is
there. Other requests wait for it: another worker may have said that the server is ready.
"""

from __future__ import annotations

import asyncio
import ipaddress
import re
import secrets
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import AsyncExitStack, suppress
from typing import NamedTuple

from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from deltavec.server.errors import (
    RequestError,
    as_json,
    busy,
    error_response,
    internal_error,
    json_response,
)
from deltavec.server.limits import Limits
from deltavec.server.metrics import log_error
from deltavec.version import __version__

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
SECURITY = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
HEADERS = [(name.lower().encode(), value.encode()) for name, value in SECURITY.items()]
NAMES = frozenset(name for name, _ in HEADERS)

# Only a port may follow the bracket: [::1].example.org is another host.
HOST = re.compile(r"(?:\[(?P<bracketed>[0-9a-fA-F:.]+)\]|(?P<plain>[^\[\]:]+))(?::[0-9]*)?")

WRITE = re.compile(r"(POST|DELETE) /documents$|DELETE /documents/")
BODIES_HELD = 16  # of the largest size, at once
DISCARDED = 8  # times the largest body
DISCARD_SECONDS = 2.0


class Guard(NamedTuple):
    """Which requests an application lets through.

    Attributes
    ----------
    limits : Limits
        How large a request may be, and how long it may take.
    token : str or None
        What clients must send; None for no authentication.
    loopback_only : bool
        Whether the Host header must name this machine. That refuses pages whose host name resolves
        to this machine (DNS rebinding).
    write_token : str or None
        What clients must send to write documents; None to refuse all writes.
    origins : sequence of str
        Origins whose pages may send requests.
    root_path : str
        A path that a proxy puts in front of all addresses.
    """

    limits: Limits
    token: str | None
    loopback_only: bool
    write_token: str | None = None
    origins: Sequence[str] = ()
    root_path: str = ""


class LimitMiddleware:
    """Lets valid requests through to the application.

    Parameters
    ----------
    app
        The application.
    guard
        Which requests are valid.
    public
        Paths that need no token.
    """

    def __init__(self, app: ASGIApp, guard: Guard, public: Iterable[str]) -> None:
        self.app = app
        self.guard = guard
        self.limits = guard.limits
        self.public = frozenset(public)
        self.free = BODIES_HELD * self.limits.body_bytes  # memory for all bodies together
        self.requests: Counter[str] = Counter()  # at once, by the address of the client

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        if scope["type"] == "websocket":
            await send({"type": "websocket.close"})
            return
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        response = SecureResponse(send)
        try:
            await self._respond(scope, receive, response)
        except RequestError as refusal:
            await response.refuse(scope, receive, refusal)
        except Exception as error:
            await response.refuse(scope, receive, internal_error(error))

    async def _respond(self, scope: Scope, receive: Receive, response: SecureResponse) -> None:
        headers = Headers(scope=scope)
        if len(headers.getlist("host")) > 1:  # a proxy may have looked at the other one
            raise RequestError(400, "expected one Host header, got several")
        if self.guard.loopback_only:
            require_loopback(headers.get("host", ""))
        shown, path = headers.get("authorization", ""), route_path(scope)
        if WRITE.match(f"{scope['method']} {path}"):
            if self.guard.write_token is None:
                raise RequestError(
                    403, "this server is read-only: start it with --write-token to allow writes"
                )
            require_token(shown, self.guard.write_token)
        elif self.guard.token is not None and path not in self.public:
            require_token(shown, self.guard.token)
        late = 408
        pieces: list[bytes] = []
        client = (scope.get("client") or ("",))[0]
        if self.requests[client] >= self.limits.from_client and not is_loopback(client):
            raise busy("too many requests of one client at once: try again in a second")
        self.requests[client] += 1
        try:
            async with asyncio.timeout(self.limits.seconds):
                await self._read_body(headers, receive, pieces)
                late = 504
                body = b"".join(pieces)
                await until_disconnect(self.app(scope, replayed(body), response.send), receive)
        except TimeoutError:
            raise RequestError(
                late, f"the request took longer than {self.limits.seconds:g} seconds"
            ) from None
        finally:
            self.free += sum(map(len, pieces))
            self.requests[client] -= 1
            if not self.requests[client]:
                del self.requests[client]

    async def _read_body(self, headers: Headers, receive: Receive, pieces: list[bytes]) -> None:
        """Read the body; raises as soon as it is too large, whatever its header says."""
        most = self.limits.body_bytes
        refusal = RequestError(413, f"the body is larger than {most:,} bytes: send less at a time")
        announced = headers.get("content-length", "")
        if announced.isdecimal() and len(announced) < 20 and int(announced) > most:
            if "expect" not in headers:  # else the client waits for 100 Continue before it sends
                await discard(receive, DISCARDED * most)
            raise refusal
        size, more = 0, True
        while more:
            message = await receive()
            if message["type"] == "http.disconnect":
                raise RequestError(400, "the client has disconnected")
            piece, more = message.get("body", b""), message.get("more_body", False)
            size += len(piece)
            if size > most:
                if more:
                    await discard(receive, DISCARDED * most)
                raise refusal
            if len(piece) > self.free:
                raise busy("too many large requests at once: try again in a second")
            self.free -= len(piece)
            pieces.append(piece)


class SecureResponse:
    """Sends a response with the security headers."""

    def __init__(self, send: Send) -> None:
        self.out = send
        self.begun = False

    async def send(self, message: Message) -> None:
        """Send a part of the response."""
        if message["type"] == "http.response.start":
            self.begun = True
            theirs = [header for header in message["headers"] if header[0] not in NAMES]
            message = {**message, "headers": theirs + HEADERS}
        await self.out(message)

    async def refuse(self, scope: Scope, receive: Receive, refusal: RequestError) -> None:
        """Send an error, unless another response has started."""
        if self.begun:
            return
        if refusal.status in (408, 413):  # the rest of the body is not read
            refusal.headers["Connection"] = "close"
        await error_response(refusal)(scope, receive, self.send)


def route_path(scope: Scope) -> str:
    """The path without the root path that a proxy puts in front of it."""
    path, root = str(scope["path"]), str(scope.get("root_path", ""))
    return path[len(root) :] if root and path.startswith(f"{root}/") else path


def require_loopback(host: str) -> None:
    """Raise if a Host header does not name this machine."""
    whole = HOST.fullmatch(host)
    name = (whole["bracketed"] or whole["plain"]) if whole else ""
    if name.rstrip(".").lower() == "localhost" or is_loopback(name):
        return
    raise RequestError(
        421, "expected localhost or a loopback address in the Host header, got another name"
    )


def is_loopback(address: str) -> bool:
    """Whether an address is one of this machine."""
    try:
        return ipaddress.ip_address(address).is_loopback
    except ValueError:
        return False


def require_token(authorization: str, token: str) -> None:
    """Raise if a request does not have the token; the comparison takes constant time."""
    scheme, _, shown = authorization.partition(" ")
    right = secrets.compare_digest(shown.strip().encode(), token.encode())
    if not (right and scheme.lower() == "bearer"):
        raise RequestError(
            401,
            "expected the header 'Authorization: Bearer TOKEN' with the server's token",
            headers={"WWW-Authenticate": "Bearer"},
        )


async def discard(receive: Receive, most: int) -> None:
    """Read on for a while: a client that is still sending does not read the response."""
    with suppress(TimeoutError):
        async with asyncio.timeout(DISCARD_SECONDS):
            while most > 0:
                message = await receive()
                most -= len(message.get("body", b""))
                if message["type"] == "http.disconnect" or not message.get("more_body", False):
                    return


def replayed(body: bytes) -> Receive:
    """A receive function for a body that has been read already."""
    given = False

    async def receive() -> Message:
        nonlocal given
        if given:
            await asyncio.Event().wait()  # `until_disconnect` receives the rest
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return receive


async def until_disconnect(answering: Awaitable[None], receive: Receive) -> None:
    """Wait for the response; cancel it when the client disconnects."""
    ours = asyncio.current_task()
    leaving = asyncio.ensure_future(receive())
    has_left = False

    def left(leaving: asyncio.Future[Message]) -> None:
        nonlocal has_left
        if ours is not None and not leaving.cancelled() and leaving.exception() is None:
            has_left = True
            ours.cancel()

    leaving.add_done_callback(left)
    try:
        await answering
    except asyncio.CancelledError:
        if ours is None or not has_left or ours.uncancel():  # not the client: the server cancels
            raise
    finally:
        leaving.remove_done_callback(left)
        leaving.cancel()


class StartingApp:
    """An ASGI application that becomes another one.

    Parameters
    ----------
    load
        Makes the other one; called in a thread.
    on_failure
        Called if that fails, after the error was logged.
    """

    def __init__(self, load: Callable[[], Starlette], on_failure: Callable[[], None]) -> None:
        self.load = load
        self.on_failure = on_failure
        self.app: Starlette | None = None
        self.loaded = asyncio.Event()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request, or start and stop with the server."""
        if scope["type"] == "lifespan":
            await self._run(receive, send)
        elif self.app is None and route_path(scope) in ("/health", "/ready"):
            health = json_response(as_json({"status": "ok", "version": __version__}))
            refusal = error_response(busy("the collection is being opened"))
            answer = health if route_path(scope) == "/health" else refusal
            await answer(scope, receive, SecureResponse(send).send)
        else:
            await self.loaded.wait()
            assert self.app is not None
            await self.app(scope, receive, send)

    async def _run(self, receive: Receive, send: Send) -> None:
        """Make the application while requests are answered; stop it with the server."""
        async with AsyncExitStack() as running:
            await receive()
            await send({"type": "lifespan.startup.complete"})
            loading = asyncio.create_task(self._start(running))
            await receive()
            await loading
        await send({"type": "lifespan.shutdown.complete"})

    async def _start(self, running: AsyncExitStack) -> None:
        try:
            app = await asyncio.to_thread(self.load)
            await running.enter_async_context(app.router.lifespan_context(app))
        except Exception as error:
            log_error(error)
            self.on_failure()
        else:
            self.app = app
            self.loaded.set()
