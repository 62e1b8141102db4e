"""Sealed descriptions, and the kinds of folders they stand in."""

from __future__ import annotations

from pathlib import Path

import pytest

from deltavec.errors import InputError, ModelError
from deltavec.io.artifacts.manifest import FolderKind, names, require_ranges, require_types, sealed

INNER = FolderKind("part", 1, "part.json", names(["part.json"]))
KIND = FolderKind(
    "thing", 2, "thing.json", names(["thing.json", "data"]), ModelError, {"inner": INNER}
)


def test_what_is_sealed_is_unsealed() -> None:
    entries = {"a": 1, "b": {"c": [0.1, None, "ö"]}}
    assert KIND.unsealed(KIND.sealed(entries)) == (2, entries)


def test_an_older_version_is_read_and_told() -> None:
    old = sealed({"format": "deltavec thing", "format_version": 1, "a": 1})
    assert KIND.unsealed(old) == (1, {"a": 1})


def test_any_changed_byte_breaks_the_seal() -> None:
    whole = KIND.sealed({"a": 1})
    for place in range(len(whole)):
        with pytest.raises(InputError):
            KIND.unsealed(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])


def test_the_first_entry_that_is_wrong_is_named() -> None:
    ranges = {"a": (0, 1), "b": (0, 1), "missing": (0, 1)}
    require_ranges({"a": 0, "b": 1}, ranges)
    with pytest.raises(InputError, match="a must be from 0 to 1, got 2"):
        require_ranges({"b": 2, "a": 2}, ranges)
    with pytest.raises(InputError, match="a must be true or false, got 1"):
        require_types({"a": 1}, {"a": bool})
    with pytest.raises(InputError, match="a must be a finite number, got nan"):
        require_types({"a": float("nan")}, {"a": float})


def make(folder: Path) -> None:
    (folder / "inner").mkdir(parents=True)
    INNER.describe(folder / "inner", {})
    (folder / "data").write_text("x")
    KIND.describe(folder, {})


def test_a_folder_is_removed_with_those_in_it(tmp_path: Path) -> None:
    make(tmp_path / "it")
    KIND.require_replaceable(tmp_path / "it")
    KIND.remove(tmp_path / "it")
    KIND.remove(tmp_path / "it")  # not there any more: nothing to do
    assert not (tmp_path / "it").exists()


@pytest.mark.parametrize("place", ["mine", "inner/mine"])
def test_what_others_put_there_is_never_removed(tmp_path: Path, place: str) -> None:
    make(tmp_path / "it")
    (tmp_path / "it" / place).write_text("precious")
    KIND.remove(tmp_path / "it")
    assert (tmp_path / "it" / place).read_text() == "precious"


def test_a_file_in_the_place_of_a_folder_is_not_ours(tmp_path: Path) -> None:
    (tmp_path / "it").mkdir()
    (tmp_path / "it" / "inner").write_text("precious")
    with pytest.raises(ModelError, match="holds 'inner', which is not part of a deltavec thing"):
        KIND.require_replaceable(tmp_path / "it")
