r"""How many groups a collection has, and the groups.

Groups are learned from one half of the documents, or of a sample, and looked at from the other.
With :math:`c_1` the cosine of a document with the nearest direction and :math:`c_2` that with the
next,

.. math:: s = \frac{c_1 - c_2}{1 - c_2}

is how far the document stands from its group's border: 0 on it, 1 in the middle of a group. The
largest number is taken whose mean of s is at most a twentieth below the best: as many groups as
still stand apart. Few groups always do, whatever the documents, so that numbers below 8 are tried
only for few documents.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from deltavec.collection.topics.clusters import Clusters, describe, group_rows, with_vector
from deltavec.collection.topics.levels import MOST_LEVELS, merge_levels
from deltavec.collection.topics.names import mean_directions
from deltavec.collection.topics.smoothing import smooth_rows
from deltavec.core.arguments import require_whole
from deltavec.core.arrays import Float32s
from deltavec.core.threads import one_blas_thread
from deltavec.errors import InputError

if TYPE_CHECKING:
    from deltavec.collection.collection import Collection

NUMBERS = (2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64)
USUAL_LEAST = 8
FEWEST_MEMBERS = 10  # of a group, on average
NEARLY_BEST = 0.95
SAMPLE = 10_000  # documents that are looked at


class Number(NamedTuple):
    """How many groups, and why."""

    groups: int
    reason: str


def k_means(
    collection: Collection, n: int | None, *, levels: int, seed: int, words: int, smooth: bool
) -> Clusters:
    """The documents of a collection in groups; see `Collection.cluster`."""
    if n is not None:
        require_whole("n", n)
    require_whole("words", words)
    require_whole("levels", levels)
    if levels > MOST_LEVELS:
        raise InputError(f"levels must be from 1 to {MOST_LEVELS}, got {levels}")
    vectors = collection.index.vectors
    there = with_vector(vectors)
    documents = int(there.sum())
    if max(n or 1, 1) > documents:
        raise InputError(
            f"cannot make {n or 'any'} clusters of {documents:,} documents that have a vector: "
            + ("ask for fewer" if documents else "no word of them is known, or all are alike")
        )
    if smooth:
        vectors = smooth_rows(vectors, there)
    number = Number(n, "as asked for") if n else best_k(vectors[there], seed)
    labels = group_rows(vectors, there, number.groups, seed)
    finest = describe(collection, labels, words=words, seed=seed, reason=number.reason)
    return merge_levels(collection, finest, levels, words=words, seed=seed)


def best_k(vectors: Float32s, seed: int) -> Number:
    """The number of groups that suits documents with these vectors."""
    tried = numbers_to_try(len(vectors))
    if len(tried) == 1:
        few = f"{len(vectors):,} documents are too few for more"
        return Number(tried[0], few)
    drawn = np.random.default_rng(seed).permutation(len(vectors))[:SAMPLE]
    halves = vectors[np.sort(drawn[::2])], vectors[np.sort(drawn[1::2])]
    apart = [
        (separation(*halves, count, seed) + separation(*halves[::-1], count, seed)) / 2
        for count in tried
    ]
    enough = [place for place, s in enumerate(apart) if s >= NEARLY_BEST * max(apart)]
    listed = ", ".join(f"{count} ({s:.2f})" for count, s in zip(tried, apart, strict=True))
    return Number(tried[enough[-1]], f"the most that stand apart nearly as well as any: {listed}")


def numbers_to_try(documents: int) -> list[int]:
    """The numbers of groups that so many documents could have."""
    most = documents // FEWEST_MEMBERS
    tried = [number for number in NUMBERS if number <= most]
    usual = [number for number in tried if number >= USUAL_LEAST]
    return usual or tried or [min(NUMBERS[0], documents)]


@one_blas_thread()
def separation(learned: Float32s, seen: Float32s, count: int, seed: int) -> float:
    """The mean of s over some documents, for groups that were learned from others."""
    labels = group_rows(learned, np.ones(len(learned), bool), count, seed)
    directions = mean_directions(learned, labels, int(labels.max()) + 1)
    if len(directions) < 2:
        return 0.0
    cosines = seen @ directions.T
    cosines.partition(len(directions) - 2, axis=1)
    first, second = cosines[:, -1], cosines[:, -2]
    # Equal directions leave nothing between them; rounding may put a cosine above 1.
    return float(((first - second) / np.maximum(1 - second, 1e-6)).mean())
