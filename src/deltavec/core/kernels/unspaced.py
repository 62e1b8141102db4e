"""Tokens of scripts without spaces: characters and pairs of characters."""

from __future__ import annotations

import numpy as np

from deltavec.core.arrays import Int32s, UInt8s, signed
from deltavec.core.jit import compiled, inlined
from deltavec.core.kernels.hashing import (
    BYTE,
    EMPTY,
    ONE,
    TWO,
    VocabTable,
    copy_bytes,
    look_up_bytes,
    look_up_character,
    mix,
)
from deltavec.core.kernels.utf8 import decode_bytes, decode_three
from deltavec.core.text.rules import MARK, SEPARATOR, UNSPACED, Rule

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
    data: UInt8s,
    place: int,
    end: int,
    rule: Rule,
    words: VocabTable,
    word: UInt8s,
    ids: Int32s,
    known: int,
    stop_at_unknown: bool,
) -> tuple[int, int, int, int, np.uint64]:
    """What `scan` gives, for runs of characters of a script without spaces; one begins here.

    Each character is a word with the marks behind it, then it is one with the next. The place is
    below zero if the run goes on with a pair. Stops where no other run follows a separator.
    """
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
                second = signed(data[ahead + ONE]) if close + 1 < end else 0
                third = signed(data[ahead + TWO]) if close + 2 < end else 0
                fourth = signed(data[ahead + THREE]) if close + 3 < end else 0
                code_point, size = decode_bytes(lead, second, third, fourth)
                page = np.uint64(page_of[np.uint64(code_point >> 8)])
                shift = signed(pages[page, np.uint64(code_point & 255)])
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
