"""Work spread over threads: how many, which share each takes, and results in order.

Kernels, Arrow and BLAS hold no interpreter lock, so threads of one process use all cores. The
threads are ours: BLAS itself is kept to one (docs/decisions/0017).
"""

from __future__ import annotations

import functools
import os
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from deltavec.core.arguments import require_whole

Item = TypeVar("Item")
Result = TypeVar("Result")


def thread_count(threads: int | None) -> int:
    """The threads to use: those asked for, or as many as this process has cores."""
    if threads is None:
        known = hasattr(os, "sched_getaffinity")
        return len(os.sched_getaffinity(0)) if known else os.cpu_count() or 1
    require_whole("threads", threads, 1)
    return threads


def equal_shares(begins: npt.NDArray[np.int64], count: int) -> list[tuple[int, int]]:
    """Successive pieces as at most ``count`` ranges of about the same size, none of them empty.

    ``begins`` says where each piece begins, and where the last one ends.
    """
    targets = np.linspace(begins[0], begins[-1], count + 1)[1:-1]
    borders = np.unique([0, *np.searchsorted(begins, targets), len(begins) - 1])
    return [(int(first), int(last)) for first, last in pairwise(borders)]


def parallel_map(
    work: Callable[[Item], Result], items: Sequence[Item], threads: int
) -> Iterator[Result]:
    """What ``work`` makes of each item, in the order of the items, which are all at hand.

    With one thread or one item the work is done in the caller's thread.
    """
    workers = min(threads, len(items))
    if workers < 2:
        yield from map(work, items)
        return
    with ThreadPoolExecutor(workers, "deltavec") as pool:
        yield from pool.map(work, items)


def ordered_map(
    work: Callable[[Item], Result], items: Iterable[Item], threads: int = 1, ahead: int = 1
) -> Iterator[Result]:
    """What ``work`` makes of each item in other threads, while the caller makes the next items.

    At most ``threads + ahead`` items are held. However it ends, work that was begun is finished
    first; if the items end with an error, what came before it is handed on before it is raised.
    """
    pending: deque[Future[Result]] = deque()
    source = iter(items)
    failure: Exception | None = None
    with ThreadPoolExecutor(threads, "deltavec") as pool:
        while True:
            try:
                item = next(source)
            except StopIteration:
                break
            except Exception as error:
                failure = error
                break
            pending.append(pool.submit(work, item))
            if len(pending) >= threads + ahead:
                yield pending.popleft().result()
        while pending:
            yield pending.popleft().result()
    if failure is not None:
        raise failure


class CancelledError(Exception):
    """The result is not wanted any more: the work ends here."""


_is_wanted: ContextVar[Callable[[], bool]] = ContextVar("is_wanted", default=lambda: True)


@contextmanager
def cancellable(is_wanted: Callable[[], bool]) -> Iterator[None]:
    """Let long work of this thread ask whether it is still wanted, while this lasts."""
    before = _is_wanted.set(is_wanted)
    try:
        yield
    finally:
        _is_wanted.reset(before)


def stop_if_cancelled() -> None:
    """End the work here if its result is not wanted; to be called now and then.

    Raises
    ------
    CancelledError
        If so; the caller that made the work unwanted expects it.
    """
    if not _is_wanted.get()():
        raise CancelledError


class OneBlasThread:
    """Keeps matrix products and OpenMP loops to one thread, for as long as anybody wants that.

    Their own threads wait for each other in loops: on a busy machine, or inside threads of ours,
    most of the time is spent there. And a product on other threads has other last bits. The limit
    is the process' own, so uses that overlap in time must not restore each other's: the first one
    sets it, the last one lifts it.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._users = 0
        self._limit: Any = None

    @contextmanager
    def __call__(self) -> Iterator[None]:
        """Set the limit while this lasts."""
        with self._lock:
            if self._users == 0:
                let_this_thread_set_limits()
                self._limit = thread_pools(len(sys.modules)).limit(limits=1)
            self._users += 1
        try:
            yield
        finally:
            with self._lock:
                self._users -= 1
                if self._users == 0:
                    let_this_thread_set_limits()
                    self._limit.restore_original_limits()


one_blas_thread = OneBlasThread()


def let_this_thread_set_limits() -> None:
    """Let a limit be set by this thread, whichever set the one before.

    From threadpoolctl 3.8 on the first thread that sets one is the only one that can, for as long
    as it lives; what others set is passed over in silence.
    """
    from threadpoolctl import OpenBLASController  # type: ignore[import-untyped]

    getattr(OpenBLASController, "clear_controlling_thread", lambda force: None)(force=True)


@functools.lru_cache(maxsize=1)
def thread_pools(modules: int) -> Any:
    """The thread pools of BLAS and OpenMP that are loaded, which can be limited.

    Looking for them takes 20 ms. An import may have loaded another one, so they are looked for
    again when the number of modules has changed.
    """
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
