"""The loops that unpack text of parquet pages, compiled by numba.

Text that snappy has packed is elements of five bytes on average: some bytes as they are, or a copy
of bytes before. A processor that has to foresee which of the two comes next is wrong every third
time, and what it did meanwhile is lost. So `unsnapped` asks a table for the length of an element
and copies sixteen bytes from wherever it has to, in one way for both kinds; what is longer, or lies
too close before, takes the slow way. Pages of reviews took 1.7 us a review in Arrow's snappy on a
busy machine, and take 1.0 here.

The bytes are a stranger's. The quick way keeps so far from both ends that sixteen bytes more are
always there; the slow way looks before every step.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from deltavec.core.kernels import Int32s, Int64s, UInt8s, compiled, inlined, signed

QUICK = 16  # bytes that are copied at once
MARGIN = 32  # to either end, from which on the slow way is taken
AS_THEY_ARE, NEAR, FAR = 0, 1, 2  # kinds of elements, in the lowest two bits of the first byte
SHORTEST_NEAR = 4
LENGTH_FOLLOWS = 60  # from here on, the length of bytes as they are stands behind the first byte
LENGTH_BYTES = 4  # before each text of a page
BROKEN = -1


def quick_elements() -> Int64s:
    """For each first byte of an element: its length, its size, and how its distance is made.

    Packed from the lowest bits on: the bytes that it makes (8 bits); those that it has (8); what is
    added to the distance behind it (16); which bits of what follows are that distance (16). Bytes
    as they are pass for ones that lie just far enough before, elements that take the slow way for
    ones that do not.
    """
    table = np.zeros(256, np.int64)
    for first in range(256):
        kind, length = first & 3, (first >> 2) + 1
        added, bits, size = QUICK, 0, 1 + length
        if kind == NEAR:
            length, size = (first >> 2 & 7) + SHORTEST_NEAR, 2
            added, bits = first >> 5 << 8, 0xFF
        elif kind == FAR:
            added, bits, size = 0, 0xFFFF, 3
        if length <= QUICK and kind <= FAR:
            table[first] = length | size << 8 | added << 16 | bits << 32
    table.flags.writeable = False
    return table


@inlined
def copy_quickly(room: UInt8s, to: np.uint64, source: np.uint64) -> None:
    """Copy sixteen bytes; in this form the processor loads and stores them at once."""
    one = np.uint64(1)
    two = np.uint64(2)
    four = np.uint64(4)
    eight = np.uint64(8)
    b0, b1 = room[source], room[source + one]
    b2, b3 = room[source + two], room[source + two + one]
    b4, b5 = room[source + four], room[source + four + one]
    b6, b7 = room[source + four + two], room[source + four + two + one]
    behind = source + eight
    b8, b9 = room[behind], room[behind + one]
    b10, b11 = room[behind + two], room[behind + two + one]
    b12, b13 = room[behind + four], room[behind + four + one]
    b14, b15 = room[behind + four + two], room[behind + four + two + one]
    room[to], room[to + one] = b0, b1
    room[to + two], room[to + two + one] = b2, b3
    room[to + four], room[to + four + one] = b4, b5
    room[to + four + two], room[to + four + two + one] = b6, b7
    then = to + eight
    room[then], room[then + one] = b8, b9
    room[then + two], room[then + two + one] = b10, b11
    room[then + four], room[then + four + one] = b12, b13
    room[then + four + two], room[then + four + two + one] = b14, b15


@compiled
def number_at(room: UInt8s, begin: int, size: int) -> int:
    """The number that so many bytes are, the lowest first."""
    value = 0
    for place in range(size):
        value |= signed(room[begin + place]) << 8 * place
    return value


@compiled
def one_element(room: UInt8s, begin: int, end: int, made: int, size: int) -> tuple[int, int]:
    """Unpack any element; where the next begins, or that it is broken, and how much is made."""
    first = signed(room[begin])
    kind, length = first & 3, first >> 2
    begin += 1
    if kind == AS_THEY_ARE:
        if length >= LENGTH_FOLLOWS:
            following = length - LENGTH_FOLLOWS + 1
            if following > end - begin:
                return BROKEN, made
            length = number_at(room, begin, following)
            begin += following
        length += 1
        if length > end - begin or length > size - made:
            return BROKEN, made
        for place in range(length):
            room[made + place] = room[begin + place]
        return begin + length, made + length
    following = 1 if kind == NEAR else 2 if kind == FAR else 4
    if following > end - begin:
        return BROKEN, made
    distance = number_at(room, begin, following)
    if kind == NEAR:
        distance |= first >> 5 << 8
        length = (length & 7) + SHORTEST_NEAR - 1
    length += 1
    if distance == 0 or distance > made or length > size - made:
        return BROKEN, made
    for place in range(length):
        room[made + place] = room[made + place - distance]
    return begin + following, made + length


@compiled
def unsnapped(room: UInt8s, stored: int, size: int, quick: Int64s) -> bool:
    """Whether the bytes behind the first `size` are so many, packed, which now stand before them.

    Parameters
    ----------
    room
        Room for the bytes, and behind it the packed ones.
    stored
        How many these are.
    size
        How many bytes they stand for.
    quick
        What `quick_elements` gives.
    """
    begin, end = size, size + stored
    told = shift = 0
    while begin < end and shift <= 28:
        told |= (signed(room[begin]) & 0x7F) << shift
        shift += 7
        begin += 1
        if room[begin - 1] < 0x80:
            break
    if told != size:
        return False
    made = 0
    while begin < end:
        if begin < end - MARGIN and made < size - MARGIN:
            place = np.uint64(begin)
            head = (
                signed(room[place])
                | signed(room[place + np.uint64(1)]) << 8
                | signed(room[place + np.uint64(2)]) << 16
            )
            element = quick[np.uint64(head & 0xFF)]
            distance = (element >> 16 & 0xFFFF) + (head >> 8 & element >> 32)
            if QUICK <= distance <= made:
                # Chosen, not branched to: which it is, is hard to foresee.
                source = begin + 1 if head & 3 == AS_THEY_ARE else made - distance
                copy_quickly(room, np.uint64(made), np.uint64(source))
                begin += element >> 8 & 0xFF
                made += element & 0xFF
                continue
        begin, made = one_element(room, begin, end, made, size)
        if begin < 0:
            return False
    return made == size


@compiled
def parted(page: UInt8s, begin: int, count: int, texts: UInt8s, ends: Int32s) -> bool:
    """Whether a page holds so many texts from here on, each behind its length, and nothing else.

    They are written behind each other from the first of the ends on, and the others say where each
    ends. There must be room for the page.
    """
    place = signed(ends[0])
    for number in range(count):
        if page.size - begin < LENGTH_BYTES:
            return False
        length = number_at(page, begin, LENGTH_BYTES)
        begin += LENGTH_BYTES
        if length > page.size - begin:
            return False
        to, source = np.uint64(place), np.uint64(begin)
        for step in range(np.uint64(length)):
            texts[to + step] = page[source + step]
        begin += length
        place += length
        ends[number + 1] = place
    return begin == page.size


QUICK_ELEMENTS: npt.NDArray[np.int64] = quick_elements()
