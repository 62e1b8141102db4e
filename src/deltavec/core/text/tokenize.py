"""The units of a text, one code point at a time: the slow reference that defines every rule.

Explanations are read from it too: it says which words a unit came from.
"""

from __future__ import annotations

from typing import NamedTuple

from deltavec.core.text.normalize import fold
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


class Tokenized(NamedTuple):
    """A text in words and in units.

    Attributes
    ----------
    words
        The words in their order; in a script without spaces, its characters with their marks.
    units
        What is counted, in its order: the words themselves, or runs of their characters.
    origins
        For each unit the places of its first and its last word.
    """

    words: list[str]
    units: list[str]
    origins: list[tuple[int, int]]


class Run(NamedTuple):
    """Characters side by side of one kind; of a script without spaces, each with its marks."""

    unspaced: bool
    characters: list[str]


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
    for run in runs(text, table):
        if run.unspaced:
            add_characters(found, run.characters)
        elif units.gram:
            for begin in range(0, len(run.characters), LONGEST_WORD):
                add_word(found, "".join(run.characters[begin : begin + LONGEST_WORD]), units)
        else:
            add_word(found, "".join(run.characters), units)
    return found


def tokenize_list(document: list[str], name: str) -> Tokenized:
    """The same for a document that is a list of words."""
    units = units_of(name)
    if not units.gram:
        return Tokenized(document, document, [(place, place) for place in range(len(document))])
    parts = [tokenize(word, f"tokens:{units.name}") for word in document]
    found = Tokenized([], [], [])
    for part in parts:
        before = len(found.words)
        found.words.extend(part.words)
        found.units.extend(part.units)
        found.origins.extend((before + first, before + last) for first, last in part.origins)
    return found


def runs(text: str, table: Rule) -> list[Run]:
    """The words of a text, those of scripts without spaces character by character."""
    separator, mark, without_spaces = int(SEPARATOR), int(MARK), int(UNSPACED)
    found: list[Run] = []
    inside = False  # a word: what comes next may belong to it
    for character, shift in zip(text, shifts_of(text, table).tolist(), strict=True):
        if shift == separator:
            inside = False
        elif shift == mark and inside and found[-1].unspaced:
            found[-1].characters[-1] += character
        else:
            unspaced = shift == without_spaces
            lowered = character if shift < separator else chr(ord(character) + shift)
            if inside and found[-1].unspaced == unspaced:
                found[-1].characters.append(lowered)
            else:
                found.append(Run(unspaced, [lowered]))
            inside = True
    return found


def add_characters(found: Tokenized, characters: list[str]) -> None:
    """Each character, and each with the next."""
    for place, character in enumerate(characters):
        number = len(found.words)
        if place:
            found.units.append(characters[place - 1] + character)
            found.origins.append((number - 1, number))
        found.words.append(character)
        found.units.append(character)
        found.origins.append((number, number))


def add_word(found: Tokenized, word: str, units: Units) -> None:
    """A word: itself, or the runs of its characters."""
    own = [word] if not units.gram else ngrams(word, units)
    found.origins.extend([(len(found.words), len(found.words))] * len(own))
    found.words.append(word)
    found.units.extend(own)


def ngrams(word: str, units: Units) -> list[str]:
    """The runs of a word's characters, its edges marked, and before them the word if it counts."""
    marked = f"{BEFORE_WORD}{word}{BEHIND_WORD}"
    if len(marked) <= units.gram:
        return [marked]
    whole = [marked] if units.words else []
    return whole + [
        marked[begin : begin + units.gram] for begin in range(len(marked) - units.gram + 1)
    ]
