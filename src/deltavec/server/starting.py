"""Answers from the first moment: the application is made in the background.

``/health`` is 200 at once, so that a liveness probe does not end a server that opens a large
collection, and ``/ready`` is 503 until the application is there. Other requests wait for it:
another worker may have said that the server is ready.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AsyncExitStack

from starlette.applications import Starlette
from starlette.types import Receive, Scope, Send

from deltavec.server.errors import as_json, busy, error_response, json_response
from deltavec.server.log import log_error
from deltavec.server.middleware import SecureResponse, route_path
from deltavec.version import __version__


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
