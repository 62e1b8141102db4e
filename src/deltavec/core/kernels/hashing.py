"""Hash table of the vocabulary: open addressing with linear probing."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from deltavec.core.arrays import Int64s, UInt8s, UInt64s, signed
from deltavec.core.jit import compiled, inlined
from deltavec.core.text.rules import BEFORE_WORD, BEHIND_WORD

MIX_1 = np.uint64(0x9E3779B97F4A7C15)
MIX_2 = np.uint64(0xD6E8FEB86659FD93)
HALF = np.uint64(32)
LOW = np.uint64(0xFFFFFFFF)
LENGTH = np.uint64(0x7FFFFFFF)
ONE = np.uint64(1)
EMPTY = np.uint64(0)
BYTE = np.uint64(8)
TWO = np.uint64(2)
PACKED = 8  # bytes in one packed integer
SLOTS_AT_ONCE = 2
EDGES = (ord(BEFORE_WORD), ord(BEHIND_WORD))


class VocabTable(NamedTuple):
    """A vocabulary: the slots, the words' UTF-8 bytes, where each begins, the longest's length.

    Hashes begin with the secret.
    """

    slots: UInt64s
    data: UInt8s
    offsets: Int64s
    longest: int
    secret: np.uint64


@compiled
def mix(packed: np.uint64) -> np.uint64:
    """A hash of one packed integer; every step can be undone, so distinct ones stay distinct."""
    h = packed * MIX_1
    h ^= h >> HALF
    h *= MIX_2
    h ^= h >> HALF
    return h


@compiled
def look_up(h: np.uint64, word: UInt8s, words: VocabTable) -> int:
    """The id of a word with this hash, -1 if it is not in the vocabulary."""
    length = word.size
    mask = np.uint64(words.slots.size // 2 - 1)
    slot = h & mask
    while True:
        entry = words.slots[slot * TWO + ONE]
        if entry == EMPTY:
            return -1
        if words.slots[slot * TWO] == h and signed(entry >> HALF & LENGTH) == length:
            number = signed(entry & LOW) - 1
            if length <= PACKED or equal(word, length, words.data, words.offsets[number]):
                return number
        slot = (slot + ONE) & mask


@compiled
def equal(word: UInt8s, length: int, vocabulary: UInt8s, begin: int) -> bool:
    """Whether the vocabulary's bytes from ``begin`` on are those of the word."""
    for place in range(length):  # noqa: SIM110, numba has no all() over a generator
        if word[place] != vocabulary[begin + place]:
            return False
    return True


@compiled
def hash_word(word: UInt8s, secret: np.uint64) -> np.uint64:
    """The hash that `scan` gives these bytes."""
    h = secret
    packed = EMPTY
    for place in range(word.size):
        packed |= np.uint64(word[place]) << (BYTE * np.uint64(place & 7))
        if place & 7 == 7:
            h = mix(h ^ packed)
            packed = EMPTY
    return mix(h ^ packed)


@compiled
def insert(h: np.uint64, marked: np.uint64, number: int, slots: UInt64s) -> None:
    """Take the first free slot for a word that is not in the table; its length may be marked."""
    mask = np.uint64(slots.size // 2 - 1)
    slot = h & mask
    while slots[slot * TWO + ONE] != EMPTY:
        slot = (slot + ONE) & mask
    slots[slot * TWO] = h
    slots[slot * TWO + ONE] = marked << HALF | np.uint64(number + 1)


@compiled
def look_up_all(data: UInt8s, ends: Int64s, words: VocabTable) -> Int64s:
    """The id of each word given by its bytes, -1 for one that is not in the vocabulary."""
    ids = np.empty(ends.size - 1, np.int64)
    for number in range(ids.size):
        word = data[ends[number] : ends[number + 1]]
        ids[number] = look_up(hash_word(word, words.secret), word, words)
    return ids


@inlined
def load_eight(data: UInt8s, place: np.uint64) -> np.uint64:
    """The eight bytes from this place on, packed; the CPU loads them at once."""
    return (
        np.uint64(data[place])
        | np.uint64(data[place + np.uint64(1)]) << np.uint64(8)
        | np.uint64(data[place + np.uint64(2)]) << np.uint64(16)
        | np.uint64(data[place + np.uint64(3)]) << np.uint64(24)
        | np.uint64(data[place + np.uint64(4)]) << np.uint64(32)
        | np.uint64(data[place + np.uint64(5)]) << np.uint64(40)
        | np.uint64(data[place + np.uint64(6)]) << np.uint64(48)
        | np.uint64(data[place + np.uint64(7)]) << np.uint64(56)
    )


@inlined
def look_up_bytes(
    data: UInt8s,
    begin: int,
    end: int,
    slots: UInt64s,
    vocabulary: UInt8s,
    offsets: Int64s,
    secret: np.uint64,
) -> tuple[int, np.uint64]:
    """The id of the word that these bytes spell, -1 if there is none, and their hash."""
    place = np.uint64(begin)
    left = np.uint64(end - begin)
    length = left
    h = secret
    packed = EMPTY
    while place + BYTE <= np.uint64(data.size):
        packed = load_eight(data, place)
        if left < BYTE:
            packed &= (ONE << (BYTE * left)) - ONE
            break
        h = mix(h ^ packed)
        place += BYTE
        left -= BYTE
    else:
        packed = EMPTY
        for nth in range(left):
            packed |= np.uint64(data[place + nth]) << (BYTE * np.uint64(nth))
    h = mix(h ^ packed)
    mask = np.uint64(slots.size // 2 - 1)
    slot = h & mask
    while True:
        entry = slots[slot * TWO + ONE]
        same = slots[slot * TWO] == h and entry >> HALF & LENGTH == length
        if same or entry == EMPTY:
            # Chosen, not branched to: whether a unit is known is hard to foresee.
            number = signed(entry & LOW) - 1 if same else -1
            if length <= BYTE or not same:
                return number, h
            start = np.uint64(offsets[np.uint64(number)])
            index = EMPTY
            while index < length and data[np.uint64(begin) + index] == vocabulary[start + index]:
                index += ONE
            if index == length:
                return number, h
        slot = (slot + ONE) & mask


@inlined
def look_up_short(h: np.uint64, length: int, slots: UInt64s) -> int:
    """The id of a word of at most eight bytes with this hash, -1 if there is none."""
    mask = np.uint64(slots.size // 2 - 1)
    slot = h & mask
    entry = slots[slot * TWO + ONE]
    same = slots[slot * TWO] == h and signed(entry >> HALF & LENGTH) == length
    while not same and entry != EMPTY:
        slot = (slot + ONE) & mask
        entry = slots[slot * TWO + ONE]
        same = slots[slot * TWO] == h and signed(entry >> HALF & LENGTH) == length
    return signed(entry & LOW) - 1 if same else -1


@inlined
def look_up_character(h: np.uint64, length: int, slots: UInt64s) -> int:
    """What `look_up_short` gives, of characters and pairs of them, of which many are not known.

    Two slots are read before anything is decided: in which of them a word stands, and whether it
    is known, is hard to foresee. A slot behind an empty one never holds a word that began before.
    Runs of letters are mostly known: for these it takes longer.
    """
    mask = np.uint64(slots.size // 2 - 1)
    size = np.uint64(length)
    slot = h & mask
    while True:
        number = EMPTY
        empty = EMPTY
        for ahead in range(SLOTS_AT_ONCE):
            place = (slot + np.uint64(ahead)) & mask
            entry = slots[place * TWO + ONE]
            differs = slots[place * TWO] ^ h | (entry >> HALF & LENGTH) ^ size
            number |= (entry & LOW) * np.uint64(differs == EMPTY)
            empty |= np.uint64(entry == EMPTY)
        if number | empty != EMPTY:
            return signed(number) - 1
        slot = (slot + np.uint64(SLOTS_AT_ONCE)) & mask


@inlined
def look_up_marked(
    h: np.uint64,
    length: int,
    data: UInt8s,
    begin: np.uint64,
    folded: UInt8s,
    slots: UInt64s,
    vocabulary: UInt8s,
    offsets: Int64s,
) -> int:
    """The id of an ASCII word, its edges marked, with this hash; -1 if there is none."""
    mask = np.uint64(slots.size // 2 - 1)
    slot = h & mask
    inside = np.uint64(length - 2)
    while True:
        entry = slots[slot * TWO + ONE]
        if entry == EMPTY:
            return -1
        if slots[slot * TWO] == h and signed(entry >> HALF & LENGTH) == length:
            number = signed(entry & LOW) - 1
            if length <= PACKED:
                return number
            start = np.uint64(offsets[np.uint64(number)])
            same = vocabulary[start] == EDGES[0] and vocabulary[start + inside + ONE] == EDGES[1]
            index = EMPTY
            while same and index < inside:
                same = vocabulary[start + ONE + index] == folded[data[begin + index]]
                index += ONE
            if same:
                return number
        slot = (slot + ONE) & mask


@inlined
def copy_bytes(data: UInt8s, begin: int, end: int, word: UInt8s) -> int:
    """Write these bytes, as many as fit; how many they are."""
    for place in range(min(end - begin, word.size)):
        word[place] = data[begin + place]
    return end - begin
