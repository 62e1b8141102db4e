"""A short run of each campaign; ``make torture`` runs them for as long as one likes."""

from __future__ import annotations

import sys
import time

import pytest

from campaigns import fuzz
from campaigns.readers import READERS

pytestmark = [
    pytest.mark.compiled,
    pytest.mark.skipif(sys.platform != "linux", reason="children are watched as Linux lets one"),
]


@pytest.mark.parametrize("reader", READERS)
def test_mutated_files_are_read_or_refused(reader, tmp_path):
    outcome = fuzz.campaign(reader, 150, seed=20, keep=tmp_path, until=time.monotonic() + 120)
    assert outcome.failures == []
    assert outcome.tries > 20
    assert outcome.refused > 0
    assert outcome.read > 0
