"""Tokenizer loops: bytes in, token ids out."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from deltavec.core.arrays import Int32s, Int64s, UInt8s, UInt64s, signed
from deltavec.core.jit import compiled, inlined
from deltavec.core.kernels.hashing import (
    BYTE,
    EMPTY,
    HALF,
    LENGTH,
    LOW,
    NOT_AS_WRITTEN,
    ONE,
    PACKED,
    TWO,
    VocabTable,
    class_at,
    decode_bytes,
    decode_three,
    insert,
    load_eight,
    look_up,
    mix,
    scan_non_ascii,
)
from deltavec.core.kernels.ngrams import FOUR, THREE, ScanInput, scan_ngrams, scan_unspaced
from deltavec.core.text.rules import SEPARATOR, UNSPACED, Rule, TextBatch

IDS_AT_ONCE = 1 << 16
LONGEST_LEARNED = 1024  # bytes of a word
LENGTH_AND_MARK = LOW
EACH_LOW = np.uint64(0x0101010101010101)
EACH_HIGH = np.uint64(0x8080808080808080)
BITS_BELOW_HIGH = np.uint64(7)
TOP_BYTE = np.uint64(56)
SEVEN = np.uint64(7)
SIXTY_THREE = np.uint64(63)
EACH_BUT_HIGH = np.uint64(0x7F7F7F7F7F7F7F7F)
SIDE_BY_SIDE = np.uint64(0x0102040810204080)
EACH_SECOND_BIT = np.uint64(0x5555555555555555)
TWO_OF_FOUR_BITS = np.uint64(0x3333333333333333)
FOUR_OF_EIGHT_BITS = np.uint64(0x0F0F0F0F0F0F0F0F)
BLOCK = np.uint64(64)  # bytes whose words are told apart by the bits of one integer
HANDED_OVER = 128  # bytes that `scan` reads where `scan_blocks` meets what it cannot read
MOST_HANDED_OVER = 1 << 16
LONGEST_RESCANNED = 64  # bytes that are looked up again behind each separator among them


class TokenBuffers(NamedTuple):
    """What finding words writes: token ids, one word, and a block of text in lower case."""

    ids: Int32s
    word: UInt8s
    block: UInt64s

    @classmethod
    def of(cls, longest: int) -> TokenBuffers:
        """Room for words of up to so many bytes, and for a block with eight bytes behind it."""
        ids = np.empty(IDS_AT_ONCE, np.int32)
        return cls(ids, np.empty(max(longest, PACKED), np.uint8), np.empty(9, np.uint64))


class GrowingTable(NamedTuple):
    """The arrays of a `VocabTable`, to add new words to; without offsets, none are added."""

    slots: UInt64s
    data: UInt8s
    offsets: Int64s
    size: Int64s  # how many words there are, in its only element


@compiled
def equal_lowered(
    data: UInt8s, begin: np.uint64, folded: UInt8s, length: int, vocabulary: UInt8s, offset: int
) -> bool:
    """Whether the vocabulary's bytes from ``offset`` on are those of the text, lower-cased."""
    start = np.uint64(offset)
    for place in range(np.uint64(length)):
        if folded[data[begin + place]] != vocabulary[start + place]:
            return False
    return True


@inlined
def load_eight_lowered(data: UInt8s, place: np.uint64, folded: UInt8s) -> np.uint64:
    """The eight bytes from this place on, in lower case, packed; 0 for one that parts words."""
    return (
        np.uint64(folded[data[place]])
        | np.uint64(folded[data[place + np.uint64(1)]]) << np.uint64(8)
        | np.uint64(folded[data[place + np.uint64(2)]]) << np.uint64(16)
        | np.uint64(folded[data[place + np.uint64(3)]]) << np.uint64(24)
        | np.uint64(folded[data[place + np.uint64(4)]]) << np.uint64(32)
        | np.uint64(folded[data[place + np.uint64(5)]]) << np.uint64(40)
        | np.uint64(folded[data[place + np.uint64(6)]]) << np.uint64(48)
        | np.uint64(folded[data[place + np.uint64(7)]]) << np.uint64(56)
    )


@compiled
def scan(
    text: ScanInput, position: int, end: int, unspaced: tuple[bool, ...]
) -> tuple[int, int, int, int, np.uint64]:
    """Fill ``ids`` with the known words from ``position`` on.

    Where it stopped; how many known words it found; how many words it passed; the length and the
    hash of the unknown word that it stopped at, spelled in ``word``, or a length of 0. It stops at
    the end, when ``ids`` is full, or, if asked to, behind an unknown word. Compiled without
    `scan_unspaced`, it stops before a script without spaces too, with a length of -1.

    The loop is one function, and takes its arrays out of their tuples before it begins: cut into
    smaller ones it ran at a third of the rate (docs/decisions/0007).
    """
    known = signed(0)
    passed = signed(0)
    data, rule, words, word, ids, stop_at_unknown = text
    is_unspaced = position < 0  # whether a run of a script without spaces begins, or goes on
    folded, decodes, page_of, pages = rule.bytes, rule.decodes, rule.page_of, rule.pages
    slots, vocabulary, offsets, secret = words.slots, words.data, words.offsets, words.secret
    mask = np.uint64(slots.size // 2 - 1)
    longest = np.uint64(word.size)
    # Unsigned places: numba looks at every signed one to see whether it counts from the end.
    place = np.uint64(max(position, 0))
    stop = np.uint64(end)
    decoded_to = EMPTY
    while known < ids.size:
        if is_unspaced:
            if len(unspaced) == 0:
                return position, known, passed, -1, EMPTY
            position, known, more, length, h = scan_unspaced(text, position, end, known)
            passed += more
            if length > 0 or position < 0:
                return position, known, passed, length, h
            place, is_unspaced = np.uint64(position), False
            continue
        while place < stop and folded[data[place]] == 0:
            place += ONE
        if place >= stop:
            break
        lead = signed(data[place])
        if decodes and lead & 0xF0 == 0xE0 and place + BYTE <= stop:
            # Where a script without spaces begins, a walk to the next ASCII byte is in vain.
            code_point = decode_three(lead, signed(data[place + ONE]), signed(data[place + TWO]))
            page = np.uint64(page_of[np.uint64(code_point >> 8)])
            kind = pages[page, np.uint64(code_point & 255)]
            if kind == UNSPACED:
                position, is_unspaced = signed(place), True
                continue
            if kind == SEPARATOR:
                place += THREE if code_point else ONE
                continue
        elif decodes and lead >= 0xF0 and place + BYTE <= stop:
            # Most of these are emoji, which part words: nothing has to be looked up for them.
            code_point, size = decode_bytes(
                lead,
                signed(data[place + ONE]),
                signed(data[place + TWO]),
                signed(data[place + THREE]),
            )
            page = np.uint64(page_of[np.uint64(code_point >> 8)])
            if pages[page, np.uint64(code_point & 255)] == SEPARATOR:
                place += np.uint64(size)
                continue
        begin = place
        beyond = bool(begin < decoded_to)
        number = -1
        length = 0
        if not beyond:
            h = secret
            packed = EMPTY
            seen = EMPTY
            # Eight bytes at a time: a word's length then costs no branch that is hard to foresee.
            while place + BYTE <= stop:
                packed = load_eight_lowered(data, place, folded)
                # The lowest bit set marks the first byte that is 0 (Warren, Hacker's Delight, 6-1).
                ends_of_word = (packed - EACH_LOW) & ~packed & EACH_HIGH
                if ends_of_word != EMPTY:
                    before_end = ((ends_of_word & (~ends_of_word + ONE)) >> BITS_BELOW_HIGH) - ONE
                    packed &= before_end
                    place += ((before_end & EACH_LOW) * EACH_LOW) >> TOP_BYTE
                    break
                h = mix(h ^ packed)
                seen |= packed
                packed = EMPTY
                place += BYTE
                if decodes and place - begin > longest and seen & EACH_HIGH != EMPTY:
                    break  # not a word as it is written; where it ends, decoding will tell
            else:
                shift = EMPTY
                while place < stop and folded[data[place]] != 0:
                    packed |= np.uint64(folded[data[place]]) << shift
                    shift += BYTE
                    place += ONE
            h = mix(h ^ packed)
            length = signed(place - begin)
            beyond = decodes and (seen | packed) & EACH_HIGH != EMPTY
            compared = LENGTH_AND_MARK if beyond else LENGTH
            slot = h & mask
            # A word longer than the room for one is longer than any in the vocabulary.
            while length <= word.size:
                entry = slots[slot * TWO + ONE]
                if entry == EMPTY:
                    break
                if slots[slot * TWO] == h and signed(entry >> HALF & compared) == length:
                    candidate = signed(entry & LOW) - 1
                    if length <= PACKED or equal_lowered(
                        data, begin, folded, length, vocabulary, offsets[candidate]
                    ):
                        number = candidate
                        break
                slot = (slot + ONE) & mask
            if number < 0 and beyond and length > LONGEST_RESCANNED:
                decoded_to = place
        if number < 0:
            if beyond:
                position, length, h = scan_non_ascii(data, signed(begin), end, rule, word, secret)
                place = np.uint64(position)
                is_unspaced = length < 0
                if length <= 0:
                    continue
                if length <= word.size:
                    number = look_up(h, word[:length], words)
            elif stop_at_unknown:
                for index in range(min(length, word.size)):
                    word[index] = folded[data[begin + np.uint64(index)]]
        passed += 1
        if number >= 0:
            ids[known] = number
            known += 1
        elif stop_at_unknown:
            return signed(place), known, passed, length, h
    return signed(place), known, passed, 0, EMPTY


@inlined
def trailing_zeros(bits: np.uint64) -> np.uint64:
    """How many zeros stand below the lowest bit that is set; 64 if none is.

    The bits below it are counted side by side (Warren, Hacker's Delight, 5-1), in a form that the
    compiler makes one instruction of.
    """
    below = (bits & (~bits + ONE)) - ONE
    below -= below >> ONE & EACH_SECOND_BIT
    below = (below & TWO_OF_FOUR_BITS) + (below >> TWO & TWO_OF_FOUR_BITS)
    below = (below + (below >> FOUR)) & FOUR_OF_EIGHT_BITS
    return (below * EACH_LOW) >> TOP_BYTE


@inlined
def load_from_block(block: UInt64s, at: np.uint64) -> np.uint64:
    """The eight bytes of a block from this one on, which stand in two of its integers."""
    lower = BYTE * (at & SEVEN)
    index = at >> THREE
    # Shifted twice: a shift by 64 bits is not defined.
    packed: np.uint64 = block[index] >> lower | block[index + ONE] << ONE << SIXTY_THREE - lower
    return packed


@compiled
def scan_blocks(
    texts: TextBatch,
    document: int,
    position: int,
    last: int,
    words: VocabTable,
    buffers: TokenBuffers,
    known: int,
    stop_at_unknown: bool,
) -> tuple[int, int, int, int, bool]:
    """Fill ``ids`` with the known words of documents, as long as they are easily found.

    The document and the place where it stopped; how many ids there are now; how many words it
    passed; whether it stopped before a word for `scan`: one that must be decoded or is longer than
    a block, or, if asked to, an unknown one. Otherwise it is done, or ``ids`` are full. Each
    document that was read to its end is closed by -1.

    64 bytes are put into lower case at once, and which of them are in words becomes the bits of
    one integer. Where words begin and end is then a matter of arithmetic: nothing about a word
    waits for the word before it, and its length decides no branch unless it is beyond eight bytes.
    It goes through as many documents as possible: numba counts the users of each array that is
    taken out of a tuple, which for a short document takes longer than its words.
    """
    data, ends, rule = texts
    folded, decodes, ids, block = rule.bytes, rule.decodes, buffers.ids, buffers.block
    slots, vocabulary, offsets, secret = words.slots, words.data, words.offsets, words.secret
    mask = np.uint64(slots.size // 2 - 1)
    size = np.uint64(data.size)
    passed = 0
    place = np.uint64(position)
    while document < last:
        origin = place
        in_words = EMPTY
        if origin + BLOCK <= size:
            for nth in range(BYTE):
                packed = load_eight_lowered(data, origin + BYTE * nth, folded)
                block[nth] = packed
                # The highest bit of each byte that is not 0; then all eight side by side.
                bits = (((packed & EACH_BUT_HIGH) + EACH_BUT_HIGH) | packed) & EACH_HIGH
                bits = (bits >> BITS_BELOW_HIGH) * SIDE_BY_SIDE >> TOP_BYTE
                in_words |= bits << (BYTE * nth)
        else:
            for nth in range(BYTE):
                block[nth] = EMPTY
            for nth in range(size - origin):
                byte = np.uint64(folded[data[origin + nth]])
                block[nth >> THREE] |= byte << (BYTE * (nth & SEVEN))
                in_words |= np.uint64(byte != EMPTY) << nth
        # The documents of this block, and the beginning of one that goes on behind it.
        while document < last and place < origin + BLOCK:
            stop = np.uint64(ends[document + 1])
            bits = in_words >> (place - origin) << (place - origin)
            if stop < origin + BLOCK:
                bits &= (ONE << (stop - origin)) - ONE
            begins = bits & ~(bits << ONE)
            behind = ~bits & (bits << ONE)
            place = min(stop, origin + BLOCK)
            while begins != EMPTY:
                begin = trailing_zeros(begins)
                if known == ids.size:
                    return document, signed(origin + begin), known, passed, False
                if behind == EMPTY:  # it may go on behind the block
                    if begin == EMPTY:
                        return document, signed(origin), known, passed, True
                    place = origin + begin
                    break
                length = trailing_zeros(behind) - begin
                begins &= begins - ONE
                behind &= behind - ONE
                h = secret
                seen = EMPTY
                at = begin
                left = length
                while left >= BYTE:
                    packed = load_from_block(block, at)
                    h = mix(h ^ packed)
                    seen |= packed
                    at += BYTE
                    left -= BYTE
                packed = load_from_block(block, at) & ((ONE << (BYTE * left)) - ONE)
                h = mix(h ^ packed)
                beyond = decodes and (seen | packed) & EACH_HIGH != EMPTY
                compared = LENGTH_AND_MARK if beyond else LENGTH
                number = -1
                slot = h & mask
                while True:
                    entry = slots[slot * TWO + ONE]
                    if slots[slot * TWO] == h and entry >> HALF & compared == length:
                        number = signed(entry & LOW) - 1
                        if length <= BYTE:
                            break
                        start = np.uint64(offsets[number])
                        at = EMPTY
                        same = load_from_block(block, begin + length - BYTE) == load_eight(
                            vocabulary, start + length - BYTE
                        )
                        while same and at + BYTE < length:
                            same = load_from_block(block, begin + at) == load_eight(
                                vocabulary, start + at
                            )
                            at += BYTE
                        if same:
                            break
                        number = -1
                    if entry == EMPTY:
                        break
                    slot = (slot + ONE) & mask
                if number < 0 and (beyond or stop_at_unknown):
                    return document, signed(origin + begin), known, passed, True
                # Written in any case: whether a word is known is hard to foresee.
                ids[known] = number
                known += number >= 0
                passed += 1
            if place < stop:
                break
            if known == ids.size:
                return document, signed(place), known, passed, False
            ids[known] = -1
            known += 1
            document += 1
    return document, signed(place), known, passed, False


@compiled
def scan_documents(
    texts: TextBatch,
    document: int,
    position: int,
    last: int,
    words: VocabTable,
    growing: GrowingTable,
    buffers: TokenBuffers,
    ngrams: tuple[bool, ...],
    unspaced: tuple[bool, ...],
) -> tuple[int, int, int, int, bool]:
    """Write the ids of the known words of documents, each document closed by -1.

    The document and the place to go on from; how many ids were written; how many words were
    passed; whether it stopped before a script without spaces. It also stops before document
    ``last``, when the ids are full, or when ``growing``, to which new words are added, has no more
    room. Words of more than `LONGEST_LEARNED` bytes are not added.

    ``ngrams`` and ``unspaced`` are empty or not: numba compiles only the loops that are wanted.
    With ``unspaced`` it does not stop before a script without spaces.

    Going to and fro takes time: where `scan_blocks` does not get far, ever more is left to `scan`.
    """
    data, folded, ids = texts.data, texts.rule.bytes, buffers.ids
    learns = growing.offsets.size > 0
    handed_over = signed(HANDED_OVER)
    known = signed(0)
    passed = signed(0)
    length = signed(0)
    while document < last and known < ids.size:
        if learns:
            distinct = growing.size[0]
            room = growing.data.size - growing.offsets[distinct]
            if distinct + 2 >= growing.offsets.size or room < LONGEST_LEARNED:
                break
        end = texts.ends[document + 1]
        close = end
        if len(ngrams) > 0:
            text = ScanInput(data, texts.rule, words, buffers.word, ids[known:], learns)
            position, found_here, more, length, h = scan_ngrams(text, position, end, unspaced)
        else:
            if position >= 0:
                begun = position
                document, position, known, more, goes_on = scan_blocks(
                    texts, document, position, last, words, buffers, known, learns
                )
                passed += more
                if not goes_on:
                    break
                got_far = position - begun >= handed_over
                handed_over = HANDED_OVER if got_far else min(2 * handed_over, MOST_HANDED_OVER)
                end = texts.ends[document + 1]
                close = end
            # An ASCII separator, if one is near there, is as good as the end.
            here = max(position, ~position) + handed_over
            farthest = min(end, here + HANDED_OVER)
            while here < farthest:
                if folded[data[here]] == 0:
                    close = here
                    break
                here += 1
            text = ScanInput(data, texts.rule, words, buffers.word, ids[known:], learns)
            position, found_here, more, length, h = scan(text, position, close, unspaced)
        known += found_here
        passed += more
        if length < 0:
            break
        if length > 0:
            if length <= LONGEST_LEARNED:
                add_word(h, buffers.word[:length], growing, texts.rule)
                ids[known] = growing.size[0] - 1
                known += 1
            handed_over = HANDED_OVER
        elif known < ids.size:
            position = close
            if close == end:
                ids[known] = -1
                known += 1
                document += 1
    return document, position, known, passed, length < 0


@compiled
def add_word(h: np.uint64, word: UInt8s, growing: GrowingTable, rule: Rule) -> None:
    """Put a new word behind the others, for which there must be room."""
    number = growing.size[0]
    begin = growing.offsets[number]
    for place in range(word.size):  # numba compiles an assignment of slices in a second
        growing.data[begin + place] = word[place]
    growing.offsets[number + 1] = begin + word.size
    marked = np.uint64(word.size)
    if rule.decodes and class_at(word, 0, word.size, rule)[0] == UNSPACED:
        marked |= NOT_AS_WRITTEN  # characters side by side are more words than one
    insert(h, marked, number, growing.slots)
    growing.size[0] = number + 1
