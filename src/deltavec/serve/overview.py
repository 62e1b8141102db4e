"""The map of a collection and its colours, made once and kept."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from deltavec.collection import Collection
from deltavec.serve.colors import MOST_LABELS, Colors, column_colors
from deltavec.serve.map import DIGITS, Positions, positions
from deltavec.serve.refusals import RequestError, as_json

CLUSTER = "cluster"
CLUSTER_WORDS = 3  # that name a cluster


class Overview:
    """A map with its colours; the answers are kept as the bytes that are sent."""

    def __init__(self, collection: Collection, placed: Positions, clusters: Colors | None) -> None:
        self.collection = collection
        self.positions = placed
        self.clusters = clusters
        self.sent: dict[str, bytes] = {}

    @classmethod
    def of(
        cls,
        collection: Collection,
        method: str = "pca",
        *,
        points: int = 50_000,
        on_stage: Callable[[str], None] = lambda stage: None,
    ) -> Overview:
        """The map of a collection."""
        on_stage("drawing the map")
        placed = positions(collection.index.vectors, method, points=points)
        on_stage("finding clusters")
        return cls(collection, placed, cluster_colors(collection, placed))

    @property
    def color_names(self) -> list[str]:
        """What the points can be coloured by."""
        clusters = [CLUSTER] if self.clusters else []
        return clusters + [name for name in self.collection.columns if name != CLUSTER]

    def map_answer(self) -> bytes:
        """Where the points stand."""
        if "map" not in self.sent:
            self.sent["map"] = as_json(self._points())
        return self.sent["map"]

    def color_answer(self, by: str) -> bytes:
        """The colours of the points."""
        if by not in self.color_names:
            choices = ", ".join(self.color_names) or "nothing, as there are no columns"
            raise RequestError(422, f"the map can be coloured by: {choices}"[:1000], param="by")
        key = f"colors {by}"
        if key not in self.sent:
            self.sent[key] = as_json(self._colors(by)._asdict())
        return self.sent[key]

    def _points(self) -> dict[str, Any]:
        shown = self.positions.shown
        x, y = self.positions.places[shown].round(DIGITS).astype(float).T.tolist()
        return {
            "method": self.positions.method,
            "documents": len(self.collection),
            "explained": list(self.positions.explained),
            "ids": self.collection.ids.take(shown).to_pylist(),
            "x": [round(value, DIGITS) for value in x],
            "y": [round(value, DIGITS) for value in y],
        }

    def _colors(self, by: str) -> Colors:
        if by == CLUSTER and self.clusters is not None:
            return self.clusters
        column = self.collection.column(by)
        return column_colors(by, column.take(self.positions.shown))


def cluster_colors(collection: Collection, placed: Positions) -> Colors | None:
    """The colours of clusters, named by their words; none for a collection too small to part."""
    wanted = min(MOST_LABELS, len(collection) // 2)
    if wanted < 2:
        return None
    clusters = collection.cluster(wanted, seed=0)
    labels = [", ".join(words[:CLUSTER_WORDS]) for words in clusters.names]
    values = [int(number) for number in clusters.labels[placed.shown]]
    counts = [values.count(number) for number in range(len(labels))]
    return Colors(CLUSTER, "category", labels, counts, [], [v if v >= 0 else None for v in values])
