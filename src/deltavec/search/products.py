"""How many threads matrix products take while threads of our own share the work.

BLAS would make a thread for each core inside each of ours, and they wait for each other in loops.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


class OneThread:
    """Lets products take one thread only, for as long as anybody wants that.

    The limit is the process' own, so searches that overlap in time must not restore each other's:
    the first one sets it, the last one lifts it.
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
                self._limit = controller().limit(limits=1, user_api="blas")
            self._users += 1
        try:
            yield
        finally:
            with self._lock:
                self._users -= 1
                if self._users == 0:
                    self._limit.restore_original_limits()


one_thread = OneThread()


@functools.cache
def controller() -> Any:
    """What finds and limits the thread pools of BLAS; a dependency of scikit-learn."""
    from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped]

    return ThreadpoolController()
