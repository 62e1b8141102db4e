"""The loops over words with a common prefix, compiled by numba: pairs, their cosines, their groups.

Words are rows of small numbers, one for each of the letters that occur, so that an ending of up to
five letters is one integer (`pack_ending`) and two of them are compared at once.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from deltavec.core.arrays import Float32s, Int32s, Int64s, UInt64s
from deltavec.core.jit import compiled

UInt16s = npt.NDArray[np.uint16]
Rows = Int32s | Int64s

LETTER_BITS = np.uint64(12)
NOTHING = np.uint64(0)


@compiled
def pack_ending(letters: UInt16s, begin: int, end: int) -> np.uint64:
    """The letters of an ending, five at most, as one integer; of none it is 0."""
    packed = NOTHING
    for place in range(begin, end):
        packed = packed << LETTER_BITS | np.uint64(letters[place])
    return packed


@compiled
def common_prefixes(letters: UInt16s, begins: Int64s) -> Int64s:
    """How many letters each word has in common with the one before it."""
    common = np.zeros(begins.size - 1, np.int64)
    for number in range(1, common.size):
        a, b = begins[number - 1], begins[number]
        most = min(b - a, begins[number + 1] - b)
        shared = 0
        while shared < most and letters[a + shared] == letters[b + shared]:
            shared += 1
        common[number] = shared
    return common


@compiled
def prefix_pairs(
    letters: UInt16s,
    begins: Int64s,
    common: Int64s,
    least: int,
    longest: int,
    rule_endings: UInt64s,
    rule_begins: Int64s,
    rule_others: UInt64s,
    first: int,
    pairs: Int32s,
    endings: UInt64s,
) -> tuple[int, int]:
    """List the pairs of sorted words from ``first`` on that differ in their endings only.

    They have ``least`` letters or more in common, and each ends in at most ``longest`` others. If
    there are rules, only pairs that a rule joins are listed: ``rule_endings`` are the first endings
    of the rules, sorted, each once; rules ``rule_begins[e]`` to ``rule_begins[e + 1]`` have the
    e-th, and the second endings ``rule_others``, sorted.

    Writes the two words and their endings. Returns how many pairs, and the word to go on from,
    which is before the last one if there was no more room.
    """
    words = begins.size - 1
    found = 0
    for a in range(first, words):
        length = begins[a + 1] - begins[a]
        before = found
        shared = length + 1
        ending = NOTHING
        low = high = 0
        for b in range(a + 1, words):
            if common[b] < shared:
                shared = min(common[b], length)
                if shared < least or length - shared > longest:
                    break
                ending = pack_ending(letters, begins[a] + shared, begins[a + 1])
                low = high = 0
                place = np.searchsorted(rule_endings, ending)
                if place < rule_endings.size and rule_endings[place] == ending:
                    low, high = rule_begins[place], rule_begins[place + 1]
            if rule_endings.size > 0 and low == high:
                continue
            if begins[b + 1] - begins[b] - shared > longest:
                continue
            other = pack_ending(letters, begins[b] + shared, begins[b + 1])
            if low < high:
                rule = low + np.searchsorted(rule_others[low:high], other)
                if rule == high or rule_others[rule] != other:
                    continue
            if found == len(pairs):
                return before, a
            pairs[found, 0], pairs[found, 1] = a, b
            endings[found, 0], endings[found, 1] = ending, other
            found += 1
    return found, words


@compiled
def pair_products(table: Float32s, first: Rows, second: Rows, products: Float32s) -> None:
    """Write the inner product of each pair of rows of a table.

    Pairs sorted by their first row are quickest: it stays in the cache. Four sums at a time, since
    each addition to one must wait for the one before.
    """
    columns = table.shape[1]
    fourfold = columns - columns % 4
    for place in range(first.size):
        a, b = table[first[place]], table[second[place]]
        s0 = s1 = s2 = s3 = np.float64(0.0)
        for column in range(0, fourfold, 4):
            s0 += a[column] * b[column]
            s1 += a[column + 1] * b[column + 1]
            s2 += a[column + 2] * b[column + 2]
            s3 += a[column + 3] * b[column + 3]
        for column in range(fourfold, columns):
            s0 += a[column] * b[column]
        products[place] = (s0 + s1) + (s2 + s3)


@compiled
def is_linked(neighbors: Int64s, begin: int, end: int, word: int) -> bool:
    """Whether a word is among these neighbors, which are sorted."""
    place = begin + np.searchsorted(neighbors[begin:end], word)
    return bool(place < end and neighbors[place] == word)


@compiled
def merge_groups(
    a: Int64s,
    b: Int64s,
    link_begins: Int64s,
    neighbors: Int64s,
    groups: Int32s,
    fixed: int,
) -> None:
    """Merge the groups that each link joins, where half of the pairs between them are linked.

    Links come strongest first. ``groups`` holds the group of each word, named by one of its words;
    groups of words below ``fixed`` are never merged with each other.
    """
    words = groups.size
    heads = np.full(words, -1, np.int32)
    following = np.full(words, -1, np.int32)
    sizes = np.zeros(words, np.int64)
    for word in range(words - 1, -1, -1):
        following[word] = heads[groups[word]]
        heads[groups[word]] = word
        sizes[groups[word]] += 1
    for link in range(a.size):
        one, other = groups[a[link]], groups[b[link]]
        if one == other or (one < fixed and other < fixed):
            continue
        if one > other:
            one, other = other, one
        linked = 0
        u = heads[one]
        while u >= 0:
            v = heads[other]
            while v >= 0:
                linked += is_linked(neighbors, link_begins[u], link_begins[u + 1], v)
                v = following[v]
            u = following[u]
        if 2 * linked < sizes[one] * sizes[other]:
            continue
        last = heads[other]
        groups[last] = one
        while following[last] >= 0:
            last = following[last]
            groups[last] = one
        following[last] = heads[one]
        heads[one] = heads[other]
        sizes[one] += sizes[other]
