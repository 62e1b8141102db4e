r"""The area under the ROC curve of labeled pairs, and the standard error of a difference.

Two recipes are compared on the same pairs. Collections differ in their groups, so the standard
error leaves out one group at a time (the jackknife). With D the difference of two areas, G groups,
and :math:`D_{-g}` the same difference without all pairs that touch group g,

.. math:: \mathrm{se}^2 = \frac{G - 1}{G} \sum_g \left(D_{-g} - \overline{D}\right)^2

Every :math:`D_{-g}` is exact. An area is a count of (positive, negative) couples of pairs in the
right order; those that touch g are taken off by inclusion and exclusion, so that all G areas
together cost little more than one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import special

from deltavec.evaluation.auc import require_both_classes, twice_below
from deltavec.evaluation.pairs import pair_cosines

Ints = npt.NDArray[np.int32]
Bools = npt.NDArray[np.bool_]
Rows = npt.NDArray[np.int64]

# One-sided: a recipe that is no better passes in one case of forty.
CONFIDENCE = 0.975


@dataclass(frozen=True, eq=False)
class LabeledPairs:
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
    def touching(self) -> list[tuple[Rows, Rows]]:
        """The places of the positive pairs that touch each unit, and of the negative ones."""
        return [*zip(self._touching(self.positive), self._touching(~self.positive), strict=True)]

    def _touching(self, wanted: Bools) -> list[Rows]:
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
        """The cosine of each pair's documents."""
        return pair_cosines(vectors, self.first, self.second, threads=threads)


class JackknifedAuc(NamedTuple):
    """The area under the ROC curve of all pairs, and of those that do not touch each unit."""

    whole: float
    without: npt.NDArray[np.float64]


def jackknife_auc(scores: npt.NDArray[Any], pairs: LabeledPairs) -> JackknifedAuc:
    """The area over all pairs, and with each unit left out."""
    positives, negatives = np.sort(scores[pairs.positive]), np.sort(scores[~pairs.positive])
    require_both_classes(len(positives), len(negatives))
    # Twice the couples that each pair has in the right order, a tie counting one.
    couples = np.empty(len(scores), np.int64)
    couples[pairs.positive] = twice_below(negatives, scores[pairs.positive])
    couples[~pairs.positive] = 2 * len(positives) - twice_below(positives, scores[~pairs.positive])
    total = int(couples[pairs.positive].sum())
    without = np.empty(pairs.units)
    for unit, (own, others) in enumerate(pairs.touching):
        counted_twice = 2 * len(own) * len(others) - int(
            twice_below(np.sort(scores[own]), scores[others]).sum()
        )
        left = total - int(couples[own].sum()) - int(couples[others].sum()) + counted_twice
        possible = 2 * (len(positives) - len(own)) * (len(negatives) - len(others))
        without[unit] = left / possible if possible else math.nan
    return JackknifedAuc(total / (2 * len(positives) * len(negatives)), without)


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

    Examples
    --------
    >>> tuned.gain  # doctest: +SKIP
    """

    value: float
    standard_error: float
    noise: float

    @classmethod
    def between(cls, ours: JackknifedAuc, others: JackknifedAuc) -> Gain:
        """The gain of the first over the second."""
        without = ours.without - others.without
        units = len(without)
        square = (units - 1) / units * float(((without - without.mean()) ** 2).sum())
        error = math.sqrt(square)
        quantile = float(special.stdtrit(units - 1, CONFIDENCE))
        return cls(ours.whole - others.whole, error, quantile * error)
