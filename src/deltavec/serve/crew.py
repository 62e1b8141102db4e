"""The threads that do the work, so many at once and no more.

The event loop only passes messages. A request whose client has gone, or whose time is up, gives its
place in the queue away; one that is already worked on keeps its thread until it is done.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, ParamSpec, TypeVar

from deltavec.serve.limits import Limits
from deltavec.serve.refusals import RequestError

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")

RETRY_AFTER = {"Retry-After": "1"}


class Crew:
    """Workers and the room in which requests wait for them."""

    def __init__(self, limits: Limits) -> None:
        self.pool = ThreadPoolExecutor(limits.workers, "deltavec-serve")
        self.places = threading.BoundedSemaphore(limits.workers + limits.waiting)

    async def run(
        self,
        work: Callable[Parameters, Result],
        *arguments: Parameters.args,
        **options: Parameters.kwargs,
    ) -> Result:
        """What the work gives; refused at once if too many are waiting."""
        if not self.places.acquire(blocking=False):
            raise RequestError(
                503, "too many requests are waiting: try again in a second", headers=RETRY_AFTER
            )
        try:
            future = self.pool.submit(work, *arguments, **options)
        except RuntimeError:  # the pool has been closed
            self.places.release()
            raise RequestError(503, "the server is stopping", headers=RETRY_AFTER) from None
        future.add_done_callback(self._leave)
        return await asyncio.wrap_future(future)

    def stop(self) -> None:
        """Take no more work, and drop what has not begun."""
        self.pool.shutdown(wait=False, cancel_futures=True)

    def _leave(self, future: Future[Any]) -> None:
        self.places.release()
