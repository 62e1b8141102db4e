"""A short run of each campaign; ``make torture`` runs them for as long as one likes."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

from campaigns import fuzz
from campaigns.clients import ATTACKS
from campaigns.pages import look
from campaigns.readers import READERS
from campaigns.soak import soak
from support.browser import running_browser

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


def test_a_server_that_is_attacked_and_changed_answers_who_means_well(tmp_path):
    outcome = soak(tmp_path, 1, seconds=0, requests=20)
    assert outcome.failures == []
    assert outcome.attacks >= len(ATTACKS)
    assert outcome.changes > 0


def test_no_script_of_others_runs_on_any_page(tmp_path):
    with running_browser(tmp_path / "profile") as browser:
        outcome = look(browser, tmp_path, seed=1)
    assert outcome.failures == []
    assert outcome.pages > 10


KILLED = """
import sys
sys.path[:0] = sys.argv[1:]
from campaigns.kills import campaign
outcome = campaign(8, 1, names=("embed parquet", "index add", "cluster"))
assert outcome.failures == [], outcome
"""


def test_killed_commands_lose_mix_and_leave_nothing():
    # In a process of its own: it forks, which one with threads should not.
    tests = str(Path(__file__).parents[1])
    done = subprocess.run([sys.executable, "-c", KILLED, tests], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


CHANGED = """
import sys
sys.path[:0] = sys.argv[1:]
from campaigns.changes import run
assert run(5)["changes"] > 0
"""


def test_a_collection_whose_writer_is_killed_is_what_a_dictionary_holds():
    tests = str(Path(__file__).parents[1])
    done = subprocess.run([sys.executable, "-c", CHANGED, tests], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
