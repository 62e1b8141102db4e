import errno
import os
import tempfile

import numpy as np
import pytest

from deltavec.core.learning.spill import Spill, spilling
from deltavec.errors import DeltavecError
from small_disks import run_on_small_disk


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
    with spilling(0) as allocate:
        array = allocate(1000, np.float64)
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
