r"""Text overlap: how much of two texts is the same, whatever they are about.

A text is a set of *shingles*: ordered pairs of words at most three places apart. A dropped or
replaced word breaks only some of them. A shingle that few documents have weighs more,

.. math:: w = \log(1 + N / n)^2 ,

for n of N documents, and three times as much if one of its words has a digit: texts that differ
in their numbers are different notices in the same form. Of two texts a and b

.. math::
   \text{shared} = \frac{w(a \cap b)}{\max(w(a), w(b))} ,\qquad
   \text{contained} = \frac{w(a \cap b)}{\min(w(a), w(b))} .

Lines that begin with ``>``, ``|``, ``:`` or the like quote, and what follows a line of dashes near
the end is a signature. At least the same share of the other lines of a text must be in the other
one: a reply is no duplicate of the mail that it quotes. Below five words, texts are the same word
for word, or share nothing.

Why no pair is missed
---------------------
Take the shingles of all texts in one order, heaviest first. If a and b share a part t of the
heavier, the first shingle that they share is in the *prefix* of either: what is left behind the
prefix of a weighs less than t w(a), and so cannot hold all that they share (Chaudhuri, Ganti and
Kaushik 2006; Bayardo, Ma and Srikant 2007). So only texts with a shingle in both their prefixes are
compared. Rare shingles are heavy: most prefixes hold what no other text has.

n is counted in a table of counters that hashes of shingles share, over distinct texts, at most
about `COUNTED` of them, chosen by their words: the order and the machine do not matter.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from deltavec.core.arrays import Int64s, UInt64s, collect, extend, offsets_of, read_only
from deltavec.core.batching import map_ranges
from deltavec.core.learning.vocabulary_builder import MOST_APART, WordCounts
from deltavec.core.text.batches import as_text_batch
from deltavec.core.text.rules import TextBatch, rule
from deltavec.core.text.tokenize import spans
from deltavec.search import shingle_kernels as kernels
from deltavec.search.pairs import in_strips
from deltavec.search.shingle_kernels import (
    WINDOW,
    Index,
    TextMatches,
    TextPairs,
    Texts,
    UInt32s,
    Weights,
)

COUNTED = 1 << 18  # documents
COUNTERS = range(20, 27)  # powers of two
SHORT = 5  # words
REST = 0.75  # of the threshold, behind a prefix: more would leave more texts to compare
STRIP, PAIRS_A_STRIP = 1024, 1 << 18
NO_WEIGHTS = Weights(np.uint32(31), np.ones(2, np.float32))
IN_MEMORY = 4 << 30  # bytes of keys, of which there are 12 a word; beyond, they are in a file


@dataclass(frozen=True, eq=False)
class Shingles:
    """The shingles of documents.

    Attributes
    ----------
    keys, offsets
        The keys of all documents, ascending in each, and where each document's begin.
    own_keys, own_offsets
        The same without quoted lines, for documents that have such and others.
    words : ndarray of int64
        How many words each document has.
    digests : ndarray of uint64
        A hash of each document's words: the same for texts that are equal word for word.
    """

    keys: UInt32s
    offsets: Int64s
    own_keys: UInt32s
    own_offsets: Int64s
    words: Int64s
    digests: UInt64s

    def __len__(self) -> int:
        return len(self.words)

    @classmethod
    def of(cls, chunks: Iterable[Any], threads: int | None = None) -> Shingles:
        """The shingles of documents that come in chunks."""
        empty = np.zeros(0, np.int64)
        about = [(empty, empty, empty, empty.astype(np.uint64))]
        own_keys = [np.zeros(0, np.uint32)]

        tables: list[HashedWords] = []

        def parts() -> Iterator[UInt32s]:
            for chunk in chunks:
                texts = as_text_batch(chunk, "words")
                sizes, own_sizes, words, unused = np.zeros((4, texts.documents), np.int64)
                digests, none = np.zeros((2, texts.documents), np.uint64)
                about.append((sizes, own_sizes, words, digests))
                yield from list_keys(texts, tables, threads, sizes, words, digests)
                own = np.full_like(texts.data, kernels.SPACE)
                if kernels.copy_own_lines(texts.data, texts.ends, own):
                    texts = texts._replace(data=read_only(own))
                    own_keys.extend(list_keys(texts, tables, threads, own_sizes, unused, none))

        keys = collect(parts(), np.uint32, IN_MEMORY)
        sizes, own_sizes, words, digests = (np.concatenate(one) for one in zip(*about, strict=True))
        own = np.concatenate(own_keys)
        return cls(keys, offsets_of(sizes), own, offsets_of(own_sizes), words, digests)

    @cached_property
    def firsts(self) -> Int64s:
        """The first document with the same words, for each document."""
        _, first, inverse = np.unique(self.digests, return_index=True, return_inverse=True)
        firsts: Int64s = first[inverse]
        # Without words there is nothing to be the same.
        return np.where(self.words > 0, firsts, np.arange(len(self)))

    def weights(self) -> Weights:
        """The weights by the counts in these documents, or in some of them if they are many."""
        distinct = (self.firsts == np.arange(len(self))) & (self.words > 0)
        step = np.uint64(-(-int(distinct.sum()) // COUNTED) or 1)
        chosen = distinct & (self.digests % step == 0)
        bits = counter_bits(int(np.diff(self.offsets)[chosen].sum()))
        counts, shift = np.zeros(1 << bits, np.int64), np.uint32(32 - bits)
        texts = self.texts()
        texts.cuts[:] = np.where(chosen, -1, np.inf)
        kernels.list_postings(texts, shift, counts, counts, np.zeros(0, np.int32))
        return weights_of(counts, int(chosen.sum()))

    def texts(self, weights: Weights | None = None, share: float = 1.0) -> Texts:
        """What the kernels read: documents with their weights, and prefixes for a share."""
        totals, cuts, rests = np.empty((3, len(self)))
        keys = self.keys, self.offsets, self.own_keys, self.own_offsets
        texts = Texts(*keys, totals, cuts, rests, weights or NO_WEIGHTS)
        if weights is not None:
            kernels.weigh(texts, share)
            cuts[self.words < SHORT] = np.inf
        return texts


class HashedWords(WordCounts):
    """The words met so far, and a hash of each."""

    hashed = 0
    hashes = np.zeros(0, np.uint64)

    def keys(self, texts: TextBatch, *about: Any) -> UInt32s:
        """The keys of documents; the rest that there is to know of them is written."""
        ids = np.concatenate(
            [np.zeros(0, np.int32), *map(np.copy, self._ids(texts, self._buffers))]
        )
        self.hashes = extend(self.hashes, self.distinct)
        offsets = self._offsets[: self.distinct + 1]
        kernels.hash_words(self._data, offsets, self.hashed, rule("words"), self.hashes)
        self.hashed = self.distinct
        words = np.empty(len(ids), np.uint64)
        keys = np.empty(kernels.WINDOW * (len(ids) + texts.documents), np.uint32)
        return keys[: kernels.shingle_documents(ids, self.hashes, words, keys, *about)].copy()


def list_keys(
    texts: TextBatch, tables: list[HashedWords], threads: int | None, *about: Any
) -> list[UInt32s]:
    """The keys of a chunk, a few arrays to be read one after the other."""

    def work(first: int, last: int) -> UInt32s:
        table = tables.pop() if tables else HashedWords()
        part = texts._replace(ends=texts.ends[first : last + 1])
        keys = table.keys(part, *(column[first:last] for column in about))
        if table.distinct <= MOST_APART:
            tables.append(table)
        return keys

    return map_ranges(work, texts, threads, 1)


def counter_bits(keys: int) -> int:
    """The power of two that has two counters for a key, within bounds."""
    return min(max((2 * keys).bit_length(), COUNTERS[0]), COUNTERS[-1])


def weights_of(counts: Any, documents: int) -> Weights:
    """The weights of shingles that so many of the documents have."""
    table = np.maximum(counts, 1).astype(np.float32)
    np.divide(np.float32(max(1, documents)), table, out=table)
    np.square(np.log1p(table, out=table), out=table)
    return Weights(np.uint32(33 - len(table).bit_length()), table)


def index_prefixes(texts: Texts, least: int) -> Index:
    """The texts by the shingles in their prefixes, where at least so many have them."""
    bits = counter_bits(len(texts.keys) // 4)
    shift, sizes = np.uint32(32 - bits), np.zeros(1 << bits, np.int64)
    kernels.list_postings(texts, shift, sizes, sizes, np.zeros(0, np.int32))
    sizes[sizes < least] = 0
    begins = offsets_of(sizes)
    index = Index(shift, sizes, begins[:-1], np.empty(begins[-1] + 1, np.int32))
    kernels.list_postings(texts, *index)
    return index


def text_pairs(
    shingles: Shingles,
    threshold: float,
    *,
    threads: int | None = None,
    on_progress: Callable[[float], None] | None = None,
) -> Iterator[TextPairs]:
    """All pairs of distinct texts that share at least the threshold, in ascending order."""
    texts = shingles.texts(shingles.weights(), REST * threshold)
    texts.cuts[shingles.firsts < np.arange(len(shingles))] = np.inf  # equal to one before
    index = index_prefixes(texts, 2)

    def strip(first: int, last: int) -> TextPairs | None:
        room = max(PAIRS_A_STRIP, len(shingles))
        rows, shares = np.empty((2, room), np.int64), np.empty((2, room), np.float32)
        found = TextPairs(*rows, *shares)
        count = kernels.pairs_of_texts(first, last, texts, index, threshold, found)
        if count < 0:
            return None
        return found.at(np.lexsort((found.b[:count], found.a[:count])))

    return in_strips(len(shingles), STRIP, strip, threads, on_progress)


def text_matches(
    shingles: Shingles, others: Iterable[Shingles], shared: float, contained: float
) -> TextMatches:
    """For each document the best match among others, which come in blocks.

    A match shares at least so much with the document, or contains so much of it. Others that are
    equal word for word match too.
    """
    weights = shingles.weights()
    texts = shingles.texts(weights, min(shared, contained))
    index = index_prefixes(texts, 1)
    rows, shares = np.full(len(shingles), -1), np.zeros((2, len(shingles)), np.float32)
    best = TextMatches(rows, *shares)
    begin = 0
    for block in others:
        about = block.texts(weights)
        kernels.match_texts(texts, index, about, begin, (shared, contained), best)
        # Of equal texts the first; short ones are compared in no other way.
        places = np.flatnonzero(block.words > 0)
        digests, first = np.unique(block.digests[places], return_index=True)
        at = np.searchsorted(digests, shingles.digests)
        equal = np.append(digests, np.uint64(0))[at] == shingles.digests
        same = np.flatnonzero(equal & (at < len(digests)) & (best.shared < 1))
        best.rows[same] = begin + places[first[at[same]]]
        best.shared[same] = best.contained[same] = 1
        begin += len(block)
    return best


Marks = list[tuple[int, int]]


def shared_spans(a: str, b: str) -> tuple[Marks, Marks]:
    """The offsets of what each text has in common with the other, as beginnings and ends.

    A word is marked if the other text has two of its shingles: see `deltavec.search.shingles`.

    Examples
    --------
    >>> shared_spans("Open on Sunday from 9 to 5.", "New: on Sunday from 9 to 4")
    ([(5, 24)], [(5, 24)])
    """
    listed = [shingles(spans(text, "words").words) for text in (a, b)]
    common = {one for one, _, _ in listed[0]} & {one for one, _, _ in listed[1]}
    return mark(a, listed[0], common), mark(b, listed[1], common)


def shingles(words: list[str]) -> list[tuple[tuple[str, str], int, int]]:
    """The shingles of a text, and the positions of their two words."""
    ahead = range(1, WINDOW + 1)
    return [
        ((word, words[place + step]), place, place + step)
        for place, word in enumerate(words)
        for step in ahead
        if place + step < len(words)
    ]


def mark(
    text: str, listed: list[tuple[tuple[str, str], int, int]], common: set[tuple[str, str]]
) -> Marks:
    """What to mark of a text: neighboring words in one piece."""
    _, begins, ends = spans(text, "words")
    counts = [0] * len(begins)
    for shingle, first, second in listed:
        if shingle in common:
            counts[first] += 1
            counts[second] += 1
    marks: Marks = []
    for place, (begin, end) in enumerate(zip(begins.tolist(), ends.tolist(), strict=True)):
        if counts[place] < 2:
            continue
        if place and counts[place - 1] >= 2:
            marks[-1] = marks[-1][0], end
        else:
            marks.append((begin, end))
    return marks
