r"""Labeled pairs of documents, and rankings judged by people.

With :math:`g_r` the grade of the document at rank r, and :math:`g^*` the grades in the best order,

.. math:: \mathrm{nDCG@10} = \frac{\sum_{r \le 10} g_r / \log_2(r + 1)}
          {\sum_{r \le 10} g^*_r / \log_2(r + 1)}.

Recall is the share of the relevant documents among the first hundred, the average precision the
mean of the precision at each of them (0 for one that is not found), and the reciprocal rank that of
the first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse

from deltavec.core.arrays import blocks
from deltavec.core.learning.stemming import pair_products
from deltavec.core.threads import parallel_map, thread_count
from deltavec.errors import CorpusError

PAIRS_AT_ONCE = 65_536
LABELS = {"1": True, "0": False, "true": True, "false": False}


def pair_cosines(
    vectors: Any,
    first: npt.NDArray[np.int32],
    second: npt.NDArray[np.int32],
    *,
    threads: int | None = None,
) -> npt.NDArray[np.float32]:
    """The inner product of each pair of rows, which are of unit length; dense or sparse."""
    scores = np.empty(len(first), np.float32)

    is_sparse = sparse.issparse(vectors)
    rows: Any = vectors if is_sparse else np.ascontiguousarray(vectors, np.float32)

    def work(some: slice) -> None:
        if is_sparse:
            both = rows[first[some]].multiply(rows[second[some]])
            scores[some] = np.asarray(both.sum(axis=1)).reshape(-1)
        else:
            pair_products(rows, first[some], second[some], scores[some])

    list(parallel_map(work, [*blocks(len(scores), PAIRS_AT_ONCE)], thread_count(threads)))
    return scores


def as_label(value: Any, path: Path, row: int) -> bool:
    """Whether a pair is one of duplicates."""
    spelled = str(value).strip().lower().removesuffix(".0")
    if spelled not in LABELS:
        raise CorpusError(
            f"{path}, row {row}: expected the label 1 (duplicates) or 0 (not), got {value!r}"
        )
    return LABELS[spelled]


THRESHOLDS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95, 0.98, 0.99)


class AtThreshold(NamedTuple):
    """What is found at a threshold.

    Attributes
    ----------
    threshold : float
        A cosine; pairs at or above it are taken for pairs that belong together.
    found : int
        How many pairs these are.
    precision : float or None
        The share of them that do belong together; None of none.
    recall : float
        The share of those that belong together which is among them.
    """

    threshold: float
    found: int
    precision: float | None
    recall: float


def at_thresholds(
    cosines: npt.NDArray[np.float32],
    positive: npt.NDArray[np.bool_],
    thresholds: Sequence[float] = THRESHOLDS,
) -> tuple[AtThreshold, ...]:
    """What each threshold finds among labeled pairs, at least one of which belongs together."""
    steps = []
    for threshold in thresholds:
        above = cosines >= np.float32(threshold)
        found, right = int(above.sum()), int((above & positive).sum())
        precision = right / found if found else None
        steps.append(AtThreshold(threshold, found, precision, right / int(positive.sum())))
    return tuple(steps)


def best_threshold(cosines: npt.NDArray[np.float32], positive: npt.NDArray[np.bool_]) -> float:
    """The cosine with the highest F1, the harmonic mean of precision and recall.

    The highest of several. It is the cosine of a pair, which the threshold lets through.
    """
    order = np.argsort(-cosines, kind="stable")
    scores, right = cosines[order], np.cumsum(positive[order])
    found = np.arange(1, len(scores) + 1)
    f1 = 2 * right / (found + int(positive.sum()))
    ends = np.append(scores[1:] < scores[:-1], True)  # equal cosines are let through together
    return float(scores[np.argmax(np.where(ends, f1, -1))])


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
