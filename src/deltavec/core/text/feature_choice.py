"""Choice of features, words or character n-grams, by the word counts of a corpus.

The measurements are in experiments/languages, the reasons in docs/decisions/0016.
"""

from __future__ import annotations

from typing import NamedTuple

from deltavec.core.learning.vocabulary_builder import WordCounts, word_counts
from deltavec.core.text.batches import Chunked, Tokenizer, resolve_tokenizer
from deltavec.core.text.rules import Units, with_units
from deltavec.core.vectors import WordVectors
from deltavec.errors import InputError

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
