"""Thread pools with bounded queues.

The event loop only passes messages; threads do the work. Short and long requests have pools of
their own, so that short ones never wait for work that takes seconds. A request whose client has
disconnected, or whose time is up, leaves the queue; work that has started ends where it next calls
`deltavec.core.threads.stop_if_cancelled`.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from typing import Any, TypeVar

from deltavec.core.threads import cancellable
from deltavec.server.errors import RequestError
from deltavec.server.limits import Limits
from deltavec.server.metrics import Metrics

Result = TypeVar("Result")

RETRY_AFTER = {"Retry-After": "1"}


class Pools:
    """A pool for short requests, and one for long ones with half of the queue.

    Parameters
    ----------
    limits
        How many threads there are, and how many requests may wait.
    metrics
        Where the length of the queue is reported.
    """

    def __init__(self, limits: Limits, metrics: Metrics) -> None:
        self.metrics = metrics
        self.threads = limits.workers
        self.short = Pool(self, "deltavec-serve", limits.workers, limits.waiting)
        long_threads = max(1, limits.workers - 1)
        self.long = Pool(self, "deltavec-serve-long", long_threads, limits.waiting // 2)
        self.lock = threading.Lock()
        self.stopping = False

    @property
    def requests(self) -> int:
        """How many requests are worked on or wait."""
        return self.short.requests + self.long.requests

    @property
    def ready(self) -> bool:
        """Whether one more short request would be accepted."""
        return not self.stopping and self.short.requests < self.short.capacity

    def report(self) -> None:
        """Report the length of the queue; the caller holds the lock."""
        working = sum(min(pool.requests, pool.threads) for pool in (self.short, self.long))
        self.metrics.set_queue(working, self.requests - working)

    def stop(self) -> None:
        """Accept no more work, and drop what has not started."""
        self.stopping = True
        for pool in (self.short, self.long):
            pool.executor.shutdown(wait=False, cancel_futures=True)


class Pool:
    """Threads, and a bounded number of requests that use or wait for them."""

    def __init__(self, pools: Pools, name: str, threads: int, waiting: int) -> None:
        self.pools = pools
        self.executor = ThreadPoolExecutor(threads, name)
        self.threads = threads
        self.capacity = threads + waiting
        self.requests = 0  # worked on or waiting

    def enter(self) -> None:
        """Take a place in the queue; raises if the queue is full or the server is stopping."""
        if self.pools.stopping:
            raise RequestError(503, "the server is stopping", headers=RETRY_AFTER)
        with self.pools.lock:
            free = self.requests < self.capacity
            self.requests += free
            self.pools.report()
        if not free:
            raise RequestError(
                503, "too many requests are waiting: try again in a second", headers=RETRY_AFTER
            )

    def leave(self, future: Future[Any] | None = None) -> None:
        """Give the place in the queue back."""
        with self.pools.lock:
            self.requests -= 1
            self.pools.report()

    async def run(self, work: Callable[..., Result], *arguments: Any) -> Result:
        """The result of a function, called in a thread of the pool."""
        self.enter()
        cancelled = threading.Event()
        try:
            future = self.executor.submit(run_while_wanted, cancelled, partial(work, *arguments))
        except RuntimeError:  # the executor was shut down a moment ago
            self.leave()
            raise RequestError(503, "the server is stopping", headers=RETRY_AFTER) from None
        future.add_done_callback(self.leave)
        try:
            return await asyncio.wrap_future(future)
        finally:  # answered, or cancelled: the client has disconnected, or its time is up
            cancelled.set()
            del future  # its error refers to this frame: the cycle would keep the collection open


def run_while_wanted(cancelled: threading.Event, work: Callable[[], Result]) -> Result:
    """The result of the work, which stops itself once the request is cancelled."""
    with cancellable(lambda: not cancelled.is_set()):
        return work()
