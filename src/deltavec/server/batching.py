"""Request batching: searches that wait at the same moment share one pass over the documents.

Python code of two threads would only compete for the interpreter, so one batch at a time is read
and rendered. While one batch is scored, which does not need the interpreter, another is read.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, Generic, TypeAlias, TypeVar

from deltavec.core.threads import cancellable
from deltavec.server.pool import Pool

Item = TypeVar("Item")
Result = TypeVar("Result")

LARGEST_BATCH = 32  # the last request of a batch waits until the others are rendered
FLUSH_SECONDS = 0.01  # results are handed over together: waking the event loop costs as much as one
LOCK_SECONDS = 0.05


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


class Pending(Generic[Item, Result]):
    """An item that waits for its result."""

    def __init__(self, item: Item, answer: asyncio.Future[Result], pool: Pool) -> None:
        self.item = item
        self.answer = answer
        self.pool = pool
        self.cancelled = False
        self.claim = threading.Lock()  # whoever takes it, worker or client, leaves the queue

    def start(self) -> bool:
        """Whether to work on it: its client is still there."""
        return self.claim.acquire(blocking=False)

    def cancel(self) -> None:
        """Stop waiting: the client has disconnected, or has its answer."""
        self.cancelled = True
        if self.start():
            self.pool.leave()

    def is_wanted(self) -> bool:
        """Whether its client is still there."""
        return not self.cancelled

    def settle(self, result: Result | Exception) -> None:
        """Set the result; called in the thread of the event loop."""
        if self.answer.done():
            return
        if isinstance(result, Exception):
            self.answer.set_exception(result)
        else:
            self.answer.set_result(result)


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
        self.queue: deque[Pending[Item, Result]] = deque()
        self.lock = threading.Lock()
        self.scheduled = False  # a thread is about to take all that wait

    async def run(self, item: Item) -> Result:
        """The result for one item."""
        self.pool.enter()
        answer: asyncio.Future[Result] = asyncio.get_running_loop().create_future()
        pending = Pending(item, answer, self.pool)
        self.queue.append(pending)
        self._schedule()
        try:
            return await answer
        finally:
            pending.cancel()
            del answer, pending  # the error refers to this frame: see `Pool.run`

    def stop(self) -> None:
        """Cancel the items that wait."""
        while self.queue:
            answer = self.queue.popleft().answer
            answer.get_loop().call_soon_threadsafe(answer.cancel)

    def _schedule(self) -> None:
        if not self.scheduled:
            self.scheduled = True
            with suppress(RuntimeError):  # the executor is shut down; `stop` cancels what waits
                self.pool.executor.submit(self._run_batch)

    def _run_batch(self) -> None:
        with TurnLock(self.lock) as turn:
            self.scheduled = False  # first: an item that comes from here on schedules another batch
            batch = self._take()
            if self.queue:
                self._schedule()
            if not batch:
                return
            done: list[tuple[Pending[Item, Result], Result | Exception]] = []
            since = time.monotonic()
            for pending, result in zip(batch, self._results(batch, turn), strict=True):
                done.append((pending, result))
                if time.monotonic() - since > FLUSH_SECONDS:
                    hand_over(done)
                    done, since = [], time.monotonic()
            hand_over(done)

    def _take(self) -> list[Pending[Item, Result]]:
        batch: list[Pending[Item, Result]] = []
        with suppress(IndexError):  # the queue is empty
            while len(batch) < LARGEST_BATCH:
                pending = self.queue.popleft()
                if pending.start():
                    batch.append(pending)
        return batch

    def _results(
        self, batch: list[Pending[Item, Result]], turn: TurnLock
    ) -> Iterator[Result | Exception]:
        """The result for each item; an error of the work itself for all that have none yet."""
        pools = self.pool.pools
        threads = pools.threads if pools.requests <= len(batch) else 1  # all cores if alone
        results = iter(self.work([pending.item for pending in batch], threads, turn))
        failure: Exception | None = None
        for pending in batch:
            if failure is None:
                try:
                    with cancellable(pending.is_wanted):
                        result = next(results)
                except Exception as error:
                    failure = error
            yield failure or result
        del batch, pending, failure  # the error refers to this frame: see `Pool.run`


def hand_over(done: Sequence[tuple[Pending[Any, Any], Any]]) -> None:
    """Give results to those that wait for them; wakes the event loop once for all of them."""

    def settle() -> None:
        for pending, result in done:
            pending.settle(result)

    for pending, _ in done:
        pending.pool.leave()
    with suppress(RuntimeError):  # the event loop has been closed: nobody waits
        for pending, _ in done[:1]:
            pending.answer.get_loop().call_soon_threadsafe(settle)
