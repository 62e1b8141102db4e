"""The vocabulary's hash table (open addressing with linear probing), and UTF-8 decoding."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from deltavec.core.arrays import Int64s, UInt8s, UInt64s, signed
from deltavec.core.jit import compiled, inlined
from deltavec.core.text.rules import BEFORE_WORD, BEHIND_WORD, MARK, SEPARATOR, UNSPACED, Rule

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


NOT_AS_WRITTEN = np.uint64(0x80000000)


@compiled
def decode(data: UInt8s, position: int, end: int) -> tuple[int, int]:
    """The code point at this position and its bytes; U+FFFD and 1 if it is not UTF-8."""
    second = signed(data[position + 1]) if position + 1 < end else 0
    third = signed(data[position + 2]) if position + 2 < end else 0
    fourth = signed(data[position + 3]) if position + 3 < end else 0
    return decode_bytes(signed(data[position]), second, third, fourth)


@compiled
def decode_bytes(first: int, second: int, third: int, fourth: int) -> tuple[int, int]:
    """The code point that these bytes begin with, and how many of them; U+FFFD and 1 if none."""
    if 0xC2 <= first < 0xE0 and second & 0xC0 == 0x80:
        return (first & 31) << 6 | second & 63, 2
    if 0xE0 <= first < 0xF0:
        code_point = decode_three(first, second, third)
        if code_point and code_point & 0xF800 != 0xD800:
            return code_point, 3
    if 0xF0 <= first < 0xF5:
        code_point = (first & 7) << 18 | (second & 63) << 12 | (third & 63) << 6 | fourth & 63
        all_continue = (second & 0xC0) == (third & 0xC0) == (fourth & 0xC0) == 0x80
        if all_continue and 0x10000 <= code_point <= 0x10FFFF:
            return code_point, 4
    return 0xFFFD, 1


@inlined
def decode_three(first: int, second: int, third: int) -> int:
    """The code point of three bytes, the first of them from E0 to EF; 0 if they are not UTF-8."""
    code_point = (first & 15) << 12 | (second & 63) << 6 | third & 63
    # A half of a surrogate pair is left as it is: every rule has it among the separators.
    valid = (second & 0xC0) == 0x80 and (third & 0xC0) == 0x80 and code_point >= 0x800
    return code_point if valid else 0


@compiled
def encode(code_point: int) -> tuple[int, int]:
    """The UTF-8 bytes of a code point from 80 on, the first lowest, and how many they are."""
    last = 0x80 | code_point & 0x3F
    if code_point < 0x800:
        return 0xC0 | code_point >> 6 | last << 8, 2
    middle = 0x80 | code_point >> 6 & 0x3F
    if code_point < 0x10000:
        return 0xE0 | code_point >> 12 | middle << 8 | last << 16, 3
    upper = 0x80 | code_point >> 12 & 0x3F
    return 0xF0 | code_point >> 18 | upper << 8 | middle << 16 | last << 24, 4


@compiled
def scan_non_ascii(
    data: UInt8s, position: int, end: int, rule: Rule, word: UInt8s, secret: np.uint64
) -> tuple[int, int, np.uint64]:
    """The word with characters beyond ASCII that begins here: its end, its length, its hash.

    Writes the word's lower-cased bytes, as many as fit. If the first character separates words,
    the length is 0 and the end is behind it; if it is of a script without spaces, the length is -1.
    """
    h = secret
    packed = EMPTY
    length = 0
    while position < end:
        code_point, size = signed(data[position]), 1
        if code_point >= 128:
            code_point, size = decode(data, position, end)
        shift = rule.pages[rule.page_of[code_point >> 8], code_point & 255]
        if shift <= SEPARATOR:
            if shift == MARK:
                shift = 0
            elif length > 0:
                break
            elif shift == UNSPACED:
                return position, -1, EMPTY
            else:
                position += size
                break
        position += size
        code_point += shift
        remaining, left = encode(code_point) if code_point >= 128 else (code_point, 1)
        for place in range(min(left, word.size - length)):
            word[length + place] = remaining >> 8 * place & 255
        taken = np.uint64(length & 7)
        packed |= np.uint64(remaining) << (BYTE * taken)
        length += left
        if signed(taken) + left >= PACKED:  # a character has at most 4 bytes: 4 were taken before
            h = mix(h ^ packed)
            packed = np.uint64(remaining) >> (BYTE * (BYTE - taken))
    return position, length, mix(h ^ packed)


@compiled
def fill_slots(words: VocabTable, rule: Rule, first: int) -> int:
    """Put the words from this one on into free slots; the first that was there already, or -1.

    Words that this rule does not read as they are written are marked. The rest must be words as
    they are written under any rule that the slots are used with: `tokens.narrowest_rule`.
    """
    read = np.empty(max(words.longest, PACKED), np.uint8)
    for number in range(first, words.offsets.size - 1):
        begin, end = words.offsets[number], words.offsets[number + 1]
        word = words.data[begin:end]
        h = hash_word(word, words.secret)
        if look_up(h, word, words) >= 0:
            return number
        marked = np.uint64(word.size)
        stop, length, _ = scan_non_ascii(words.data, begin, end, rule, read, words.secret)
        if stop != end or length != word.size or not equal(read, length, words.data, begin):
            marked |= NOT_AS_WRITTEN
        insert(h, marked, number, words.slots)
    return -1


@compiled
def class_at(data: UInt8s, position: int, end: int, rule: Rule) -> tuple[int, int]:
    """What the rule says of the character at this position, and its bytes; behind the end, 0."""
    if position >= end:
        return signed(SEPARATOR), 0
    code_point, size = signed(data[position]), 1
    if code_point >= 128:
        code_point, size = decode(data, position, end)
    return signed(rule.pages[rule.page_of[code_point >> 8], code_point & 255]), size
