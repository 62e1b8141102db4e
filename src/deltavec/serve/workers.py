"""The threads that do the work, so many at once and no more.

The event loop only passes messages. A request whose client has gone, or whose time is up, gives its
place in the queue away; one that is already worked on keeps its thread until it is done. Requests
that can share their work do so if they wait at the same moment; one alone waits for no other.
"""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Generic, ParamSpec, TypeVar

from deltavec.serve.errors import RequestError
from deltavec.serve.limits import Limits

Parameters = ParamSpec("Parameters")
Item = TypeVar("Item")
Result = TypeVar("Result")

RETRY_AFTER = {"Retry-After": "1"}
MOST_TOGETHER = 32  # the last of them waits for the others' answers to be written


class Workers:
    """Threads that work, and the places in which requests wait for them."""

    def __init__(
        self, limits: Limits, on_queue: Callable[[int, int], None] = lambda working, waiting: None
    ) -> None:
        self.limits = limits
        self.on_queue = on_queue
        self.pool = ThreadPoolExecutor(limits.workers, "deltavec-serve")
        self.inside = 0  # requests that are worked on or wait
        self.changing = threading.Lock()
        self.stopping = False
        self.shared: list[Shared[Any, Any]] = []

    async def run(
        self,
        work: Callable[Parameters, Result],
        *arguments: Parameters.args,
        **options: Parameters.kwargs,
    ) -> Result:
        """What the work gives; refused at once if too many are waiting."""
        self._enter()
        try:
            future = self.pool.submit(work, *arguments, **options)
        except RuntimeError:  # the pool has been closed
            self._leave()
            raise stopping() from None
        future.add_done_callback(self._leave)
        return await asyncio.wrap_future(future)

    def sharing(
        self, work: Callable[[Sequence[Item], int], Iterable[Result | Exception]]
    ) -> Callable[[Item], Awaitable[Result]]:
        """What gives the result for an item, worked out together with those that wait beside it.

        Parameters
        ----------
        work
            What gives the results for several items, one after the other, or their errors, on so
            many cores.
        """
        shared = Shared(work)
        self.shared.append(shared)

        async def run(item: Item) -> Result:
            self._enter()
            future: Future[Result] = Future()
            future.add_done_callback(self._leave)
            shared.waiting.append((item, future))
            try:
                # A task for each item. The first that gets a thread takes all that wait; the tasks
                # of those will find nothing left to do.
                self.pool.submit(shared.take, self._cores)
            except RuntimeError:
                future.cancel()
                raise stopping() from None
            return await asyncio.wrap_future(future)

        return run

    def stop(self) -> None:
        """Take no more work, and drop what has not begun."""
        self.stopping = True
        self.pool.shutdown(wait=False, cancel_futures=True)
        for shared in self.shared:
            shared.drop()

    def _cores(self, taken: int) -> int:
        """How many cores there are for requests that are worked on together: all if nobody else."""
        return self.limits.workers if self.inside <= taken else 1

    @property
    def ready(self) -> bool:
        """Whether one more request would be taken."""
        return not self.stopping and self.inside < self.limits.workers + self.limits.waiting

    def _enter(self) -> None:
        with self.changing:
            free = self.inside < self.limits.workers + self.limits.waiting
            self.inside += free
            self._tell()
        if not free:
            raise RequestError(
                503, "too many requests are waiting: try again in a second", headers=RETRY_AFTER
            )

    def _leave(self, future: Future[Any] | None = None) -> None:
        with self.changing:
            self.inside -= 1
            self._tell()

    def _tell(self) -> None:
        working = min(self.inside, self.limits.workers)
        self.on_queue(working, self.inside - working)


class Shared(Generic[Item, Result]):
    """Items that wait for work that is done for several of them together."""

    def __init__(self, work: Callable[[Sequence[Item], int], Iterable[Result | Exception]]) -> None:
        self.work = work
        self.waiting: deque[tuple[Item, Future[Result]]] = deque()

    def take(self, cores: Callable[[int], int]) -> None:
        """Do the work for those that wait now, if any do."""
        taken = self._taken()
        if not taken:
            return
        results = iter(self.work([item for item, _ in taken], cores(len(taken))))
        for place, (_, future) in enumerate(taken):
            try:
                result = next(results)
            except Exception as error:  # of the work itself: none of the others has a result
                for _, other in taken[place:]:
                    other.set_exception(error)
                return
            if isinstance(result, Exception):
                future.set_exception(result)
            else:
                future.set_result(result)

    def drop(self) -> None:
        """Send those away that wait."""
        while self.waiting:
            self.waiting.popleft()[1].cancel()

    def _taken(self) -> list[tuple[Item, Future[Result]]]:
        taken: list[tuple[Item, Future[Result]]] = []
        while len(taken) < MOST_TOGETHER:
            try:
                item, future = self.waiting.popleft()
            except IndexError:
                break
            if future.set_running_or_notify_cancel():  # else its client has gone
                taken.append((item, future))
        return taken


def stopping() -> RequestError:
    """What a request is told that comes too late."""
    return RequestError(503, "the server is stopping", headers=RETRY_AFTER)
