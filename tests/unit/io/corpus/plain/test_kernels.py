"""Snappy's elements one by one, worked by hand."""

import numpy as np
import pytest

from deltavec.io.corpus.plain.kernels import QUICK_ELEMENTS, parted, unsnapped


def unpacked(packed, size, told=None):
    """The bytes that elements stand for, behind the size that they tell; None if broken."""
    told = size if told is None else told
    head = bytes([told & 0x7F | 0x80, told >> 7]) if told > 127 else bytes([told])
    data = head + packed
    room = np.concatenate([np.zeros(size, np.uint8), np.frombuffer(data, np.uint8)])
    return room[:size].tobytes() if alone(room, len(data), size) else None


def alone(room, stored, size):
    """Whether a room is unpacked beside one of the same bytes, and beside none."""
    twins = room.copy(), room.copy()
    both = unsnapped(twins[0], stored, size, twins[1], stored, size, QUICK_ELEMENTS)
    sound = unsnapped(room, stored, size, np.empty(0, np.uint8), 0, 0, QUICK_ELEMENTS)
    assert sound == both
    assert not sound or all(np.array_equal(twin, room) for twin in twins)
    return sound


def as_they_are(data):
    return bytes([len(data) - 1 << 2]) + data


def near(length, distance):
    return bytes([distance >> 8 << 5 | length - 4 << 2 | 1, distance & 0xFF])


def far(length, distance):
    return bytes([length - 1 << 2 | 2]) + distance.to_bytes(2, "little")


def farthest(length, distance):
    return bytes([length - 1 << 2 | 3]) + distance.to_bytes(4, "little")


TEXT = b"the quiet room by the sea"


@pytest.mark.parametrize(
    ("packed", "expected"),
    [
        (b"", b""),
        (as_they_are(b"sea"), b"sea"),
        (as_they_are(b"sea ") + near(4, 4), b"sea sea "),
        (as_they_are(b"a") + near(11, 1), b"a" * 12),
        (as_they_are(b"ab") + far(64, 2), b"ab" * 33),
        (as_they_are(TEXT) + farthest(5, 25) + farthest(1, 1), TEXT + b"the qq"),
        (bytes([60 << 2, 99]) + b"x" * 100, b"x" * 100),
        (bytes([61 << 2, 99, 0]) + b"x" * 100, b"x" * 100),
    ],
)
def test_elements_stand_for_bytes(packed, expected):
    assert unpacked(packed, len(expected)) == expected


def test_the_quick_way_and_the_slow_way_make_the_same():
    packed = as_they_are(TEXT) * 4 + near(9, 25) * 5 + far(16, 40) * 5 + far(17, 16) + far(5, 15)
    made = TEXT * 4
    for length, distance, times in ((9, 25, 5), (16, 40, 5), (17, 16, 1), (5, 15, 1)):
        for _ in range(times):
            for _ in range(length):
                made += made[-distance : len(made) - distance + 1]
    assert unpacked(packed + as_they_are(b"x" * 60) * 2, len(made) + 120) == made + b"x" * 120


@pytest.mark.parametrize(
    ("packed", "size"),
    [
        (b"", 1),
        (as_they_are(b"sea"), 4),
        (as_they_are(b"sea"), 2),
        (as_they_are(b"sea")[:-1], 3),
        (near(4, 1), 4),
        (as_they_are(b"sea ") + near(4, 0), 8),
        (as_they_are(b"sea ") + near(4, 5), 8),
        (as_they_are(b"sea ") + near(4, 4)[:-1], 8),
        (as_they_are(b"sea ") + far(4, 4)[:-1], 8),
        (as_they_are(b"sea ") + farthest(4, 4)[:-1], 8),
        (as_they_are(b"sea ") + far(9, 4), 8),
        (as_they_are(TEXT) * 4 + far(9, 600) + as_they_are(TEXT) * 4, 209),
        (bytes([63 << 2, 0xFF, 0xFF, 0xFF, 0xFF]), 20),
        (bytes([62 << 2, 1]), 20),
    ],
)
def test_what_leads_outside_or_makes_too_much_or_too_little_is_refused(packed, size):
    assert unpacked(packed, size) is None


def test_a_size_that_is_another_or_never_ends_is_refused():
    assert unpacked(as_they_are(b"sea"), 3, told=4) is None
    room = np.full(30, 0xFF, np.uint8)
    assert not alone(room, 20, 10)


def test_texts_are_parted_by_their_lengths():
    page = np.frombuffer(b"--\3\0\0\0sea\0\0\0\0\2\0\0\0by", np.uint8).copy()
    texts, ends = np.zeros(20, np.uint8), np.array([1, 0, 0, 0], np.int32)
    assert parted(page, 2, 3, texts, ends)
    assert ends.tolist() == [1, 4, 4, 6]
    assert texts[1:6].tobytes() == b"seaby"
    for begin, count in ((2, 2), (2, 4), (1, 3), (3, 3), (17, 1)):
        assert not parted(page, begin, count, texts, ends)
