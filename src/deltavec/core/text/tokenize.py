"""The slow reference tokenizer, which defines every rule: words, their offsets, and their units.

Kernels find the same units faster. Explanations and excerpts read a text here, since they need the
words behind the units, and where the words are in the text.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from deltavec.core.arrays import Int32s, Int64s
from deltavec.core.text.normalize import fold, fold_with_offsets
from deltavec.core.text.rules import (
    BEFORE_WORD,
    BEHIND_WORD,
    LONGEST_WORD,
    MARK,
    SEPARATOR,
    UNSPACED,
    Rule,
    Units,
    is_folded,
    rule,
    shifts_of,
    units_of,
)

FAR = 100  # characters: a word that is not found within them has no position


class Tokenized(NamedTuple):
    """A text in words and in units.

    Attributes
    ----------
    words
        The words in order. In a script without spaces, its characters with their marks.
    units
        What is counted, in order: the words themselves, or their character n-grams.
    origins
        For each unit the positions of its first and its last word.
    """

    words: list[str]
    units: list[str]
    origins: list[tuple[int, int]]

    def add(self, word: str, units: list[str]) -> None:
        """Add a word and its units."""
        self.origins.extend([(len(self.words), len(self.words))] * len(units))
        self.words.append(word)
        self.units.extend(units)


class Spans(NamedTuple):
    """The words of a text in order, with the offsets where each begins and ends."""

    words: list[str]
    begins: Int64s
    ends: Int64s


def words(text: str, name: str = "words") -> list[str]:
    """The words of a text under the rule of this name.

    Examples
    --------
    >>> words("Don't PANIC: 42 crème brûlées")
    ['don', 't', 'panic', '42', 'crème', 'brûlées']
    >>> words("state-of-the-art , really", "whitespace")
    ['state-of-the-art', ',', 'really']
    """
    return tokenize(text, name).words


def tokenize(text: str, name: str) -> Tokenized:
    """The words and units of a text under the rule of this name.

    Examples
    --------
    >>> tokenize("Das 漢字 42", "words").units
    ['das', '漢', '漢字', '字', '42']
    >>> tokenize("Rote Tür", "words:grams-4").units
    ['<rot', 'rote', 'ote>', '<tür', 'tür>']
    """
    return tokenize_by(fold(text) if is_folded(name) else text, rule(name), units_of(name))


def tokenize_by(text: str, table: Rule, units: Units) -> Tokenized:
    """The words and units of a text under this rule, which counts these units."""
    found = Tokenized([], [], [])
    (names, begins, ends), unspaced = find_words(text, table)
    before = -1  # where the word before ends, if it is a character of a script without spaces
    for word, begin, end, alone in zip(
        names, begins.tolist(), ends.tolist(), unspaced.tolist(), strict=True
    ):
        if alone:
            if begin == before:
                found.origins.append((len(found.words) - 1, len(found.words)))
                found.units.append(found.words[-1] + word)
            found.add(word, [word])
        elif units.gram:
            for first in range(0, len(word), LONGEST_WORD):
                part = word[first : first + LONGEST_WORD]
                found.add(part, ngrams(part, units))
        else:
            found.add(word, [word])
        before = end if alone else -1
    return found


def tokenize_list(document: list[str], name: str) -> Tokenized:
    """The words and units of a document that is a list of words."""
    units = units_of(name)
    if not units.gram:
        return Tokenized(document, document, [(place, place) for place in range(len(document))])
    found = Tokenized([], [], [])
    for part in (tokenize(word, f"tokens:{units.name}") for word in document):
        before = len(found.words)
        found.words.extend(part.words)
        found.units.extend(part.units)
        found.origins.extend((before + first, before + last) for first, last in part.origins)
    return found


def ngrams(word: str, units: Units) -> list[str]:
    """The character n-grams of a word with marked edges; before them the word, if it counts."""
    marked = f"{BEFORE_WORD}{word}{BEHIND_WORD}"
    if len(marked) <= units.gram:
        return [marked]
    whole = [marked] if units.words else []
    return whole + [
        marked[begin : begin + units.gram] for begin in range(len(marked) - units.gram + 1)
    ]


def spans(text: str, name: str) -> Spans:
    """The words of a text under the rule of this name, and their offsets.

    Examples
    --------
    >>> found = spans("Don't PANIC", "words")
    >>> found.words, found.begins.tolist(), found.ends.tolist()
    (['don', 't', 'panic'], [0, 4, 6], [3, 5, 11])
    """
    if not is_folded(name):
        return find_words(text, rule(name))[0]
    folded = fold_with_offsets(text)
    own, _ = find_words(folded.text, rule(name))
    return Spans(own.words, folded.begins[own.begins], folded.ends[own.ends - 1])


def find_words(text: str, table: Rule) -> tuple[Spans, npt.NDArray[np.bool_]]:
    """The words of a text with their offsets, and which are of a script without spaces."""
    shifts = shifts_of(text, table)
    # A lone surrogate is one code point here too, and separates words.
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32).astype(np.int64)
    inside, starts = shifts != SEPARATOR, word_starts(shifts)
    begins = np.flatnonzero(starts)
    ends = np.flatnonzero(inside & ~np.append(inside[1:] & ~starts[1:], False)) + 1
    lower = np.where(shifts < SEPARATOR, codes, np.where(inside, codes + shifts, 0))
    lowered = lower.astype(np.uint32).tobytes().decode("utf-32-le")
    found = [lowered[i:j] for i, j in zip(begins.tolist(), ends.tolist(), strict=True)]
    return Spans(found, begins, ends), shifts[begins] == UNSPACED


def word_starts(shifts: Int32s) -> npt.NDArray[np.bool_]:
    """Whether a word begins at each character, by the shifts of the rule."""
    unspaced = shifts == UNSPACED
    # A mark has the kind of the character before it; after a separator it begins a word.
    places = np.maximum.accumulate(np.where(shifts == MARK, -1, np.arange(len(shifts))))
    of_unspaced = np.append(unspaced, False)[places]
    inside = shifts != SEPARATOR
    before_inside = np.append(False, inside)[:-1]
    before_unspaced = np.append(False, of_unspaced)[:-1]
    starts: npt.NDArray[np.bool_] = inside & (
        ~before_inside | unspaced | (before_unspaced & (shifts != MARK))
    )
    return starts


def find_spans(text: str, words: Sequence[str]) -> Spans:
    """The offsets of words that follow one another in a text, in any case.

    A word that a tokenizer makes and the text does not contain, such as a lemma, is left out.
    """
    lower = "".join(map(lower_character, text))
    found: list[tuple[str, int, int]] = []
    done = 0
    for word in words:
        begin = lower.find("".join(map(lower_character, word)), done, done + len(word) + FAR)
        if begin >= 0 and word:
            done = begin + len(word)
            found.append((word, begin, done))
    offsets = np.array([one[1:] for one in found], np.int64).reshape(-1, 2)
    return Spans([word for word, _, _ in found], offsets[:, 0], offsets[:, 1])


def lower_character(character: str) -> str:
    """The lower case of a character if that is one character, otherwise the character."""
    lower = character.lower()
    return lower if len(lower) == 1 else character
