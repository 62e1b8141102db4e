import errno
import mmap
import os
import tempfile
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest

from deltavec.core.arrays import (
    KEPT_FROM,
    KEPT_TO,
    Spill,
    allocate_rows,
    collect,
    mapped_file,
    offsets_of,
    pack,
    read_only,
    require_mapped,
)
from deltavec.errors import DeltavecError, InputError
from support.small_disks import run_on_small_disk


def test_a_frozen_array_is_a_view_nobody_can_write_to():
    array = np.zeros(2)
    with pytest.raises(ValueError, match="read-only"):
        read_only(array)[0] = 1
    array[0] = 1
    assert read_only(array).tolist() == [1, 0]


@pytest.mark.parametrize(
    ("size", "backend", "is_arrows"),
    [
        (KEPT_FROM, "mimalloc", True),
        (KEPT_TO, "mimalloc", True),
        (KEPT_FROM - 4, "mimalloc", False),
        (KEPT_TO + 4, "mimalloc", False),
        (KEPT_FROM, "system", False),
        (0, "mimalloc", False),
    ],
)
def test_room_for_large_results_is_arrows_if_it_keeps_memory(size, backend, is_arrows, monkeypatch):
    pool = SimpleNamespace(backend_name=backend)
    monkeypatch.setattr(pa, "default_memory_pool", lambda: pool)
    room = allocate_rows(size // 4, 1)
    assert room.shape == (size // 4, 1)
    assert room.dtype == np.float32
    assert room.flags.writeable
    assert room.flags.c_contiguous
    assert isinstance(room.base.base if size and is_arrows else None, pa.Buffer) == is_arrows


def test_pieces_begin_where_those_before_end():
    assert offsets_of([3, 0, 2]).tolist() == [0, 3, 3, 5]
    assert offsets_of([]).tolist() == [0]


def test_packed_pieces_stand_one_after_the_other():
    data, begins = pack([b"sea", b"", b"room"])
    assert data.tobytes() == b"searoom"
    assert begins.tolist() == [0, 3, 3, 7]
    assert not data.flags.writeable
    assert not begins.flags.writeable


def test_a_file_that_was_cut_short_is_told_before_it_is_read(tmp_path):
    path = tmp_path / "numbers"
    path.write_bytes(bytes(80_000))
    with path.open("r+b") as file:
        memory = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        mapped = read_only(np.ndarray((2, 100), "<f4", memory, 16))[1:]
        require_mapped(mapped, np.zeros(3))
        file.truncate(100)
        with pytest.raises(InputError, match="was cut short, from 80,000 to 100 bytes"):
            require_mapped(np.zeros(3), mapped)


def test_the_map_that_an_array_lies_in_is_found(tmp_path):
    path = tmp_path / "rows"
    np.arange(12, dtype=np.float32).tofile(path)
    with path.open("rb") as file:
        memory = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    rows = np.ndarray((4, 3), np.float32, memory)
    assert mapped_file(rows) is memory
    assert mapped_file(rows[1:, :2]) is memory
    assert mapped_file(rows.copy()) is None


def test_arrays_beyond_the_budget_go_to_files_without_a_name(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    spill = Spill(100)
    first, second, third = spill(10, np.int64), spill(10, np.int64), spill(2, np.int64)
    assert spill.left == 100 - 80 - 16
    for array in (first, second, third):
        assert type(array) is np.ndarray
        array[:] = np.arange(len(array))
    assert second.tolist() == list(range(10))
    assert type(second.base) is np.memmap
    assert first.base is third.base is None
    assert list(tmp_path.iterdir()) == []


def test_a_budget_of_nothing_is_files_alone():
    array = Spill(0)(1000, np.float64)
    array[:] = 1
    assert array.sum() == 1000


FULL = """
import sys, tempfile
import numpy as np
import pytest
from deltavec.core.arrays import Spill
from deltavec.errors import DeltavecError
tempfile.tempdir = sys.argv[1]
try:
    Spill(0)(1_000_000, np.float64)[:] = 1
except DeltavecError as error:
    print(error)
"""


def test_a_full_disk_is_an_error_before_anything_is_written(tmp_path):
    ran = run_on_small_disk(tmp_path, "1m", FULL, str(tmp_path))
    assert ran.returncode == 0, ran.returncode
    assert "no room for 8,000,000 bytes of intermediate results" in ran.stdout


def test_where_room_cannot_be_taken_ahead_the_file_is_made_as_long(monkeypatch):
    monkeypatch.delattr(os, "posix_fallocate", raising=False)
    array = Spill(0)(1000, np.float64)
    array[:] = 1
    assert array.sum() == 1000


def test_what_the_disk_refuses_is_said_with_what_helps(monkeypatch):
    def refuse(*asked):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "posix_fallocate", refuse, raising=False)
    with pytest.raises(DeltavecError, match=r"no room for 80 bytes .*make room"):
        Spill(0)(10, np.float64)


def test_parts_are_collected_in_memory_as_far_as_a_budget_goes():
    parts = [np.arange(4, dtype=np.int32), np.zeros(0, np.int32), np.arange(2, dtype=np.int32)]
    for budget, in_file in ((24, False), (23, True), (0, True)):
        array = collect(iter(parts), np.int32, budget)
        assert (type(array.base) is np.memmap) == in_file
        assert array.tolist() == [0, 1, 2, 3, 0, 1]
    assert collect([], np.int32, 0).tolist() == []


COLLECTED = FULL.replace("import Spill", "import collect").replace(
    "Spill(0)(1_000_000, np.float64)[:] = 1",
    "collect((np.ones(50_000) for _ in range(20)), np.float64, 100)",
)


def test_a_disk_that_fills_up_while_parts_come_is_an_error(tmp_path):
    ran = run_on_small_disk(tmp_path, "1m", COLLECTED, str(tmp_path))
    assert ran.returncode == 0, ran.returncode
    assert "no room for 400,000 bytes of intermediate results" in ran.stdout
