"""A folder put in place whole."""

import os
import subprocess
import sys

import pytest

from deltavec.io.artifacts.atomic import (
    exchanged,
    put_folder_in_place,
    replacing,
    replacing_folder,
    scratch_folder,
    swap_by_renaming,
)
from deltavec.io.artifacts.manifest import Artifact, names

KIND = Artifact("test", 1, "file", names(["file"]))


def names_in(folder):
    return sorted(path.name for path in folder.iterdir())


def folder_of(path, text):
    path.mkdir()
    (path / "file").write_text(text)
    return path


def test_a_new_folder_appears_when_it_is_complete(tmp_path):
    with replacing_folder(tmp_path / "target", KIND.remove) as fresh:
        (fresh / "file").write_text("new")
        assert not (tmp_path / "target").exists()
    assert (tmp_path / "target" / "file").read_text() == "new"
    assert names_in(tmp_path) == ["target"]


def test_the_old_folder_stays_until_the_new_one_is_complete(tmp_path):
    folder_of(tmp_path / "target", "old")
    with replacing_folder(tmp_path / "target", KIND.remove) as fresh:
        (fresh / "file").write_text("new")
        assert (tmp_path / "target" / "file").read_text() == "old"
    assert (tmp_path / "target" / "file").read_text() == "new"
    assert names_in(tmp_path) == ["target"]


@pytest.mark.parametrize("error", [OSError("disk full"), KeyboardInterrupt()])
def test_the_old_folder_stays_if_anything_goes_wrong(tmp_path, error):
    folder_of(tmp_path / "target", "old")

    def fail(fresh):
        (fresh / "file").write_text("half")
        raise error

    with (
        pytest.raises(type(error)),
        replacing_folder(tmp_path / "target", KIND.remove) as fresh,
    ):
        fail(fresh)
    assert (tmp_path / "target" / "file").read_text() == "old"
    assert names_in(tmp_path) == ["target"]


def test_a_file_that_came_meanwhile_is_not_deleted(tmp_path):
    target = folder_of(tmp_path / "target", "old")
    with replacing_folder(target, KIND.remove) as fresh:
        (fresh / "file").write_text("new")
        (target / "other").write_text("precious")
    assert (target / "file").read_text() == "new"
    assert [path.read_text() for path in tmp_path.glob("**/other")] == ["precious"]


def test_a_name_as_long_as_names_get_will_do(tmp_path):
    target = tmp_path / ("x" * 255)
    with replacing_folder(target, KIND.remove):
        pass
    assert target.is_dir()


def swap_in_one_step(fresh, target):
    if not exchanged(fresh, target):
        pytest.skip("this system cannot exchange folders in one step")


@pytest.mark.parametrize("swap", [swap_in_one_step, swap_by_renaming, put_folder_in_place])
def test_folders_change_places(tmp_path, swap):
    fresh, target = folder_of(tmp_path / "fresh", "new"), folder_of(tmp_path / "target", "old")
    swap(fresh, target)
    assert (target / "file").read_text() == "new"
    assert (fresh / "file").read_text() == "old"
    assert names_in(tmp_path) == ["fresh", "target"]


def test_a_swap_that_fails_leaves_the_old_folder_in_place(tmp_path):
    target = folder_of(tmp_path / "target", "old")
    with pytest.raises(OSError, match="No such file"):
        swap_by_renaming(tmp_path / "nothing", target)
    assert (target / "file").read_text() == "old"


def test_what_is_not_there_cannot_be_exchanged(tmp_path):
    assert not exchanged(tmp_path / "a", tmp_path / "b")


# what killed processes leave

KILLED = """
import os, signal, sys
from pathlib import Path
from deltavec.io.artifacts.atomic import replacing, replacing_folder
from deltavec.io.artifacts.manifest import Artifact, names

remove = Artifact("test", 1, "file", names(["file"])).remove
with replacing_folder(Path(sys.argv[1], "folder"), remove) as fresh:
    (fresh / "file").write_text("half")
    with replacing(Path(sys.argv[1], "file")) as temporary:
        temporary.write_text("half")
        os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.skipif(os.name == "nt", reason="what is open cannot be told from leftovers there")
def test_the_next_writer_removes_what_a_killed_one_left_and_nothing_that_lives(tmp_path):
    subprocess.run([sys.executable, "-c", KILLED, str(tmp_path)])
    assert len(names_in(tmp_path)) == 2
    with replacing(tmp_path / "another"):
        assert len(names_in(tmp_path)) == 3
    with replacing_folder(tmp_path / "folder", KIND.remove) as living:
        (living / "file").write_text("mine")
        with replacing_folder(tmp_path / "folder", KIND.remove) as second:
            (second / "file").write_text("second")
            assert living.exists()
        with replacing(tmp_path / "file") as temporary:
            temporary.write_text("whole")
    assert names_in(tmp_path) == ["another", "file", "folder"]
    assert (tmp_path / "folder" / "file").read_text() == "mine"
    assert (tmp_path / "file").read_text() == "whole"


@pytest.mark.skipif(os.name == "nt", reason="links need a right of their own there")
def test_a_link_that_looks_like_a_leftover_takes_nothing_with_it(tmp_path):
    inner = Artifact("inner", 1, "file", names(["file"]))
    outer = Artifact("outer", 1, "file", names(["file"]), folders={"inner": inner})
    precious = folder_of(tmp_path / "precious", "precious")
    with replacing_folder(tmp_path / "target", outer.remove) as fresh:
        name = fresh.name
    left = tmp_path / name
    left.mkdir()
    (left / "inner").symlink_to(precious)
    (tmp_path / f".deltavec-{'0' * 32}.part").symlink_to(precious)
    with replacing_folder(tmp_path / "target", outer.remove):
        pass
    assert (precious / "file").read_text() == "precious"


@pytest.mark.skipif(os.name == "nt", reason="what is open cannot be told from leftovers there")
def test_leftovers_within_leftovers_go_too(tmp_path):
    inner = Artifact("inner", 1, "file", names(["file"]))
    outer = Artifact("outer", 1, "file", names(["file"]), folders={"inner": inner})
    with replacing_folder(tmp_path / "target", outer.remove) as fresh:
        name = fresh.name
    left = tmp_path / name
    folder_of(left, "half")
    (left / name).write_text("a description, half written")
    deeper = folder_of(left / f".deltavec-{'0' * 32}.part", "a model, half written")
    (deeper / f".deltavec-{'1' * 32}.part").write_text("its description")
    with replacing_folder(tmp_path / "target", outer.remove):
        pass
    assert names_in(tmp_path) == ["target"]


SCRATCH_KILLED = """
import os, signal
from deltavec.io.artifacts.atomic import scratch_folder

with scratch_folder() as folder:
    (folder / "words.txt").write_text("half")
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.skipif(os.name == "nt", reason="what is open cannot be told from leftovers there")
def test_temporary_folders_of_killed_processes_go_and_those_of_living_ones_stay(
    tmp_path, monkeypatch
):
    others = tmp_path / "deltavec-of-the-user"
    others.mkdir()
    subprocess.run(
        [sys.executable, "-c", SCRATCH_KILLED], env={**os.environ, "TMPDIR": str(tmp_path)}
    )
    assert len(names_in(tmp_path)) == 2
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with scratch_folder() as first, scratch_folder() as second:
        assert sorted(names_in(tmp_path)) == sorted([first.name, others.name, second.name])
        assert first.stat().st_mode & 0o777 == 0o700
    assert names_in(tmp_path) == [others.name]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes with names")
def test_a_pipe_that_looks_like_a_leftover_keeps_nobody_waiting(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with scratch_folder() as folder:
        pass
    os.mkfifo(tmp_path / folder.name)
    with scratch_folder() as folder:
        assert folder.is_dir()
