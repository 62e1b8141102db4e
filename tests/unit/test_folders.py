"""A folder put in place whole."""

import pytest

from deltavec.io.folders import exchanged, put_in_place, replacing_folder, swap_by_renaming


def names_in(folder):
    return sorted(path.name for path in folder.iterdir())


def folder_of(path, text):
    path.mkdir()
    (path / "file").write_text(text)
    return path


def test_a_new_folder_appears_when_it_is_complete(tmp_path):
    with replacing_folder(tmp_path / "target", ["file"]) as fresh:
        (fresh / "file").write_text("new")
        assert not (tmp_path / "target").exists()
    assert (tmp_path / "target" / "file").read_text() == "new"
    assert names_in(tmp_path) == ["target"]


def test_the_old_folder_stays_until_the_new_one_is_complete(tmp_path):
    folder_of(tmp_path / "target", "old")
    with replacing_folder(tmp_path / "target", ["file"]) as fresh:
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
        replacing_folder(tmp_path / "target", ["file"]) as fresh,
    ):
        fail(fresh)
    assert (tmp_path / "target" / "file").read_text() == "old"
    assert names_in(tmp_path) == ["target"]


def test_a_file_that_came_meanwhile_is_not_deleted(tmp_path):
    target = folder_of(tmp_path / "target", "old")
    with replacing_folder(target, ["file"]) as fresh:
        (fresh / "file").write_text("new")
        (target / "other").write_text("precious")
    assert (target / "file").read_text() == "new"
    assert [path.read_text() for path in tmp_path.glob("**/other")] == ["precious"]


def test_a_name_as_long_as_names_get_will_do(tmp_path):
    target = tmp_path / ("x" * 255)
    with replacing_folder(target, []):
        pass
    assert target.is_dir()


def swap_in_one_step(fresh, target):
    if not exchanged(fresh, target):
        pytest.skip("this system cannot exchange folders in one step")


@pytest.mark.parametrize("swap", [swap_in_one_step, swap_by_renaming, put_in_place])
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
