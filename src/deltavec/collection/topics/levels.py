"""Groups in levels: like groups joined to wider ones, which are named among themselves.

The groups of the finest level are joined by Ward's rule on their directions, so that a wider group
is always made of whole ones. Of n groups in L levels, level l from the top has about
:math:`n^{l/L}`: as many parts in each group as there are groups in the top one.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from deltavec.collection.topics.clusters import Clusters, describe, largest_first
from deltavec.core.arrays import Float64s, Int64s

if TYPE_CHECKING:
    from deltavec.collection.collection import Collection

MOST_LEVELS = 3
FEWEST_GROUPS = 2  # of a level; one group would be all documents


def merge_levels(
    collection: Collection, finest: Clusters, levels: int, *, words: int, seed: int
) -> Clusters:
    """The finest groups, and wider ones above them; fewer levels where there are too few groups."""
    narrow = finest
    made: list[Clusters] = [finest]
    for level in range(levels - 1, 0, -1):
        count = round(len(finest) ** (level / levels))
        if not FEWEST_GROUPS <= count < len(narrow):
            continue
        parents = join(narrow.directions, count)
        labels = np.where(narrow.labels < 0, -1, parents[narrow.labels]).astype(np.int32)
        reason = f"{len(narrow)} groups joined, about {len(narrow) / count:.1f} in each"
        narrow = describe(collection, largest_first(labels), words=words, seed=seed, reason=reason)
        made.append(narrow)
    widest = made.pop()
    while made:
        widest = replace(made.pop(), wider=widest)
    return widest


def join(directions: Float64s, count: int) -> Int64s:
    """The wider group of each direction, so many of them."""
    from scipy.cluster import hierarchy

    tree = hierarchy.linkage(directions, "ward")
    groups: Int64s = hierarchy.fcluster(tree, count, "maxclust").astype(np.int64) - 1
    return groups
