import errno
import os
import tempfile

import numpy as np
import pytest

from deltavec.core.learning.spill import Spill, collect
from deltavec.errors import DeltavecError
from support.small_disks import run_on_small_disk


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
from deltavec.core.learning.spill import Spill
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
