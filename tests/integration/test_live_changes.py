"""A collection that is served while documents come, are replaced and go: see the campaign."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from live_changes import campaign

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks at the processes themselves")


@pytest.mark.parametrize(("workers", "rounds"), [(1, 20), (2, 6)])
def test_changes_are_served_within_seconds_whole_and_without_a_trace(
    workers: int, rounds: int, tmp_path: Path
) -> None:
    seen = campaign(tmp_path, rounds, workers=workers)
    assert seen["failed_or_mixed"] == []
    assert min(seen["answers"].values()) > rounds
    assert seen["states_seen"] >= rounds  # of twice as many: clients need not meet each
    assert seen["seconds_until_served"]["median"] < 5
    first, last = seen["held_after_warm_up"], seen["held_at_the_end"]
    assert last["gone_but_mapped"] == 0
    # Connections of the clients come and go between two looks.
    assert last["descriptors"] <= first["descriptors"] + 4 * workers
    assert last["private_megabytes"] <= first["private_megabytes"] + 10 * workers
