"""The threads that do the work, so many at once and no more.

The event loop only passes messages. A request whose client has gone, or whose time is up, gives its
place in the queue away; one that is already worked on ends where its work next asks whether it is
still wanted (`deltavec.core.threads.stop_if_unwanted`). Requests that can share their work do so if
they wait at the same moment; while documents are looked through for some of them, others are read
and written; one alone waits only for those that are nearly done. Work that may take seconds has
threads of its own and half of the places, so that short requests never wait for it.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, suppress
from functools import partial
from typing import Any, Generic, ParamSpec, TypeAlias, TypeVar

from deltavec.core.threads import while_wanted
from deltavec.server.errors import RequestError
from deltavec.server.limits import Limits

Parameters = ParamSpec("Parameters")
Item = TypeVar("Item")
Result = TypeVar("Result")

RETRY_AFTER = {"Retry-After": "1"}
# The last of them waits for the others' answers to be written; others are looked for meanwhile.
MOST_TOGETHER = 32
HELD_BACK = 0.01  # seconds for answers, handed over together: to wake the event loop costs as much
# Seconds to wait for a turn: two threads that read requests or write answers at the same time take
# the interpreter from each other, and are slower than one. Who comes meanwhile is taken along.
PATIENCE = 0.05

Aside: TypeAlias = Callable[[], AbstractContextManager[None]]


class Lane:
    """Threads for requests of a kind, and how many of these there may be at once."""

    def __init__(self, name: str, threads: int, waiting: int) -> None:
        self.pool = ThreadPoolExecutor(threads, name)
        self.threads = threads
        self.most = threads + waiting
        self.inside = 0  # requests that are worked on or wait

    @property
    def working(self) -> int:
        """How many are worked on."""
        return min(self.inside, self.threads)


class Workers:
    """Threads that work, and the places in which requests wait for them."""

    def __init__(
        self, limits: Limits, on_queue: Callable[[int, int], None] = lambda working, waiting: None
    ) -> None:
        self.limits = limits
        self.on_queue = on_queue
        self.short = Lane("deltavec-serve", limits.workers, limits.waiting)
        self.long = Lane("deltavec-serve-long", max(1, limits.workers - 1), limits.waiting // 2)
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
        return await self._run(self.short, partial(work, *arguments, **options))

    async def run_long(
        self,
        work: Callable[Parameters, Result],
        *arguments: Parameters.args,
        **options: Parameters.kwargs,
    ) -> Result:
        """The same for work that may take seconds: beside the short requests, not before them."""
        return await self._run(self.long, partial(work, *arguments, **options))

    async def _run(self, lane: Lane, work: Callable[[], Result]) -> Result:
        self._enter(lane)
        gone = threading.Event()

        def wanted() -> Result:
            with while_wanted(lambda: not gone.is_set()):
                return work()

        try:
            future = lane.pool.submit(wanted)
        except RuntimeError:  # the pool has been closed
            self._leave(lane)
            raise stopping() from None
        future.add_done_callback(partial(self._leave, lane))
        try:
            return await asyncio.wrap_future(future)
        finally:  # answered, or cancelled: the client has gone, or its time is up
            gone.set()
            del future  # the error in it leads here: a circle would hold what the work was done on

    def sharing(
        self, work: Callable[[Sequence[Item], int, Aside], Iterable[Result | Exception]]
    ) -> Callable[[Item], Awaitable[Result]]:
        """What gives the result for an item, worked out together with those that wait beside it.

        Parameters
        ----------
        work
            What gives the results for several items, one after the other, or their errors, on so
            many cores. Within what it is given last, a context, others have their turn: for what
            does without the interpreter.
        """
        shared = Shared(work, self._summon)
        self.shared.append(shared)

        async def run(item: Item) -> Result:
            if self.stopping:
                raise stopping()
            self._enter(self.short)
            answer: asyncio.Future[Result] = asyncio.get_running_loop().create_future()
            one = Waiting(item, answer, partial(self._leave, self.short))
            shared.add(one)
            try:
                return await answer
            finally:
                one.go()
                del answer, one  # as above

        return run

    def _summon(self, take: Callable[[Callable[[int], int]], None]) -> None:
        with suppress(RuntimeError):  # the pool has been closed: who waits is dropped
            self.short.pool.submit(take, self._cores)

    def stop(self) -> None:
        """Take no more work, and drop what has not begun."""
        self.stopping = True
        for lane in (self.short, self.long):
            lane.pool.shutdown(wait=False, cancel_futures=True)
        for shared in self.shared:
            shared.drop()

    def _cores(self, taken: int) -> int:
        """How many cores there are for requests that are worked on together: all if nobody else."""
        return self.limits.workers if self.inside <= taken else 1

    @property
    def inside(self) -> int:
        """The requests that are worked on or wait."""
        return self.short.inside + self.long.inside

    @property
    def ready(self) -> bool:
        """Whether one more request would be taken."""
        return not self.stopping and self.short.inside < self.short.most

    def _enter(self, lane: Lane) -> None:
        with self.changing:
            free = lane.inside < lane.most
            lane.inside += free
            self._tell()
        if not free:
            raise RequestError(
                503, "too many requests are waiting: try again in a second", headers=RETRY_AFTER
            )

    def _leave(self, lane: Lane, future: Future[Any] | None = None) -> None:
        with self.changing:
            lane.inside -= 1
            self._tell()

    def _tell(self) -> None:
        working = self.short.working + self.long.working
        self.on_queue(working, self.inside - working)


class Waiting(Generic[Item, Result]):
    """An item that waits for its result.

    Parameters
    ----------
    item
        What is to be worked on.
    answer
        Where the result goes.
    leave
        Gives the place away in which it waits.
    """

    def __init__(
        self, item: Item, answer: asyncio.Future[Result], leave: Callable[[], None]
    ) -> None:
        self.item = item
        self.answer = answer
        self.leave = leave
        self.gone = False
        self.begun = threading.Lock()  # who gets it, the work or the client that goes, has to leave

    def begin(self) -> bool:
        """Whether to work on it: its client has not gone."""
        return self.begun.acquire(blocking=False)

    def go(self) -> None:
        """Wait no longer."""
        self.gone = True
        if self.begin():
            self.leave()

    def is_wanted(self) -> bool:
        """Whether its client is still there."""
        return not self.gone

    def settle(self, result: Result | Exception) -> None:
        """Hand the result to the client; in the thread of the event loop."""
        if self.answer.done():
            return
        if isinstance(result, Exception):
            self.answer.set_exception(result)
        else:
            self.answer.set_result(result)


class Turn:
    """A turn that one has at a time; who has waited long for it goes on without.

    Parameters
    ----------
    lock
        What all of them wait for.
    """

    def __init__(self, lock: threading.Lock) -> None:
        self.lock = lock
        self.is_ours = False

    def __enter__(self) -> Turn:
        self.is_ours = self.lock.acquire(timeout=PATIENCE)
        return self

    def __exit__(self, *error: object) -> None:
        if self.is_ours:
            self.lock.release()
        self.is_ours = False

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Within it, it is another's turn."""
        self.__exit__()
        try:
            yield
        finally:
            self.__enter__()


class Shared(Generic[Item, Result]):
    """Items that wait for work that is done for several of them together.

    Parameters
    ----------
    work
        What gives the results for several items, on so many cores, aside for a while.
    summon
        Lets a thread come and take what waits.
    """

    def __init__(
        self,
        work: Callable[[Sequence[Item], int, Aside], Iterable[Result | Exception]],
        summon: Callable[[Callable[[Callable[[int], int]], None]], None],
    ) -> None:
        self.work = work
        self.summon = summon
        self.waiting: deque[Waiting[Item, Result]] = deque()
        self.turn = threading.Lock()
        self.summoned = False  # a thread is on its way, and takes all that wait when it is there

    def add(self, one: Waiting[Item, Result]) -> None:
        """Let an item wait; a thread is summoned if none is on its way."""
        self.waiting.append(one)
        if not self.summoned:
            self.summoned = True
            self.summon(self.take)

    def take(self, cores: Callable[[int], int]) -> None:
        """Do the work for those that wait, if any do, when the others are done or take long."""
        with Turn(self.turn) as turn:
            self._take_now(cores, turn.aside)

    def _take_now(self, cores: Callable[[int], int], aside: Aside) -> None:
        self.summoned = False  # first: who comes from here on summons another
        taken = self._taken()
        if self.waiting and not self.summoned:
            self.summoned = True
            self.summon(self.take)
        if not taken:
            return
        done: list[tuple[Waiting[Item, Result], Result | Exception]] = []
        since = time.monotonic()
        results = self._results(taken, cores(len(taken)), aside)
        for one, result in zip(taken, results, strict=True):
            done.append((one, result))
            if time.monotonic() - since > HELD_BACK:
                hand_over(done)
                done, since = [], time.monotonic()
        hand_over(done)

    def _results(
        self, taken: list[Waiting[Item, Result]], cores: int, aside: Aside
    ) -> Iterator[Result | Exception]:
        """The result for each item; the error of the work itself for all that have none yet."""
        results = iter(self.work([one.item for one in taken], cores, aside))
        failure: Exception | None = None
        for one in taken:
            if failure is None:
                try:
                    with while_wanted(one.is_wanted):
                        result = next(results)
                except Exception as error:
                    failure = error
            yield failure or result
        del taken, failure, one  # as above

    def drop(self) -> None:
        """Send those away that wait."""
        while self.waiting:
            one = self.waiting.popleft()
            one.answer.get_loop().call_soon_threadsafe(one.answer.cancel)

    def _taken(self) -> list[Waiting[Item, Result]]:
        taken: list[Waiting[Item, Result]] = []
        while len(taken) < MOST_TOGETHER:
            try:
                one = self.waiting.popleft()
            except IndexError:
                break
            if one.begin():  # else its client has gone
                taken.append(one)
        return taken


def hand_over(done: Sequence[tuple[Waiting[Any, Any], Any]]) -> None:
    """Give results to those that wait for them: the event loop is woken once for all of them."""

    def settle() -> None:
        for one, result in done:
            one.settle(result)

    for one, _ in done:
        one.leave()
    with suppress(RuntimeError):  # the event loop has been closed: nobody waits
        for one, _ in done[:1]:
            one.answer.get_loop().call_soon_threadsafe(settle)


def stopping() -> RequestError:
    """What a request is told that comes too late."""
    return RequestError(503, "the server is stopping", headers=RETRY_AFTER)
