"""Arrays in safetensors files of our own layout, and of anybody's."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from deltavec.errors import InputError
from deltavec.io.artifacts.tensors import (
    are_offsets,
    foreign_tensors,
    layout,
    mapped_tensors,
    write_tensors,
)

ARRAYS = {"counts": np.array([1, 2, 3]), "table": np.eye(2, 3, dtype=np.float32)}
LAYOUT = layout("test", {"counts": ("I64", (3,)), "table": ("F32", (2, 3))}, aligned="table")


def write(path: Path) -> Path:
    with path.open("wb") as file:
        write_tensors(file, LAYOUT, ARRAYS)
    return path


def test_a_file_is_as_long_as_its_layout_says_and_the_table_on_a_cache_line(tmp_path: Path) -> None:
    path = write(tmp_path / "x")
    assert path.stat().st_size == LAYOUT.size == len(LAYOUT.header) + 24 + 24
    assert (len(LAYOUT.header) + LAYOUT.tensors["table"].begin) % 64 == 0


def test_a_header_is_as_long_as_was_asked_for() -> None:
    assert len(layout("t", {"v": ("F32", (9, 9))}, aligned="v", shortest_header=256).header) == 256


def test_anybody_reads_what_we_write(tmp_path: Path) -> None:
    path = write(tmp_path / "x")
    with path.open("rb") as file:
        ours = mapped_tensors(file, LAYOUT)
    for found in (load_file(path), ours, foreign_tensors(path)[0]):
        assert found.keys() == ARRAYS.keys()
        assert all(np.array_equal(found[name], ARRAYS[name]) for name in ARRAYS)
    assert not ours["table"].flags.writeable


def test_an_empty_tensor_is_mapped_too(tmp_path: Path) -> None:
    save_file({"none": np.empty((0, 3), np.float32), "one": np.ones(1)}, tmp_path / "x")
    arrays = foreign_tensors(tmp_path / "x")[0]
    assert arrays["none"].shape == (0, 3)
    assert arrays["one"].tolist() == [1.0]


def test_another_length_is_refused_before_anything_is_mapped(tmp_path: Path) -> None:
    path = write(tmp_path / "x")
    with path.open("ab") as file:
        file.truncate(1 << 40)  # takes no room on disk
    with path.open("rb") as file, pytest.raises(InputError, match="the file is cut short"):
        mapped_tensors(file, LAYOUT)


@pytest.mark.parametrize(
    ("offsets", "length", "sound"),
    [
        ([0], 0, True),
        ([0, 2, 2, 5], 5, True),
        ([], 0, False),
        ([1, 2], 2, False),
        ([0, 2], 3, False),
        ([0, 3, 2, 4], 4, False),
    ],
)
def test_offsets_rise_from_zero_to_the_end(offsets: list[int], length: int, sound: bool) -> None:
    assert are_offsets(np.array(offsets, np.int64), length) is sound
