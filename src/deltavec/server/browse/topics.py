"""The topics of a collection: clusters in any number, kept once they were found."""

from __future__ import annotations

from threading import Lock

import numpy as np

from deltavec.collection import Clusters, Collection
from deltavec.core.arrays import Int64s
from deltavec.server.browse.colors import MOST_LABELS
from deltavec.server.errors import RequestError

FEWEST_CLUSTERS = 2
MOST_CLUSTERS = 24
KEPT = 6  # numbers of clusters; each takes four bytes a document


class Topics:
    """Clusters by their number.

    Parameters
    ----------
    collection
        What is parted.
    usual
        Its clusters, in the number that is shown unless another is asked for; None for a collection
        too small to part.
    """

    def __init__(self, collection: Collection, usual: Clusters | None) -> None:
        self.collection = collection
        self.usual = usual
        self.known: dict[int, Clusters] = {}
        self.making = Lock()  # one at a time: it takes a core for seconds

    def of(self, count: int | None) -> Clusters:
        """So many clusters; the usual ones if no number is given."""
        if self.usual is None:
            raise RequestError(422, "the collection is too small for clusters", param="clusters")
        if count is None or count == len(self.usual):
            return self.usual
        most = min(MOST_CLUSTERS, len(self.collection) - self.collection.description.zero_rows)
        if not FEWEST_CLUSTERS <= count <= most:
            raise RequestError(
                422,
                f"clusters must be from {FEWEST_CLUSTERS} to {most}, got {count}",
                param="clusters",
            )
        with self.making:
            if count not in self.known:
                if len(self.known) >= KEPT:
                    self.known.pop(next(iter(self.known)))
                self.known[count] = self.collection.cluster(count, seed=0)
            return self.known[count]

    def members(self, number: int, count: int | None) -> Int64s:
        """The documents of a cluster, those nearest to its direction first."""
        clusters = self.of(count)
        if number >= len(clusters):
            raise RequestError(
                422,
                f"cluster must be from 0 to {len(clusters) - 1}, got {number}",
                param="cluster",
            )
        rows = np.flatnonzero(clusters.labels == number)
        cosines = self.collection.index.vectors[rows] @ clusters.directions[number]
        return rows[np.argsort(-cosines, kind="stable")]


def usual_clusters(collection: Collection) -> Clusters | None:
    """As many clusters as there are colours; none for a collection too small to part."""
    there = len(collection) - collection.description.zero_rows
    wanted = min(MOST_LABELS, len(collection) // 2, there)
    return collection.cluster(wanted, seed=0) if wanted >= FEWEST_CLUSTERS else None
