"""The topics of a collection: clusters in any number, cached."""

from __future__ import annotations

from threading import Lock

import numpy as np

from deltavec.collection import Clusters, Collection
from deltavec.core.arrays import Int64s
from deltavec.server.browse.colors import MOST_LABELS
from deltavec.server.errors import RequestError

FEWEST_CLUSTERS = 2
MOST_CLUSTERS = 24
CACHED = 6  # clusterings; each takes four bytes a document


class Topics:
    """Clusters by their number.

    Parameters
    ----------
    collection
        The collection.
    default
        Its clusters in the default number; None for a collection too small to cluster.
    """

    def __init__(self, collection: Collection, default: Clusters | None) -> None:
        self.collection = collection
        self.default = default
        self.known: dict[int, Clusters] = {}
        self.lock = Lock()  # one at a time: it takes a core for seconds

    def is_known(self, count: int | None) -> bool:
        """Whether the clusters in this number need not be computed."""
        return self.default is None or count in (None, len(self.default), *self.known)

    def of(self, count: int | None) -> Clusters:
        """The clusters in this number; the default ones for None."""
        if self.default is None:
            raise RequestError(422, "the collection is too small for clusters", param="clusters")
        if count is None or count == len(self.default):
            return self.default
        most = min(MOST_CLUSTERS, len(self.collection) - self.collection.description.zero_rows)
        if not FEWEST_CLUSTERS <= count <= most:
            raise RequestError(
                422,
                f"clusters must be from {FEWEST_CLUSTERS} to {most}, got {count}",
                param="clusters",
            )
        with self.lock:
            if count not in self.known:
                if len(self.known) >= CACHED:
                    self.known.pop(next(iter(self.known)))
                self.known[count] = self.collection.cluster(count, seed=0)
            return self.known[count]


def members(collection: Collection, clusters: Clusters, number: int) -> Int64s:
    """The documents of a cluster, those nearest to its centroid first."""
    if number >= len(clusters):
        raise RequestError(
            422, f"cluster must be from 0 to {len(clusters) - 1}, got {number}", param="cluster"
        )
    rows = np.flatnonzero(clusters.labels == number)
    cosines = collection.index.vectors[rows] @ clusters.directions[number]
    return rows[np.argsort(-cosines, kind="stable")]


def default_clusters(collection: Collection) -> Clusters | None:
    """As many clusters as there are colors; none for a collection too small to cluster."""
    there = len(collection) - collection.description.zero_rows
    wanted = min(MOST_LABELS, len(collection) // 2, there)
    return collection.cluster(wanted, seed=0) if wanted >= FEWEST_CLUSTERS else None
