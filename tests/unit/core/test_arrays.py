import mmap
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest

from deltavec.core.arrays import (
    KEPT_FROM,
    KEPT_TO,
    allocate_rows,
    mapped_file,
    offsets_of,
    pack,
    read_only,
    require_mapped,
)
from deltavec.errors import InputError


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
