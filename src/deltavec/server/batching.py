"""Thread pools with bounded queues, and batching of searches.

The event loop only passes messages; threads do the work. Short and long requests have pools of
their own, so that short ones never wait for work that takes seconds. A request whose client has
disconnected, or whose time is up, leaves the queue; work that has started ends where it next calls
`deltavec.core.threads.stop_if_cancelled`.

Searches that wait at the same moment share one pass over the documents. Python code of two threads
would only compete for the interpreter, so one batch at a time is parsed and rendered. While one
batch is scored, which does not need the interpreter, another is parsed.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any, Generic, TypeAlias, TypeVar

from deltavec.core.threads import cancellable
from deltavec.server.errors import busy
from deltavec.server.limits import Limits
from deltavec.server.metrics import Metrics

Item = TypeVar("Item")
Result = TypeVar("Result")
Done: TypeAlias = list[tuple[asyncio.Future[Any], Any]]

LARGEST_BATCH = 32  # the last request of a batch waits until the others are rendered
FLUSH_SECONDS = 0.01  # results are sent together: waking the event loop costs as much as one
LOCK_SECONDS = 0.05
SMOOTHING = 0.02  # of the time between two responses: about the mean of the last 50


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
        self.wait_seconds = limits.wait_seconds
        self.lock = threading.Lock()
        self.stopping = False
        self.short = Pool(self, "deltavec-serve", limits.workers, limits.waiting)
        long_threads = max(1, limits.workers - 1)
        self.long = Pool(self, "deltavec-serve-long", long_threads, limits.waiting // 2)

    @property
    def requests(self) -> int:
        """How many requests are worked on or wait."""
        return self.short.requests + self.long.requests

    @property
    def ready(self) -> bool:
        """Whether one more short request would be accepted."""
        return not self.stopping and self.short.requests < self.short.capacity

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
        self.interval = 0.0  # seconds between two responses while requests wait
        self.last = time.monotonic()  # response

    def enter(self) -> None:
        """Take a place in the queue; raises if it is full, too slow, or the server is stopping.

        A request that would wait longer than the limit is refused at once.
        """
        if self.pools.stopping:
            raise busy("the server is stopping")
        expected = (self.requests - self.threads) * self.interval
        if expected > self.pools.wait_seconds or not self._count(1):
            raise busy("too many requests are waiting: try again in a second")

    def leave(self, future: Future[Any] | None = None) -> None:
        """Give the place in the queue back."""
        now = time.monotonic()
        if self.requests > self.threads:
            self.interval += SMOOTHING * (now - self.last - self.interval)
        self.last = now
        self._count(-1)

    def _count(self, change: int) -> bool:
        pools = self.pools
        with pools.lock:
            fits = self.requests + change <= self.capacity
            self.requests += change if fits else 0
            working = sum(min(pool.requests, pool.threads) for pool in (pools.short, pools.long))
            pools.metrics.set_queue(working, pools.requests - working)
        return fits

    async def run(self, work: Callable[..., Result], *arguments: Any) -> Result:
        """The result of a function, called in a thread of the pool."""
        self.enter()
        cancelled = threading.Event()
        try:
            future = self.executor.submit(run_while_wanted, cancelled, partial(work, *arguments))
        except RuntimeError:  # the executor was shut down a moment ago
            self.leave()
            raise busy("the server is stopping") from None
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


class TurnLock:
    """A lock with a timeout: after 50 ms the caller proceeds without it.

    Parameters
    ----------
    lock
        The lock that all batches share.
    """

    def __init__(self, lock: threading.Lock) -> None:
        self.lock = lock
        self.is_held = False

    def __enter__(self) -> TurnLock:
        self.is_held = self.lock.acquire(timeout=LOCK_SECONDS)
        return self

    def __exit__(self, *error: object) -> None:
        if self.is_held:
            self.lock.release()
        self.is_held = False

    @contextmanager
    def released(self) -> Iterator[None]:
        """Release the lock for a while, for work that does not need the interpreter."""
        self.__exit__()
        try:
            yield
        finally:
            self.__enter__()


# Gives the results for several items, in their order, or their errors; on so many threads.
Work: TypeAlias = Callable[[Sequence[Item], int, TurnLock], Iterable[Result | Exception]]


class Batcher(Generic[Item, Result]):
    """Runs work on batches of the items that wait.

    Parameters
    ----------
    pool
        The threads that do it.
    work
        What gives the results for a batch.
    """

    def __init__(self, pool: Pool, work: Work[Item, Result]) -> None:
        self.pool = pool
        self.work = work
        self.queue: deque[tuple[Item, asyncio.Future[Result]]] = deque()
        self.lock = threading.Lock()
        self.scheduled = False  # a thread is about to take all that wait

    async def run(self, item: Item) -> Result:
        """The result for one item."""
        self.pool.enter()
        answer: asyncio.Future[Result] = asyncio.get_running_loop().create_future()
        self.queue.append((item, answer))
        self._schedule()
        try:
            return await answer
        finally:  # answered, or cancelled
            self.pool.leave()
            del answer  # its error refers to this frame: see `Pool.run`

    def stop(self) -> None:
        """Cancel the items that wait."""
        for _, answer in self.queue:
            answer.cancel()

    def _schedule(self) -> None:
        if not self.scheduled:
            self.scheduled = True
            with suppress(RuntimeError):  # the executor is shut down; `stop` cancels what waits
                self.pool.executor.submit(self._run_batch)

    def _run_batch(self) -> None:
        with TurnLock(self.lock) as turn:
            self.scheduled = False  # first: an item that comes from here on schedules another batch
            batch: list[tuple[Item, asyncio.Future[Result]]] = []
            waiting: tuple[Item, asyncio.Future[Result]] | None = None
            with suppress(IndexError):  # the queue is empty
                while len(batch) < LARGEST_BATCH:
                    waiting = self.queue.popleft()
                    if not waiting[1].done():  # else its client is gone
                        batch.append(waiting)
            if self.queue:
                self._schedule()
            if batch:
                pools = self.pool.pools
                threads = pools.threads if pools.requests <= len(batch) else 1  # all if alone
                results = iter(self.work([item for item, _ in batch], threads, turn))
                self._answer([answer for _, answer in batch], results)
            del batch, waiting  # an error refers to this frame: see `Pool.run`

    def _answer(
        self, answers: list[asyncio.Future[Result]], results: Iterator[Result | Exception]
    ) -> None:
        """Give each request its result; an error of the work itself to all that have none yet."""
        done: Done = []
        since = time.monotonic()
        failure: Exception | None = None
        for answer in answers:
            try:
                with cancellable(partial(is_wanted, answer)):
                    result = failure or next(results)
            except Exception as error:
                result = failure = error
            done.append((answer, result))
            if time.monotonic() - since > FLUSH_SECONDS or answer is answers[-1]:
                with suppress(RuntimeError):  # the event loop has been closed
                    answer.get_loop().call_soon_threadsafe(settle, done)
                done, since = [], time.monotonic()
        del answer, answers, failure, result  # the error refers to this frame: see `Pool.run`


def is_wanted(answer: asyncio.Future[Any]) -> bool:
    """Whether the client of a request still waits for its answer."""
    return not answer.done()


def settle(done: Done) -> None:
    """Set results, in the thread of the event loop; clients that are gone get none."""
    for answer, result in done:
        if answer.done():
            continue
        if isinstance(result, Exception):
            answer.set_exception(result)
        else:
            answer.set_result(result)
