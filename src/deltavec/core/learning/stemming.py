r"""Which words are forms of one word, learned from the words and their rows alone, in any language.

Words with a common prefix and short endings may be forms of one word: *flow* and *flows*. The pair
of endings is a *rule*, and it holds if words that it joins are closer in meaning than chance:

.. math:: z_{ij} = \frac{\cos(t_i, t_j) - \mu_0}{\sigma_0}, \qquad
          \frac{\sum z_{ij}}{\sqrt n} \ge 4, \quad n \ge 5,

with :math:`t_i` a word's row less the center, each direction by its strength, :math:`\mu_0` and
:math:`\sigma_0` the mean and spread of the same words paired anew, and the sum over the n pairs of
words with a row. Two words are *linked* if their rule holds and :math:`z_{ij} + \bar z > 0`, with
:math:`\bar z` the mean over the rule's pairs and :math:`z_{ij} = 0` where a word is too rare to
have a row: what the rule says of all its pairs counts as much as what the two rows say of this one
(docs/decisions/0019). Links merge words into groups, the largest sum first, where at least half of
the pairs of words between two groups are linked. Function words have no forms: *with* and *within*
lie close to each other, as all function words do.

For the kernels words are rows of small numbers, one for each of the letters that occur, so that an
ending of up to five letters is one integer (`pack_ending`) and two of them are compared at once.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import gcd
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from deltavec.core.arrays import (
    FEW_ROWS,
    Float32s,
    Float64s,
    Int32s,
    Int64s,
    UInt64s,
    blocks,
    offsets_of,
    read_only,
)
from deltavec.core.batching import embed_batch
from deltavec.core.forms import EmbeddingTable
from deltavec.core.jit import compiled
from deltavec.core.kernels import hashing
from deltavec.core.text.rules import TextBatch, rule
from deltavec.core.vocabulary import Vocabulary

if TYPE_CHECKING:
    from deltavec.core.model import EmbeddingModel


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
def list_prefix_pairs(
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
    a: Int64s, b: Int64s, link_begins: Int64s, neighbors: Int64s, groups: Int32s, fixed: int
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


LEAST_LETTERS = 4  # in common
LONGEST_ENDING = 5  # -ation; as many letters as fit into a packed ending
STRONG_ENOUGH = 4.0
PAIRS_ENOUGH = 5
LEAST_SPREAD = 0.01  # of cosines by chance: below it is rounding
MOST_LETTERS = (1 << int(LETTER_BITS)) - 1  # words with others have no forms
PAIRS_AT_ONCE = 1 << 20
NO_RULES = np.zeros((0, 2), np.uint64)


class Rules(NamedTuple):
    """Pairs of endings that part the forms of a word, the strongest first.

    Attributes
    ----------
    endings : list of (str, str)
        The two endings, one of which may be empty.
    pairs : ndarray of int64
        How many pairs of words with a row each joins.
    scores : ndarray of float64
        The mean z of these pairs.
    chance : (float, float)
        The mean and the spread of the cosine of words paired at random.
    """

    endings: list[tuple[str, str]]
    pairs: Int64s
    scores: Float64s
    chance: tuple[float, float]

    @classmethod
    def none(cls) -> Rules:
        """No rules: every word is its own stem."""
        return cls([], np.zeros(0, np.int64), np.zeros(0), (0.0, 1.0))


@dataclass(frozen=True, eq=False)
class Stems:
    """The words of a collection in groups, each the forms of one word.

    Attributes
    ----------
    groups : ndarray of int32
        The number of each word's group; groups are numbered in the order of their first words.
    rules : Rules
        What joined them.
    """

    groups: Int32s
    rules: Rules

    @classmethod
    def none(cls, words: int) -> Stems:
        """Every word by itself."""
        return cls(read_only(np.arange(words, dtype=np.int32)), Rules.none())

    def __len__(self) -> int:
        return int(self.groups.max(initial=-1)) + 1

    def extended(self, vocabulary: Vocabulary, rows: WordRows) -> Stems:
        """The groups extended by further words, which the same rules join.

        A word that was there keeps the number of its group, and no two groups become one.
        """
        return group(vocabulary, rows, self.rules, self.groups)


class WordRows(NamedTuple):
    """Where the meaning of words is found: a table of unit rows, and which row each word has."""

    table: Float32s
    numbers: Int64s  # -1 for a word without a row
    formless: Int64s = np.zeros(0, np.int64)  # words without other forms, such as function words

    @classmethod
    def of_texts(cls, vocabulary: Vocabulary, model: EmbeddingModel) -> WordRows:
        """The embeddings of the words as texts, for a model of n-grams."""
        texts = TextBatch(vocabulary.data, vocabulary.offsets, rule(str(model.tokenizer)))
        found = embed_batch(texts, model.vocabulary, model.table).vectors
        has = found.any(axis=1)
        table = (found[has] * model.table.length_change(1.0)).astype(np.float32)
        table /= np.linalg.norm(table, axis=1, keepdims=True)
        return cls(read_only(table), np.where(has, np.cumsum(has) - 1, -1))

    @classmethod
    def of(cls, vocabulary: Vocabulary, known: Vocabulary, folded: EmbeddingTable) -> WordRows:
        """The rows that a folded table has for the words, centered and weighted."""
        found = hashing.look_up_all(vocabulary.data, vocabulary.offsets, known.table)
        used, numbers = np.unique(found[found >= 0], return_inverse=True)
        # As for documents as long as the corpus' own, whose weights were measured.
        change = folded.length_change(1.0)
        table = np.empty((len(used), folded.rows.shape[1]), np.float32)
        for block in blocks(len(used), FEW_ROWS):
            centered = (folded.rows[used[block]] - folded.offset) * change
            lengths = np.linalg.norm(centered, axis=1, keepdims=True)
            table[block] = centered / np.where(lengths == 0, 1, lengths)
        rows = np.full(len(vocabulary), -1, np.int64)
        rows[found >= 0] = numbers
        return cls(read_only(table), rows)

    def cosines(self, a: Int64s, b: Int64s) -> Float32s:
        """The cosine of each pair of words, which must have rows."""
        values = np.empty(len(a), np.float32)
        pair_products(self.table, self.numbers[a], self.numbers[b], values)
        return values


def learn_stems(vocabulary: Vocabulary, rows: WordRows) -> Stems:
    """The groups of words that are forms of one word.

    Examples
    --------
    >>> nouns = ["room", "pillow", "window", "towel", "garden"]
    >>> words = Vocabulary.of([noun + ending for noun in nouns for ending in ("", "s")])
    >>> table = np.repeat(np.eye(5, dtype=np.float32), 2, axis=0)
    >>> stems = learn_stems(words, WordRows(table, np.arange(10)))
    >>> stems.groups, stems.rules.endings
    (array([0, 0, 1, 1, 2, 2, 3, 3, 4, 4], dtype=int32), [('', 's')])
    """
    rules = learn_rules(vocabulary, rows)
    return group(vocabulary, rows, rules, np.zeros(0, np.int32))


@dataclass(frozen=True, eq=False)
class Letters:
    """Words as numbers of letters, from 1 on; those that cannot have forms are empty."""

    numbers: UInt16s
    begins: Int64s
    alphabet: list[str]  # the letter of each number; the first is none

    def __len__(self) -> int:
        return len(self.begins) - 1

    def may_have_forms(self, formless: Int64s) -> npt.NDArray[np.bool_]:
        """Which words are long enough to have forms, and are not known to have none."""
        long_enough: npt.NDArray[np.bool_] = np.diff(self.begins) >= LEAST_LETTERS
        long_enough[formless] = False
        return long_enough

    @classmethod
    def of(cls, vocabulary: Vocabulary) -> Letters:
        """The letters of a vocabulary; words with a digit have no forms."""
        text = vocabulary.data.tobytes().decode()
        codes = np.frombuffer(text.encode("utf-32-le"), np.uint32)
        starts = (vocabulary.data & 0xC0) != 0x80  # of characters, in the bytes
        begins = offsets_of(starts)[vocabulary.offsets]
        used = np.unique(codes)
        number_of = np.zeros(int(used.max(initial=0)) + 1, np.int64)
        number_of[used] = np.arange(len(used))
        numbers = number_of[codes]
        refused = np.array([chr(code).isnumeric() for code in used.tolist()], bool)
        refused[MOST_LETTERS:] = True
        whole = offsets_of(refused[numbers])[begins]
        lengths = np.where(np.diff(whole) > 0, 0, np.diff(begins))
        kept = np.repeat(lengths > 0, np.diff(begins))
        alphabet = ["", *map(chr, used[:MOST_LETTERS].tolist())]
        return cls((numbers[kept] + 1).astype(np.uint16), offsets_of(lengths), alphabet)

    def sorted(self, words: Int64s) -> tuple[Int64s, Letters]:
        """These words in the order of their letters, and their letters."""
        text, ends = self.numbers.astype(">u2").tobytes(), (2 * self.begins).tolist()
        spelled = [text[ends[word] : ends[word + 1]] for word in words.tolist()]
        order = sorted(range(len(words)), key=spelled.__getitem__)
        lengths = np.diff(self.begins)[words[order]]
        joined = np.frombuffer(b"".join(spelled[place] for place in order), ">u2")
        return words[order], Letters(joined.astype(np.uint16), offsets_of(lengths), self.alphabet)

    def ending(self, packed_letters: int) -> str:
        """The letters of a packed ending."""
        found = ""
        while packed_letters:
            packed_letters, letter = divmod(packed_letters, MOST_LETTERS + 1)
            found = self.alphabet[letter] + found
        return found

    def packed(self, ending: str) -> int:
        """An ending as one integer; its letters must be in the alphabet."""
        total = 0
        for letter in ending:
            total = total << int(LETTER_BITS) | self.alphabet.index(letter)
        return total


def learn_rules(vocabulary: Vocabulary, rows: WordRows) -> Rules:
    """The pairs of endings between words that are closer than chance."""
    letters = Letters.of(vocabulary)
    may_have_forms = letters.may_have_forms(rows.formless)
    words, in_order = letters.sorted(np.flatnonzero(may_have_forms & (rows.numbers >= 0)))
    places, endings = prefix_pairs(in_order)
    if len(places) < PAIRS_ENOUGH:
        return Rules.none()
    pairs = words[places]
    chance = by_chance(rows, pairs)
    z = (rows.cosines(pairs[:, 0], pairs[:, 1]) - chance[0]) / chance[1]
    _, firsts, rule = np.unique(hash_pairs(endings), return_index=True, return_inverse=True)
    counts = np.bincount(rule)
    sums = np.bincount(rule, z)
    strong = (sums >= STRONG_ENOUGH * np.sqrt(counts)) & (counts >= PAIRS_ENOUGH)
    order = np.argsort(-sums / np.sqrt(counts), kind="stable")
    order = order[strong[order]]
    named = [(letters.ending(a), letters.ending(b)) for a, b in endings[firsts[order]].tolist()]
    return Rules(named, counts[order], sums[order] / counts[order], chance)


def prefix_pairs(letters: Letters, rules: UInt64s = NO_RULES) -> tuple[Int32s, UInt64s]:
    """The pairs of sorted words that differ in their endings only, and the endings.

    If there are rules, pairs of packed endings, only words that a rule joins.
    """
    endings, counts = np.unique(rules[:, 0], return_counts=True)
    table = endings, offsets_of(counts), rules[np.lexsort(rules.T[::-1]), 1]
    common = common_prefixes(letters.numbers, letters.begins)
    found = [(np.zeros((0, 2), np.int32), NO_RULES)]
    first, room = 0, PAIRS_AT_ONCE
    while first < len(letters):
        some, theirs = np.empty((room, 2), np.int32), np.empty((room, 2), np.uint64)
        count, reached = list_prefix_pairs(
            letters.numbers, letters.begins, common, LEAST_LETTERS, LONGEST_ENDING, *table, first,
            some, theirs,
        )  # fmt: skip
        found.append((some[:count].copy(), theirs[:count].copy()))
        room *= 1 if reached > first else 2  # one word alone may have more pairs than there is room
        first = reached
    pairs, listed = zip(*found, strict=True)
    return np.concatenate(pairs), np.concatenate(listed)


def by_chance(rows: WordRows, pairs: Int64s) -> tuple[float, float]:
    """The mean and the spread of the cosines of the same words, each paired with another's."""
    count = len(pairs)
    step = next(k for k in range(round(0.618 * count), 2 * count) if gcd(k, count) == 1)
    others = pairs[(np.arange(count) + step) % count, 1]
    cosines = rows.cosines(pairs[:, 0], others).astype(np.float64)
    return float(cosines.mean()), max(float(cosines.std()), LEAST_SPREAD)


def hash_pairs(endings: UInt64s) -> UInt64s:
    """A hash of each pair of endings: two of a million pairs collide once in 30 million corpora."""
    hashes = (endings[:, 0] * hashing.MIX_1) ^ (endings[:, 1] * hashing.MIX_2)
    return np.asarray(hashes ^ (hashes >> hashing.HALF))


def group(vocabulary: Vocabulary, rows: WordRows, rules: Rules, before: Int32s) -> Stems:
    """The groups of the words, of which the first ones have groups already."""
    words, old = len(vocabulary), len(before)
    groups = np.arange(words, dtype=np.int32)
    firsts = np.unique(before, return_index=True)[1].astype(np.int32)
    groups[:old] = firsts[before]
    if rules.endings:
        a, b = links_between(vocabulary, rows, rules, old)
        both_ways = np.concatenate([a * words + b, b * words + a])
        one, other = np.divmod(np.sort(both_ways), words)
        merge_groups(a, b, offsets_of(np.bincount(one, minlength=words)), other, groups, old)
    # Named by their first words so far: those that were there keep their numbers.
    names = np.unique(groups)
    return Stems(read_only(np.searchsorted(names, groups).astype(np.int32)), rules)


def links_between(
    vocabulary: Vocabulary, rows: WordRows, rules: Rules, old: int
) -> tuple[Int64s, Int64s]:
    """The links of words with those from ``old`` on, the strongest first."""
    letters = Letters.of(vocabulary)
    words, in_order = letters.sorted(np.flatnonzero(letters.may_have_forms(rows.formless)))
    alphabet = set(letters.alphabet)
    usable = [n for n, both in enumerate(rules.endings) if alphabet.issuperset("".join(both))]
    packed = np.array(
        [[letters.packed(ending) for ending in rules.endings[rule]] for rule in usable], np.uint64
    ).reshape(-1, 2)
    if not usable:
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    found, endings = prefix_pairs(in_order, packed)
    hashes = hash_pairs(packed)
    order = np.argsort(hashes)
    rule = np.array(usable)[order[np.searchsorted(hashes[order], hash_pairs(endings))]]
    a, b = words[found[:, 0]], words[found[:, 1]]
    known = (rows.numbers[a] >= 0) & (rows.numbers[b] >= 0)
    z = np.zeros(len(found))
    z[known] = (rows.cosines(a[known], b[known]) - rules.chance[0]) / rules.chance[1]
    sums = z + rules.scores[rule]
    linked = np.flatnonzero((sums > 0) & ((a >= old) | (b >= old)))
    order = linked[np.argsort(-sums[linked], kind="stable")]
    return a[order], b[order]
