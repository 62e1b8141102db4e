r"""The area under the ROC curve, exactly: over explicit pairs, or over all pairs of documents.

The area is the share of (positive, negative) pairs of scores in which the positive one is higher,
a tie counting half. Of all n (n - 1) / 2 cosines only those of the smaller class are kept, sorted;
every other one is ranked among them as soon as it is computed, and forgotten. To rank one costs a
step or two: the range of scores is cut into as many equal buckets as there are kept scores, and
only those in the bucket where it falls are looked at.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from deltavec.core.kernels import Float32s, Int64s, compiled
from deltavec.core.packing import begins_of
from deltavec.core.passes import thread_count
from deltavec.errors import InputError

ROWS_AT_ONCE = 256
MOST_BUCKETS = 1 << 22


def pairs_auc(scores: npt.ArrayLike, labels: npt.ArrayLike) -> float:
    """The area under the ROC curve of explicit pairs.

    Parameters
    ----------
    scores
        How alike each pair is; finite.
    labels
        1 (or True) for a pair that belongs together, 0 for one that does not.

    Examples
    --------
    >>> pairs_auc([0.9, 0.4, 0.4, 0.1], [1, 1, 0, 0])
    0.875
    """
    values, positive = np.asarray(scores), np.asarray(labels).astype(bool)
    if values.shape != positive.shape or values.ndim != 1:
        raise InputError(
            f"expected one label for each score, got {values.shape} and {positive.shape}"
        )
    require_finite(values, "scores")
    kept, others = np.sort(values[positive]), values[~positive]
    require_both_classes(len(kept), len(others))
    below, through = (np.searchsorted(kept, others, side) for side in ("left", "right"))
    doubled = 2 * len(kept) * len(others) - int(below.sum()) - int(through.sum())
    return doubled / (2 * len(kept) * len(others))


def pairwise_auc(
    vectors: npt.ArrayLike, labels: npt.ArrayLike, *, threads: int | None = None
) -> float:
    """The area under the ROC curve of cosines, over all pairs of documents.

    A pair is positive if its two documents have the same label. No pair is left out, and no score
    is rounded further than the float32 product makes it.

    Parameters
    ----------
    vectors : array of shape (documents, dimensions)
        The documents' vectors, of unit length (or zero).
    labels : array of shape (documents,)
        What each document belongs to: numbers or strings.
    threads
        How many cores rank the scores; all of them by default.

    Examples
    --------
    >>> pairwise_auc([[1.0, 0.0], [0.8, 0.6], [0.0, 1.0]], ["a", "a", "b"])
    1.0
    """
    rows, groups = by_group(vectors, labels)
    ends = np.cumsum(np.bincount(groups))[groups]
    sizes = np.bincount(groups).astype(np.int64)
    positives = int((sizes * (sizes - 1) // 2).sum())
    negatives = len(rows) * (len(rows) - 1) // 2 - positives
    require_both_classes(positives, negatives)
    keep_positives = positives <= negatives
    kept = np.sort(np.concatenate(list(one_class(rows, ends, keep_positives))))
    ranking = Ranking.of(kept)
    doubled = 0
    with ThreadPoolExecutor(thread_count(threads)) as pool:
        for first, scores in products(rows):
            shares = np.array_split(np.arange(len(scores)), thread_count(threads))
            tasks = [
                pool.submit(
                    twice_above, scores, first, int(share[0]), int(share[-1]) + 1, ends,
                    keep_positives, *ranking,
                )
                for share in shares
                if len(share)
            ]  # fmt: skip
            doubled += sum(task.result() for task in tasks)
    area = doubled / (2 * positives * negatives)
    return area if keep_positives else 1 - area


class Ranking(NamedTuple):
    """Sorted scores, with the buckets that tell where to look among them."""

    kept: npt.NDArray[np.float32]
    begins: npt.NDArray[np.int64]
    low: float
    per_bucket: float

    @classmethod
    def of(cls, kept: npt.NDArray[np.float32]) -> Ranking:
        """The ranking of these sorted scores."""
        buckets = min(len(kept), MOST_BUCKETS)
        low, high = float(kept[0]), float(kept[-1])
        per_bucket = (buckets - 1) / (high - low) if high > low else 0.0
        filled = np.bincount(
            ((kept.astype(np.float64) - low) * per_bucket).astype(np.int64), minlength=buckets
        )
        return cls(kept, begins_of(filled), low, per_bucket)


def by_group(
    vectors: npt.ArrayLike, labels: npt.ArrayLike
) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.int64]]:
    """The rows with equal labels next to each other, and the number of each row's group."""
    rows, names = np.asarray(vectors, np.float32), np.asarray(labels)
    if rows.ndim != 2 or names.shape != rows.shape[:1]:
        raise InputError(f"expected one label for each row, got {rows.shape} and {names.shape}")
    require_finite(rows, "vectors")
    groups: npt.NDArray[np.int64] = np.unique(names, return_inverse=True)[1].reshape(-1)
    order = np.argsort(groups, kind="stable")
    return np.ascontiguousarray(rows[order]), groups[order]


def require_finite(values: npt.NDArray[Any], name: str) -> None:
    """Refuse NaN and infinity, which have no rank."""
    if not np.isfinite(values).all():
        raise InputError(f"{name} must be finite, got NaN or infinity")


def require_both_classes(positives: int, negatives: int) -> None:
    """Refuse pairs of one class only, over which no area is defined."""
    if positives == 0 or negatives == 0:
        raise InputError(
            "the area under the ROC curve needs pairs that belong together and pairs that do not, "
            f"got {positives:,} and {negatives:,}"
        )


def products(
    rows: npt.NDArray[np.float32],
) -> Iterator[tuple[int, npt.NDArray[np.float32]]]:
    """The cosines of some rows with all from the first of them on, block after block."""
    for first in range(0, len(rows), ROWS_AT_ONCE):
        yield first, rows[first : first + ROWS_AT_ONCE] @ rows[first:].T


def one_class(
    rows: npt.NDArray[np.float32], ends: npt.NDArray[np.int64], positives: bool
) -> Iterator[npt.NDArray[np.float32]]:
    """The scores of the pairs within groups, or of those across them, a row at a time."""
    for first, scores in products(rows):
        for place, row in enumerate(scores):
            border = ends[first + place] - first
            yield (row[place + 1 : border] if positives else row[border:]).copy()


@compiled
def twice_above(
    scores: Float32s,
    first: int,
    begin: int,
    end: int,
    ends: Int64s,
    kept_are_positive: bool,
    kept: Float32s,
    begins: Int64s,
    low: float,
    per_bucket: float,
) -> int:
    """Twice the number of kept scores above each other one, ties once, over rows of a block."""
    doubled = 0
    last = begins.size - 2
    for place in range(begin, end):
        border = ends[first + place] - first
        left, right = (border, scores.shape[1]) if kept_are_positive else (place + 1, border)
        for column in range(left, right):
            score = scores[place, column]
            bucket = np.int64((np.float64(score) - low) * per_bucket)
            if score < low:
                doubled += 2 * kept.size
                continue
            below = begins[min(bucket, last)]
            stop = begins[min(bucket, last) + 1]
            if bucket > last:
                below = stop
            through = stop
            while below < stop:  # the first kept score that is not below
                middle = (below + stop) >> 1
                if kept[middle] < score:
                    below = middle + 1
                else:
                    stop = middle
            stop = below
            while stop < through:  # the first that is above
                middle = (stop + through) >> 1
                if kept[middle] <= score:
                    stop = middle + 1
                else:
                    through = middle
            doubled += 2 * kept.size - below - stop
    return doubled
