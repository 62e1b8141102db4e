import numpy as np

from deltavec.core.scratch import Spill, spilling


def test_arrays_beyond_the_budget_live_in_files(tmp_path):
    spill = Spill(tmp_path, 100)
    spill(10, np.int64)[:] = 1
    assert not list(tmp_path.iterdir())
    in_file = spill(10, np.int64)
    in_file[:] = 2
    assert len(list(tmp_path.iterdir())) == 1
    assert in_file.tolist() == [2] * 10
    assert len(spill(0, np.int64)) == 0


def test_files_are_gone_when_the_context_ends():
    with spilling(0) as allocate:
        allocate(3, np.float32)[:] = 1
        assert len(list(allocate.folder.iterdir())) == 1
    assert not allocate.folder.exists()
