"""Work that requests share: those that wait together, one alone at once, each with its own end."""

from __future__ import annotations

import asyncio
import gc
import threading
import weakref
from collections.abc import Iterator, Sequence
from contextlib import suppress

import pytest

from deltavec.core.threads import CancelledError, stop_if_cancelled
from deltavec.server import batching
from deltavec.server.batching import Batcher, Pools, TurnLock
from deltavec.server.errors import RequestError
from deltavec.server.limits import Limits
from deltavec.server.metrics import Metrics


class Doubling:
    """Doubles numbers, several at a time; the first time it waits until it may go on."""

    def __init__(self) -> None:
        self.begun, self.free = threading.Event(), threading.Event()
        self.batches: list[list[int]] = []
        self.cores: list[int] = []

    def __call__(
        self, numbers: Sequence[int], cores: int, turn: TurnLock
    ) -> Iterator[int | Exception]:
        self.batches.append(list(numbers))
        self.cores.append(cores)
        self.begun.set()
        self.free.wait()
        for number in numbers:
            if number == 13:
                raise RuntimeError("the work itself has failed")
            yield ValueError("odd") if number % 2 else 2 * number


def with_one_worker(waiting: int = 9) -> tuple[Pools, Doubling]:
    return Pools(Limits(workers=1, waiting=waiting), Metrics()), Doubling()


def test_what_waits_at_the_same_moment_is_worked_on_together() -> None:
    pools, work = with_one_worker()

    async def several() -> list[int | BaseException]:
        run = Batcher(pools.short, work).run
        first = asyncio.ensure_future(run(0))
        await asyncio.to_thread(work.begun.wait)
        others = [asyncio.ensure_future(run(number)) for number in (2, 3, 4)]
        await asyncio.sleep(0)
        work.free.set()
        return await asyncio.gather(first, *others, return_exceptions=True)

    zero, four, odd, eight = asyncio.run(several())
    assert (zero, four, eight) == (0, 4, 8)
    assert isinstance(odd, ValueError)
    assert work.batches == [[0], [2, 3, 4]]
    assert pools.requests == 0


def test_work_that_fails_fails_for_those_that_have_no_result_yet() -> None:
    pools, work = with_one_worker()
    work.free.set()

    async def several() -> list[int | BaseException]:
        run = Batcher(pools.short, work).run
        pools.short.executor.submit(work.begun.wait)  # until all of them wait
        waiting = [asyncio.ensure_future(run(number)) for number in (2, 13, 4)]
        await asyncio.sleep(0)
        work.begun.set()
        return await asyncio.gather(*waiting, return_exceptions=True)

    four, failed, missed = asyncio.run(several())
    assert four == 4
    assert isinstance(failed, RuntimeError)
    assert isinstance(missed, RuntimeError)
    assert pools.requests == 0


def test_who_has_gone_is_left_out_and_gives_its_place_away() -> None:
    pools, work = with_one_worker()

    async def several() -> int:
        run = Batcher(pools.short, work).run
        first = asyncio.ensure_future(run(0))
        await asyncio.to_thread(work.begun.wait)
        gone, other = asyncio.ensure_future(run(2)), asyncio.ensure_future(run(4))
        await asyncio.sleep(0)
        gone.cancel()
        await asyncio.gather(gone, return_exceptions=True)
        work.free.set()
        await first
        return await other

    assert asyncio.run(several()) == 8
    assert work.batches == [[0], [4]]
    assert pools.requests == 0


def test_work_that_takes_long_keeps_others_waiting_for_a_moment_only() -> None:
    pools = Pools(Limits(workers=2, waiting=9), Metrics())
    begun, slow = threading.Event(), threading.Event()

    def work(numbers: Sequence[int], cores: int, turn: TurnLock) -> Iterator[int]:
        for number in numbers:
            if number == 0:
                begun.set()
                slow.wait()
            yield number

    async def several() -> tuple[int, int]:
        run = Batcher(pools.short, work).run
        first = asyncio.ensure_future(run(0))
        await asyncio.to_thread(begun.wait)
        second = await run(1)  # while the first is not done
        slow.set()
        return await first, second

    assert asyncio.run(several()) == (0, 1)
    assert pools.requests == 0


def test_others_have_their_turn_while_work_is_done_aside(monkeypatch) -> None:
    monkeypatch.setattr(batching, "LOCK_SECONDS", 60.0)  # nobody goes on without a turn
    pools, begun, slow = (
        Pools(Limits(workers=2, waiting=9), Metrics()),
        threading.Event(),
        threading.Event(),
    )
    order: list[str] = []

    def work(numbers: Sequence[int], cores: int, turn: TurnLock) -> Iterator[int]:
        order.append(f"{numbers[0]} is read")
        with turn.released():
            if numbers[0] == 0:
                begun.set()
                slow.wait()
        order.append(f"{numbers[0]} is written")
        yield from numbers

    async def several() -> None:
        run = Batcher(pools.short, work).run
        first = asyncio.ensure_future(run(0))
        await asyncio.to_thread(begun.wait)
        await run(1)
        slow.set()
        await first

    asyncio.run(several())
    assert order == ["0 is read", "1 is read", "1 is written", "0 is written"]


def test_one_alone_has_all_cores_and_one_among_others_has_one() -> None:
    pools, work = Pools(Limits(workers=2, waiting=9), Metrics()), Doubling()
    work.free.set()

    async def run(number: int, beside: bool) -> None:
        shared, free = Batcher(pools.short, work).run, threading.Event()
        other = asyncio.ensure_future(pools.short.run(free.wait)) if beside else None
        await asyncio.sleep(0)
        await shared(number)
        free.set()
        if other:
            await other

    asyncio.run(run(2, beside=False))
    asyncio.run(run(2, beside=True))
    assert work.cores == [2, 1]


def test_too_many_are_sent_away_and_so_are_all_when_the_server_stops() -> None:
    pools, work = with_one_worker(waiting=1)

    async def several() -> list[int | BaseException]:
        batcher = Batcher(pools.short, work)
        run = batcher.run
        first = asyncio.ensure_future(run(0))
        await asyncio.to_thread(work.begun.wait)
        second = asyncio.ensure_future(run(2))
        await asyncio.sleep(0)
        with pytest.raises(RequestError, match="too many requests"):
            await run(4)
        pools.stop()
        batcher.stop()
        work.free.set()
        found = await asyncio.gather(first, second, return_exceptions=True)
        with pytest.raises(RequestError, match="the server is stopping"):
            await run(6)
        return found

    zero, dropped = asyncio.run(several())
    assert zero == 0
    assert isinstance(dropped, asyncio.CancelledError)
    assert pools.requests == 0


class Endless:
    """Work that goes on until nobody wants it."""

    def __init__(self) -> None:
        self.begun, self.ended = threading.Event(), threading.Event()
        self.forever = threading.Event()

    def __call__(self) -> None:
        try:
            self.begun.set()
            while not self.forever.wait(0.01):
                stop_if_cancelled()
        finally:
            self.ended.set()

    def together(
        self, numbers: Sequence[int], cores: int, turn: TurnLock
    ) -> Iterator[int | Exception]:
        """The same for the first of several."""
        try:
            self()
        except CancelledError as error:
            yield error
        yield from (2 * number for number in numbers[1:])


@pytest.mark.parametrize("kind", ["short", "long", "shared"])
def test_work_ends_when_nobody_waits_for_it(kind: str) -> None:
    pools, work = Pools(Limits(workers=1, waiting=9), Metrics()), Endless()
    run = {
        "short": lambda: pools.short.run(work),
        "long": lambda: pools.long.run(work),
        "shared": lambda: Batcher(pools.short, work.together).run(0),
    }[kind]

    async def give_up() -> None:
        asking = asyncio.ensure_future(run())
        await asyncio.to_thread(work.begun.wait)
        asking.cancel()
        await asyncio.gather(asking, return_exceptions=True)
        await asyncio.to_thread(work.ended.wait)

    asyncio.run(give_up())
    pools.stop()
    for pool in (pools.short, pools.long):
        pool.executor.shutdown()
    assert pools.requests == 0


def test_short_requests_go_on_beside_long_ones_which_have_half_of_the_places() -> None:
    pools, free = Pools(Limits(workers=1, waiting=4), Metrics()), threading.Event()

    async def several() -> None:
        long = [asyncio.ensure_future(pools.long.run(free.wait)) for _ in range(3)]
        await asyncio.sleep(0)
        with pytest.raises(RequestError, match="too many requests"):
            await pools.long.run(free.wait)
        assert pools.ready
        assert [await pools.short.run(int, number) for number in range(9)] == list(range(9))
        free.set()
        await asyncio.gather(*long)

    asyncio.run(several())
    assert pools.requests == 0


class State:
    """What work is done on."""


@pytest.mark.parametrize("way", ["run", "run_long", "shared", "shared, its own error"])
def test_what_failed_work_was_done_on_is_let_go_at_once(way: str) -> None:
    # Nobody else comes, so that nothing looks for circles: an old collection would stay mapped.
    pools, state = Pools(Limits(workers=1), Metrics()), State()
    seen = weakref.ref(state)

    def fail(one: State) -> None:
        raise ValueError(type(one).__name__)

    def fail_together(some: Sequence[State], cores: int, turn: TurnLock) -> Iterator[Exception]:
        if way == "shared":
            fail(some[0])
        yield from (ValueError(type(one).__name__) for one in some)

    async def asked(given: list[State]) -> None:
        with suppress(ValueError):
            if way == "run":
                await pools.short.run(fail, given.pop())
            elif way == "run_long":
                await pools.long.run(fail, given.pop())
            else:
                await Batcher(pools.short, fail_together).run(given.pop())

    collecting = gc.isenabled()
    gc.disable()
    try:
        given = [state]
        del state
        asyncio.run(asked(given))
        for pool in (pools.short, pools.long):
            pool.executor.shutdown(wait=True)
        assert seen() is None
    finally:
        if collecting:
            gc.enable()


def test_a_request_that_would_wait_too_long_is_refused_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = 0.0
    monkeypatch.setattr(batching.time, "monotonic", lambda: now)
    pools = Pools(Limits(workers=1, waiting=1000, wait_seconds=2), Metrics())
    pool = pools.short
    for _ in range(30):
        pool.enter()
    for _ in range(300):  # a response each tenth of a second, and a new request for it
        now += 0.1
        pool.leave()
        with suppress(RequestError):
            pool.enter()
    assert pool.interval == pytest.approx(0.1, rel=0.05)
    assert pool.requests - pool.threads <= 2 / 0.1 + 2
    with suppress(RequestError):
        for _ in range(30):
            pool.enter()
    with pytest.raises(RequestError, match="too many requests are waiting") as refused:
        pool.enter()
    assert refused.value.status == 503
    while pool.requests:
        now += 0.1
        pool.leave()
    pool.enter()  # nobody waits: whatever the pace was, one request is taken
