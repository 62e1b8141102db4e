"""Alignment of units with words: which words the units of a text came from."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from deltavec.core.arrays import Float64s, Int64s
from deltavec.core.text.tokenize import Tokenized
from deltavec.core.vocabulary import Vocabulary


class Alignment(NamedTuple):
    """A sparse matrix: the share of each unit that came from each word, sorted by unit."""

    words: Int64s
    units: Int64s
    values: Float64s


class WordAlignment(NamedTuple):
    """Which words the known units of a text came from.

    Attributes
    ----------
    words, counts
        The distinct words with a known unit, and how often each occurs in the text.
    shares
        The share of a unit that came from a word; None where units are words.
    """

    words: list[str]
    counts: Int64s
    shares: Alignment | None

    def by_word(self, of_units: Float64s) -> Float64s:
        """Values of units, summed for each word."""
        if self.shares is None:
            return of_units
        of_words = np.zeros((len(self.words), of_units.shape[1]))
        np.add.at(
            of_words, self.shares.words, self.shares.values[:, None] * of_units[self.shares.units]
        )
        return of_words


def align(documents: Sequence[Tokenized], vocabulary: Vocabulary, ids: Int64s) -> WordAlignment:
    """The alignment of these documents, whose distinct known units are ``ids``.

    A unit that came from two words counts half for each. Words are in the order of their units in
    ``ids``.
    """
    counts = Counter(word for document in documents for word in document.words)
    if all(document.units == document.words for document in documents):
        words = [vocabulary.word(number) for number in ids.tolist()]
        return WordAlignment(words, np.array([counts[word] for word in words], np.int64), None)
    columns = {number: column for column, number in enumerate(ids.tolist())}
    origins: defaultdict[tuple[int, str], float] = defaultdict(float)
    for document in documents:
        numbers = vocabulary.ids(document.units).tolist()
        for number, (first, last) in zip(numbers, document.origins, strict=True):
            if number >= 0:
                for word in document.words[first : last + 1]:
                    origins[columns[number], word] += 1 / (last - first + 1)
    places = sorted(origins, key=lambda origin: origin[0])
    rows = {word: row for row, word in enumerate(dict.fromkeys(word for _, word in places))}
    values = np.array([origins[place] for place in places], np.float64)
    units = np.array([column for column, _ in places], np.int64)
    shares = Alignment(
        np.array([rows[word] for _, word in places], np.int64),
        units,
        values * (1 / np.bincount(units, values, minlength=len(ids)))[units],
    )
    return WordAlignment(list(rows), np.array([counts[word] for word in rows], np.int64), shares)


def known_words(tokenized: Tokenized, numbers: Int64s) -> set[str]:
    """The words of which a unit is known; ``numbers`` are the ids of all units, -1 for none."""
    return {
        word
        for number, (first, last) in zip(numbers.tolist(), tokenized.origins, strict=True)
        if number >= 0
        for word in tokenized.words[first : last + 1]
    }


def unknown_words(tokenized: Tokenized, numbers: Int64s) -> tuple[str, ...]:
    """The words of which no unit is known, in their order, each once."""
    known = known_words(tokenized, numbers)
    return tuple(dict.fromkeys(word for word in tokenized.words if word not in known))
