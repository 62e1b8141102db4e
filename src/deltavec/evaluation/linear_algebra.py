"""How many threads matrix products take.

BLAS makes a thread for each core, and they wait for each other in a loop. On a machine that does
anything besides, or in a process that has threads of its own (ours rank scores while the next ones
are computed), products of small matrices then take many times as long as on one thread.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def one_thread() -> Iterator[None]:
    """Let matrix products take one thread only, for as long as this lasts."""
    with controller().limit(limits=1, user_api="blas"):
        yield


@functools.cache
def controller() -> Any:
    """What finds and limits the thread pools of BLAS; a dependency of scikit-learn."""
    from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped]

    return ThreadpoolController()
