r"""The area under the ROC curve, exactly: over explicit pairs, or over all pairs of documents.

The area is the share of (positive, negative) pairs of scores in which the positive one is higher,
a tie counting half. Of all n (n - 1) / 2 scores only those of the smaller class are kept, sorted;
the others are ranked among them a block at a time, and forgotten: a block is sorted too, and one
walk along both sorted rows ranks it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from deltavec.core.arrays import Float32s
from deltavec.core.jit import compiled
from deltavec.core.threads import ordered_map, thread_count
from deltavec.errors import InputError

ROWS_AT_ONCE = 256
MOST_KEPT_SCORES = 20_000_000


class Block(NamedTuple):
    """The scores of some successive documents with every document from the first of them on."""

    first: int
    scores: npt.NDArray[np.float32]


Blocks: TypeAlias = Callable[[], Iterator[Block]]
"""Makes all blocks, in order; called twice."""


def pairs_auc(scores: npt.ArrayLike, labels: npt.ArrayLike) -> float:
    """The area under the ROC curve of explicit pairs.

    Parameters
    ----------
    scores
        The similarity of each pair; finite.
    labels
        1 (or True) for a pair that belongs together, 0 for one that does not.

    Examples
    --------
    >>> pairs_auc([0.9, 0.4, 0.4, 0.1], [1, 1, 0, 0])
    0.875
    """
    values, positive = np.asarray(scores), np.asarray(labels).astype(bool)
    if values.shape != positive.shape or values.ndim != 1:
        found = f"{values.shape} and {positive.shape}"
        raise InputError(f"expected one label for each score, got {found}")
    require_finite(values, "scores")
    kept, others = np.sort(values[positive]), values[~positive]
    require_both_classes(len(kept), len(others))
    doubled = 2 * len(kept) * len(others) - int(twice_below(kept, others).sum())
    return doubled / (2 * len(kept) * len(others))


def twice_below(ascending: npt.NDArray[Any], scores: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """Twice the number of sorted values below each score, ties once."""
    below, through = (np.searchsorted(ascending, scores, side) for side in ("left", "right"))
    doubled: npt.NDArray[np.int64] = below + through
    return doubled


def pairwise_auc(
    vectors: npt.ArrayLike, labels: npt.ArrayLike, *, threads: int | None = None
) -> float:
    """The area under the ROC curve of cosines, over all pairs of documents.

    A pair is positive if its two documents have the same label. No pair is left out, and no score
    is rounded further than the float32 product makes it.

    Parameters
    ----------
    vectors
        The documents' vectors, one a row, of unit length (or zero).
    labels
        What each document belongs to: numbers or strings.
    threads
        How many cores rank the scores; all of them by default.

    Examples
    --------
    >>> pairwise_auc([[1.0, 0.0], [0.8, 0.6], [0.0, 1.0]], ["a", "a", "b"])
    1.0
    """
    rows = np.asarray(vectors, np.float32)
    groups = group_numbers(labels)
    if rows.ndim != 2 or len(groups) != len(rows):
        raise InputError(f"expected one label for each row, got {rows.shape} and {groups.shape}")
    require_finite(rows, "vectors")
    order = np.argsort(groups, kind="stable")
    together = np.ascontiguousarray(rows[order])

    def products() -> Iterator[Block]:
        for first in range(0, len(together), ROWS_AT_ONCE):
            yield Block(first, together[first : first + ROWS_AT_ONCE] @ together[first:].T)

    return blocks_auc(products, groups[order], threads=threads)


def blocks_auc(
    blocks: Blocks, groups: npt.NDArray[np.int64], *, threads: int | None = None
) -> float:
    """The area over all pairs of documents whose scores come block by block.

    Parameters
    ----------
    blocks
        Gives the scores of documents that are sorted by group.
    groups
        The number of each document's group, in ascending order from 0.
    threads
        How many cores rank the scores; all of them by default.
    """
    sizes = np.bincount(groups).astype(np.int64)
    positives = int((sizes * (sizes - 1) // 2).sum())
    negatives = len(groups) * (len(groups) - 1) // 2 - positives
    require_both_classes(positives, negatives)
    ends = np.cumsum(sizes)[groups]
    keep_positives = positives <= negatives
    # Blocks are walked through twice: kept, or made again where they are too many.
    made = list(blocks()) if len(groups) ** 2 // 2 <= MOST_KEPT_SCORES else None
    kept = np.concatenate([one_class(block, ends, keep_positives) for block in made or blocks()])
    kept.sort()

    def ranked(block: Block) -> int:
        others = one_class(block, ends, not keep_positives)
        others.sort()
        return twice_above(others, kept)

    count = thread_count(threads)
    doubled = sum(ordered_map(ranked, made or blocks(), count, ahead=count + 1))
    area = doubled / (2 * positives * negatives)
    return area if keep_positives else 1 - area


def one_class(
    block: Block, ends: npt.NDArray[np.int64], positives: bool
) -> npt.NDArray[np.float32]:
    """The scores of a block's pairs within groups, or of those across them."""
    rows = []
    for place, row in enumerate(block.scores):
        border = ends[block.first + place] - block.first
        rows.append(row[place + 1 : border] if positives else row[border:])
    return np.concatenate(rows)


@compiled
def twice_above(others: Float32s, kept: Float32s) -> int:
    """Twice the number of kept scores above each other one, ties once; both sorted."""
    doubled = 0
    below = 0
    through = 0
    for place in range(others.size):
        score = others[place]
        while below < kept.size and kept[below] < score:
            below += 1
        through = max(through, below)
        while through < kept.size and kept[through] == score:
            through += 1
        doubled += 2 * kept.size - below - through
    return doubled


def group_numbers(labels: npt.ArrayLike) -> npt.NDArray[np.int64]:
    """A number from 0 on for each label, equal for equal ones."""
    numbers: npt.NDArray[np.int64] = np.unique(np.asarray(labels), return_inverse=True)[1]
    return numbers.reshape(-1)


def require_finite(values: npt.NDArray[Any], name: str) -> None:
    """Refuse NaN and infinity, which have no rank."""
    if not np.isfinite(values).all():
        raise InputError(f"{name} must be finite, got NaN or infinity")


def require_both_classes(positives: int, negatives: int) -> None:
    """Refuse pairs of one class only, over which no area is defined."""
    if positives == 0 or negatives == 0:
        expected = "expected pairs that belong together and pairs that do not"
        raise InputError(f"{expected}, got {positives:,} and {negatives:,}")
