"""A forum: its questions, which of them are duplicates, and which pairs are compared."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from deltavec.errors import CorpusError
from deltavec.evaluation.auc import pairs_auc
from deltavec.evaluation.pairs import pair_cosines

MOST_PAIRS = 10_000_000  # as in the paper (section 6)

Pairs = npt.NDArray[np.int64]
Ids = npt.NDArray[np.int64]


class QuestionPairs(NamedTuple):
    """Pairs of questions, and which of them are duplicates.

    Attributes
    ----------
    first, second : ndarray of int32
        The two questions of each pair.
    positive : ndarray of bool
        Whether they are duplicates.
    possible : int
        The number of pairs to choose from.
    """

    first: npt.NDArray[np.int32]
    second: npt.NDArray[np.int32]
    positive: npt.NDArray[np.bool_]
    possible: int

    def auc(self, vectors: Any, *, threads: int | None = None) -> float:
        """The area under the ROC curve of the pairs' cosines; rows are dense or sparse."""
        scores = pair_cosines(vectors, self.first, self.second, threads=threads)
        return pairs_auc(scores, self.positive)


@dataclass(frozen=True, eq=False)
class Forum:
    """The questions of one forum.

    Attributes
    ----------
    name : str
        Its name.
    questions : tuple of str
        Their texts.
    duplicates : ndarray of int64, shape (pairs, 2)
        Pairs of questions that are duplicates.
    others : ndarray of int64, shape (pairs, 2), or None
        Pairs that are not, if they are listed. None if every other pair is one; then each duplicate
        is listed once, the smaller question first.
    notes : Mapping[str, int]
        What was left out, and how often.
    """

    name: str
    questions: tuple[str, ...]
    duplicates: Pairs
    others: Pairs | None = None
    notes: Mapping[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        questions, duplicates = len(self.questions), len(self.duplicates)
        if questions < 2:
            raise CorpusError(
                f"forum {self.name!r}: expected at least two questions, got {questions}"
            )
        if duplicates == 0:
            raise CorpusError(
                f"forum {self.name!r}: no pair of its {questions:,} questions is marked as a "
                "duplicate; expected some that are and some that are not"
            )
        if self.possible <= duplicates:
            raise CorpusError(
                f"forum {self.name!r}: all {duplicates:,} pairs are duplicates; "
                "expected some that are and some that are not"
            )

    @property
    def possible(self) -> int:
        """The number of pairs that can be compared."""
        if self.others is not None:
            return len(self.duplicates) + len(self.others)
        return len(self.questions) * (len(self.questions) - 1) // 2

    def pairs(self, most: int, seed: int) -> QuestionPairs:
        """All pairs, or a sample of this many that holds every duplicate."""
        rng = np.random.default_rng(seed)
        wanted = max(0, most - len(self.duplicates))
        if self.others is None:
            offsets = pair_offsets(len(self.questions))
            first, second = self.duplicates.T
            numbers = offsets[first] + second - first - 1
            drawn = draw(self.possible, numbers, wanted, rng)
            first = np.searchsorted(offsets, drawn, "right") - 1
            others = np.stack([first, drawn - offsets[first] + first + 1], axis=1)
        else:
            others = self.others[draw(len(self.others), np.zeros(0, np.int64), wanted, rng)]
        pairs = np.concatenate([self.duplicates, others])
        positive = np.arange(len(pairs)) < len(self.duplicates)
        order = np.lexsort((pairs[:, 1], pairs[:, 0]))
        first, second = pairs[order].T.astype(np.int32)
        return QuestionPairs(first, second, positive[order], self.possible)


def pair_offsets(questions: int) -> Ids:
    """The number of each question's first pair with a later one, if all pairs are numbered."""
    first = np.arange(questions)
    return first * questions - first * (first + 1) // 2


def draw(size: int, taken: Ids, count: int, rng: np.random.Generator) -> Ids:
    """``count`` numbers below ``size`` that are not taken, ascending; all of them if too few.

    Every set of this size is equally likely.
    """
    taken = np.unique(taken)
    if count >= size - len(taken) or size <= 4 * count:
        left = np.delete(np.arange(size), taken)
    else:  # far more than wanted: few draws collide
        left = np.zeros(0, np.int64)
        while len(left) < count:
            more = rng.integers(size, size=count - len(left) + count // 8 + 16)
            left = np.setdiff1d(np.concatenate([left, more]), taken)
    surplus = max(0, len(left) - count)
    return np.delete(left, rng.choice(len(left), surplus, replace=False, shuffle=False))


def sort_pairs(pairs: Iterable[tuple[int, int]]) -> Pairs:
    """The distinct pairs as rows, the smaller question first."""
    ordered = sorted({(min(pair), max(pair)) for pair in pairs})
    return np.array(ordered, np.int64).reshape(-1, 2)


def digest(forums: Sequence[Forum]) -> str:
    """A hash of all questions and pairs."""
    found = hashlib.sha256()
    for forum in forums:
        for text in (forum.name, *forum.questions):
            encoded = text.encode("utf-8", "surrogatepass")
            found.update(len(encoded).to_bytes(8, "little"))
            found.update(encoded)
        for pairs in (forum.duplicates, forum.others):
            found.update(b"none" if pairs is None else np.ascontiguousarray(pairs).tobytes())
    return found.hexdigest()
