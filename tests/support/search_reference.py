"""Search the slow, obvious way: all scores, sorted. The oracle for `deltavec.search`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt


def added_up(terms: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """The sum over the last axis, one term after the other."""
    return np.add.accumulate(terms, axis=-1)[..., -1]


def cosines(a: npt.NDArray[Any], b: npt.NDArray[Any]) -> npt.NDArray[np.float32]:
    """All scores: cosines in float64, rounded to float32; 0 with rows of zeros."""
    a, b = a.astype(np.float64), b.astype(np.float64)
    dots = np.array([added_up(row * b) for row in a]).reshape(len(a), len(b))
    lengths = np.sqrt(np.multiply.outer(added_up(a * a), added_up(b * b)))
    return np.divide(dots, lengths, out=np.zeros_like(dots), where=lengths > 0).astype(np.float32)


def best(
    rows: npt.NDArray[Any],
    queries: npt.NDArray[Any],
    k: int,
    ids: Sequence[Any] | None = None,
    where: npt.NDArray[np.bool_] | None = None,
) -> tuple[list[list[Any]], list[list[float]]]:
    """The ids and scores of the k best rows: highest score first, then lowest id."""
    names = list(range(len(rows))) if ids is None else list(ids)
    allowed = range(len(rows)) if where is None else np.flatnonzero(where).tolist()
    found = [
        sorted((-line[row], names[row]) for row in allowed)[:k]
        for line in cosines(queries, rows).tolist()
    ]
    return [[id for _, id in hits] for hits in found], [[-s for s, _ in hits] for hits in found]


def pairs(rows: npt.NDArray[Any], threshold: float) -> list[tuple[int, int, float]]:
    """All pairs of rows that are not zero, at or above a cosine."""
    scores = cosines(rows, rows)
    above = scores >= np.float32(threshold)
    a, b = np.nonzero(np.triu(above & (scores > 0), 1))
    return [(int(i), int(j), float(scores[i, j])) for i, j in zip(a, b, strict=True)]


def groups(count: int, links: list[tuple[int, int]]) -> list[list[int]]:
    """Rows that links join, two or more: largest group first, then by their first row."""
    group_of = {row: {row} for row in range(count)}
    for a, b in links:
        merged = group_of[a] | group_of[b]
        for row in merged:
            group_of[row] = merged
    distinct = {tuple(sorted(group)) for group in group_of.values() if len(group) > 1}
    return sorted((list(group) for group in distinct), key=lambda group: (-len(group), group[0]))
