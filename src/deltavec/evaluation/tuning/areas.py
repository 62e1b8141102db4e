r"""How well cosines tell pairs apart, and how sure one can be of a difference.

Two recipes are compared on the same pairs. What varies from one collection to the next is which
groups are in it, not which pairs, so the standard error leaves out one group at a time (the
jackknife): with D the difference of two areas, G groups, and :math:`D_{-g}` the same difference
without all pairs that touch group g,

.. math:: \mathrm{se}^2 = \frac{G - 1}{G} \sum_g \left(D_{-g} - \overline{D}\right)^2

Every :math:`D_{-g}` is exact. An area is a count of (positive, negative) couples of pairs in the
right order; those that touch g are taken off by inclusion and exclusion, so that all G areas
together cost little more than one.
"""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import special

from deltavec.core.passes import thread_count
from deltavec.evaluation.auc import require_both_classes
from deltavec.evaluation.question_pairs import products

Ints = npt.NDArray[np.int32]
Bools = npt.NDArray[np.bool_]

# One-sided: a recipe that is no better passes in one case of forty.
CONFIDENCE = 0.975


@dataclass(frozen=True, eq=False)
class LabelledPairs:
    """Pairs of documents that belong together or do not, and the units they touch.

    Attributes
    ----------
    first, second : ndarray of int32
        The two documents of each pair.
    positive : ndarray of bool
        Whether they belong together.
    unit_of : ndarray of int32, shape (documents,)
        The unit of each document: what is left out at once for the standard error.
    """

    first: Ints
    second: Ints
    positive: Bools
    unit_of: Ints

    @property
    def units(self) -> int:
        """How many units there are."""
        return int(self.unit_of.max(initial=-1)) + 1

    @cached_property
    def positives_by_unit(self) -> list[npt.NDArray[np.int64]]:
        """The places of the positive pairs that touch each unit."""
        return self._by_unit(self.positive)

    @cached_property
    def negatives_by_unit(self) -> list[npt.NDArray[np.int64]]:
        """The places of the negative pairs that touch each unit."""
        return self._by_unit(~self.positive)

    def _by_unit(self, wanted: Bools) -> list[npt.NDArray[np.int64]]:
        places = np.flatnonzero(wanted)
        one, other = self.unit_of[self.first[places]], self.unit_of[self.second[places]]
        across = one != other  # such a pair touches two units
        touched = np.concatenate([one, other[across]])
        order = np.argsort(touched, kind="stable")
        ends = np.cumsum(np.bincount(touched, minlength=self.units))
        return np.split(np.concatenate([places, places[across]])[order], ends[:-1])

    def cosines(
        self, vectors: npt.NDArray[np.float32], threads: int | None = None
    ) -> npt.NDArray[np.float32]:
        """The inner product of each pair's rows."""
        scores = np.empty(len(self.first), np.float32)
        count = thread_count(threads)
        borders = np.linspace(0, len(scores), count + 1).astype(int).tolist()
        rows = np.ascontiguousarray(vectors, np.float32)

        def work(begin: int, end: int) -> None:
            here = slice(begin, end)
            products(rows, self.first[here], self.second[here], scores[here])

        with ThreadPoolExecutor(count) as pool:
            list(pool.map(work, borders[:-1], borders[1:]))
        return scores


class Areas(NamedTuple):
    """The area under the ROC curve of all pairs, and of those that do not touch each unit."""

    whole: float
    without: npt.NDArray[np.float64]


def areas(scores: npt.NDArray[Any], pairs: LabelledPairs) -> Areas:
    """The area over all pairs, and with each unit left out."""
    positives, negatives = np.sort(scores[pairs.positive]), np.sort(scores[~pairs.positive])
    require_both_classes(len(positives), len(negatives))
    # Twice the couples that each pair has in the right order, a tie counting one.
    couples = np.empty(len(scores), np.int64)
    couples[pairs.positive] = twice_below(negatives, scores[pairs.positive])
    couples[~pairs.positive] = 2 * len(positives) - twice_below(positives, scores[~pairs.positive])
    total = int(couples[pairs.positive].sum())
    without = np.empty(pairs.units)
    for unit, (own, others) in enumerate(
        zip(pairs.positives_by_unit, pairs.negatives_by_unit, strict=True)
    ):
        counted_twice = 2 * len(own) * len(others) - int(
            twice_below(np.sort(scores[own]), scores[others]).sum()
        )
        left = total - int(couples[own].sum()) - int(couples[others].sum()) + counted_twice
        possible = 2 * (len(positives) - len(own)) * (len(negatives) - len(others))
        without[unit] = left / possible if possible else math.nan
    return Areas(total / (2 * len(positives) * len(negatives)), without)


def twice_below(ascending: npt.NDArray[Any], scores: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """Twice the number of sorted values below each score, ties once."""
    below, through = (np.searchsorted(ascending, scores, side) for side in ("left", "right"))
    doubled: npt.NDArray[np.int64] = below + through
    return doubled


class Gain(NamedTuple):
    """How much higher one recipe scores than another on the same pairs, and how sure that is.

    Attributes
    ----------
    value : float
        The difference of the areas.
    standard_error : float
        Of the difference, over units.
    noise : float
        A gain of up to this much may well be chance: so many standard errors that one in forty
        gains of recipes that are no better exceeds it. About 2, more for few units (Student's t).
    """

    value: float
    standard_error: float
    noise: float

    @classmethod
    def between(cls, areas: Areas, others: Areas) -> Gain:
        """The gain of the first over the second."""
        without = areas.without - others.without
        units = len(without)
        square = (units - 1) / units * float(((without - without.mean()) ** 2).sum())
        error = math.sqrt(square)
        quantile = float(special.stdtrit(units - 1, CONFIDENCE))
        return cls(areas.whole - others.whole, error, quantile * error)
