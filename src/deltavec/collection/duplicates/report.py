"""How many duplicates there are at which threshold, with an example of each: to choose one by."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from deltavec.core.arrays import Float32s, Int64s
from deltavec.search.keeping import KeepFirst
from deltavec.search.pairs import row_pairs

if TYPE_CHECKING:
    from deltavec.collection.collection import Collection
    from deltavec.collection.duplicates.overlap import Overlap

THRESHOLDS = (0.8, 0.85, 0.9, 0.95, 0.98, 0.99, 0.999)
TEXT = 200  # characters of an example


class Example(NamedTuple):
    """Two documents that a threshold only just takes for duplicates."""

    a: str
    b: str
    score: float
    text_a: str
    text_b: str


class Step(NamedTuple):
    """What a threshold finds.

    Attributes
    ----------
    threshold : float
        The cosine.
    pairs : int
        How many pairs are at or above it.
    removed : int
        How many documents would go.
    example : Example or None
        The pair that is least alike of those below the next threshold; None if there is none.
    """

    threshold: float
    pairs: int
    removed: int
    example: Example | None


class Least:
    """The pair with the lowest score between two thresholds, the first of several."""

    def __init__(self, low: float, high: float) -> None:
        self.low, self.high = np.float32(low), np.float32(high)
        self.score = np.float32(np.inf)
        self.pair = (-1, -1)

    def add(self, a: Int64s, b: Int64s, score: Float32s) -> None:
        """Take in some pairs."""
        inside = np.flatnonzero((score >= self.low) & (score < self.high))
        if len(inside):
            place = inside[np.argmin(score[inside])]
            if score[place] < self.score:
                self.score, self.pair = score[place], (int(a[place]), int(b[place]))


def duplicate_steps(
    collection: Collection,
    thresholds: Sequence[float] = THRESHOLDS,
    *,
    threads: int | None = None,
    on_progress: Callable[[float], None] | None = None,
) -> list[Step]:
    """What each threshold finds in a collection, from one pass over its pairs."""
    pieces = collection.index.pieces.in_one()
    keepings = [KeepFirst(len(pieces), threshold) for threshold in thresholds]
    least = [*between(thresholds)]
    counts = np.zeros(len(thresholds), np.int64)
    for part in row_pairs(pieces, thresholds[0], threads=threads, on_progress=on_progress):
        for place, threshold in enumerate(thresholds):
            counts[place] += int((part.score >= np.float32(threshold)).sum())
            keepings[place].add(part)
            least[place].add(*part)
    return [
        Step(
            threshold,
            int(count),
            len(keeping.removed),
            None if one.pair[0] < 0 else shorten_text(collection, *one.pair, float(one.score)),
        )
        for threshold, count, keeping, one in zip(thresholds, counts, keepings, least, strict=True)
    ]


def overlap_steps(
    collection: Collection, found: Overlap, thresholds: Sequence[float] = THRESHOLDS
) -> list[Step]:
    """What each threshold finds of a collection elsewhere; matches are pairs."""
    score = found.table["score"].to_numpy()
    rows = np.arange(len(score))
    steps: list[Step] = []
    for one in between(thresholds):
        one.add(rows, rows, score)
        count = int((score >= one.low).sum())
        example = None
        if one.pair[0] >= 0:
            own, match, value = (found.table[name][one.pair[0]].as_py() for name in NAMES)
            example = Example(own, match, value, collection.text(own)[:TEXT], "")
        steps.append(Step(float(thresholds[len(steps)]), count, count, example))
    return steps


NAMES = ("id", "match", "score")


def between(thresholds: Sequence[float]) -> Iterator[Least]:
    """The pairs between each threshold and the next; above the last there is no bound."""
    for low, high in zip(thresholds, (*thresholds[1:], np.inf), strict=True):
        yield Least(low, high)


def shorten_text(collection: Collection, a: int, b: int, score: float) -> Example:
    """An example with the beginnings of both texts."""
    table = collection.documents([a, b])
    ids, texts = table["id"].to_pylist(), table["text"].to_pylist()
    return Example(ids[0], ids[1], score, texts[0][:TEXT], texts[1][:TEXT])
