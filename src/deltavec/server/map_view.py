"""The map of a collection with its colors, topics and columns, as JSON."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import pyarrow as pa

from deltavec.collection import Clusters, Collection
from deltavec.collection.ids import places_of
from deltavec.collection.manifest import CollectionManifest
from deltavec.collection.map.coordinates import (
    DIGITS,
    POINTS,
    Positions,
    compute_layout,
    place_layout,
)
from deltavec.collection.map.names import RegionName
from deltavec.collection.map.storage import StoredMap, draw_map
from deltavec.collection.topics.clusters import recluster
from deltavec.collection.topics.table import topic_name
from deltavec.server.browse.colors import CLUSTER, Colors, cluster_colors, column_colors
from deltavec.server.browse.columns import describe_columns
from deltavec.server.browse.topics import Topics, default_clusters
from deltavec.server.errors import RequestError, as_json

CACHED = 64  # JSON texts; each may be some hundred kilobytes


class Drawn(NamedTuple):
    """A computed map, for the collection that is served now or for an earlier state of it.

    Attributes
    ----------
    description : Description
        The manifest of the collection that it shows.
    positions : Positions
        The coordinates of the documents.
    clusters : Clusters or None
        The topics.
    ids : pyarrow.Array or None
        The ids of the documents, if new ones are placed by their neighbors: see
        `deltavec.collection.map.coordinates`.
    names : list of RegionName
        The names of regions.
    """

    description: CollectionManifest
    positions: Positions
    clusters: Clusters | None
    ids: pa.Array | None
    names: list[RegionName]


class MapView:
    """A map with its colors and topics; JSON texts are cached.

    Parameters
    ----------
    collection
        The collection to show.
    drawn
        A map of it, or of an earlier state. Coordinates and names of clusters of an earlier state
        are kept, so that documents do not move.
    points
        How many documents to show.
    """

    def __init__(self, collection: Collection, drawn: Drawn, *, points: int = POINTS) -> None:
        self.collection = collection
        self.drawn = drawn
        self.points = points
        self.positions, self.clusters, self.names = drawn.positions, drawn.clusters, drawn.names
        if collection.description != drawn.description:
            self.positions = updated_positions(collection, drawn, points)
            if collection.map and drawn.positions.method == "neighbors":
                self.names = collection.map.names
            self.clusters = drawn.clusters and recluster(collection, drawn.clusters)
        self.topics = Topics(collection, self.clusters)
        self.cache: dict[str, bytes] = {}

    @classmethod
    def of(
        cls,
        collection: Collection,
        method: str = "neighbors",
        *,
        points: int = POINTS,
        on_stage: Callable[[str], None] = lambda stage: None,
        stored: StoredMap | None = None,
    ) -> MapView:
        """The map of a collection.

        Parameters
        ----------
        collection
            The collection to show.
        method
            ``neighbors`` or ``pca``: see `deltavec.collection.map.coordinates`.
        points
            How many documents to show.
        on_stage
            Called with a word or two when each part of the work begins.
        stored
            A map by neighbors that is at hand. By default the collection's own map, which is
            computed if there is none.
        """
        names: list[RegionName] = []
        if method == "neighbors":
            found = stored or collection.map or draw_map(collection, on_stage=on_stage)
            placed, names = place_layout(found.places, points), found.names
        else:
            placed = compute_layout(collection.index.vectors, method, points=points)
        on_stage("finding clusters")
        clusters = default_clusters(collection)
        ids = None if placed.axes else collection.ids
        drawn = Drawn(collection.description, placed, clusters, ids, names)
        return cls(collection, drawn, points=points)

    def after(self, collection: Collection) -> MapView:
        """The map of the collection after an update; a new one if the model has changed."""
        if collection.description.model != self.drawn.description.model:
            return MapView.of(collection, self.positions.method, points=self.points)
        return MapView(collection, self.drawn, points=self.points)

    @property
    def state(self) -> str:
        """A checksum that changes with the collection."""
        stated = self.collection.description
        drawn = stated.map.sha256 if stated.map else ""
        return f"{stated.vectors.sha256[:16]}{drawn[:16]}"

    @property
    def color_names(self) -> list[str]:
        """What the points can be colored by."""
        clusters = [CLUSTER] if self.clusters else []
        return clusters + [name for name in self.collection.columns if name != CLUSTER]

    def map_json(self) -> bytes:
        """The points."""
        return self._cached("map", self._points)

    def color_json(self, by: str, clusters: Clusters | None = None) -> bytes:
        """The colors of the points; of these clusters, if they are colored by cluster."""
        found = clusters if by == CLUSTER else None
        key = f"colors {'' if found is None else len(found)} {by}"
        return self._cached(key, lambda: self.colors(by, found)._asdict())

    def require_color(self, by: str) -> None:
        """Raise if the points cannot be colored by this."""
        if by not in self.color_names:
            choices = ", ".join(self.color_names) or "nothing, as there are no columns"
            raise RequestError(422, f"the map can be colored by: {choices}"[:1000], param="by")

    def topics_json(self, clusters: Clusters) -> bytes:
        """The topics: clusters with their words."""
        return self._cached(f"topics {len(clusters)}", lambda: describe_topics(clusters))

    def columns_json(self) -> bytes:
        """The columns, with examples of filters."""
        return self._cached(
            "columns", lambda: describe_columns(self.collection, self.positions.shown)
        )

    def _cached(self, key: str, content: Callable[[], dict[str, Any]]) -> bytes:
        known = self.cache.get(key)
        if known is None:
            known = as_json(content())
            if len(self.cache) >= CACHED:
                self.cache.clear()
            self.cache[key] = known
        return known

    def _points(self) -> dict[str, Any]:
        shown = self.positions.shown
        x, y = self.positions.places[shown].round(DIGITS).astype(float).T.tolist()
        return {
            "method": self.positions.method,
            "state": self.state,
            "documents": len(self.collection),
            "explained": list(self.positions.explained),
            "ids": self.collection.ids.take(shown).to_pylist(),
            "x": [round(value, DIGITS) for value in x],
            "y": [round(value, DIGITS) for value in y],
            "names": [name._asdict() for name in self.names],
        }

    def colors(self, by: str, clusters: Clusters | None = None) -> Colors:
        """The colors of the points; for clusters, of these."""
        shown = self.positions.shown
        if by == CLUSTER and self.clusters is not None:
            return cluster_colors(clusters or self.clusters, shown)
        return column_colors(by, self.collection.column(by).take(shown))


def updated_positions(collection: Collection, drawn: Drawn, points: int) -> Positions:
    """The coordinates of a collection's documents on the map of an earlier state."""
    vectors = collection.index.vectors
    if drawn.ids is None:
        return drawn.positions.along_axes(vectors, points)
    if collection.map:
        return place_layout(collection.map.places, points)
    return drawn.positions.kept(places_of(drawn.ids, collection.ids), vectors, points)


def describe_topics(clusters: Clusters) -> dict[str, Any]:
    """Clusters as plain objects."""
    columns = clusters.names, clusters.sizes, clusters.central_ids, clusters.cohesion
    return {
        "topics": [
            {
                "name": topic_name(words),
                "words": words,
                "documents": size,
                "central_id": central,
                "cohesion": cohesion,
            }
            for words, size, central, cohesion in zip(*columns, strict=True)
        ]
    }
