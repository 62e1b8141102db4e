"""Which units a corpus is best counted in, told from its words alone.

What was measured is in experiments/languages, and why it was decided so in docs/decisions/0016.
"""

from __future__ import annotations

from typing import NamedTuple

from deltavec.core.learning.vocabulary_builder import WordCounts, word_counts
from deltavec.core.text.batches import Chunked, Tokenizer, resolve_tokenizer
from deltavec.core.text.rules import Units, with_units
from deltavec.core.vectors import WordVectors
from deltavec.errors import InputError

TOO_SMALL = 1_000  # words: below, nothing was measured
LARGE_CORPUS = 1_000_000  # words: from here on runs of characters were not tried, and take long
OFTEN_ONCE = 0.06  # of all words, those that stand nowhere else
MOSTLY_ONCE = 0.25


WORDS_AS_USUAL = "words: as usual"


class AskedUnits(NamedTuple):
    """The rule that parts and counts a corpus, why it does, and whether units are still open."""

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


class CountedUnits(NamedTuple):
    """The rule that is used, and all units of the corpus under it, counted."""

    asked: AskedUnits
    counts: WordCounts


class ChosenUnits(NamedTuple):
    """Units, and why these."""

    units: Units
    reason: str


def count_units(corpus: Chunked, tokenizer: Tokenizer, threads: int | None = None) -> CountedUnits:
    """The units of a corpus that suit its words, counted.

    A corpus is read once more if its words are too rare.
    """
    counts = word_counts(corpus, tokenizer, threads)
    chosen = units_for(counts, tokenizer)
    if chosen.tokenizer == tokenizer:
        return CountedUnits(chosen, counts)
    return CountedUnits(chosen, word_counts(corpus, chosen.tokenizer, threads))


def units_for(counts: WordCounts, tokenizer: Tokenizer) -> AskedUnits:
    """The rule that suits a corpus whose words were counted under this one, and why."""
    units, reason = choose_units(counts)
    return AskedUnits(with_units(str(tokenizer), units), reason)


def choose_units(counts: WordCounts) -> ChosenUnits:
    """The units for a corpus whose words were counted.

    Where many words stand nowhere else, in short texts and in languages with many endings, whole
    words are too rare: what they have in common with others is lost, and runs of characters keep
    it. Where very many do, runs are better alone; else the words beside them help.
    """
    words = Units.named("words")
    if counts.of_lists:
        return ChosenUnits(words, "words: documents were given as lists of words")
    if counts.tokens < TOO_SMALL:
        return ChosenUnits(words, f"words: the corpus has no more than {counts.tokens:,}")
    if counts.tokens >= LARGE_CORPUS:
        return ChosenUnits(words, f"words: the corpus has {counts.tokens:,} of them")
    if counts.unspaced > counts.tokens / 2:
        return ChosenUnits(words, "words: most are characters of a script without spaces")
    once = counts.seen_once / counts.tokens
    if once < OFTEN_ONCE:
        units, why = words, f"below {OFTEN_ONCE:.0%}"
    elif once < MOSTLY_ONCE:
        units, why = Units.named("words+grams"), f"from {OFTEN_ONCE:.0%} to {MOSTLY_ONCE:.0%}"
    else:
        units, why = Units.named("grams"), f"at least {MOSTLY_ONCE:.0%}"
    return ChosenUnits(
        units,
        f"{units.name}: {once:.1%} of {counts.tokens:,} words stand nowhere else, {why}",
    )
