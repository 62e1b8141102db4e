"""The words of a text and where they stand in it.

Excerpts mark words in the text as it was written, which needs their positions.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from deltavec.core.arrays import Int32s, Int64s
from deltavec.core.text.normalize import fold_with_offsets
from deltavec.core.text.rules import (
    MARK,
    PAGE,
    SEPARATOR,
    UNSPACED,
    is_folded,
    rule,
    without_folding,
)

FAR = 100  # characters: a word that is not found so near has no position


class Spans(NamedTuple):
    """The words of a text in order, with the offsets where each begins and ends."""

    words: list[str]
    begins: Int64s
    ends: Int64s


def spans(text: str, tokenizer: str) -> Spans:
    """The words of a text under the rule of this name, and their offsets.

    Examples
    --------
    >>> found = spans("Don't PANIC", "words")
    >>> found.words, found.begins.tolist(), found.ends.tolist()
    (['don', 't', 'panic'], [0, 4, 6], [3, 5, 11])
    >>> spans("漢字 42", "words").words
    ['漢', '字', '42']
    """
    if is_folded(tokenizer):
        written = fold_with_offsets(text)
        own = spans(written.text, without_folding(tokenizer))
        return Spans(own.words, written.begins[own.begins], written.ends[own.ends - 1])
    table = rule(tokenizer)
    # A lone surrogate is one code point here too, and separates words.
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32).astype(np.int64)
    shifts = table.pages[table.page_of[codes // PAGE], codes % PAGE]
    inside, starts = shifts != SEPARATOR, word_starts(shifts)
    begins = np.flatnonzero(starts)
    ends = np.flatnonzero(inside & ~np.append(inside[1:] & ~starts[1:], False)) + 1
    lower = np.where(shifts < SEPARATOR, codes, np.where(inside, codes + shifts, 0))
    lowered = lower.astype(np.uint32).tobytes().decode("utf-32-le")
    places = zip(begins.tolist(), ends.tolist(), strict=True)
    words = [lowered[begin:end] for begin, end in places]
    return Spans(words, begins, ends)


def find_spans(text: str, words: Sequence[str]) -> Spans:
    """The offsets of words that follow one another in a text, whatever their case.

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
    begins = np.array([begin for _, begin, _ in found], np.int64)
    ends = np.array([end for _, _, end in found], np.int64)
    return Spans([word for word, _, _ in found], begins, ends)


def lower_character(character: str) -> str:
    """The lower case of a character if that is one character, otherwise the character."""
    lower = character.lower()
    return lower if len(lower) == 1 else character


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
