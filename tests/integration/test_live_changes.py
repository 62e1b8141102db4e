"""A collection that is served while documents come, are replaced and go: see the campaign."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from campaigns.live_changes import campaign

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks at the processes themselves")


@pytest.mark.parametrize(("workers", "rounds"), [(1, 4), (2, 3)])
def test_changes_are_served_whole_and_leave_no_trace(
    workers: int, rounds: int, tmp_path: Path
) -> None:
    seen = campaign(tmp_path, rounds, workers=workers)
    assert seen["failed_or_mixed"] == []
    assert seen["changes"] == 2 * rounds  # each was served in the end, by every process
    assert seen["states_seen"] > 2  # by the clients, who ask all the while
    first, last = seen["held_after_warm_up"], seen["held_at_the_end"]
    assert last["gone_but_mapped"] == 0
    # Connections come and go between two looks; a leak takes files with every change.
    assert last["descriptors"] <= first["descriptors"] + 4 * workers
