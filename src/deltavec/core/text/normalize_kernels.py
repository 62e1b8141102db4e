"""Texts in one way of writing, bytes in and bytes out: see `deltavec.core.text.normalize`.

Almost every character is copied, or replaced by the bytes that its entry spells. Only where one may
change what stands before it, a mark mostly, the stretch from the character before on is taken into
parts, put in order and composed, as Unicode's normalization forms say (Unicode Standard Annex 15).
"""

from __future__ import annotations

import numpy as np

from deltavec.core.arrays import Int32s, Int64s, UInt8s, signed
from deltavec.core.jit import compiled, inlined
from deltavec.core.kernels.hashing import ONE, TWO
from deltavec.core.kernels.unspaced import THREE
from deltavec.core.text.normalize import (
    CLASS,
    IGNORED,
    JOINS,
    SEPARATES,
    Spellings,
)

MOST_GROWTH = 3  # bytes that one may become: a syllable of Hangul is three parts of three bytes
CODE = (1 << CLASS) - 1
DOTTED, DOT_ABOVE = ord("i"), 0x307
SYLLABLES, LEADS, VOWELS, TAILS = 0xAC00, 0x1100, 0x1161, 0x11A7
LEAD_COUNT, VOWEL_COUNT, TAIL_COUNT = 19, 21, 28
SYLLABLE_COUNT = LEAD_COUNT * VOWEL_COUNT * TAIL_COUNT
PARTS_AT_FIRST = 64


@inlined
def read(data: UInt8s, place: int, end: int) -> tuple[int, int]:
    """The code point at this place and its bytes; 0 and 1 if it is not UTF-8."""
    ahead = np.uint64(place)
    first = signed(data[ahead])
    if first < 0x80:
        return first, 1
    second = signed(data[ahead + ONE]) if place + 1 < end else 0
    third = signed(data[ahead + TWO]) if place + 2 < end else 0
    fourth = signed(data[ahead + THREE]) if place + 3 < end else 0
    if 0xC2 <= first < 0xE0 and second & 0xC0 == 0x80:
        return (first & 31) << 6 | second & 63, 2
    if first & 0xF0 == 0xE0 and second & 0xC0 == 0x80 and third & 0xC0 == 0x80:
        code = (first & 15) << 12 | (second & 63) << 6 | third & 63
        if code >= 0x800 and code & 0xF800 != 0xD800:
            return code, 3
    if 0xF0 <= first < 0xF5 and second & 0xC0 == third & 0xC0 == fourth & 0xC0 == 0x80:
        code = (first & 7) << 18 | (second & 63) << 12 | (third & 63) << 6 | fourth & 63
        if 0x10000 <= code <= 0x10FFFF:
            return code, 4
    return 0, 1


@inlined
def write(code: int, out: UInt8s, place: int) -> int:
    """Write a code point; the place behind it."""
    if code < 0x80:
        out[place] = code
        return place + 1
    last = 0x80 | code & 63
    if code < 0x800:
        out[place] = 0xC0 | code >> 6
        out[place + 1] = last
        return place + 2
    middle = 0x80 | code >> 6 & 63
    if code < 0x10000:
        out[place] = 0xE0 | code >> 12
        out[place + 1] = middle
        out[place + 2] = last
        return place + 3
    out[place] = 0xF0 | code >> 18
    out[place + 1] = 0x80 | code >> 12 & 63
    out[place + 2] = middle
    out[place + 3] = last
    return place + 4


@compiled
def composed(first: int, second: int, tables: Spellings) -> int:
    """What two characters become together; 0 if they do not compose."""
    lead, vowel = first - LEADS, second - VOWELS
    if 0 <= lead < LEAD_COUNT and 0 <= vowel < VOWEL_COUNT:
        return SYLLABLES + (lead * VOWEL_COUNT + vowel) * TAIL_COUNT
    syllable, tail = first - SYLLABLES, second - TAILS
    if 0 <= syllable < SYLLABLE_COUNT and syllable % TAIL_COUNT == 0 and 0 < tail < TAIL_COUNT:
        return first + tail
    key = first << CLASS | second
    place = np.searchsorted(tables.firsts, key)
    if place < tables.firsts.size and tables.firsts[place] == key:
        return signed(tables.composed[place])
    return 0


@inlined
def taken_apart(code: int, entry: int, tables: Spellings, parts: Int32s, count: int) -> int:
    """Put the parts of a character behind the others, for which there must be room; how many."""
    syllable = code - SYLLABLES
    if 0 <= syllable < SYLLABLE_COUNT:
        parts[count] = LEADS + syllable // (VOWEL_COUNT * TAIL_COUNT)
        parts[count + 1] = VOWELS + syllable // TAIL_COUNT % VOWEL_COUNT
        parts[count + 2] = TAILS + syllable % TAIL_COUNT
        return count + (3 if syllable % TAIL_COUNT else 2)
    if entry == 0:
        parts[count] = code
        return count + 1
    for place in range(tables.parts_ends[entry - 1], tables.parts_ends[entry]):
        parts[count] = tables.parts[place]
        count += 1
    return count


@compiled
def put_in_order(parts: Int32s, count: int) -> int:
    """Sort marks side by side by class, leave out dots right above an i; how many are left."""
    begin = 0
    while begin < count:
        end = begin + 1
        if parts[begin] >> CLASS:
            sorted_already = True
            while end < count and parts[end] >> CLASS:
                sorted_already &= parts[end - 1] >> CLASS <= parts[end] >> CLASS
                end += 1
            if not sorted_already:
                classes = parts[begin:end] >> CLASS
                parts[begin:end] = parts[begin:end][np.argsort(classes, kind="mergesort")]
        begin = end
    kept = 0
    for place in range(count):
        if parts[place] & CODE != DOT_ABOVE or kept == 0 or parts[kept - 1] != DOTTED:
            parts[kept] = parts[place]
            kept += 1
    return kept


@compiled
def compose(parts: Int32s, count: int, tables: Spellings) -> int:
    """Put parts together that compose, their classes left out; how many are left."""
    kept = 0
    starter = -1
    last_class = 0
    for place in range(count):
        code, own_class = signed(parts[place] & CODE), parts[place] >> CLASS
        if starter >= 0 and (kept - 1 == starter or last_class < own_class):
            both = composed(signed(parts[starter]), code, tables)
            if both:
                parts[starter] = both
                continue
        if own_class == 0:
            starter = kept
        last_class = own_class
        parts[kept] = code
        kept += 1
    return kept


@compiled
def respell(
    data: UInt8s, ends: Int64s, tables: Spellings, written: UInt8s, written_ends: Int64s
) -> int:
    """Write all documents anew; where each ends, and how many bytes they are.

    A byte that is not UTF-8 becomes 0, which separates words as it did.
    """
    page_of, pages, kinds = tables.page_of, tables.pages, tables.kinds
    spelled, spelled_ends = tables.spelled, tables.spelled_ends
    parts = np.empty(PARTS_AT_FIRST, np.int32)
    out = 0
    for document in range(ends.size - 1):
        place, end = ends[document], ends[document + 1]
        base = place  # the character that a mark may belong to, and where it was written
        base_out = out
        while place < end:
            # Unsigned: numba looks at every signed place to see whether it counts from the end.
            ahead, target = np.uint64(place), np.uint64(out)
            while ahead < np.uint64(end) and data[ahead] < 0x80:
                written[target] = data[ahead]
                ahead += ONE
                target += ONE
            if ahead > np.uint64(place):
                place, out = signed(ahead), signed(target)
                base, base_out = place - 1, out - 1
                continue
            code, size = read(data, place, end)
            entry = pages[np.uint64(page_of[np.uint64(code >> 8)]), np.uint64(code & 255)]
            kind = kinds[np.uint64(entry)]
            if kind == IGNORED:
                place += size
                continue
            if kind != JOINS:
                base, base_out = place, out
                if kind > JOINS:
                    for index in range(spelled_ends[entry - 1], spelled_ends[entry]):
                        written[out] = spelled[index]
                        out += 1
                elif code == 0:
                    written[out] = 0
                    out += 1
                else:
                    for index in range(np.uint64(size)):
                        written[np.uint64(out) + index] = data[np.uint64(place) + index]
                    out += size
                place += size
                continue
            code, size = read(data, base, end)
            if base < place and kinds[pages[page_of[code >> 8], code & 255]] != SEPARATES:
                out = base_out
            else:
                base = place
            count = 0
            behind = place
            place = base
            while place < end:
                code, size = read(data, place, end)
                entry = pages[page_of[code >> 8], code & 255]
                if place > behind and kinds[entry] != JOINS and kinds[entry] != IGNORED:
                    break
                if count + PARTS_AT_FIRST // 2 > parts.size:
                    more = np.empty(2 * parts.size, np.int32)
                    more[:count] = parts[:count]
                    parts = more
                count = taken_apart(code, entry, tables, parts, count)
                place += size
            count = compose(parts, put_in_order(parts, count), tables)
            for index in range(count):
                out = write(signed(parts[index]), written, out)
            base, base_out = place, out
        written_ends[document + 1] = out
    return out
