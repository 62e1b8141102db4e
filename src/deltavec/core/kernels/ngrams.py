"""Units other than words: character n-grams, and characters of scripts without spaces."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from deltavec.core.arrays import Int32s, UInt8s, signed
from deltavec.core.jit import compiled, inlined
from deltavec.core.kernels.hashing import (
    BYTE,
    EDGES,
    EMPTY,
    ONE,
    PACKED,
    TWO,
    VocabTable,
    class_at,
    copy_bytes,
    decode,
    decode_three,
    encode,
    look_up_bytes,
    look_up_character,
    look_up_marked,
    look_up_short,
    mix,
)
from deltavec.core.text.rules import LONGEST_WORD, MARK, SEPARATOR, UNSPACED, Rule


class ScanInput(NamedTuple):
    """What a scan reads, and where it writes one word and the ids of words.

    If it ``learns``, it stops behind an unknown word.
    """

    data: UInt8s
    rule: Rule
    words: VocabTable
    word: UInt8s
    ids: Int32s
    learns: bool


THREE = np.uint64(3)
FOUR = np.uint64(4)
FIVE = np.uint64(5)
SIX = np.uint64(6)


@inlined
def three_bytes(data: UInt8s, place: np.uint64) -> np.uint64:
    """The bytes of a character of three, packed."""
    return (
        np.uint64(data[place])
        | np.uint64(data[place + ONE]) << BYTE
        | np.uint64(data[place + TWO]) << np.uint64(16)
    )


@compiled
def scan_unspaced(
    text: ScanInput, place: int, end: int, known: int
) -> tuple[int, int, int, int, np.uint64]:
    """What `scan` gives, for runs of characters of a script without spaces; one begins here.

    Each character is a word with the marks behind it, then it is one with the next. The place is
    below zero if the run goes on with a pair. Stops where no other run follows a separator.
    """
    data, rule, words, word, ids, stop_at_unknown = text
    folded, page_of, pages = rule.bytes, rule.page_of, rule.pages
    slots, vocabulary, offsets, secret = words.slots, words.data, words.offsets, words.secret
    found_before = place < 0
    begin = ~place if found_before else place
    first = begin
    close = begin
    size = 3 if data[np.uint64(begin)] < 0xF0 else 4
    between_runs = False
    passed = 0
    stop = np.uint64(end)
    while True:
        if (
            size == 3
            and begin - first <= 3
            and not (found_before or between_runs or stop_at_unknown)
        ):
            # Nearly all are characters of three bytes without marks: what is looked up has six
            # bytes at the most, which need not be read again.
            here = np.uint64(begin)
            follows = first < begin
            before = three_bytes(data, here - THREE) if follows else EMPTY
            shift, ahead_size = signed(UNSPACED), size
            while shift == UNSPACED and here + SIX <= stop and known + 1 < ids.size:
                lead = signed(data[here + THREE])
                if lead & 0xF0 == 0xE0:
                    second, third = signed(data[here + FOUR]), signed(data[here + FIVE])
                    code_point = decode_three(lead, second, third)
                    page = np.uint64(page_of[np.uint64(code_point >> 8)])
                    shift = signed(pages[page, np.uint64(code_point & 255)])
                    ahead_size = 3 if code_point else 1
                elif lead < 0x80:
                    shift, ahead_size = signed(0 if folded[lead] else SEPARATOR), 1
                else:
                    shift = signed(MARK)
                if shift == MARK:  # or something else that is looked at more closely below
                    break
                own = three_bytes(data, here)
                if follows:
                    number = look_up_character(
                        mix(secret ^ (before | own << THREE * BYTE)), 6, slots
                    )
                    ids[known] = number
                    known += number >= 0
                    passed += 1
                number = look_up_character(mix(secret ^ own), 3, slots)
                ids[known] = number
                known += number >= 0
                passed += 1
                before, follows = own, True
                here += THREE
            close = signed(here)
            first, begin = close - 3 if follows else close, close
            if shift != UNSPACED and shift != MARK:
                if shift != SEPARATOR:
                    return close, known, passed, 0, EMPTY
                between_runs, size = True, ahead_size
        shift = signed(MARK)  # behind the character, its marks belong to it
        while shift == MARK:
            close += size
            ahead = np.uint64(close)
            lead = signed(data[ahead]) if close < end else 0
            if lead < 0x80:
                shift, size = signed(0 if folded[lead] else SEPARATOR), signed(close < end)
            elif lead & 0xF0 == 0xE0 and close + 3 <= end:
                code_point = decode_three(
                    lead, signed(data[ahead + ONE]), signed(data[ahead + TWO])
                )
                page = np.uint64(page_of[np.uint64(code_point >> 8)])
                shift = signed(pages[page, np.uint64(code_point & 255)])
                size = 3 if code_point else 1
            else:
                shift, size = class_at(data, close, end, rule)
            if between_runs:
                break
        if between_runs:
            if shift != UNSPACED:
                return close, known, passed, 0, EMPTY
            first, begin = close, close
            between_runs = False
            continue
        if first < begin:
            if known == ids.size:
                return ~first, known, passed, 0, EMPTY
            number, h = look_up_bytes(data, first, close, slots, vocabulary, offsets, secret)
            passed += 1
            ids[known] = number
            known += number >= 0
            if stop_at_unknown and number < 0:
                return begin, known, passed, copy_bytes(data, first, close, word), h
        if not found_before:
            if known == ids.size:
                return begin, known, passed, 0, EMPTY
            number, h = look_up_bytes(data, begin, close, slots, vocabulary, offsets, secret)
            passed += 1
            ids[known] = number
            known += number >= 0
            if stop_at_unknown and number < 0:
                return ~begin, known, passed, copy_bytes(data, begin, close, word), h
        found_before = False
        if shift != UNSPACED:
            if shift != SEPARATOR or size == 0:
                return close, known, passed, 0, EMPTY
            between_runs = True  # the next run is mostly near, and a call takes long
        first, begin = begin, close


WITHIN_WORD = 1 << 48  # times the number of units found before; a chunk has fewer bytes


@compiled
def scan_ngrams(
    text: ScanInput, place: int, end: int, unspaced: tuple[bool, ...]
) -> tuple[int, int, int, int, np.uint64]:
    """What `scan` gives, where the units are runs of the characters of words."""
    data, rule, words, word, ids, stop_at_unknown = text
    folded = rule.bytes
    slots, vocabulary, offsets, secret = words.slots, words.data, words.offsets, words.secret
    spelled = np.empty(4 * LONGEST_WORD + 2 + PACKED, np.uint8)
    begins = np.empty(LONGEST_WORD + 3, np.int64)
    known = signed(0)
    passed = signed(0)
    is_unspaced = place < 0  # whether a run of a script without spaces begins, or goes on
    done = 0 if is_unspaced else place // WITHIN_WORD
    place -= done * WITHIN_WORD
    most = ids.size - LONGEST_WORD - 2
    last_byte = BYTE * np.uint64(rule.gram - 1)
    while known < ids.size:
        if is_unspaced:
            if len(unspaced) == 0:
                return place, known, passed, -1, EMPTY
            place, known, more, length, h = scan_unspaced(text, place, end, known)
            passed += more
            if length > 0 or place < 0:
                return place, known, passed, length, h
            is_unspaced = False
            continue
        ahead = np.uint64(place)
        stop = np.uint64(end)
        while ahead < stop and data[ahead] < 128 and folded[data[ahead]] == 0:
            ahead += ONE
        place = signed(ahead)
        if done == 0 and known < most and not stop_at_unknown and place < end:
            # An ASCII word is read where it stands, twice: for its own hash, then for its runs'.
            stop = np.uint64(min(end, place + LONGEST_WORD))
            begin_of_word = ahead
            h = secret
            packed = np.uint64(EDGES[0])
            length = 1
            while ahead < stop and data[ahead] < 128 and folded[data[ahead]] != 0:
                packed |= np.uint64(folded[data[ahead]]) << (BYTE * np.uint64(length & 7))
                ahead += ONE
                length += 1
                if length & 7 == 0:
                    h = mix(h ^ packed)
                    packed = EMPTY
            if ahead == stop or data[ahead] < 128:
                packed |= np.uint64(EDGES[1]) << (BYTE * np.uint64(length & 7))
                length += 1
                if length & 7 == 0:
                    h = mix(h ^ packed)
                    packed = EMPTY
                h = mix(h ^ packed)
                if length <= rule.gram or rule.whole:
                    number = look_up_marked(
                        h, length, data, begin_of_word, folded, slots, vocabulary, offsets
                    )
                    ids[known] = number
                    known += number >= 0
                    passed += 1
                window = np.uint64(EDGES[0]) << last_byte
                for index in range(1, length):
                    byte = np.uint64(EDGES[1])
                    if index < length - 1:
                        byte = np.uint64(folded[data[begin_of_word + np.uint64(index - 1)]])
                    window = window >> BYTE | byte << last_byte
                    if index >= rule.gram - 1 and length > rule.gram:
                        h = mix(secret ^ window)
                        if rule.gram == PACKED:
                            h = mix(h)
                        number = look_up_short(h, rule.gram, slots)
                        ids[known] = number
                        known += number >= 0
                        passed += 1
                place = signed(ahead)
                continue
        shift, size = class_at(data, place, end, rule)
        while shift == SEPARATOR and size > 0:
            place += size
            shift, size = class_at(data, place, end, rule)
        if size == 0:
            break
        if shift == UNSPACED:
            is_unspaced = True
            continue
        begin = place
        # The word, its edges marked: ``begins`` says where each character of it begins.
        spelled[0] = EDGES[0]
        begins[0] = 0
        length = 1
        characters = 1
        while characters <= LONGEST_WORD and place < end:
            byte = data[place]
            if byte < 128:
                byte = folded[byte]
                if byte == 0:
                    break
                begins[characters] = length
                spelled[length] = byte
                length += 1
                place += 1
            else:
                code_point, size = decode(data, place, end)
                shift = rule.pages[rule.page_of[code_point >> 8], code_point & 255]
                if shift == MARK:
                    shift = 0
                if shift <= SEPARATOR:
                    break
                code_point += shift
                remaining, left = encode(code_point) if code_point >= 128 else (code_point, 1)
                begins[characters] = length
                for index in range(left):
                    spelled[length + index] = remaining >> 8 * index & 255
                length += left
                place += size
            characters += 1
        spelled[length] = EDGES[1]
        begins[characters] = length
        characters += 1
        begins[characters] = length + 1
        whole = 1 if rule.whole and characters > rule.gram else 0
        units = whole + max(1, characters - rule.gram + 1)
        for unit in range(done, units):
            if known == ids.size:
                return begin + unit * WITHIN_WORD, known, passed, 0, EMPTY
            first, last = unit - whole, min(unit - whole + rule.gram, characters)
            if first < 0:
                first, last = 0, characters
            number, h = look_up_bytes(
                spelled, begins[first], begins[last], slots, vocabulary, offsets, secret
            )
            passed += 1
            ids[known] = number
            known += number >= 0
            if stop_at_unknown and number < 0:
                length = copy_bytes(spelled, begins[first], begins[last], word)
                return begin + (unit + 1) * WITHIN_WORD, known, passed, length, h
        done = 0
    return place, known, passed, 0, EMPTY
