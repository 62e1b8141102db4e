"""Reading, computing and writing at the same time, each in its own thread, a few items apart.

Both functions keep the order of their items, hold a bounded number of them, and hand an error on
to whoever is waiting for the next result.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from queue import Empty, Queue
from threading import Event, Thread
from typing import Generic, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


@dataclass(frozen=True)
class _Next(Generic[Item]):
    item: Item


@dataclass(frozen=True)
class _End:
    error: BaseException | None


@contextmanager
def read_ahead(items: Iterable[Item], depth: int = 2) -> Iterator[Iterator[Item]]:
    """The same items, taken by another thread up to `depth` of them ahead.

    Leaving the context stops the thread after the item it is at. It does not wait for it: a thread
    that waits for bytes from a pipe may wait for ever.
    """
    ready: Queue[_Next[Item] | _End] = Queue(depth)
    stopped = Event()

    def fill() -> None:
        error: BaseException | None = None
        try:
            for item in items:
                ready.put(_Next(item))
                if stopped.is_set():
                    return
        except BaseException as raised:
            error = raised
        ready.put(_End(error))

    def taken() -> Iterator[Item]:
        while isinstance(entry := ready.get(), _Next):
            yield entry.item
        if entry.error is not None:
            raise entry.error

    Thread(target=fill, name="deltavec-read-ahead", daemon=True).start()
    try:
        yield taken()
    finally:
        stopped.set()
        _emptied(ready)  # room for the one item that may be on its way


def _emptied(queue: Queue[Item]) -> None:
    try:
        while True:
            queue.get_nowait()
    except Empty:
        return


def done_behind(
    work: Callable[[Item], Result], items: Iterable[Item], depth: int = 2, workers: int = 1
) -> Iterator[Result]:
    """What `work` makes of each item in other threads, while the next items are made here.

    However it ends, work that was begun is finished first, and if the items end with an error, what
    came before it is handed on before it is raised.
    """
    pending: deque[Future[Result]] = deque()
    source = iter(items)
    failure: Exception | None = None
    with ThreadPoolExecutor(workers, "deltavec-done-behind") as pool:
        while True:
            try:
                item = next(source)
            except StopIteration:
                break
            except Exception as error:
                failure = error
                break
            pending.append(pool.submit(work, item))
            if len(pending) >= depth:
                yield pending.popleft().result()
        while pending:
            yield pending.popleft().result()
    if failure is not None:
        raise failure
