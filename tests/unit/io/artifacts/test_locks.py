"""One writer at a time."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from deltavec.errors import InputError
from deltavec.io.artifacts.atomic import only_writer
from support.processes import Process

HOLDING = """
import sys, pathlib
from deltavec.io.artifacts.atomic import only_writer
with only_writer(pathlib.Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_a_second_writer_is_refused_until_the_first_is_done(tmp_path: Path) -> None:
    output = tmp_path / ("m" * 200)
    with only_writer(output):
        with (
            pytest.raises(InputError, match="another process is writing to it"),
            only_writer(output),
        ):
            pass
        with only_writer(tmp_path / "another"):
            pass
    with only_writer(output):
        pass
    assert list(tmp_path.iterdir()) == []


def test_a_link_and_what_it_points_to_are_one_output(tmp_path: Path) -> None:
    (tmp_path / "target").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "target", target_is_directory=True)
    with (
        only_writer(tmp_path / "target"),
        pytest.raises(InputError),
        only_writer(tmp_path / "link"),
    ):
        pass


def test_a_killed_writer_locks_nothing(tmp_path: Path) -> None:
    output = tmp_path / "m.dv"
    with Process(
        [sys.executable, "-c", HOLDING, str(output)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "held\n"
        with pytest.raises(InputError), only_writer(output):
            pass
        other.kill()
    assert len(list(tmp_path.iterdir())) == 1
    with only_writer(output):
        pass
    assert list(tmp_path.iterdir()) == []


def test_a_link_in_the_place_of_the_lock_is_not_followed(tmp_path: Path) -> None:
    output = tmp_path / "m.dv"
    with only_writer(output):
        (lock,) = tmp_path.iterdir()
    lock.symlink_to(tmp_path / "made")
    with pytest.raises(InputError, match="is a link, or another user's"), only_writer(output):
        pass
    assert not (tmp_path / "made").exists()
