"""The loops that must be fast, compiled by numba: bytes in, ids, counts or vectors out.

How a word is found
-------------------
`scan` walks over the bytes of a word once. It replaces each by its lower case and packs eight of
them at a time into one integer, which a multiplicative hash mixes. `scan_blocks` does the same for
64 bytes at a time, before it looks at their words one by one, and leaves to `scan` what it meets
rarely; `scan_documents` has each do its part. For a word of at most eight
bytes every step of that hash can be undone, so equal hashes and equal lengths mean equal words, and
its bytes are never compared; a longer word is compared with the vocabulary byte by byte. The hash
begins with a number that each process draws anew, so that nobody can choose words that meet in one
slot; ids depend on the order of words, never on their slots. The table of slots is open addressing
with linear steps: slot s is the pair of integers ``slots[2 * s]``, the hash, and ``slots[2 * s +
1]``, the length (upper half) and the id + 1 (lower half; 0 means empty).

Bytes beyond ASCII pass through that loop as they are. If what stands between two ASCII separators
is, byte for byte, a word of the vocabulary that the rule reads as it is written, then it is that
word, and nothing is decoded. Only what is not found so (a capital, a separator or a mark of
another script, an unknown word) is decoded character by character. The highest bit of the length
is set for words that the rule does not read as they are written: the look-up before decoding
passes them by. A long stretch that was decoded once is decoded to its end: looked up from each of
its separators on, it would be read over and over.

How other units are found
-------------------------
Where a script puts no spaces between words, `scan` hands over to `scan_unspaced`, which finds each
character, and each with the next, until the run of them ends. Where the rule counts runs of
characters, `scan_grams` takes its place: it spells one word at a time and looks its runs up. Both
may have to stop within a word; the place that they give says where, and only they read it: below
zero, `~position` is that of a character that was found, and the pair that it begins was not; from
`WITHIN_WORD` on, so many units of the word at the position below were found.

Why the results do not depend on threads or batches
---------------------------------------------------
A document's vector is computed by one thread from that document alone, its words in the order in
which they first occur. Counts are integers. Threads share nothing that they write.

All arrays that are only read arrive read-only, so that numba compiles each kernel once. Kernels
that call each other share this file: numba's cache looks only at the file a kernel stands in.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar, cast

import numpy as np
import numpy.typing as npt

from deltavec.core.early.later import Later
from deltavec.core.tokens import (
    BEFORE_WORD,
    BEHIND_WORD,
    LONGEST_PARTED,
    MARK,
    SEPARATOR,
    UNSPACED,
    Rule,
)

Function = TypeVar("Function", bound=Callable[..., Any])


def compiled(function: Function) -> Function:
    """The function, compiled at its first call, kept on disk, run without the interpreter lock."""
    return cast(Function, Later(function))


def inlined(function: Function) -> Function:
    """The function, compiled into each that calls it: arrays are many arguments to hand over."""
    return cast(Function, Later(function, forceinline=True))


# A signed integer of 64 bits; to a type checker, simply an int.
signed = cast(Callable[[Any], int], np.int64)

UInt8s = npt.NDArray[np.uint8]
UInt64s = npt.NDArray[np.uint64]
Int32s = npt.NDArray[np.int32]
Int64s = npt.NDArray[np.int64]
Float32s = npt.NDArray[np.float32]
Float64s = npt.NDArray[np.float64]


class Texts(NamedTuple):
    """The documents' UTF-8 bytes, where each begins, and the rule that parts them into words."""

    data: UInt8s
    ends: Int64s
    rule: Rule

    @property
    def documents(self) -> int:
        """How many documents there are."""
        return len(self.ends) - 1


class Words(NamedTuple):
    """A vocabulary: the slots, the words' UTF-8 bytes, where each begins, the longest's length.

    Hashes begin with the secret.
    """

    slots: UInt64s
    data: UInt8s
    offsets: Int64s
    longest: int
    secret: np.uint64


class Spelling(NamedTuple):
    """What finding words writes and forgets: one word, and a block of text in lower case."""

    word: UInt8s
    block: UInt64s


class Terms(NamedTuple):
    """What makes a document's sum: `deltavec.core.forms.FoldedVectors` as the kernels read it.

    Without any penalty there are none to read.
    """

    rows: Float32s
    penalties: Float64s
    norms: Float32s
    longest: float  # of the norms
    offset: Float64s
    offset_norm: float


class Scratch(NamedTuple):
    """What embedding writes and forgets; the occurrences are 0 before and after."""

    occurrences: Int32s
    term_ids: Int32s
    shares: Float32s
    amounts: Float64s
    ends: Int64s

    @classmethod
    def of(cls, words: int) -> Scratch:
        """Room for the documents of a vocabulary of so many words."""
        # For what is found at once, for the rest of a document, whatever it holds, and for the word
        # written in vain.
        terms = TERMS_AT_ONCE + IDS_AT_ONCE + words + 1
        return cls(
            np.zeros(words, np.int32),
            np.empty(terms, np.int32),
            np.empty(terms, np.float32),
            np.empty(DOCUMENTS_AT_ONCE, np.float64),
            np.zeros(DOCUMENTS_AT_ONCE + 1, np.int64),
        )


class Listed(NamedTuple):
    """The different words of documents, one document after the other, and how often each occurs.

    Words of a single byte are left out. Counts go up to `MOST_COUNTED`.
    """

    ids: Int32s
    counts: UInt8s
    ends: Int64s  # where each document's words end
    lengths: Int64s  # how many words each document holds, however often they occur


MIX_1 = np.uint64(0x9E3779B97F4A7C15)
MIX_2 = np.uint64(0xD6E8FEB86659FD93)
HALF = np.uint64(32)
LOW = np.uint64(0xFFFFFFFF)
NOT_AS_WRITTEN = np.uint64(0x80000000)
LENGTH = np.uint64(0x7FFFFFFF)
LENGTH_AND_MARK = LOW
ONE = np.uint64(1)
EMPTY = np.uint64(0)
BYTE = np.uint64(8)
EACH_LOW = np.uint64(0x0101010101010101)
EACH_HIGH = np.uint64(0x8080808080808080)
BITS_BELOW_HIGH = np.uint64(7)
TOP_BYTE = np.uint64(56)
TWO = np.uint64(2)
THREE = np.uint64(3)
FOUR = np.uint64(4)
FIVE = np.uint64(5)
SIX = np.uint64(6)
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
PACKED = 8  # bytes in one packed integer
IDS_AT_ONCE = 4096
WORDS_BETWEEN_FLUSHES = 256
ROWS_AT_ONCE = 8
NOTHING = np.float32(0)  # added, lest a sum be the -0 that numpy never gives
FEW_ROWS = 4
PAIR = 2
SLOTS_AT_ONCE = 2
SUMS = 8  # of squares, side by side
TERMS_AT_ONCE = 1 << 20
DOCUMENTS_AT_ONCE = 1 << 16
LONGEST_LEARNED = 1024
LONGEST_RESCANNED = 64  # bytes that are looked up again behind each separator among them
MOST_COUNTED = 255
WITHIN_WORD = 1 << 48  # times the number of units found before; a chunk has fewer bytes
EDGES = (ord(BEFORE_WORD), ord(BEHIND_WORD))
# Below this share of what was summed, the length of a sum is rounding: see docs/decisions/0004.
ROUNDING = 1e-5


@inlined
def spelling_for(longest: int) -> Spelling:
    """Room for words of up to so many bytes, and for a block with eight bytes behind it."""
    return Spelling(np.empty(max(longest, PACKED), np.uint8), np.empty(9, np.uint64))


@compiled
def mixed(packed: np.uint64) -> np.uint64:
    """A hash of one packed integer; every step can be undone, so distinct ones stay distinct."""
    h = packed * MIX_1
    h ^= h >> HALF
    h *= MIX_2
    h ^= h >> HALF
    return h


@compiled
def decoded(data: UInt8s, position: int, end: int) -> tuple[int, int]:
    """The code point at this position and its bytes; U+FFFD and 1 if it is not UTF-8."""
    second = signed(data[position + 1]) if position + 1 < end else 0
    third = signed(data[position + 2]) if position + 2 < end else 0
    fourth = signed(data[position + 3]) if position + 3 < end else 0
    return spelled_by(signed(data[position]), second, third, fourth)


@compiled
def spelled_by(first: int, second: int, third: int, fourth: int) -> tuple[int, int]:
    """The code point that these bytes begin with, and how many of them; U+FFFD and 1 if none."""
    if 0xC2 <= first < 0xE0 and second & 0xC0 == 0x80:
        return (first & 31) << 6 | second & 63, 2
    if 0xE0 <= first < 0xF0:
        code_point = of_three(first, second, third)
        if code_point and code_point & 0xF800 != 0xD800:
            return code_point, 3
    if 0xF0 <= first < 0xF5:
        code_point = (first & 7) << 18 | (second & 63) << 12 | (third & 63) << 6 | fourth & 63
        all_continue = (second & 0xC0) == (third & 0xC0) == (fourth & 0xC0) == 0x80
        if all_continue and 0x10000 <= code_point <= 0x10FFFF:
            return code_point, 4
    return 0xFFFD, 1


@inlined
def of_three(first: int, second: int, third: int) -> int:
    """The code point of three bytes, the first of them from E0 to EF; 0 if they are not UTF-8."""
    code_point = (first & 15) << 12 | (second & 63) << 6 | third & 63
    # A half of a surrogate pair is left as it is: every rule has it among the separators.
    valid = (second & 0xC0) == 0x80 and (third & 0xC0) == 0x80 and code_point >= 0x800
    return code_point if valid else 0


@compiled
def encoded(code_point: int) -> tuple[int, int]:
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
def beyond_ascii(
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
            code_point, size = decoded(data, position, end)
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
        remaining, left = encoded(code_point) if code_point >= 128 else (code_point, 1)
        for place in range(min(left, word.size - length)):
            word[length + place] = remaining >> 8 * place & 255
        taken = np.uint64(length & 7)
        packed |= np.uint64(remaining) << (BYTE * taken)
        length += left
        if signed(taken) + left >= PACKED:  # a character has at most 4 bytes: 4 were taken before
            h = mixed(h ^ packed)
            packed = np.uint64(remaining) >> (BYTE * (BYTE - taken))
    return position, length, mixed(h ^ packed)


@compiled
def found(h: np.uint64, word: UInt8s, words: Words) -> int:
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
def reads(
    data: UInt8s, begin: np.uint64, folded: UInt8s, length: int, vocabulary: UInt8s, offset: int
) -> bool:
    """Whether the vocabulary's bytes from ``offset`` on are those of the text, lower-cased."""
    start = np.uint64(offset)
    for place in range(np.uint64(length)):
        if folded[data[begin + place]] != vocabulary[start + place]:
            return False
    return True


@compiled
def hashed(word: UInt8s, secret: np.uint64) -> np.uint64:
    """The hash that `scan` gives these bytes."""
    h = secret
    packed = EMPTY
    for place in range(word.size):
        packed |= np.uint64(word[place]) << (BYTE * np.uint64(place & 7))
        if place & 7 == 7:
            h = mixed(h ^ packed)
            packed = EMPTY
    return mixed(h ^ packed)


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
def fill_slots(words: Words, rule: Rule, first: int) -> int:
    """Put the words from this one on into free slots; the first that was there already, or -1.

    Words that this rule does not read as they are written are marked. The rest must be words as
    they are written under any rule that the slots are used with: `tokens.narrowest_rule`.
    """
    read = np.empty(max(words.longest, PACKED), np.uint8)
    for number in range(first, words.offsets.size - 1):
        begin, end = words.offsets[number], words.offsets[number + 1]
        word = words.data[begin:end]
        h = hashed(word, words.secret)
        if found(h, word, words) >= 0:
            return number
        marked = np.uint64(word.size)
        stop, length, _ = beyond_ascii(words.data, begin, end, rule, read, words.secret)
        if stop != end or length != word.size or not equal(read, length, words.data, begin):
            marked |= NOT_AS_WRITTEN
        insert(h, marked, number, words.slots)
    return -1


@compiled
def find_all(data: UInt8s, ends: Int64s, words: Words) -> Int64s:
    """The id of each word given by its bytes, -1 for one that is not in the vocabulary."""
    ids = np.empty(ends.size - 1, np.int64)
    for number in range(ids.size):
        word = data[ends[number] : ends[number + 1]]
        ids[number] = found(hashed(word, words.secret), word, words)
    return ids


@compiled
def shift_at(data: UInt8s, position: int, end: int, rule: Rule) -> tuple[int, int]:
    """What the rule says of the character at this position, and its bytes; behind the end, 0."""
    if position >= end:
        return signed(SEPARATOR), 0
    code_point, size = signed(data[position]), 1
    if code_point >= 128:
        code_point, size = decoded(data, position, end)
    return signed(rule.pages[rule.page_of[code_point >> 8], code_point & 255]), size


@inlined
def eight_at(data: UInt8s, place: np.uint64) -> np.uint64:
    """The eight bytes from this place on, packed; the processor loads them at once."""
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
def eight_folded(data: UInt8s, place: np.uint64, folded: UInt8s) -> np.uint64:
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


@inlined
def number_of(
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
        packed = eight_at(data, place)
        if left < BYTE:
            packed &= (ONE << (BYTE * left)) - ONE
            break
        h = mixed(h ^ packed)
        place += BYTE
        left -= BYTE
    else:
        packed = EMPTY
        for nth in range(left):
            packed |= np.uint64(data[place + nth]) << (BYTE * np.uint64(nth))
    h = mixed(h ^ packed)
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
def number_of_short(h: np.uint64, length: int, slots: UInt64s) -> int:
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
def number_of_character(h: np.uint64, length: int, slots: UInt64s) -> int:
    """What `number_of_short` gives, of characters and pairs of them, of which many are not known.

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
def three_bytes(data: UInt8s, place: np.uint64) -> np.uint64:
    """The bytes of a character of three, packed."""
    return (
        np.uint64(data[place])
        | np.uint64(data[place + ONE]) << BYTE
        | np.uint64(data[place + TWO]) << np.uint64(16)
    )


@inlined
def number_of_marked(
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
def spell(data: UInt8s, begin: int, end: int, word: UInt8s) -> int:
    """Write these bytes, as many as fit; how many they are."""
    for place in range(min(end - begin, word.size)):
        word[place] = data[begin + place]
    return end - begin


@compiled
def scan_unspaced(
    data: UInt8s,
    place: int,
    end: int,
    rule: Rule,
    words: Words,
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
                    code_point = of_three(lead, second, third)
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
                    number = number_of_character(
                        mixed(secret ^ (before | own << THREE * BYTE)), 6, slots
                    )
                    ids[known] = number
                    known += number >= 0
                    passed += 1
                number = number_of_character(mixed(secret ^ own), 3, slots)
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
                code_point = of_three(lead, signed(data[ahead + ONE]), signed(data[ahead + TWO]))
                page = np.uint64(page_of[np.uint64(code_point >> 8)])
                shift = signed(pages[page, np.uint64(code_point & 255)])
                size = 3 if code_point else 1
            else:
                second = signed(data[ahead + ONE]) if close + 1 < end else 0
                third = signed(data[ahead + TWO]) if close + 2 < end else 0
                fourth = signed(data[ahead + THREE]) if close + 3 < end else 0
                code_point, size = spelled_by(lead, second, third, fourth)
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
            number, h = number_of(data, first, close, slots, vocabulary, offsets, secret)
            passed += 1
            ids[known] = number
            known += number >= 0
            if stop_at_unknown and number < 0:
                return begin, known, passed, spell(data, first, close, word), h
        if not found_before:
            if known == ids.size:
                return begin, known, passed, 0, EMPTY
            number, h = number_of(data, begin, close, slots, vocabulary, offsets, secret)
            passed += 1
            ids[known] = number
            known += number >= 0
            if stop_at_unknown and number < 0:
                return ~begin, known, passed, spell(data, begin, close, word), h
        found_before = False
        if shift != UNSPACED:
            if shift != SEPARATOR or size == 0:
                return close, known, passed, 0, EMPTY
            between_runs = True  # the next run is mostly near, and a call takes long
        first, begin = begin, close


@compiled
def scan_grams(
    data: UInt8s,
    place: int,
    end: int,
    rule: Rule,
    words: Words,
    word: UInt8s,
    ids: Int32s,
    stop_at_unknown: bool,
) -> tuple[int, int, int, int, np.uint64]:
    """What `scan` gives, where the units are runs of the characters of words."""
    folded = rule.bytes
    slots, vocabulary, offsets, secret = words.slots, words.data, words.offsets, words.secret
    spelled = np.empty(4 * LONGEST_PARTED + 2 + PACKED, np.uint8)
    begins = np.empty(LONGEST_PARTED + 3, np.int64)
    known = 0
    passed = 0
    if place < 0:
        place, known, passed, length, h = scan_unspaced(
            data, place, end, rule, words, word, ids, known, stop_at_unknown
        )
        if length > 0 or place < 0:
            return place, known, passed, length, h
    done = place // WITHIN_WORD
    place %= WITHIN_WORD
    most = ids.size - LONGEST_PARTED - 2
    last_byte = BYTE * np.uint64(rule.gram - 1)
    while known < ids.size:
        ahead = np.uint64(place)
        stop = np.uint64(end)
        while ahead < stop and data[ahead] < 128 and folded[data[ahead]] == 0:
            ahead += ONE
        place = signed(ahead)
        if done == 0 and known < most and not stop_at_unknown and place < end:
            # An ASCII word is read where it stands, twice: for its own hash, then for its runs'.
            stop = np.uint64(min(end, place + LONGEST_PARTED))
            begin_of_word = ahead
            h = secret
            packed = np.uint64(EDGES[0])
            length = 1
            while ahead < stop and data[ahead] < 128 and folded[data[ahead]] != 0:
                packed |= np.uint64(folded[data[ahead]]) << (BYTE * np.uint64(length & 7))
                ahead += ONE
                length += 1
                if length & 7 == 0:
                    h = mixed(h ^ packed)
                    packed = EMPTY
            if ahead == stop or data[ahead] < 128:
                packed |= np.uint64(EDGES[1]) << (BYTE * np.uint64(length & 7))
                length += 1
                if length & 7 == 0:
                    h = mixed(h ^ packed)
                    packed = EMPTY
                h = mixed(h ^ packed)
                if length <= rule.gram or rule.whole:
                    number = number_of_marked(
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
                        h = mixed(secret ^ window)
                        if rule.gram == PACKED:
                            h = mixed(h)
                        number = number_of_short(h, rule.gram, slots)
                        ids[known] = number
                        known += number >= 0
                        passed += 1
                place = signed(ahead)
                continue
        shift, size = shift_at(data, place, end, rule)
        while shift == SEPARATOR and size > 0:
            place += size
            shift, size = shift_at(data, place, end, rule)
        if size == 0:
            break
        if shift == UNSPACED:
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
        while characters <= LONGEST_PARTED and place < end:
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
                code_point, size = decoded(data, place, end)
                shift = rule.pages[rule.page_of[code_point >> 8], code_point & 255]
                if shift == MARK:
                    shift = 0
                if shift <= SEPARATOR:
                    break
                code_point += shift
                remaining, left = encoded(code_point) if code_point >= 128 else (code_point, 1)
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
            number, h = number_of(
                spelled, begins[first], begins[last], slots, vocabulary, offsets, secret
            )
            passed += 1
            ids[known] = number
            known += number >= 0
            if stop_at_unknown and number < 0:
                length = spell(spelled, begins[first], begins[last], word)
                return begin + (unit + 1) * WITHIN_WORD, known, passed, length, h
        done = 0
    return place, known, passed, 0, EMPTY


@compiled
def scan(
    data: UInt8s,
    position: int,
    end: int,
    rule: Rule,
    words: Words,
    word: UInt8s,
    ids: Int32s,
    stop_at_unknown: bool,
) -> tuple[int, int, int, int, np.uint64]:
    """Fill ``ids`` with the known words from ``position`` on.

    Where it stopped; how many known words it found; how many words it passed; the length and the
    hash of the unknown word that it stopped at, spelled in ``word``, or a length of 0. It stops at
    the end, when ``ids`` is full, or, if asked to, behind an unknown word.

    The loop is one function, and takes its arrays out of their tuples before it begins: cut into
    smaller ones it ran at a third of the rate (docs/decisions/0007).
    """
    if rule.gram > 0:
        return scan_grams(data, position, end, rule, words, word, ids, stop_at_unknown)
    known = 0
    passed = 0
    if position < 0:
        position, known, passed, length, h = scan_unspaced(
            data, position, end, rule, words, word, ids, known, stop_at_unknown
        )
        if length > 0 or position < 0:
            return position, known, passed, length, h
    folded, decodes, page_of, pages = rule.bytes, rule.decodes, rule.page_of, rule.pages
    slots, vocabulary, offsets, secret = words.slots, words.data, words.offsets, words.secret
    mask = np.uint64(slots.size // 2 - 1)
    longest = np.uint64(word.size)
    # Unsigned places: numba looks at every signed one to see whether it counts from the end.
    place = np.uint64(position)
    stop = np.uint64(end)
    decoded_to = EMPTY
    while known < ids.size:
        while place < stop and folded[data[place]] == 0:
            place += ONE
        if place >= stop:
            break
        lead = signed(data[place])
        if decodes and lead & 0xF0 == 0xE0 and place + BYTE <= stop:
            # Where a script without spaces begins, a walk to the next ASCII byte is in vain.
            code_point = of_three(lead, signed(data[place + ONE]), signed(data[place + TWO]))
            page = np.uint64(page_of[np.uint64(code_point >> 8)])
            kind = pages[page, np.uint64(code_point & 255)]
            if kind == UNSPACED:
                position, known, more, length, h = scan_unspaced(
                    data, signed(place), end, rule, words, word, ids, known, stop_at_unknown
                )
                passed += more
                if length > 0 or position < 0:
                    return position, known, passed, length, h
                place = np.uint64(position)
                continue
            if kind == SEPARATOR:
                place += THREE if code_point else ONE
                continue
        elif decodes and lead >= 0xF0 and place + BYTE <= stop:
            # Most of these are emoji, which part words: nothing has to be looked up for them.
            code_point, size = spelled_by(
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
                packed = eight_folded(data, place, folded)
                # The lowest bit set marks the first byte that is 0 (Warren, Hacker's Delight, 6-1).
                ends_of_word = (packed - EACH_LOW) & ~packed & EACH_HIGH
                if ends_of_word != EMPTY:
                    before_end = ((ends_of_word & (~ends_of_word + ONE)) >> BITS_BELOW_HIGH) - ONE
                    packed &= before_end
                    place += ((before_end & EACH_LOW) * EACH_LOW) >> TOP_BYTE
                    break
                h = mixed(h ^ packed)
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
            h = mixed(h ^ packed)
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
                    if length <= PACKED or reads(
                        data, begin, folded, length, vocabulary, offsets[candidate]
                    ):
                        number = candidate
                        break
                slot = (slot + ONE) & mask
            if number < 0 and beyond and length > LONGEST_RESCANNED:
                decoded_to = place
        if number < 0:
            if beyond:
                position, length, h = beyond_ascii(data, signed(begin), end, rule, word, secret)
                place = np.uint64(position)
                if length == 0:
                    continue
                if length < 0:
                    position, known, more, length, h = scan_unspaced(
                        data, position, end, rule, words, word, ids, known, stop_at_unknown
                    )
                    passed += more
                    if length > 0 or position < 0:
                        return position, known, passed, length, h
                    place = np.uint64(position)
                    continue
                if length <= word.size:
                    number = found(h, word[:length], words)
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
def packed_at(block: UInt64s, at: np.uint64) -> np.uint64:
    """The eight bytes of a block from this one on, which stand in two of its integers."""
    lower = BYTE * (at & SEVEN)
    index = at >> THREE
    # Shifted twice: a shift by 64 bits is not defined.
    packed: np.uint64 = block[index] >> lower | block[index + ONE] << ONE << SIXTY_THREE - lower
    return packed


@compiled
def scan_blocks(
    data: UInt8s,
    ends: Int64s,
    document: int,
    position: int,
    last: int,
    folded: UInt8s,
    decodes: bool,
    slots: UInt64s,
    vocabulary: UInt8s,
    offsets: Int64s,
    secret: np.uint64,
    block: UInt64s,
    ids: Int32s,
    known: int,
    closed: Int64s,
    first: int,
    stop_at_unknown: bool,
) -> tuple[int, int, int, int, bool]:
    """Fill ``ids`` with the known words of documents, as long as they are easily found.

    The document and the place where it stopped; how many ids there are now; how many words it
    passed; whether it stopped before a word for `scan`: one that must be decoded or is longer than
    a block, or, if asked to, an unknown one. Otherwise it is done, or ``ids`` are full. ``closed``
    says how many ids there were at the end of each document from ``first`` on.

    64 bytes are put into lower case at once, and which of them are in words becomes the bits of
    one integer. Where words begin and end is then a matter of arithmetic: nothing about a word
    waits for the word before it, and its length decides no branch unless it is beyond eight bytes.
    Arrays come one by one, for as many documents as possible: numba counts the users of each
    array that is taken out of a tuple, which for a short document takes longer than its words.
    """
    mask = np.uint64(slots.size // 2 - 1)
    size = np.uint64(data.size)
    passed = 0
    place = np.uint64(position)
    while document < last:
        origin = place
        in_words = EMPTY
        if origin + BLOCK <= size:
            for nth in range(BYTE):
                packed = eight_folded(data, origin + BYTE * nth, folded)
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
                    packed = packed_at(block, at)
                    h = mixed(h ^ packed)
                    seen |= packed
                    at += BYTE
                    left -= BYTE
                packed = packed_at(block, at) & ((ONE << (BYTE * left)) - ONE)
                h = mixed(h ^ packed)
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
                        same = packed_at(block, begin + length - BYTE) == eight_at(
                            vocabulary, start + length - BYTE
                        )
                        while same and at + BYTE < length:
                            same = packed_at(block, begin + at) == eight_at(vocabulary, start + at)
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
            closed[document - first] = known
            document += 1
    return document, signed(place), known, passed, False


@compiled
def scan_documents(
    texts: Texts,
    document: int,
    position: int,
    last: int,
    words: Words,
    spelling: Spelling,
    ids: Int32s,
    closed: Int64s,
    stop_at_unknown: bool,
) -> tuple[int, int, int, int, int, np.uint64]:
    """Fill ``ids`` with the known words of documents, from this place in this one on.

    The document and the place to go on from; the rest is what `scan` gives. ``closed`` says how
    many ids there were at the end of each document that was read to its end. It stops before
    document ``last``, when ``ids`` are full, or, if asked to, behind an unknown word.

    Going to and fro takes time: where `scan_blocks` does not get far, ever more is left to `scan`.
    """
    data, folded, gram = texts.data, texts.rule.bytes, texts.rule.gram
    handed_over = HANDED_OVER
    first = document
    known = 0
    passed = 0
    while document < last:
        if gram == 0 and position >= 0:
            begun = position
            document, position, known, more, goes_on = scan_blocks(
                data,
                texts.ends,
                document,
                position,
                last,
                folded,
                texts.rule.decodes,
                words.slots,
                words.data,
                words.offsets,
                words.secret,
                spelling.block,
                ids,
                known,
                closed,
                first,
                stop_at_unknown,
            )
            passed += more
            if not goes_on:
                break
            got_far = position - begun >= handed_over
            handed_over = HANDED_OVER if got_far else min(2 * handed_over, MOST_HANDED_OVER)
        end = texts.ends[document + 1]
        close = end
        if gram == 0:
            # An ASCII separator, if one is near there, is as good as the end.
            here = max(position, ~position) + handed_over
            farthest = min(end, here + HANDED_OVER)
            while here < farthest:
                if folded[data[here]] == 0:
                    close = here
                    break
                here += 1
        position, found_here, more, length, h = scan(
            data, position, close, texts.rule, words, spelling.word, ids[known:], stop_at_unknown
        )
        known += found_here
        passed += more
        if length > 0 or known == ids.size:
            return document, position, known, passed, length, h
        position = close
        if close == end:
            closed[document - first] = known
            document += 1
    return document, position, known, passed, 0, EMPTY


@compiled
def count(
    texts: Texts,
    first: int,
    last: int,
    words: Words,
    token_counts: Int64s,
    document_counts: Int64s,
) -> tuple[int, int]:
    """Add the words of documents ``first`` to ``last`` to the counts.

    How many words the documents hold, known or not, and how many hold no known word.
    """
    ids = np.empty(IDS_AT_ONCE, np.int32)
    closed = np.empty(IDS_AT_ONCE, np.int64)
    spelling = spelling_for(words.longest)
    seen_in = np.full(token_counts.size, -1, np.int64)
    tokens = 0
    unknown = 0
    known_before = 0  # of the document that the last scan did not read to its end
    document, position = first, texts.ends[first]
    while document < last:
        begun = document
        document, position, known, passed, _, _ = scan_documents(
            texts,
            begun,
            position,
            min(last, begun + closed.size),
            words,
            spelling,
            ids,
            closed,
            False,
        )
        tokens += passed
        place = 0
        for nth in range(document - begun + 1):
            end = closed[nth] if begun + nth < document else known
            known_before += end - place
            while place < end:
                number = np.uint64(ids[place])
                token_counts[number] += 1
                document_counts[number] += seen_in[number] != begun + nth
                seen_in[number] = begun + nth
                place += 1
            if begun + nth < document:
                unknown += known_before == 0
                known_before = 0
    return tokens, int(unknown)


@compiled
def share_out(texts: Texts, first: int, last: int, words: Words, shares: Float64s) -> None:
    """Add n_i / N of each of the documents ``first`` to ``last`` to the words' shares."""
    ids = np.empty(IDS_AT_ONCE, np.int32)
    closed = np.empty(1, np.int64)
    spelling = spelling_for(words.longest)
    for document in range(first, last):
        known_here = 0
        # Once to learn N, once more to add 1 / N for each word, unless all are still there.
        for adding in (False, True):
            reached, position = document, texts.ends[document]
            while reached == document:
                reached, position, known, _, _, _ = scan_documents(
                    texts, document, position, document + 1, words, spelling, ids, closed, False
                )
                known_here += known * (not adding)
                if adding or (known == known_here and reached > document):
                    for place in range(known):
                        shares[ids[place]] += 1 / known_here
            if not adding and known == known_here:
                break


@compiled
def list_ids(texts: Texts, first: int, last: int, words: Words, listed: Int32s) -> int:
    """List the ids of the known words of documents ``first`` to ``last``, each closed by -1.

    ``listed`` has room for `Rule.most_units`. How many were written.
    """
    closed = np.empty(1, np.int64)
    spelling = spelling_for(words.longest)
    written = 0
    for document in range(first, last):
        _, _, known, _, _, _ = scan_documents(
            texts,
            document,
            texts.ends[document],
            document + 1,
            words,
            spelling,
            listed[written:],
            closed,
            False,
        )
        written += known
        listed[written] = -1
        written += 1
    return written


@compiled
def learn_word(h: np.uint64, word: UInt8s, number: int, words: Words, rule: Rule) -> None:
    """Put a new word behind the others, for which there must be room."""
    begin = words.offsets[number]
    words.data[begin : begin + word.size] = word
    words.offsets[number + 1] = begin + word.size
    marked = np.uint64(word.size)
    if rule.decodes and shift_at(word, 0, word.size, rule)[0] == UNSPACED:
        marked |= NOT_AS_WRITTEN  # characters side by side are more words than one
    insert(h, marked, number, words.slots)


@compiled
def learn(texts: Texts, words: Words, token_counts: Int64s, progress: Int64s) -> bool:
    """Count every word, known or new; True when done, False when there is no more room.

    ``progress`` holds the document and the place to go on from, how many distinct words there
    are, and how many words were passed, so that the caller can make room and call again. A word
    of more than `LONGEST_LEARNED` bytes is passed, not learned.
    """
    ids = np.empty(IDS_AT_ONCE, np.int32)
    closed = np.empty(IDS_AT_ONCE, np.int64)
    spelling = spelling_for(LONGEST_LEARNED)
    document, position, distinct, passed = progress
    while document < texts.ends.size - 1:
        room = words.data.size - words.offsets[distinct]
        if distinct + 1 >= token_counts.size or room < LONGEST_LEARNED:
            progress[:] = document, position, distinct, passed
            return False
        last = min(texts.ends.size - 1, document + closed.size)
        document, position, known, passed_here, length, h = scan_documents(
            texts, document, position, last, words, spelling, ids, closed, True
        )
        passed += passed_here
        for place in range(known):
            token_counts[ids[place]] += 1
        if 0 < length <= LONGEST_LEARNED:
            learn_word(h, spelling.word[:length], distinct, words, texts.rule)
            token_counts[distinct] += 1
            distinct += 1
    progress[:] = document, position, distinct, passed
    return True


@compiled
def learn_and_list(
    texts: Texts, words: Words, occurrences: Int64s, listed: Listed, progress: Int64s
) -> bool:
    """List the different words of each document, known or new; like `learn` otherwise.

    ``listed`` has room for `Rule.most_units`, and one more. ``occurrences`` are 0 before and after;
    ``progress`` also holds how many were listed.
    """
    ids = np.empty(IDS_AT_ONCE, np.int32)
    closed = np.empty(1, np.int64)
    spelling = spelling_for(LONGEST_LEARNED)
    document, position, distinct, passed, written = progress
    while document < texts.ends.size - 1:
        room = words.data.size - words.offsets[distinct]
        if distinct + 1 >= occurrences.size or room < LONGEST_LEARNED:
            progress[:] = document, position, distinct, passed, written
            return False
        reached, position, known, passed_here, length, h = scan_documents(
            texts, document, position, document + 1, words, spelling, ids, closed, True
        )
        passed += passed_here
        for place in range(known):
            number = ids[place]
            listed.ids[written] = number
            written += occurrences[number] == 0
            occurrences[number] += 1
        if 0 < length <= LONGEST_LEARNED:
            learn_word(h, spelling.word[:length], distinct, words, texts.rule)
            listed.ids[written] = distinct
            written += 1
            occurrences[distinct] = 1
            distinct += 1
        if reached > document:
            begin = 0 if document == 0 else listed.ends[document - 1]
            written, listed.lengths[document] = count_listed(
                begin, written, words, occurrences, listed
            )
            listed.ends[document] = written
            document = reached
    progress[:] = document, position, distinct, passed, written
    return True


@compiled
def count_listed(
    begin: int, end: int, words: Words, occurrences: Int64s, listed: Listed
) -> tuple[int, int]:
    """Write how often the words of a document occur, set back to 0; leave out single bytes.

    Where the words that are left end, and how many words the document holds.
    """
    kept = begin
    total = 0
    for place in range(begin, end):
        number = listed.ids[place]
        count = occurrences[number]
        occurrences[number] = 0
        if words.offsets[number + 1] - words.offsets[number] > 1:
            listed.ids[kept] = number
            listed.counts[kept] = min(count, MOST_COUNTED)
            kept += 1
            total += count
    return kept, total


@compiled
def embed(
    texts: Texts,
    first: int,
    last: int,
    words: Words,
    terms: Terms,
    scratch: Scratch,
    vectors: Float32s,
) -> tuple[int, int, int]:
    """Write the unit vectors of documents ``first`` to ``last`` into ``vectors``.

    How many words the documents hold, how many of them are known, and how many documents hold no
    known word.

    The words of many documents are found before the rows of any are added: taking turns after
    every document, the table of slots and the rows would push each other out of the cache.
    """
    ids = np.empty(IDS_AT_ONCE, np.int32)
    closed = np.empty(IDS_AT_ONCE, np.int64)
    spelling = spelling_for(words.longest)
    occurrences, term_ids, shares, amounts, ends = scratch
    penalties = terms.penalties
    tokens = 0
    known_tokens = 0
    unknown = 0
    document, position = first, texts.ends[first]
    while first < last:
        count = 0
        distinct = 0
        known_here = 0  # of a document that was not read to its end yet
        while document < last and (
            known_here > 0 or (count < DOCUMENTS_AT_ONCE and distinct < TERMS_AT_ONCE)
        ):
            begun = document
            most = min(last, first + DOCUMENTS_AT_ONCE, begun + closed.size)
            # At last only what was begun is read to its end.
            most = most if distinct < TERMS_AT_ONCE else begun + 1
            document, position, known, passed, _, _ = scan_documents(
                texts, begun, position, most, words, spelling, ids, closed, False
            )
            tokens += passed
            known_tokens += known
            place = 0
            for nth in range(document - begun + 1):
                end = closed[nth] if begun + nth < document else known
                known_here += end - place
                while place < end:
                    number = np.uint64(ids[place])
                    # Written in any case: whether a word is new is hard to foresee.
                    term_ids[distinct] = number
                    distinct += occurrences[number] == 0
                    occurrences[number] += 1
                    place += 1
                if begun + nth < document:
                    unknown += known_here == 0
                    amounts[count] = take_shares(
                        ends[count], distinct, term_ids, occurrences, known_here, penalties, shares
                    )
                    count += 1
                    ends[count] = distinct
                    known_here = 0
        sum_up(ends, count, term_ids, shares, amounts, terms, vectors, first)
        first += count
    return tokens, int(known_tokens), int(unknown)


@compiled
def embed_counts(occurrences: Int64s, known: int, terms: Terms, vectors: Float32s) -> None:
    """Write the unit vector of a document that holds each word so often; the counts are spent."""
    term_ids = np.flatnonzero(occurrences).astype(np.int32)
    shares = np.empty(term_ids.size, np.float32)
    amounts = np.empty(1)
    amounts[0] = take_shares(
        0, term_ids.size, term_ids, occurrences, known, terms.penalties, shares
    )
    ends = np.array([0, term_ids.size])
    sum_up(ends, 1, term_ids, shares, amounts, terms, vectors, 0)


# What follows takes whole arrays and places in them: a slice counts its array's users, which takes
# longer than the sum of a short document.


@compiled
def take_shares(
    begin: int,
    end: int,
    term_ids: Int32s,
    occurrences: Int32s | Int64s,
    known: int,
    penalties: Float64s,
    shares: Float32s,
) -> float:
    """Write n_i / N - penalty_i, set the counts back to 0; the sum of their amounts."""
    amount = 0.0
    for place in range(np.uint64(begin), np.uint64(end)):
        number = np.uint64(term_ids[place])
        share = occurrences[number] / known
        if penalties.size > 0:
            share -= penalties[number]
        occurrences[number] = 0
        amount += abs(share)
        shares[place] = share
    return amount


@compiled
def magnitude(first: int, last: int, ids: Int32s, shares: Float32s, norms: Float32s) -> float:
    """The sum of the lengths of what is summed, over the places from ``first`` to ``last``."""
    lengths = 0.0
    for place in range(np.uint64(first), np.uint64(last)):
        lengths += abs(np.float64(shares[place])) * norms[np.uint64(ids[place])]
    return lengths


@compiled
def sum_up(
    ends: Int64s,
    count: int,
    ids: Int32s,
    shares: Float32s,
    amounts: Float64s,
    terms: Terms,
    vectors: Float32s,
    row: int,
) -> None:
    """Write the unit vectors of so many documents, from this row on: the sums of share_i row_i.

    A sum whose length is but rounding becomes zeros. What would be rounding is added up only if
    the sum is short beside the longest row: lengths of rows lie far apart in memory.

    Rows are added in float32, which the processor does many numbers at a time, and carried over
    to float64 after every few hundred words, so that rounding does not grow with the document.
    Eight rows are added in one go: the sum is then read and written once for all of them, and the
    processor fetches the next rows while it waits for the first. Products and sums are rounded
    each by itself, so that every processor gives the same bits, and numpy too
    (`deltavec.core.early.few`); rows are fetched no faster than that.
    """
    rows = terms.rows
    offset = terms.offset
    dimensions = np.uint64(rows.shape[1])
    partial = np.empty(rows.shape[1], np.float32)
    total = np.empty(rows.shape[1], np.float64)
    for document in range(count):
        first, last = ends[document], ends[document + 1]
        if first == last:
            for k in range(dimensions):
                vectors[row + document, k] = 0
            continue
        for begin in range(first, last, WORDS_BETWEEN_FLUSHES):
            end = min(begin + WORDS_BETWEEN_FLUSHES, last)
            place = begin
            if place + ROWS_AT_ONCE > end:
                for k in range(dimensions):
                    partial[k] = 0
            while place + ROWS_AT_ONCE <= end:
                a, b = np.uint64(ids[place]), np.uint64(ids[place + 1])
                c, d = np.uint64(ids[place + 2]), np.uint64(ids[place + 3])
                e, f = np.uint64(ids[place + 4]), np.uint64(ids[place + 5])
                g, h = np.uint64(ids[place + 6]), np.uint64(ids[place + 7])
                p, q, r, s = shares[place], shares[place + 1], shares[place + 2], shares[place + 3]
                t, u = shares[place + 4], shares[place + 5]
                v, w = shares[place + 6], shares[place + 7]
                if place == begin:
                    for k in range(dimensions):
                        partial[k] = NOTHING + (
                            p * rows[a, k] + q * rows[b, k] + r * rows[c, k] + s * rows[d, k]
                            + t * rows[e, k] + u * rows[f, k] + v * rows[g, k] + w * rows[h, k]
                        )  # fmt: skip
                else:
                    for k in range(dimensions):
                        partial[k] += (
                            p * rows[a, k] + q * rows[b, k] + r * rows[c, k] + s * rows[d, k]
                            + t * rows[e, k] + u * rows[f, k] + v * rows[g, k] + w * rows[h, k]
                        )  # fmt: skip
                place += ROWS_AT_ONCE
            if place + FEW_ROWS <= end:  # one after the other, as below, in one go
                a, b = np.uint64(ids[place]), np.uint64(ids[place + 1])
                c, d = np.uint64(ids[place + 2]), np.uint64(ids[place + 3])
                p, q, r, s = shares[place], shares[place + 1], shares[place + 2], shares[place + 3]
                for k in range(dimensions):
                    partial[k] = (
                        ((partial[k] + p * rows[a, k]) + q * rows[b, k]) + r * rows[c, k]
                    ) + s * rows[d, k]
                place += FEW_ROWS
            if place + PAIR <= end:
                a, b = np.uint64(ids[place]), np.uint64(ids[place + 1])
                p, q = shares[place], shares[place + 1]
                for k in range(dimensions):
                    partial[k] = (partial[k] + p * rows[a, k]) + q * rows[b, k]
                place += PAIR
            if place < end:
                a, p = np.uint64(ids[place]), shares[place]
                for k in range(dimensions):
                    partial[k] += p * rows[a, k]
            if end == last:
                break
            if begin == first:
                for k in range(dimensions):
                    total[k] = partial[k]
            else:
                for k in range(dimensions):
                    total[k] += partial[k]
        if last - first > WORDS_BETWEEN_FLUSHES:
            for k in range(dimensions):
                total[k] = (total[k] + partial[k]) - offset[k]
        else:  # of a short document the sum stands in no other place
            for k in range(dimensions):
                total[k] = partial[k] - offset[k]
        length = length_of(total)
        # Twice, as it is rounded too.
        short = length <= 2 * ROUNDING * (amounts[document] * terms.longest + terms.offset_norm)
        if short and length <= ROUNDING * (
            magnitude(first, last, ids, shares, terms.norms) + terms.offset_norm
        ):
            for k in range(dimensions):
                vectors[row + document, k] = 0
            continue
        scale = 1 / length  # numbers are divided in ten times the time
        for k in range(dimensions):
            vectors[row + document, k] = total[k] * scale


@compiled
def length_of(total: Float64s) -> float:
    """The length of a sum.

    Squares are added in eight sums, of every eighth number each: in one sum, each number would wait
    for the one before, and a short document for nothing else.
    """
    dimensions = total.size
    whole = dimensions - dimensions % SUMS
    a = b = c = d = e = f = g = h = 0.0
    for k in range(0, whole, SUMS):
        a += total[k] * total[k]
        b += total[k + 1] * total[k + 1]
        c += total[k + 2] * total[k + 2]
        d += total[k + 3] * total[k + 3]
        e += total[k + 4] * total[k + 4]
        f += total[k + 5] * total[k + 5]
        g += total[k + 6] * total[k + 6]
        h += total[k + 7] * total[k + 7]
    square = ((a + b) + (c + d)) + ((e + f) + (g + h))
    for k in range(whole, dimensions):
        square += total[k] * total[k]
    return float(np.sqrt(square))
