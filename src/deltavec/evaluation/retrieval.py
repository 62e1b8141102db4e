r"""How good a ranking is, by what people judged to be relevant.

With :math:`g_r` the grade of the document at rank r, and :math:`g^*` the grades in the best order,

.. math:: \mathrm{nDCG@10} = \frac{\sum_{r \le 10} g_r / \log_2(r + 1)}
          {\sum_{r \le 10} g^*_r / \log_2(r + 1)}.

Recall is the share of the relevant documents among the first hundred, the average precision the
mean of the precision at each of them (0 for one that is not found), and the reciprocal rank that of
the first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

DRAWS = 2000


class Ranking(NamedTuple):
    """How good one ranking is."""

    ndcg_10: float
    recall_100: float
    average_precision: float
    reciprocal_rank: float


def measured(ranked: Sequence[str], grades: Mapping[str, int]) -> Ranking:
    """How good a ranking is, the best document first, where some have a grade above 0.

    Examples
    --------
    >>> measured(["b", "a"], {"a": 1})
    Ranking(ndcg_10=0.6309297535714575, recall_100=1.0, average_precision=0.5, reciprocal_rank=0.5)
    """
    relevant = {name: grade for name, grade in grades.items() if grade > 0}
    gains = np.array([relevant.get(name, 0) for name in ranked], np.float64)
    best = np.array(sorted(relevant.values(), reverse=True)[:10], np.float64)
    discounts = 1 / np.log2(np.arange(2, 12))
    hits = gains > 0
    precision = np.cumsum(hits) / np.arange(1, len(hits) + 1)
    first = np.flatnonzero(hits)
    return Ranking(
        float(gains[:10] @ discounts[: len(gains[:10])] / (best @ discounts[: len(best)])),
        float(hits[:100].sum() / len(relevant)),
        float(precision[hits].sum() / len(relevant)),
        float(1 / (first[0] + 1)) if len(first) else 0.0,
    )


def bootstrap_error(differences: npt.ArrayLike, seed: int = 0, draws: int = DRAWS) -> float:
    """The standard error of a mean of differences, one for each query, drawn anew many times."""
    values = np.asarray(differences, np.float64)
    drawn = np.random.default_rng(seed).integers(0, len(values), (draws, len(values)))
    return float(values[drawn].mean(axis=1).std())
