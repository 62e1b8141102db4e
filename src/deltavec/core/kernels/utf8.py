"""UTF-8 decoding and the character classes of a tokenizer rule."""

from __future__ import annotations

import numpy as np

from deltavec.core.arrays import UInt8s, signed
from deltavec.core.jit import compiled, inlined
from deltavec.core.kernels.hashing import (
    BYTE,
    EMPTY,
    PACKED,
    VocabTable,
    equal,
    hash_word,
    insert,
    look_up,
    mix,
)
from deltavec.core.text.rules import MARK, SEPARATOR, UNSPACED, Rule

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
