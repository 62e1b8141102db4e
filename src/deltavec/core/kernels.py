"""The loops that must be fast, compiled by numba: bytes in, ids, counts or vectors out.

How a word is found
-------------------
`scan` walks over the bytes of a word once. It replaces each by its lower case and packs eight
of them at a time into one integer, which a multiplicative hash mixes. For a word of at most
eight bytes every step of that hash can be undone, so equal hashes and equal lengths mean equal
words, and its bytes are never compared; a longer word is compared with the vocabulary byte by
byte. The table of slots is open addressing with linear steps: slot s is the pair of integers
``slots[2 * s]``, the hash, and ``slots[2 * s + 1]``, the length (upper half) and the id + 1
(lower half; 0 means empty).

Bytes beyond ASCII pass through that loop as they are. If what stands between two ASCII separators
is, byte for byte, a word of the vocabulary that the rule reads as it is written, then it is that
word, and nothing is decoded. Only what is not found so (a capital, a separator or a mark of
another script, an unknown word) is decoded character by character. The highest bit of the length
is set for words that the rule does not read as they are written: the look-up before decoding
passes them by.

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

import numba
import numpy as np
import numpy.typing as npt

from deltavec.core.tokens import SEPARATOR, Rule

Function = TypeVar("Function", bound=Callable[..., Any])


def compiled(function: Function) -> Function:
    """The function, compiled at its first call, kept on disk, run without the interpreter lock."""
    return cast(Function, numba.njit(cache=True, nogil=True)(function))


def fused(function: Function) -> Function:
    """The function, compiled likewise, where a product and a sum may be one rounded operation."""
    return cast(Function, numba.njit(cache=True, nogil=True, fastmath={"contract"})(function))


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
    """A vocabulary: the slots, the words' UTF-8 bytes, where each begins, the longest's length."""

    slots: UInt64s
    data: UInt8s
    offsets: Int64s
    longest: int


class Terms(NamedTuple):
    """What makes a document's sum: `deltavec.core.forms.FoldedVectors` as the kernels read it."""

    rows: Float32s
    penalties: Float64s
    norms: Float32s
    offset: Float64s
    offset_norm: float


class Scratch(NamedTuple):
    """What embedding writes and forgets; the occurrences are 0 before and after."""

    occurrences: Int32s
    term_ids: Int32s
    shares: Float32s
    magnitudes: Float64s
    ends: Int64s

    @classmethod
    def of(cls, words: int) -> Scratch:
        """Room for the documents of a vocabulary of so many words."""
        # For one more document, whatever it holds, and for the word written in vain.
        terms = TERMS_AT_ONCE + words + 1
        return cls(
            np.zeros(words, np.int32),
            np.empty(terms, np.int32),
            np.empty(terms, np.float32),
            np.empty(DOCUMENTS_AT_ONCE, np.float64),
            np.zeros(DOCUMENTS_AT_ONCE + 1, np.int64),
        )


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
PACKED = 8  # bytes in one packed integer
IDS_AT_ONCE = 4096
WORDS_BETWEEN_FLUSHES = 256
ROWS_AT_ONCE = 8
TERMS_AT_ONCE = 1 << 20
DOCUMENTS_AT_ONCE = 1 << 16
LONGEST_LEARNED = 1024
# Below this share of what was summed, the length of a sum is rounding: see docs/decisions/0004.
ROUNDING = 1e-5


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
    first = signed(data[position])
    if first < 0xC2 or first > 0xF4:
        return 0xFFFD, 1
    size = 2 if first < 0xE0 else (3 if first < 0xF0 else 4)
    if position + size > end:
        return 0xFFFD, 1
    code_point = first & (0xFF >> (size + 1))
    for place in range(1, size):
        byte = signed(data[position + place])
        if byte & 0xC0 != 0x80:
            return 0xFFFD, 1
        code_point = code_point << 6 | byte & 0x3F
    if (
        (size == 3 and (code_point < 0x800 or 0xD800 <= code_point < 0xE000))
        or (size == 4 and code_point < 0x10000)
        or code_point > 0x10FFFF
    ):
        return 0xFFFD, 1
    return code_point, size


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
    data: UInt8s, position: int, end: int, rule: Rule, word: UInt8s
) -> tuple[int, int, np.uint64]:
    """The word with characters beyond ASCII that begins here: its end, its length, its hash.

    Writes the word's lower-cased bytes, as many as fit. If the first character separates words,
    the length is 0 and the end is behind it.
    """
    h = EMPTY
    packed = EMPTY
    length = 0
    while position < end:
        code_point, size = signed(data[position]), 1
        if code_point >= 128:
            code_point, size = decoded(data, position, end)
        shift = rule.pages[rule.page_of[code_point >> 8], code_point & 255]
        if shift == SEPARATOR:
            if length == 0:
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
def hashed(word: UInt8s) -> np.uint64:
    """The hash that `scan` gives these bytes."""
    h = EMPTY
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
def fill_slots(words: Words, rule: Rule) -> int:
    """Put every word into the empty slots; the first word that was there already, or -1.

    Words that this rule does not read as they are written are marked. The rest must be words as
    they are written under any rule that the slots are used with: `tokens.narrowest_rule`.
    """
    read = np.empty(max(words.longest, PACKED), np.uint8)
    for number in range(words.offsets.size - 1):
        begin, end = words.offsets[number], words.offsets[number + 1]
        word = words.data[begin:end]
        h = hashed(word)
        if found(h, word, words) >= 0:
            return number
        marked = np.uint64(word.size)
        stop, length, _ = beyond_ascii(words.data, begin, end, rule, read)
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
        ids[number] = found(hashed(word), word, words)
    return ids


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
    folded, decodes = rule.bytes, rule.decodes
    slots, vocabulary, offsets = words.slots, words.data, words.offsets
    mask = np.uint64(slots.size // 2 - 1)
    longest = np.uint64(word.size)
    # Unsigned places: numba looks at every signed one to see whether it counts from the end.
    place = np.uint64(position)
    stop = np.uint64(end)
    known = 0
    passed = 0
    while known < ids.size:
        while place < stop and folded[data[place]] == 0:
            place += ONE
        if place >= stop:
            break
        begin = place
        h = EMPTY
        packed = EMPTY
        seen = EMPTY
        # Eight bytes at a time: the length of a word then costs no branch that is hard to foresee.
        while place + BYTE <= stop:
            packed = (
                np.uint64(folded[data[place]])
                | np.uint64(folded[data[place + np.uint64(1)]]) << np.uint64(8)
                | np.uint64(folded[data[place + np.uint64(2)]]) << np.uint64(16)
                | np.uint64(folded[data[place + np.uint64(3)]]) << np.uint64(24)
                | np.uint64(folded[data[place + np.uint64(4)]]) << np.uint64(32)
                | np.uint64(folded[data[place + np.uint64(5)]]) << np.uint64(40)
                | np.uint64(folded[data[place + np.uint64(6)]]) << np.uint64(48)
                | np.uint64(folded[data[place + np.uint64(7)]]) << np.uint64(56)
            )
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
        number = -1
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
        if number < 0:
            if beyond:
                position, length, h = beyond_ascii(data, signed(begin), end, rule, word)
                place = np.uint64(position)
                if length == 0:
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
    word = np.empty(max(words.longest, PACKED), np.uint8)
    seen_in = np.full(token_counts.size, -1, np.int64)
    tokens = 0
    unknown = 0
    for document in range(first, last):
        position, end = texts.ends[document], texts.ends[document + 1]
        known_here = 0
        while True:
            position, known, passed, _, _ = scan(
                texts.data, position, end, texts.rule, words, word, ids, False
            )
            tokens += passed
            known_here += known
            for place in range(known):
                number = ids[place]
                token_counts[number] += 1
                if seen_in[number] != document:
                    seen_in[number] = document
                    document_counts[number] += 1
            if known < ids.size:
                break
        if known_here == 0:
            unknown += 1
    return tokens, unknown


@compiled
def share_out(texts: Texts, first: int, last: int, words: Words, shares: Float64s) -> None:
    """Add n_i / N of each of the documents ``first`` to ``last`` to the words' shares."""
    ids = np.empty(IDS_AT_ONCE, np.int32)
    word = np.empty(max(words.longest, PACKED), np.uint8)
    for document in range(first, last):
        begin, end = texts.ends[document], texts.ends[document + 1]
        known_here = 0
        # Once to learn N, once more to add 1 / N for each word: a document is never held whole.
        for adding in (False, True):
            position = begin
            while True:
                position, known, _, _, _ = scan(
                    texts.data, position, end, texts.rule, words, word, ids, False
                )
                if adding:
                    for place in range(known):
                        shares[ids[place]] += 1 / known_here
                else:
                    known_here += known
                if known < ids.size:
                    break


@compiled
def list_ids(texts: Texts, first: int, last: int, words: Words, listed: Int32s) -> int:
    """List the ids of the known words of documents ``first`` to ``last``, each closed by -1.

    ``listed`` has room for one more than half the bytes of each document, rounded up. How many
    were written.
    """
    word = np.empty(max(words.longest, PACKED), np.uint8)
    written = 0
    for document in range(first, last):
        position, end = texts.ends[document], texts.ends[document + 1]
        _, known, _, _, _ = scan(
            texts.data, position, end, texts.rule, words, word, listed[written:], False
        )
        written += known
        listed[written] = -1
        written += 1
    return written


@compiled
def learn(texts: Texts, words: Words, token_counts: Int64s, progress: Int64s) -> bool:
    """Count every word, known or new; True when done, False when there is no more room.

    ``progress`` holds the document and the place to go on from, how many distinct words there
    are, and how many words were passed, so that the caller can make room and call again. A word
    of more than `LONGEST_LEARNED` bytes is passed, not learned.
    """
    ids = np.empty(IDS_AT_ONCE, np.int32)
    word = np.empty(LONGEST_LEARNED, np.uint8)
    document, position, distinct, passed = progress
    while document < texts.ends.size - 1:
        room = words.data.size - words.offsets[distinct]
        if distinct + 1 >= token_counts.size or room < LONGEST_LEARNED:
            progress[:] = document, position, distinct, passed
            return False
        end = texts.ends[document + 1]
        position, known, passed_here, length, h = scan(
            texts.data, position, end, texts.rule, words, word, ids, True
        )
        passed += passed_here
        for place in range(known):
            token_counts[ids[place]] += 1
        if 0 < length <= LONGEST_LEARNED:
            begin = words.offsets[distinct]
            words.data[begin : begin + length] = word[:length]
            words.offsets[distinct + 1] = begin + length
            insert(h, np.uint64(length), distinct, words.slots)
            token_counts[distinct] += 1
            distinct += 1
        elif length == 0 and known < ids.size:
            document += 1
            position = texts.ends[document]
    progress[:] = document, position, distinct, passed
    return True


@compiled
def embed(
    texts: Texts,
    first: int,
    last: int,
    words: Words,
    terms: Terms,
    scratch: Scratch,
    vectors: Float32s,
) -> None:
    """Write the unit vectors of documents ``first`` to ``last`` into ``vectors``.

    The words of many documents are found before the rows of any are added: taking turns after
    every document, the table of slots and the rows would push each other out of the cache.
    """
    ids = np.empty(IDS_AT_ONCE, np.int32)
    word = np.empty(max(words.longest, PACKED), np.uint8)
    occurrences, term_ids, shares, magnitudes, ends = scratch
    while first < last:
        count = 0
        while first + count < last and count < DOCUMENTS_AT_ONCE and ends[count] < TERMS_AT_ONCE:
            position, end = texts.ends[first + count], texts.ends[first + count + 1]
            distinct = ends[count]
            known_here = 0
            while True:
                position, known, _, _, _ = scan(
                    texts.data, position, end, texts.rule, words, word, ids, False
                )
                known_here += known
                for place in range(known):
                    number = np.uint64(ids[place])
                    # Written in any case: whether a word is new is hard to foresee.
                    term_ids[distinct] = number
                    distinct += occurrences[number] == 0
                    occurrences[number] += 1
                if known < ids.size:
                    break
            own = slice(ends[count], distinct)
            magnitudes[count] = take_shares(
                term_ids[own], occurrences, known_here, terms, shares[own]
            )
            count += 1
            ends[count] = distinct
        for index in range(count):
            own = slice(ends[index], ends[index + 1])
            if own.start == own.stop:
                vectors[first + index] = 0
                continue
            total = weighted_sum(term_ids[own], shares[own], terms.rows)
            write_unit(total, terms, magnitudes[index], vectors[first + index])
        first += count


@compiled
def embed_counts(occurrences: Int32s, known: int, terms: Terms, vector: Float32s) -> None:
    """Write the unit vector of a document that holds each word so often; the counts are spent."""
    term_ids = np.flatnonzero(occurrences).astype(np.int32)
    shares = np.empty(term_ids.size, np.float32)
    magnitude = take_shares(term_ids, occurrences, known, terms, shares)
    write_unit(weighted_sum(term_ids, shares, terms.rows), terms, magnitude, vector)


@compiled
def take_shares(
    term_ids: Int32s, occurrences: Int32s, known: int, terms: Terms, shares: Float32s
) -> float:
    """Write n_i / N - penalty_i, set the counts back to 0; the sum of the lengths to be summed."""
    magnitude = 0.0
    for place in range(term_ids.size):
        number = np.uint64(term_ids[place])
        share = occurrences[number] / known - terms.penalties[number]
        occurrences[number] = 0
        magnitude += abs(share) * terms.norms[number]
        shares[place] = share
    return magnitude


@fused
def weighted_sum(ids: Int32s, shares: Float32s, rows: Float32s) -> Float64s:
    """The sum of share_i row_i.

    Rows are added in float32, which the processor does eight numbers at a time, and carried over
    to float64 after every few hundred words, so that rounding does not grow with the document.
    Eight rows are added in one go: the sum is then read and written once for all of them, and the
    processor fetches the next rows while it waits for the first.
    """
    dimensions = rows.shape[1]
    partial = np.empty(dimensions, np.float32)
    total = np.zeros(dimensions, np.float64)
    for begin in range(0, ids.size, WORDS_BETWEEN_FLUSHES):
        end = min(begin + WORDS_BETWEEN_FLUSHES, ids.size)
        partial[:] = 0
        place = begin
        while place + ROWS_AT_ONCE <= end:
            a, b = rows[np.uint64(ids[place])], rows[np.uint64(ids[place + 1])]
            c, d = rows[np.uint64(ids[place + 2])], rows[np.uint64(ids[place + 3])]
            e, f = rows[np.uint64(ids[place + 4])], rows[np.uint64(ids[place + 5])]
            g, h = rows[np.uint64(ids[place + 6])], rows[np.uint64(ids[place + 7])]
            p, q, r, s = shares[place], shares[place + 1], shares[place + 2], shares[place + 3]
            t, u, v, w = shares[place + 4], shares[place + 5], shares[place + 6], shares[place + 7]
            for k in range(dimensions):
                partial[k] += (
                    p * a[k] + q * b[k] + r * c[k] + s * d[k]
                    + t * e[k] + u * f[k] + v * g[k] + w * h[k]
                )  # fmt: skip
            place += ROWS_AT_ONCE
        while place < end:
            row, share = rows[np.uint64(ids[place])], shares[place]
            for k in range(dimensions):
                partial[k] += share * row[k]
            place += 1
        for k in range(dimensions):
            total[k] += partial[k]
    return total


@compiled
def write_unit(total: Float64s, terms: Terms, magnitude: float, vector: Float32s) -> None:
    """Write (total - offset) at unit length into ``vector``; zeros if its length is rounding."""
    square = 0.0
    for k in range(total.size):
        total[k] -= terms.offset[k]
        square += total[k] * total[k]
    length = np.sqrt(square)
    if length <= ROUNDING * (magnitude + terms.offset_norm):
        vector[:] = 0
    else:
        for k in range(total.size):
            vector[k] = total[k] / length
