"""Character n-grams of words."""

from __future__ import annotations

import numpy as np

from deltavec.core.arrays import Int32s, UInt8s, signed
from deltavec.core.jit import compiled
from deltavec.core.kernels.hashing import (
    BYTE,
    EDGES,
    EMPTY,
    ONE,
    PACKED,
    VocabTable,
    copy_bytes,
    look_up_bytes,
    look_up_marked,
    look_up_short,
    mix,
)
from deltavec.core.kernels.unspaced import scan_unspaced
from deltavec.core.kernels.utf8 import class_at, decode, encode
from deltavec.core.text.rules import LONGEST_WORD, MARK, SEPARATOR, UNSPACED, Rule

WITHIN_WORD = 1 << 48  # times the number of units found before; a chunk has fewer bytes


@compiled
def scan_ngrams(
    data: UInt8s,
    place: int,
    end: int,
    rule: Rule,
    words: VocabTable,
    word: UInt8s,
    ids: Int32s,
    stop_at_unknown: bool,
    unspaced: tuple[bool, ...],
) -> tuple[int, int, int, int, np.uint64]:
    """What `scan` gives, where the units are runs of the characters of words."""
    folded = rule.bytes
    slots, vocabulary, offsets, secret = words.slots, words.data, words.offsets, words.secret
    spelled = np.empty(4 * LONGEST_WORD + 2 + PACKED, np.uint8)
    begins = np.empty(LONGEST_WORD + 3, np.int64)
    known = signed(0)
    passed = signed(0)
    if len(unspaced) > 0 and place < 0:
        place, known, passed, length, h = scan_unspaced(
            data, place, end, rule, words, word, ids, known, stop_at_unknown
        )
        if length > 0 or place < 0:
            return place, known, passed, length, h
    done = place // WITHIN_WORD
    place %= WITHIN_WORD
    most = ids.size - LONGEST_WORD - 2
    last_byte = BYTE * np.uint64(rule.gram - 1)
    while known < ids.size:
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
            if len(unspaced) == 0:
                return place, known, passed, -1, EMPTY
            place, known, more, length, h = scan_unspaced(
                data, place, end, rule, words, word, ids, known, stop_at_unknown
            )
            passed += more
            if length > 0 or place < 0:
                return place, known, passed, length, h
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
