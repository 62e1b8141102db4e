"""Where the words of a text stand, and which stretch of it says most.

The page shades words in the text as it was written, so their places are needed, not only the words.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from deltavec.core.tokens import PAGE, SEPARATOR, rule

SENTENCE_END = re.compile(r"[.!?。！？]\s|\n")


Piece = tuple[str, float | None]
"""A stretch of text; with a share if it is a known word."""


class Spans(NamedTuple):
    """The words of a text in their order, and where each begins and ends."""

    words: list[str]
    begins: npt.NDArray[np.int64]
    ends: npt.NDArray[np.int64]


class Excerpt(NamedTuple):
    """A stretch of a text, cut into pieces; a piece that is a known word has its share."""

    begin: int
    text: str
    pieces: list[Piece]


def spans(text: str, tokenizer: str) -> Spans:
    """The words of a text by a named rule, all code points at once.

    Examples
    --------
    >>> found = spans("Don't PANIC", "words")
    >>> found.words, found.begins.tolist(), found.ends.tolist()
    (['don', 't', 'panic'], [0, 4, 6], [3, 5, 11])
    """
    table = rule(tokenizer)
    # A lone surrogate is one code point here too, and separates words.
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32).astype(np.int64)
    shifts = table.pages[table.page_of[codes // PAGE], codes % PAGE]
    inside = shifts != SEPARATOR
    edges = np.flatnonzero(np.diff(inside, prepend=False, append=False))
    begins, ends = edges[::2], edges[1::2]
    lowered = np.where(inside, codes + shifts, 0).astype(np.uint32).tobytes().decode("utf-32-le")
    places = zip(begins.tolist(), ends.tolist(), strict=True)
    words = [lowered[begin:end] for begin, end in places]
    return Spans(words, begins, ends)


def excerpt(text: str, found: Spans, shares: Mapping[str, float], length: int) -> Excerpt:
    """The stretch of at most this many characters with the most share in it, cut into pieces."""
    begin = 0
    if len(text) > length and found.words:
        gains = np.array([shares.get(word, 0.0) for word in found.words]).clip(min=0)
        begin = best_begin(found, gains, sentence_starts(text, found), length)
    end = min(len(text), begin + length)
    return Excerpt(begin, text[begin:end], pieces(text, found, shares, begin, end))


def sentence_starts(text: str, found: Spans) -> npt.NDArray[np.int64]:
    """The numbers of the words that begin a sentence; the first word always does."""
    ended = [match.end() for match in SENTENCE_END.finditer(text)]
    following = np.unique(np.searchsorted(found.begins, [0, *ended]))
    return following[following < len(found.begins)]


def best_begin(
    found: Spans, gains: npt.NDArray[np.float64], starts: npt.NDArray[np.int64], length: int
) -> int:
    """Where the stretch with the largest sum of gains begins; the first one of equals."""
    sums = np.concatenate([[0.0], np.cumsum(gains)])
    last = np.searchsorted(found.ends, found.begins[starts] + length, side="right")
    chosen = int((sums[np.maximum(last, starts)] - sums[starts]).argmax())
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
