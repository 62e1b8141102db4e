"""Which pairs of questions are compared: all of them, or a sample; and their scores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from deltavec.evaluation.auc import pairs_auc
from deltavec.evaluation.pairs import pair_cosines

MOST_PAIRS = 10_000_000  # as in the paper (section 6)

Numbers = npt.NDArray[np.int64]


class PairSpace(NamedTuple):
    """Numbers for the pairs of some questions that may be compared.

    Attributes
    ----------
    questions : int
        How many questions there are.
    queries : int
        0 where each question is compared with each other; else so many at the beginning are
        compared with all after them.
    """

    questions: int
    queries: int = 0

    @property
    def size(self) -> int:
        """How many pairs there are."""
        if self.queries:
            return self.queries * (self.questions - self.queries)
        return self.questions * (self.questions - 1) // 2

    @property
    def begins(self) -> Numbers:
        """The number of each question's first pair with one after it."""
        first = np.arange(self.questions)
        if self.queries:
            return first[: self.queries] * (self.questions - self.queries)
        return first * self.questions - first * (first + 1) // 2

    def numbers(self, pairs: Numbers) -> Numbers:
        """The numbers of pairs, given as rows whose first question comes before the second."""
        first, second = pairs[:, 0], pairs[:, 1]
        skipped = self.queries if self.queries else first + 1
        numbers: Numbers = self.begins[first] + second - skipped
        return numbers

    def pairs(self, numbers: Numbers) -> Numbers:
        """The pairs that have these numbers, as rows."""
        begins = self.begins
        first = np.searchsorted(begins, numbers, "right") - 1
        skipped = self.queries if self.queries else first + 1
        return np.stack([first, numbers - begins[first] + skipped], axis=1)


@dataclass(frozen=True, eq=False)
class QuestionPairs:
    """Pairs of questions, and which of them are duplicates.

    Attributes
    ----------
    first, second : ndarray of int32
        The two questions of each pair.
    positive : ndarray of bool
        Whether they are duplicates.
    possible : int
        How many pairs there were to choose from.
    """

    first: npt.NDArray[np.int32]
    second: npt.NDArray[np.int32]
    positive: npt.NDArray[np.bool_]
    possible: int

    def __len__(self) -> int:
        return len(self.first)

    def auc(self, vectors: Any, *, threads: int | None = None) -> float:
        """The area under the ROC curve of the pairs' cosines; rows are dense or sparse."""
        scores = pair_cosines(vectors, self.first, self.second, threads=threads)
        return pairs_auc(scores, self.positive)


def drawn(size: int, taken: Numbers, count: int, rng: np.random.Generator) -> Numbers:
    """So many of the numbers below ``size``, none of those taken, ascending; all if there are few.

    Every set of so many numbers is as likely as every other.
    """
    taken = np.unique(taken)
    if count >= size - len(taken) or size <= 4 * count:
        left = np.delete(np.arange(size), taken)
    else:  # many times more than wanted: few draws meet
        left = np.zeros(0, np.int64)
        while len(left) < count:
            more = rng.integers(size, size=count - len(left) + count // 8 + 16)
            left = np.unique(np.concatenate([left, more]))
            left = left[~is_among(left, taken)]
    surplus = max(0, len(left) - count)
    return np.delete(left, rng.choice(len(left), surplus, replace=False, shuffle=False))


def is_among(numbers: Numbers, few: Numbers) -> npt.NDArray[np.bool_]:
    """Whether each number is among a few others; both ascending."""
    among = np.zeros(len(numbers), bool)
    places = np.searchsorted(numbers, few)
    there = places < len(numbers)
    places, few = places[there], few[there]
    among[places[numbers[places] == few]] = True
    return among


def compared_pairs(
    space: PairSpace,
    duplicates: Numbers,
    never: Numbers,
    *,
    most: int = MOST_PAIRS,
    seed: int = 0,
) -> QuestionPairs:
    """All pairs, or as many as asked for: every duplicate, and others drawn at random.

    Parameters
    ----------
    space
        The pairs there are.
    duplicates
        Those that belong together, as rows of two questions, the first before the second.
    never
        Pairs that are not compared.
    most
        How many pairs to compare at most; duplicates are kept even beyond.
    seed
        Where random numbers begin.
    """
    kept = np.setdiff1d(space.numbers(duplicates), space.numbers(never))
    taken = np.union1d(kept, space.numbers(never))
    rng = np.random.default_rng(seed)
    others = drawn(space.size, taken, max(0, most - len(kept)), rng)
    numbers = np.sort(np.concatenate([kept, others]))
    first, second = space.pairs(numbers).T.astype(np.int32)
    possible = space.size - len(np.unique(never, axis=0))
    return QuestionPairs(first, second, is_among(numbers, kept), possible)


def listed_pairs(
    duplicates: Numbers, others: Numbers, *, most: int = MOST_PAIRS, seed: int = 0
) -> QuestionPairs:
    """The pairs of a table; beyond ``most``, every duplicate and others drawn at random."""
    rng = np.random.default_rng(seed)
    rows = drawn(len(others), np.zeros(0, np.int64), max(0, most - len(duplicates)), rng)
    pairs = np.concatenate([duplicates, others[rows]])
    positive = np.arange(len(pairs)) < len(duplicates)
    order = np.lexsort((pairs[:, 1], pairs[:, 0]))
    first, second = pairs[order].T.astype(np.int32)
    return QuestionPairs(first, second, positive[order], len(duplicates) + len(others))
