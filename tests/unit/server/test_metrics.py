"""What the server counts, and how Prometheus reads it."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

import pytest

from deltavec.server.metrics import BUCKETS, Metrics, resident_memory

ADDRESSES = ("/search", "/map", "/info")
SAMPLE = re.compile(r'([a-z_]+)\{((?:[a-z]+="[^"]*",?)+)\} (\d+(?:\.\d+)?)')


def samples(text: str) -> dict[str, float]:
    """The values by name and labels; every line is a comment or a sample."""
    found = {}
    for line in text.splitlines():
        if not line.startswith("# "):
            match = SAMPLE.fullmatch(line)
            assert match, line
            found[f"{match[1]}{{{match[2]}}}"] = float(match[3])
    assert text.endswith("\n")
    return found


def test_requests_are_counted_by_address_and_status_and_their_times_fill_buckets() -> None:
    metrics = Metrics(ADDRESSES)
    for seconds in (0.001, 0.02, 0.02, 100.0):
        metrics.count("/search", 200, seconds)
    metrics.count("/search", 503, 0.001)
    metrics.count("/nope", 418, 0.001)
    found = samples(metrics.text())
    assert found['deltavec_requests_total{address="/search",status="200"}'] == 4
    assert found['deltavec_requests_total{address="/search",status="503"}'] == 1
    assert found['deltavec_requests_total{address="other",status="other"}'] == 1
    label = 'address="/search"'
    assert found[f'deltavec_request_seconds_bucket{{{label},le="0.005"}}'] == 2
    assert found[f'deltavec_request_seconds_bucket{{{label},le="0.025"}}'] == 4
    assert found[f'deltavec_request_seconds_bucket{{{label},le="{BUCKETS[-1]}"}}'] == 4
    assert found[f'deltavec_request_seconds_bucket{{{label},le="+Inf"}}'] == 5
    assert found[f"deltavec_request_seconds_count{{{label}}}"] == 5
    assert found[f"deltavec_request_seconds_sum{{{label}}}"] == pytest.approx(100.042)


def test_a_time_on_a_bound_is_within_it() -> None:
    metrics = Metrics(ADDRESSES)
    metrics.count("/map", 200, BUCKETS[0])
    assert 'seconds_bucket{address="/map",le="0.005"} 1' in metrics.text()


def test_counts_are_summed_over_processes_and_gauges_are_of_those_that_run(tmp_path: Path) -> None:
    own = Metrics(ADDRESSES, tmp_path)
    own.count("/info", 200, 0.1)
    own.set_queue(1, 7)
    ended = tmp_path / "999999999"
    ended.write_bytes((tmp_path / str(os.getpid())).read_bytes())
    found = samples(own.text())
    assert found['deltavec_requests_total{address="/info",status="200"}'] == 2
    waiting = [name for name in found if name.startswith("deltavec_requests_waiting")]
    assert waiting == [f'deltavec_requests_waiting{{process="{os.getpid()}"}}']  # of who still runs
    assert found[waiting[0]] == 7


@pytest.mark.skipif(sys.platform == "win32", reason="the memory is not told there")
def test_the_memory_is_that_of_this_process() -> None:
    told = samples(Metrics().text())[f'deltavec_resident_memory_bytes{{process="{os.getpid()}"}}']
    assert told == pytest.approx(resident_memory(), rel=0.2)
    assert told > 10e6
