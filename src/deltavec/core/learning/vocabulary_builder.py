"""The vocabulary of a corpus, learned from nothing: every word, and how often it occurs.

The counts also choose the features, words or character n-grams. The measurements are in
experiments/languages, the reasons in docs/decisions/0016.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from deltavec.core.arrays import Int32s, Int64s, extend, offsets_of, read_only
from deltavec.core.kernels import hashing
from deltavec.core.kernels.count import IN_LEAD, LEAD, UNITS_A_WORD, DocumentTerms, pack_count
from deltavec.core.kernels.tokenize import LONGEST_LEARNED, GrowingTable, TokenBuffers
from deltavec.core.learning.kernels import count_ids
from deltavec.core.text.batches import Chunked, Tokenizer, as_text_batch, resolve_tokenizer
from deltavec.core.text.rules import TextBatch, Units, are_unspaced, rule, with_units
from deltavec.core.threads import ordered_map, thread_count
from deltavec.core.tokens import TermBuffers, TokenStream
from deltavec.core.vectors import WordVectors
from deltavec.core.vocabulary import SECRET, Vocabulary
from deltavec.errors import CorpusError, InputError

FIRST_ROOM = 1 << 14
# So many words are learned if it is not said how rare they may be, and so many runs of characters:
# the most frequent. What a fit keeps of pairs grows with their square: docs/guides/scale.md.
MOST_UNITS = 200_000
MOST_APART = 1 << 18  # words in a thread's own table


class WordCounts:
    """Words and how often they occurred, in a table that grows as words come.

    Words of more than 1,024 bytes are passed over, not learned. Documents are either counted
    (`add`) or listed (`listed`), not both.
    """

    of_lists = False  # whether any document came as a list of words
    of_grams = False  # whether runs of characters were counted

    def __init__(self) -> None:
        self.tokens = 0
        self.documents = 0
        self.distinct = 0
        self._data = np.zeros(0, np.uint8)
        self._offsets = np.zeros(1, np.int64)
        self._counts = np.zeros(0, np.int64)
        self._make_room(FIRST_ROOM)

    @property
    def vocabulary(self) -> Vocabulary:
        """All words, in the order in which they first came."""
        offsets = self._offsets[: self.distinct + 1].copy()
        return Vocabulary(self._data[: offsets[-1]].copy(), offsets)

    def _make_room(self, words: int) -> None:
        """Grow the table to hold this many words."""
        size = max(16 * words, len(self._data))
        self._data = extend(self._data, size + LONGEST_LEARNED)
        self._offsets = extend(self._offsets, words + 1)
        self._counts = extend(self._counts, words)
        self._slots = np.zeros(4 * words, np.uint64)
        if "_terms" in self.__dict__:
            self._terms.grow(words)
        self._fill_slots(0)

    def _fill_slots(self, first: int) -> None:
        """Add the words from this one on to the hash table."""
        hashing.fill_slots(self._known()._replace(slots=self._slots), rule("words"), first)

    def _known(self) -> hashing.VocabTable:
        """The table as it is, to be read."""
        offsets = self._offsets[: self.distinct + 1]
        arrays = read_only(self._slots), read_only(self._data), read_only(offsets)
        return hashing.VocabTable(*arrays, LONGEST_LEARNED, SECRET)

    def _ids(self, texts: TextBatch, buffers: TokenBuffers) -> Iterator[Int32s]:
        """The token ids of documents, each closed by -1; new words are learned.

        They are numbered in the order in which they first come.
        """
        stream = TokenStream(texts, 0, texts.documents, buffers)
        while stream:
            words = self._known()._replace(offsets=read_only(self._offsets))
            size = np.array([self.distinct])
            ids = stream.read(words, GrowingTable(self._slots, self._data, self._offsets, size))
            self.distinct = int(size[0])
            room = len(self._data) - self._offsets[self.distinct]
            if self.distinct + 2 >= len(self._offsets) or room < LONGEST_LEARNED:
                self._make_room(2 * len(self._counts))
            yield ids
        self.tokens += stream.tokens

    def add(self, texts: TextBatch) -> None:
        """Count the words of these documents."""
        self.of_lists |= not texts.rule.decodes
        self.of_grams |= texts.rule.gram > 0
        self.documents += texts.documents
        for ids in self._ids(texts, self._buffers):
            count_ids(ids, self._counts)

    @functools.cached_property
    def _buffers(self) -> TokenBuffers:
        return TokenBuffers.of(LONGEST_LEARNED)

    @functools.cached_property
    def _terms(self) -> TermBuffers:
        return TermBuffers(len(self._counts), LONGEST_LEARNED)

    def absorb(self, other: WordCounts) -> None:
        """Add what another table has counted."""
        theirs = other._known()
        ids = hashing.look_up_all(theirs.data, theirs.offsets, self._known())
        lengths = np.diff(theirs.offsets)
        new = ids < 0
        more, size = int(new.sum()), int(lengths[new].sum())
        end = int(self._offsets[self.distinct])
        while self.distinct + more + 1 >= len(self._counts) or end + size + LONGEST_LEARNED > len(
            self._data
        ):
            self._make_room(2 * len(self._counts))
        before, self.distinct = self.distinct, self.distinct + more
        self._data[end : end + size] = theirs.data[: theirs.offsets[-1]][np.repeat(new, lengths)]
        self._offsets[before + 1 : self.distinct + 1] = end + np.cumsum(lengths[new])
        self._fill_slots(before)
        ids[new] = np.arange(before, self.distinct)
        self._counts[ids] += other._counts[: other.distinct]
        self.tokens += other.tokens
        self.documents += other.documents
        self.of_lists |= other.of_lists
        self.of_grams |= other.of_grams

    def listed(self, texts: TextBatch) -> DocumentTerms:
        """The distinct words of each of these documents; words that are new are learned.

        Words of a single byte are left out, and counted in no length. Counts are packed; lengths
        have the words of the lead twice.
        """
        lead = LEAD * (UNITS_A_WORD if texts.rule.gram else 1)
        parts = []
        ids_of_texts = self._ids(texts, self._terms.tokens)
        for ids, counts, ends, _ in self._terms.documents(ids_of_texts, lead):
            kept = self._offsets[ids + 1] - self._offsets[ids] > 1
            n = counts % IN_LEAD
            sizes, lengths = offsets_of(kept)[ends], offsets_of(n * kept)[ends]
            packed = pack_count(n, counts // IN_LEAD)[kept]
            parts.append((ids[kept], packed, np.diff(sizes), np.diff(lengths)))
        ids, packed, sizes, lengths = map(np.concatenate, zip(*parts, strict=True))
        return DocumentTerms(ids, packed, offsets_of(sizes), lengths + np.minimum(lengths, lead))

    @property
    def seen_once(self) -> int:
        """How many words occurred once."""
        return int((self._counts[: self.distinct] == 1).sum())

    @property
    def unspaced(self) -> int:
        """How many of all words are characters of scripts without spaces, or pairs of them."""
        places = self._offsets[: self.distinct].tolist()
        firsts = (self._data[place : place + 4].tobytes() for place in places)
        characters = "".join(first.decode("utf-8", "ignore")[:1] or "?" for first in firsts)
        counts = self._counts[: self.distinct]
        return int(counts[are_unspaced(characters)].sum())

    def frequent(self, min_count: int) -> tuple[Vocabulary, Int64s]:
        """The words that occur at least so often and their counts, the most frequent first."""
        counts = self._counts[: self.distinct]
        kept = np.flatnonzero(counts >= min_count)
        ends = self._offsets
        spelled = [self._data[ends[i] : ends[i + 1]].tobytes() for i in kept]
        # Words of one count in the order of their bytes, so that no split of the corpus matters.
        order = sorted(range(len(kept)), key=lambda k: (-int(counts[kept[k]]), spelled[k]))
        vocabulary = Vocabulary.of(spelled[k].decode() for k in order)
        return vocabulary, counts[kept[order]]


def word_counts(corpus: Chunked, tokenizer: Tokenizer, threads: int | None = None) -> WordCounts:
    """All words of a corpus, counted.

    Threads take chunks in turn, each with a table of its own, while the next chunk is read. A large
    table becomes part of the whole at once, the others in the end.
    """
    whole = WordCounts()
    apart: list[WordCounts] = []
    merging = threading.Lock()

    def count(texts: TextBatch) -> None:
        with merging:
            table = apart.pop() if apart else WordCounts()
        table.add(texts)
        with merging:
            if table.distinct > MOST_APART:
                whole.absorb(table)
            else:
                apart.append(table)

    chunks = (as_text_batch(chunk, tokenizer) for chunk in corpus)
    workers = thread_count(threads)
    for _ in map(count, chunks) if workers == 1 else ordered_map(count, chunks, workers):
        pass
    for table in apart:
        whole.absorb(table)
    return whole


def usual_min_count(tokens: int, of_grams: bool = False) -> int:
    """How often a unit must occur to be learned: less often in a corpus of fewer words."""
    words = tokens // (UNITS_A_WORD if of_grams else 1)
    if words < 3_000:
        return 1
    return 2 if words < (45_000 if of_grams else 300_000) else 5


def frequent_words(counts: WordCounts, min_count: int | None) -> Vocabulary:
    """The counted words that are frequent enough to learn from, the most frequent first."""
    if counts.tokens == 0:
        raise CorpusError("the corpus holds no words to learn vectors from")
    least = usual_min_count(counts.tokens, counts.of_grams) if min_count is None else min_count
    vocabulary, _ = counts.frequent(least)
    if (counts.of_grams or min_count is None) and len(vocabulary) > MOST_UNITS:
        vocabulary = vocabulary.taken(np.arange(MOST_UNITS))
    if len(vocabulary) < 2:
        raise CorpusError(
            f"vectors need at least 2 words that occur {least} times or more, and the corpus has "
            f"{len(vocabulary)} (of {counts.distinct:,} distinct words): "
            "lower min_count, or add text"
        )
    return vocabulary


TOO_SMALL = 1_000  # words: below, nothing was measured
LARGE_CORPUS = 1_000_000  # words: from here on n-grams were not tried, and take long
SHORT = 30  # words a document
OFTEN_ONCE = 0.06  # of all words, those that occur only once
MOSTLY_ONCE = 0.25


WORDS_AS_USUAL = "words: as usual"


class AskedUnits(NamedTuple):
    """The rule of a corpus, the reason for it, and whether features are still to be chosen."""

    tokenizer: Tokenizer
    reason: str
    open: bool = False

    @classmethod
    def of(
        cls,
        tokenizer: Tokenizer,
        units: str,
        vectors: WordVectors | None = None,
        normalization: str = "none",
    ) -> AskedUnits:
        """What is asked for by the names of a tokenizer, of units and of a normalization."""
        if vectors is not None and normalization != "none":
            raise InputError(
                f"normalization {normalization!r} is of words learned from the corpus, and word "
                "vectors have words as they are written: leave the vectors or the normalization out"
            )
        if units == "auto":
            settled = resolve_tokenizer(tokenizer, normalization=normalization)
            return cls(settled, WORDS_AS_USUAL, tokenizer == "words" and vectors is None)
        settled = resolve_tokenizer(tokenizer, units, normalization)
        if vectors is not None and settled != resolve_tokenizer(tokenizer):
            raise InputError(
                f"units {units!r} are learned from the corpus, and word vectors are of words: "
                "leave the vectors or the units out"
            )
        return cls(settled, f"{Units.named(units).name}: as asked for")


def count_units(
    corpus: Chunked, tokenizer: Tokenizer, threads: int | None = None
) -> tuple[AskedUnits, WordCounts]:
    """The features that suit the words of a corpus, and their counts.

    A corpus is read once more if its words are too rare.
    """
    counts = word_counts(corpus, tokenizer, threads)
    chosen = units_for(counts, tokenizer)
    if chosen.tokenizer != tokenizer:
        counts = word_counts(corpus, chosen.tokenizer, threads)
    return chosen, counts


def units_for(counts: WordCounts, tokenizer: Tokenizer) -> AskedUnits:
    """The rule that suits a corpus whose words were counted under this one, and why."""
    units, why = choose_units(counts)
    return AskedUnits(with_units(str(tokenizer), Units.named(units)), f"{units}: {why}")


def choose_units(counts: WordCounts) -> tuple[str, str]:
    """The features for a corpus whose words were counted, and the reason.

    If documents are short, or many words occur only once, as in languages with many endings, whole
    words are too rare. Character n-grams keep what rare words have in common with others. If very
    many words occur once, n-grams are better alone, otherwise together with the words.
    """
    if counts.of_lists:
        return "words", "documents were given as lists of words"
    if counts.tokens < TOO_SMALL:
        return "words", f"the corpus has no more than {counts.tokens:,}"
    if counts.tokens >= LARGE_CORPUS:
        return "words", f"the corpus has {counts.tokens:,} of them"
    if counts.unspaced > counts.tokens / 2:
        return "words", "most are characters of a script without spaces"
    once = counts.seen_once / counts.tokens
    length = counts.tokens / max(counts.documents, 1)
    if once < MOSTLY_ONCE and length < SHORT:
        return "words+grams-4", f"{length:.1f} words a document, below {SHORT}"
    if once < OFTEN_ONCE:
        units, why = "words", f"below {OFTEN_ONCE:.0%}"
    elif once < MOSTLY_ONCE:
        units, why = "words+grams-4", f"from {OFTEN_ONCE:.0%} to {MOSTLY_ONCE:.0%}"
    else:
        units, why = "grams-4", f"at least {MOSTLY_ONCE:.0%}"
    return units, f"{once:.1%} of {counts.tokens:,} words occur only once, {why}"
