r"""The loops of text overlap, compiled by numba: words, their shingles, what two texts share.

A *shingle* is an ordered pair of words at most `WINDOW` places apart; the ends of a text count as
words. A text is the sorted set of its shingles' keys: 32 bits of a hash, the lowest of them set if
one of the two words has a digit. In scripts without spaces every character is a word.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from deltavec.core.arrays import Float32s, Float64s, Int32s, Int64s, UInt8s, UInt64s, signed
from deltavec.core.jit import compiled
from deltavec.core.kernels.hashing import HALF, MIX_1, ONE, class_at, hash_word, mix
from deltavec.core.text.rules import MARK, UNSPACED, Rule

UInt32s = npt.NDArray[np.uint32]
Bools = npt.NDArray[np.bool_]

WINDOW = 3
NUMBER = 3.0  # times the weight of a shingle with a digit in it
FIRST, LAST = np.uint64(2), np.uint64(4)  # stand before and behind the words of a text
LINE_END, SPACE, QUOTE = 10, 32, 62
QUOTES = (58, 93, 124, 125)  # : ] | }
RULES = (35, 42, 45, 61, 95, 126)  # # * - = _ ~
SIGNATURE, LONG_SIGNATURE = 400, 1600  # bytes, the second after just two dashes
LEVELS = 256
UP = 1 + 2.0**-12  # more than the rounding of a sum in float32
ROUNDING = 2.0**-23  # more than that of a share to float32


class Weights(NamedTuple):
    """The weight of each shingle, by the highest bits of its key."""

    shift: np.uint32
    table: Float32s


class Texts(NamedTuple):
    """Texts as keys and weights; those which quote have keys without the lines quoted too."""

    keys: UInt32s
    offsets: Int64s
    own_keys: UInt32s
    own_offsets: Int64s
    totals: Float64s  # the weight of each
    cuts: Float64s  # the least weight of a shingle in its prefix
    rests: Float64s  # the weight of its other shingles
    weights: Weights


class Index(NamedTuple):
    """The texts that have a shingle in their prefix, by the highest bits of its key."""

    shift: np.uint32
    sizes: Int64s  # how many postings there are for each value of these bits
    ends: Int64s  # where they end
    postings: Int32s  # numbers of texts, ascending


class TextPairs(NamedTuple):
    """Pairs of texts a < b and what they share."""

    a: Int64s
    b: Int64s
    shared: Float32s
    contained: Float32s

    def at(self, which: Int64s | Bools) -> TextPairs:
        """Some of the pairs."""
        return TextPairs(self.a[which], self.b[which], self.shared[which], self.contained[which])


class TextMatches(NamedTuple):
    """For each text the best match among others: its row, -1 if there is none."""

    rows: Int64s
    shared: Float32s
    contained: Float32s


@compiled
def is_quoted(data: UInt8s, begin: int, end: int) -> bool:
    """Whether a line begins like one that a mail quotes: ``>``, ``ab>``, ``: ``, ``| ``, ``} ``."""
    blank = True
    for place in range(begin, min(begin + 4, end)):
        byte = data[place]
        if byte == QUOTE:
            return True
        if blank and signed(byte) in QUOTES:
            after = data[place + 1] if place + 1 < end else 0
            return bool((after == SPACE) | (after == QUOTE) | (after == byte))
        blank = blank and byte == SPACE
        if byte != SPACE and not 97 <= byte | 32 <= 122:
            return False
    return False


@compiled
def rule_length(data: UInt8s, begin: int, end: int) -> int:
    """How many dashes, or the like, a line has that has nothing else; 0 for other lines."""
    marks = 0
    for place in range(begin, end):
        if signed(data[place]) in RULES:
            marks += 1
        elif data[place] != SPACE:
            return 0
    return marks


@compiled
def copy_own_lines(data: UInt8s, ends: Int64s, own: UInt8s) -> bool:
    """Copy the lines before a signature that are not quoted, of documents that have other lines.

    A signature is what follows a line of dashes near the end, farther from it if these are two, as
    mail programs write them. Whether anything was copied.
    """
    copied = False
    for document in range(ends.size - 1):
        for copying in (False, True):
            others = False
            line, end = ends[document], ends[document + 1]
            while line < end:
                close = line
                while close < end and data[close] != LINE_END:
                    close += 1
                marks = rule_length(data, line, close) if end - close <= LONG_SIGNATURE else 0
                if marks == 2 or (marks > 2 and end - close <= SIGNATURE):
                    others = True
                    break
                if is_quoted(data, line, close):
                    others = True
                elif copying:
                    copied = True
                    for place in range(line, close):
                        own[place] = data[place]
                line = close + 1
            if not others:
                break
    return copied


@compiled
def is_pair(word: UInt8s, rule: Rule) -> bool:
    """Whether a unit is two characters of a script without spaces."""
    kind, place = class_at(word, 0, word.size, rule)
    while kind == UNSPACED and place < word.size:
        following, size = class_at(word, place, word.size, rule)
        if following != MARK:
            return True
        place += size
    return False


@compiled
def hash_words(data: UInt8s, offsets: Int64s, first: int, rule: Rule, hashes: UInt64s) -> None:
    """Write the hash of each word from the first on, odd if it has a digit; 0 for a pair."""
    for number in range(first, offsets.size - 1):
        word = data[offsets[number] : offsets[number + 1]]
        if word[0] >= 128 and is_pair(word, rule):
            hashes[number] = 0
            continue
        digit = False
        for place in range(word.size):
            digit |= 48 <= word[place] <= 57
        h = hash_word(word, LAST)
        hashes[number] = h | ONE if digit else h & ~ONE


@compiled
def list_keys(hashes: UInt64s, keys: UInt32s) -> int:
    """Write the keys of a text's shingles in ascending order, each once; how many they are."""
    count = hashes.size
    found = 0
    for first in range(-1, count):
        a = hashes[first] if first >= 0 else FIRST
        for second in range(first + 1, min(first + WINDOW, count) + 1):
            b = hashes[second] if second < count else LAST
            key = mix(a * MIX_1 + b) >> HALF
            keys[found] = key | ONE if (a | b) & ONE else key & ~ONE
            found += 1
    listed = keys[:found]
    listed.sort()
    kept = 0
    for place in range(found):
        if place == 0 or listed[place] != listed[place - 1]:
            keys[kept] = listed[place]
            kept += 1
    return kept


@compiled
def shingle_documents(
    ids: Int32s,
    hashes: UInt64s,
    words: UInt64s,
    keys: UInt32s,
    sizes: Int64s,
    counts: Int64s,
    digests: UInt64s,
) -> int:
    """Write the keys of documents, how many each has, its words and a hash of all its words.

    The documents are the ids of words, closed by -1. ``words`` has room for those of one.
    """
    written = 0
    document = 0
    count = 0
    for place in range(ids.size):
        if ids[place] >= 0:
            words[count] = hashes[ids[place]]
            count += words[count] != 0
            continue
        digest = FIRST
        for word in range(count):
            digest = mix(digest ^ words[word])
        counts[document] = count
        digests[document] = digest
        sizes[document] = list_keys(words[:count], keys[written:]) if count else 0
        written += sizes[document]
        document += 1
        count = 0
    return written


@compiled
def weight_of(key: np.uint32, weights: Weights) -> float:
    """The weight of a shingle."""
    weight = np.float64(weights.table[key >> weights.shift])
    return weight * NUMBER if key & np.uint32(1) else weight


@compiled
def weigh(texts: Texts, share: float) -> None:
    """Write the weight of each text, and the weight from which on its shingles are its prefix.

    The shingles that weigh less make less than a share of the whole. They are put into `LEVELS`
    classes by weight, so that nothing has to be sorted.
    """
    highest = NUMBER * texts.weights.table.max()
    levels = np.empty(LEVELS)
    for text in range(texts.totals.size):
        levels[:] = 0
        for place in range(texts.offsets[text], texts.offsets[text + 1]):
            weight = weight_of(texts.keys[place], texts.weights)
            levels[int(weight / highest * (LEVELS - 1))] += weight
        total = levels.sum()
        level = 0
        rest = 0.0
        while rest + levels[level] < share * total:
            rest += levels[level]
            level += 1
        texts.totals[text] = total
        texts.rests[text] = rest
        # A little less: a weight at the border of a class is not lost by rounding.
        texts.cuts[text] = level * (highest / (LEVELS - 1)) * (1 - 2.0**-40)


@compiled
def list_postings(
    texts: Texts, shift: np.uint32, sizes: Int64s, ends: Int64s, postings: Int32s
) -> None:
    """Count the shingles in the prefixes of texts by their highest bits, then list the texts.

    Without postings ``sizes`` are counted. Otherwise texts are listed where sizes are above 0, and
    ``ends`` are where postings begin before, and where they end after.
    """
    for text in range(texts.cuts.size):
        for place in range(texts.offsets[text], texts.offsets[text + 1]):
            counter = texts.keys[place] >> shift
            if weight_of(texts.keys[place], texts.weights) < texts.cuts[text]:
                continue
            if postings.size == 0:
                sizes[counter] += 1
            elif sizes[counter] > 0:
                postings[ends[counter]] = text
                ends[counter] += 1


@compiled
def keys_of(texts: Texts, text: int) -> UInt32s:
    """The keys of a text."""
    return texts.keys[texts.offsets[text] : texts.offsets[text + 1]]


@compiled
def common_weight(keys: UInt32s, others: UInt32s, weights: Weights) -> float:
    """The weight of the shingles that two texts have in common."""
    total = 0.0
    i = j = 0
    while i < keys.size and j < others.size:
        if keys[i] == others[j]:
            total += weight_of(keys[i], weights)
            i += 1
            j += 1
        elif keys[i] < others[j]:
            i += 1
        else:
            j += 1
    return total


@compiled
def own_share(a: int, texts: Texts, b: int, others: Texts) -> float:
    """The share of a text's own lines, where it quotes others, that is in another text."""
    if texts.own_offsets[a] == texts.own_offsets[a + 1]:
        return 1.0
    own = texts.own_keys[texts.own_offsets[a] : texts.own_offsets[a + 1]]
    total = common_weight(own, own, texts.weights)
    return common_weight(own, keys_of(others, b), texts.weights) / total


@compiled
def overlap(a: int, texts: Texts, b: int, others: Texts) -> tuple[float, float]:
    """The share of the heavier of two texts that the other has too, and that of the first."""
    common = common_weight(keys_of(texts, a), keys_of(others, b), texts.weights)
    shared = common / max(texts.totals[a], others.totals[b])
    own = min(own_share(a, texts, b, others), own_share(b, others, a, texts))
    return min(shared, own), common / texts.totals[a]


@compiled
def pairs_of_texts(
    first: int, last: int, texts: Texts, index: Index, threshold: float, found: TextPairs
) -> int:
    """Write the pairs a < b, a from ``first`` to ``last``, that share as much as the threshold.

    How many there are; -1 if there is no room for them. What two texts share beyond the shingles
    in both their prefixes weighs less than the rest of the one whose prefix ends first.
    """
    totals, cuts = texts.totals, texts.cuts
    count = 0
    sums = np.zeros(totals.size, np.float32)
    met = np.empty(totals.size, np.int32)
    for a in range(first, last):
        many = 0
        for place in range(texts.offsets[a], texts.offsets[a + 1]):
            weight = weight_of(texts.keys[place], texts.weights)
            if weight < cuts[a]:
                continue
            counter = texts.keys[place] >> index.shift
            end = index.ends[counter]
            for at in range(end - 1, end - index.sizes[counter] - 1, -1):
                b = index.postings[at]
                if b <= a:
                    break
                if sums[b] == 0:
                    met[many] = b
                    many += 1
                sums[b] += np.float32(weight)
        for place in range(many):
            b = met[place]
            rest = texts.rests[a if cuts[a] > cuts[b] else b]
            most = min(sums[b] * UP + rest, totals[a], totals[b])
            sums[b] = 0
            if most < threshold * max(totals[a], totals[b]) * (1 - ROUNDING):
                continue
            shared, part = overlap(a, texts, b, texts)
            if np.float32(shared) >= np.float32(threshold):
                if count == found.a.size:
                    return -1
                found.a[count] = a
                found.b[count] = b
                found.shared[count] = shared
                found.contained[count] = part * totals[a] / min(totals[a], totals[b])
                count += 1
    return count


@compiled
def match_texts(
    texts: Texts,
    index: Index,
    others: Texts,
    begin: int,
    limits: tuple[float, float],
    best: TextMatches,
) -> None:
    """Take in other texts, the first of which has this number: the best match of each text.

    A match shares as much as the first limit, or contains as much of the text as the second.
    """
    seen = np.full(texts.totals.size, -1, np.int32)
    for b in range(others.totals.size):
        for place in range(others.offsets[b], others.offsets[b + 1]):
            counter = others.keys[place] >> index.shift
            end = index.ends[counter]
            for at in range(end - index.sizes[counter], end):
                a = index.postings[at]
                if seen[a] == b:
                    continue
                seen[a] = b
                shared, part = overlap(a, texts, b, others)
                enough = np.float32(shared) >= np.float32(limits[0])
                if not enough and np.float32(part) < np.float32(limits[1]):
                    continue
                if best.rows[a] < 0 or max(shared, part) > max(best.shared[a], best.contained[a]):
                    best.rows[a] = begin + b
                    best.shared[a] = shared
                    best.contained[a] = part
