"""Where the words of a text stand, and which stretch of it says most.

The page and the command line mark words in the text as it was written, so their places are needed,
not only the words.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from deltavec.core.arrays import Float64s, Int32s, Int64s
from deltavec.core.explain import Contributions, decompose
from deltavec.core.model import EmbeddingModel
from deltavec.core.text.batches import Tokenizer, call_tokenizer
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
from deltavec.core.text.tokenize import Tokenized

SENTENCE_END = re.compile(r"[.!?。！？]\s|\n")
FAR = 100  # characters: a word that is not found so near has no place


Piece = tuple[str, float | None]
"""A stretch of text; with a share if it is a known word."""


class Spans(NamedTuple):
    """The words of a text in their order, and where each begins and ends."""

    words: list[str]
    begins: Int64s
    ends: Int64s


class Read(NamedTuple):
    """A text, where its words stand, its words and units, and what they add."""

    text: str
    spans: Spans
    tokenize: Tokenized
    document: Contributions


class Excerpt(NamedTuple):
    """A stretch of a text, cut into pieces; a piece that is a known word has its share."""

    begin: int
    text: str
    pieces: list[Piece]


def spans(text: str, tokenizer: Tokenizer) -> Spans:
    """The words of a text by a rule or a tokenizer, and where they stand.

    A word that a tokenizer makes and the text does not hold as it is, such as a base form, has no
    place and is left out.

    Examples
    --------
    >>> found = spans("Don't PANIC", "words")
    >>> found.words, found.begins.tolist(), found.ends.tolist()
    (['don', 't', 'panic'], [0, 4, 6], [3, 5, 11])
    >>> spans("漢字 42", "words").words
    ['漢', '字', '42']
    """
    if not isinstance(tokenizer, str):
        return spans_of(text, call_tokenizer(tokenizer, text))
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


def spans_of(text: str, words: Sequence[str]) -> Spans:
    """Where words stand in a text, one behind the other, whatever their case."""
    lower = "".join(map(lower_spans, text))
    found: list[tuple[str, int, int]] = []
    done = 0
    for word in words:
        begin = lower.find("".join(map(lower_spans, word)), done, done + len(word) + FAR)
        if begin >= 0 and word:
            done = begin + len(word)
            found.append((word, begin, done))
    begins = np.array([begin for _, begin, _ in found], np.int64)
    ends = np.array([end for _, _, end in found], np.int64)
    return Spans([word for word, _, _ in found], begins, ends)


def lower_spans(character: str) -> str:
    """The lower case of a character, if that is one character too."""
    lower = character.lower()
    return lower if len(lower) == 1 else character


def word_starts(shifts: Int32s) -> npt.NDArray[np.bool_]:
    """Where words begin, by what the rule says of each character."""
    unspaced = shifts == UNSPACED
    # A mark is of the kind of what stands before it; behind a separator it begins a word.
    places = np.maximum.accumulate(np.where(shifts == MARK, -1, np.arange(len(shifts))))
    of_unspaced = np.append(unspaced, False)[places]
    inside = shifts != SEPARATOR
    before_inside = np.append(False, inside)[:-1]
    before_unspaced = np.append(False, of_unspaced)[:-1]
    starts: npt.NDArray[np.bool_] = inside & (
        ~before_inside | unspaced | (before_unspaced & (shifts != MARK))
    )
    return starts


def read(model: EmbeddingModel, text: str) -> Read:
    """The text, taken apart."""
    parted = model.tokenize(text)
    apart = decompose(parted, model.vocabulary, model.folded)
    return Read(text, spans(text, model.tokenizer), parted, apart)


def excerpt(text: str, found: Spans, shares: Mapping[str, float], length: int) -> Excerpt:
    """The stretch of at most this many characters with the most share in it, cut into pieces."""
    begin = 0
    if len(text) > length and found.words:
        gains = np.array([shares.get(word, 0.0) for word in found.words]).clip(min=0)
        begin = best_begin(found, gains, sentence_starts(text, found), length)
    end = min(len(text), begin + length)
    return Excerpt(begin, text[begin:end], pieces(text, found, shares, begin, end))


def sentence_starts(text: str, found: Spans) -> Int64s:
    """The numbers of the words that begin a sentence; the first word always does."""
    ended = [match.end() for match in SENTENCE_END.finditer(text)]
    following = np.unique(np.searchsorted(found.begins, [0, *ended]))
    return following[following < len(found.begins)]


def best_begin(found: Spans, gains: Float64s, starts: Int64s, length: int) -> int:
    """Where the stretch with the largest sum of gains begins; the first one of equals.

    At the beginning of a sentence; within one only if that shows more than twice as much, and then
    a quarter of the stretch stands before the words it was chosen for.
    """
    sums = np.concatenate([[0.0], np.cumsum(gains)])

    def gained(words: Int64s, length: int) -> Float64s:
        last = np.searchsorted(found.ends, found.begins[words] + length, side="right")
        total: Float64s = sums[np.maximum(last, words)] - sums[words]
        return total

    at_sentences = gained(starts, length)
    gaining = np.flatnonzero(gains)
    at_words = gained(gaining, length - length // 4)
    if at_words.max(initial=0.0) > 2 * at_sentences.max():
        earliest = found.begins[gaining[at_words.argmax()]] - length // 4
        return int(found.begins[np.searchsorted(found.begins, earliest)])
    chosen = int(at_sentences.argmax())
    return int(found.begins[starts[chosen]]) if chosen else 0


def pieces(
    text: str, found: Spans, shares: Mapping[str, float], begin: int, end: int
) -> list[Piece]:
    """The text between two places as pieces; neighbours without a share are one piece."""
    cut: list[Piece] = []
    done = begin
    first, last = np.searchsorted(found.begins, begin), np.searchsorted(found.ends, end, "right")
    inside = slice(int(first), int(last))
    places = zip(found.begins[inside].tolist(), found.ends[inside].tolist(), strict=True)
    for word, (start, stop) in zip(found.words[inside], places, strict=True):
        if word not in shares:
            continue
        if start > done:
            cut.append((text[done:start], None))
        cut.append((text[start:stop], shares[word]))
        done = stop
    return [*cut, (text[done:end], None)] if done < end else cut
