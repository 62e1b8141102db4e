"""Text overlap word by word: the oracle of `deltavec.search.shingles`."""

from __future__ import annotations

import math
import re
from collections import Counter
from itertools import combinations
from typing import NamedTuple

from deltavec.core.text.tokenize import words

Shingle = tuple[str, str]


class Text(NamedTuple):
    """A document: its words, its shingles, and those of its own lines if it quotes others."""

    words: list[str]
    shingles: set[Shingle]
    own: set[Shingle]


class Pair(NamedTuple):
    """What two documents share."""

    shared: float
    contained: float


def shingles(listed: list[str]) -> set[Shingle]:
    """All ordered pairs of words at most three places apart; the ends count as words."""
    if not listed:
        return set()
    line = ["<begin>", *listed, "<end>"]
    return {
        (line[i], line[j]) for i in range(len(line)) for j in range(i + 1, i + 4) if j < len(line)
    }


QUOTED = re.compile(r"[ A-Za-z]{0,3}>| {0,3}([|:}\]])(?:[ >]|\1)")
RULE = re.compile(r" *(?:[-_=*~#] *){2,}")


def own_lines(document: str) -> tuple[str, bool]:
    """The lines that are neither quoted nor a signature, and whether there are others."""
    lines = document.split("\n")
    own: list[str] = []
    for number, line in enumerate(lines):
        behind = "".join(f"\n{other}" for other in lines[number + 1 :])
        longest = 1600 if len(line.replace(" ", "")) == 2 else 400
        if RULE.fullmatch(line) and len(behind.encode()) <= longest:
            return "\n".join(own), True
        if not QUOTED.match(line):
            own.append(line)
    return "\n".join(own), len(own) < len(lines)


def read(document: str) -> Text:
    """A document, read."""
    own, quotes = own_lines(document)
    listed = words(document)
    return Text(listed, shingles(listed), shingles(words(own)) if quotes else set())


class Weights:
    """The weight of each shingle: log(1 + N / n)^2, three times as much with a digit."""

    def __init__(self, texts: list[Text]) -> None:
        distinct = {tuple(text.words): text for text in texts if text.words}
        self.documents = max(1, len(distinct))
        self.counts = Counter(one for text in distinct.values() for one in text.shingles)

    def __call__(self, shingle: Shingle) -> float:
        letters = "".join(word for word in shingle if word[0] != "<")
        times = 3 if re.search("[0-9]", letters) else 1
        return times * math.log(1 + self.documents / max(1, self.counts[shingle])) ** 2


def overlap(a: Text, b: Text, weights: Weights) -> Pair:
    """What two documents share."""
    if min(len(a.words), len(b.words)) < 5:
        same = float(bool(a.words) and a.words == b.words)
        return Pair(same, same)

    def total(some: set[Shingle]) -> float:
        return sum(map(weights, some))

    common = total(a.shingles & b.shingles)
    heavier = max(total(a.shingles), total(b.shingles))
    shares = [common / heavier]
    for one, other in ((a, b), (b, a)):
        if one.own:
            shares.append(total(one.own & other.shingles) / total(one.own))
    return Pair(min(shares), common / min(total(a.shingles), total(b.shingles)))


def pairs(documents: list[str]) -> dict[tuple[int, int], Pair]:
    """Every pair of documents, and what it shares."""
    texts = [read(document) for document in documents]
    weights = Weights(texts)
    return {
        (i, j): overlap(texts[i], texts[j], weights) for i, j in combinations(range(len(texts)), 2)
    }
