"""A forum: its questions, and which of them are duplicates."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from deltavec.errors import CorpusError
from deltavec.lab.questions.pairs import PairSpace, QuestionPairs, compared_pairs, listed_pairs

Pairs = npt.NDArray[np.int64]


def no_pairs() -> Pairs:
    """An empty list of pairs."""
    return np.zeros((0, 2), np.int64)


@dataclass(frozen=True, eq=False)
class Forum:
    """The questions of one forum.

    Attributes
    ----------
    name : str
        What it is called.
    questions : tuple of str
        Their texts.
    duplicates : ndarray of int64, shape (pairs, 2)
        Places of questions that are duplicates.
    others : ndarray of int64, shape (pairs, 2), or None
        Pairs that are not, where they are listed. None where every other pair is one; then the
        first of two duplicates comes before the second, and no pair twice.
    queries : int
        0, or how many questions at the beginning are compared with those after them only.
    never : ndarray of int64, shape (pairs, 2)
        Pairs that are not compared: a query and the same question.
    notes : Mapping[str, int]
        What was left out or mended, and how often.
    """

    name: str
    questions: tuple[str, ...]
    duplicates: Pairs
    others: Pairs | None = None
    queries: int = 0
    never: Pairs = field(default_factory=no_pairs)
    notes: Mapping[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if len(self.questions) < 2:
            raise CorpusError(
                f"forum {self.name!r}: expected at least two questions, got {len(self.questions)}"
            )
        if len(self.duplicates) == 0:
            raise CorpusError(
                f"forum {self.name!r}: no pair of its {len(self.questions):,} questions is marked "
                "as a duplicate; expected some that are and some that are not"
            )
        possible = len(self.duplicates) + (
            self.space.size - len(self.duplicates) if self.others is None else len(self.others)
        )
        if possible <= len(self.duplicates):
            raise CorpusError(
                f"forum {self.name!r}: all {len(self.duplicates):,} pairs are duplicates; "
                "expected some that are and some that are not"
            )

    @property
    def space(self) -> PairSpace:
        """The pairs of questions that there are."""
        return PairSpace(len(self.questions), self.queries)

    def pairs(self, most: int, seed: int) -> QuestionPairs:
        """All pairs to compare, or a sample of so many with every duplicate in it."""
        if self.others is not None:
            return listed_pairs(self.duplicates, self.others, most=most, seed=seed)
        return compared_pairs(self.space, self.duplicates, self.never, most=most, seed=seed)


def as_pairs(pairs: Iterable[tuple[int, int]]) -> Pairs:
    """Pairs of places as rows, the smaller place first, each pair once."""
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
        for pairs in (forum.duplicates, forum.others, forum.never):
            found.update(b"none" if pairs is None else np.ascontiguousarray(pairs).tobytes())
        found.update(str(forum.queries).encode())
    return found.hexdigest()
