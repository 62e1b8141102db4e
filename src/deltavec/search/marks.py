"""Where two texts are the same: what to mark when they are shown side by side."""

from __future__ import annotations

from deltavec.core.text.tokenize import spans
from deltavec.search.shingle_kernels import WINDOW

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
