"""What the server counts, in the text format that Prometheus reads.

Several processes may serve one collection: each has a row of numbers in memory that all share, and
writes only there, so that no lock is needed and any of them can tell the sums.
"""

from __future__ import annotations

import sys
import time
from bisect import bisect_left
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt

ADDRESSES = (
    "/search",
    "/similar",
    "/similar/{id}",
    "/explain",
    "/why",
    "/documents",
    "/documents/{id}",
    "/list",
    "/selection",
    "/selection/export",
    "/selection/words",
    "/topics",
    "/columns",
    "/map",
    "/map/colors",
    "/info",
    "/health",
    "/ready",
    "/metrics",
    "/v1/embeddings",
    "/v1/models",
    "/v1/models/{name}",
)
BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
STATUSES = (200, 304, 400, 401, 404, 405, 408, 413, 421, 422, 500, 503, 504)
OTHER = "other"  # address or status
GAUGES = ("working", "waiting", "memory")
MEMORY_SECONDS = 1.0  # how often the memory is looked at
# Of each process; of each address all statuses, other ones, all buckets, beyond, and the seconds.
WIDTH = len(GAUGES) + (len(ADDRESSES) + 1) * (len(STATUSES) + 1 + len(BUCKETS) + 1 + 1)
MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8"


class Metrics:
    """Counts of requests by address and status, how long they took, the queue and the memory.

    Parameters
    ----------
    shared
        A row of `WIDTH` numbers for each process; this process alone by default.
    process
        Which row is ours.
    """

    def __init__(self, shared: npt.NDArray[np.float64] | None = None, process: int = 0) -> None:
        self.addresses = (*ADDRESSES, OTHER)
        rows = np.zeros((1, WIDTH)) if shared is None else shared
        # By process, address, and then: each status, other ones, each bucket, beyond, seconds.
        self.requests = rows[:, len(GAUGES) :].reshape(len(rows), len(self.addresses), -1)
        self.gauges = rows[:, : len(GAUGES)]
        self.process = process
        self.places = {address: place for place, address in enumerate(self.addresses)}
        self.memory_read = float("-inf")

    def count(self, address: str, status: int, seconds: float) -> None:
        """A request was answered."""
        place = self.places.get(address, len(self.addresses) - 1)
        own = self.requests[self.process, place]
        own[STATUSES.index(status) if status in STATUSES else len(STATUSES)] += 1
        own[len(STATUSES) + 1 + bisect_left(BUCKETS, seconds)] += 1
        own[-1] += seconds
        self.read_memory()

    def queue(self, working: int, waiting: int) -> None:
        """So many requests are worked on, and so many wait."""
        self.gauges[self.process, :2] = working, waiting

    def read_memory(self) -> None:
        """Look at the memory of this process, unless that was done just now."""
        now = time.monotonic()
        if now - self.memory_read > MEMORY_SECONDS:
            self.memory_read = now
            self.gauges[self.process, 2] = resident_memory()

    def text(self) -> str:
        """All of it, for Prometheus."""
        self.read_memory()
        return "".join(f"{line}\n" for line in self._lines())

    def _lines(self) -> Iterator[str]:
        summed = self.requests.sum(axis=0)
        asked = [place for place, row in enumerate(summed) if row[: len(STATUSES) + 1].any()]
        yield "# HELP deltavec_requests_total Requests by address and status."
        yield "# TYPE deltavec_requests_total counter"
        for place in asked:
            for status, number in zip((*STATUSES, OTHER), summed[place], strict=False):
                if number:
                    labels = f'address="{self.addresses[place]}",status="{status}"'
                    yield f"deltavec_requests_total{{{labels}}} {number:.0f}"
        yield "# HELP deltavec_request_seconds How long requests took."
        yield "# TYPE deltavec_request_seconds histogram"
        for place in asked:
            label = f'address="{self.addresses[place]}"'
            so_far = np.cumsum(summed[place, len(STATUSES) + 1 : -1])
            for bound, number in zip((*BUCKETS, "+Inf"), so_far, strict=True):
                yield f'deltavec_request_seconds_bucket{{{label},le="{bound}"}} {number:.0f}'
            yield f"deltavec_request_seconds_sum{{{label}}} {summed[place, -1]:.6f}"
            yield f"deltavec_request_seconds_count{{{label}}} {so_far[-1]:.0f}"
        for name, column, told in (
            ("deltavec_requests_working", 0, "Requests that are worked on."),
            ("deltavec_requests_waiting", 1, "Requests that wait for a worker."),
            ("deltavec_resident_memory_bytes", 2, "Memory of each process, shared pages too."),
        ):
            yield f"# HELP {name} {told}"
            yield f"# TYPE {name} gauge"
            for process, row in enumerate(self.gauges):
                yield f'{name}{{process="{process}"}} {row[column]:.0f}'


def resident_memory() -> int:
    """Bytes of this process in memory; the most there ever were where the system tells no more."""
    if sys.platform == "linux":
        import resource

        pages = int(Path("/proc/self/statm").read_text().split()[1])
        return pages * resource.getpagesize()
    if sys.platform == "darwin":
        import resource

        return int(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
    return 0
