import numpy as np
import pytest

from deltavec.core.arrays import begins_of, frozen, packed


def test_a_frozen_array_is_a_view_nobody_can_write_to():
    array = np.zeros(2)
    with pytest.raises(ValueError, match="read-only"):
        frozen(array)[0] = 1
    array[0] = 1
    assert frozen(array).tolist() == [1, 0]


def test_pieces_begin_where_those_before_end():
    assert begins_of([3, 0, 2]).tolist() == [0, 3, 3, 5]
    assert begins_of([]).tolist() == [0]


def test_packed_pieces_stand_one_after_the_other():
    data, begins = packed([b"sea", b"", b"room"])
    assert data.tobytes() == b"searoom"
    assert begins.tolist() == [0, 3, 3, 7]
    assert not data.flags.writeable
    assert not begins.flags.writeable
