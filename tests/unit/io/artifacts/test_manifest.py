"""Manifests with their checksums, and the folders that they describe."""

from __future__ import annotations

from pathlib import Path

import pytest

from deltavec.errors import InputError, ModelError
from deltavec.io.artifacts.manifest import (
    Artifact,
    names,
    require_ranges,
    require_types,
    with_checksum,
)

INNER = Artifact("part", 1, "part.json", names(["part.json"]))
KIND = Artifact(
    "thing", 2, "thing.json", names(["thing.json", "data"]), ModelError, {"inner": INNER}
)


def test_entries_that_were_written_are_read() -> None:
    entries = {"a": 1, "b": {"c": [0.1, None, "ö"]}}
    assert KIND.decode(KIND.encode(entries)) == entries


@pytest.mark.parametrize("version", [1, 3, None, "2", True])
def test_another_version_is_refused(version: object) -> None:
    other = with_checksum({"format": "deltavec thing", "format_version": version, "a": 1})
    with pytest.raises(InputError, match="expected version 2 of the format, got"):
        KIND.decode(other)


def test_any_changed_byte_is_an_error() -> None:
    whole = KIND.encode({"a": 1})
    for place in range(len(whole)):
        with pytest.raises(InputError):
            KIND.decode(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])


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
    INNER.write_manifest(folder / "inner", {})
    (folder / "data").write_text("x")
    KIND.write_manifest(folder, {})


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
