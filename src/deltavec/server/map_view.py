"""The map of a collection, what colours its points, its topics and its columns, as JSON."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import pyarrow as pa

from deltavec.collection import Clusters, Collection
from deltavec.collection.ids import places_of
from deltavec.collection.manifest import Description
from deltavec.collection.map.coordinates import (
    DIGITS,
    POINTS,
    Positions,
    placed_positions,
    positions,
)
from deltavec.collection.map.names import RegionName
from deltavec.collection.map.storage import StoredMap, drawn_map
from deltavec.collection.topics.clusters import clustered_again
from deltavec.collection.topics.table import topic_name
from deltavec.server.browse.colors import CLUSTER, Colors, cluster_colors, column_colors
from deltavec.server.browse.columns import described_columns
from deltavec.server.browse.topics import Topics, usual_clusters
from deltavec.server.errors import RequestError, as_json

KEPT = 64  # answers written as JSON; each may be some hundred kilobytes


class Drawn(NamedTuple):
    """A map as it was drawn, for the collection that is served now or for an earlier one.

    Attributes
    ----------
    description : Description
        The collection it was drawn of.
    positions : Positions
        Where its documents stand.
    clusters : Clusters or None
        Its clusters.
    ids : pyarrow.Array or None
        Its documents, if others are placed by them: see `deltavec.collection.map.coordinates`.
    names : list of RegionName
        What regions are called.
    """

    description: Description
    positions: Positions
    clusters: Clusters | None
    ids: pa.Array | None
    names: list[RegionName]


class MapView:
    """A map with its colours and topics; what was sent once is kept as JSON.

    Parameters
    ----------
    collection
        What is shown.
    drawn
        A map of it, or of what it was before some documents came or went. Of the latter the axes
        and the names of clusters are kept, so that what stays stays where it was.
    points
        How many documents to show.
    """

    def __init__(self, collection: Collection, drawn: Drawn, *, points: int = POINTS) -> None:
        self.collection = collection
        self.drawn = drawn
        self.points = points
        self.positions, self.clusters, self.names = drawn.positions, drawn.clusters, drawn.names
        if collection.description != drawn.description:
            self.positions = positions_of_others(collection, drawn, points)
            if collection.map and drawn.positions.method == "neighbors":
                self.names = collection.map.names
            self.clusters = drawn.clusters and clustered_again(collection, drawn.clusters)
        self.topics = Topics(collection, self.clusters)
        self.written: dict[str, bytes] = {}

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
            What is shown.
        method
            ``neighbors`` or ``pca``: see `deltavec.collection.map.coordinates`.
        points
            How many documents to show.
        on_stage
            Called with a word or two when each part of the work begins.
        stored
            A map of neighbours that is at hand; by default the one that the collection has, and
            else it is drawn.
        """
        names: list[RegionName] = []
        if method == "neighbors":
            found = stored or collection.map or drawn_map(collection, on_stage=on_stage)
            placed, names = placed_positions(found.places, points), found.names
        else:
            placed = positions(collection.index.vectors, method, points=points)
        on_stage("finding clusters")
        clusters = usual_clusters(collection)
        ids = None if placed.axes else collection.ids
        drawn = Drawn(collection.description, placed, clusters, ids, names)
        return cls(collection, drawn, points=points)

    def after(self, collection: Collection) -> MapView:
        """The map of the collection after a change; drawn anew if it has another model."""
        if collection.description.model != self.drawn.description.model:
            return MapView.of(collection, self.positions.method, points=self.points)
        return MapView(collection, self.drawn, points=self.points)

    @property
    def state(self) -> str:
        """What changes when the collection does."""
        stated = self.collection.description
        drawn = stated.map.sha256 if stated.map else ""
        return f"{stated.vectors.sha256[:16]}{drawn[:16]}"

    @property
    def color_names(self) -> list[str]:
        """What the points can be coloured by."""
        clusters = [CLUSTER] if self.clusters else []
        return clusters + [name for name in self.collection.columns if name != CLUSTER]

    def map_json(self) -> bytes:
        """Where the points stand."""
        return self._written("map", self._points)

    def color_json(self, by: str, clusters: int | None = None) -> bytes:
        """The colours of the points; for clusters in so many."""
        if by not in self.color_names:
            choices = ", ".join(self.color_names) or "nothing, as there are no columns"
            raise RequestError(422, f"the map can be coloured by: {choices}"[:1000], param="by")
        found = None if by != CLUSTER or clusters is None else self.topics.of(clusters)
        key = f"colors {'' if found is None else len(found)} {by}"
        return self._written(key, lambda: self.colors(by, found)._asdict())

    def topics_json(self, clusters: int | None) -> bytes:
        """The topics: clusters with their words."""
        found = self.topics.of(clusters)
        return self._written(f"topics {len(found)}", lambda: described_topics(found))

    def columns_json(self) -> bytes:
        """The columns, with examples of filters."""
        return self._written(
            "columns", lambda: described_columns(self.collection, self.positions.shown)
        )

    def _written(self, key: str, content: Callable[[], dict[str, Any]]) -> bytes:
        known = self.written.get(key)
        if known is None:
            known = as_json(content())
            if len(self.written) >= KEPT:
                self.written.clear()
            self.written[key] = known
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
        """The colours of the points; for clusters, of these."""
        shown = self.positions.shown
        if by == CLUSTER and self.clusters is not None:
            return cluster_colors(clusters or self.clusters, shown)
        return column_colors(by, self.collection.column(by).take(shown))


def positions_of_others(collection: Collection, drawn: Drawn, points: int) -> Positions:
    """Where the documents of a collection stand on a map that was drawn of what it was before."""
    vectors = collection.index.vectors
    if drawn.ids is None:
        return drawn.positions.along_axes(vectors, points)
    if collection.map:
        return placed_positions(collection.map.places, points)
    return drawn.positions.kept(places_of(drawn.ids, collection.ids), vectors, points)


def described_topics(clusters: Clusters) -> dict[str, Any]:
    """Clusters as plain objects."""
    return {
        "topics": [
            {
                "name": topic_name(words),
                "words": words,
                "documents": size,
                "central_id": central,
                "cohesion": cohesion,
            }
            for words, size, central, cohesion in zip(
                clusters.names,
                clusters.sizes,
                clusters.central_ids,
                clusters.cohesion,
                strict=True,
            )
        ]
    }
