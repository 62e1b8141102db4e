"""The map of a collection with its colors, topics and columns, as JSON."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple

import numpy as np
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
    sample_rows,
)
from deltavec.collection.map.names import RegionName
from deltavec.collection.map.storage import StoredMap, draw_map, find_cached_map
from deltavec.collection.segment import OpenSegment
from deltavec.collection.topics.clusters import recluster
from deltavec.collection.topics.table import topic_name
from deltavec.core.arrays import Float32s, Float64s
from deltavec.core.threads import stop_if_cancelled
from deltavec.io.artifacts.atomic import replacing
from deltavec.search import DuplicatePairs
from deltavec.server.columns import (
    CLUSTER,
    MOST_LABELS,
    Colors,
    cluster_colors,
    column_colors,
    describe_column,
)
from deltavec.server.errors import as_json, invalid

SECONDS_TO_WAIT = 0.1  # between two looks for a file
CACHED = 64  # JSON texts; each may be some hundred kilobytes
FEWEST_CLUSTERS = 2
MOST_CLUSTERS = 24
CACHED_CLUSTERS = 6  # clusterings; each takes four bytes a document


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
    topics
        A file with the topics of an earlier state, for several processes: see `write_topics`.
    """

    def __init__(
        self,
        collection: Collection,
        drawn: Drawn,
        *,
        points: int = POINTS,
        topics: Path | None = None,
    ) -> None:
        self.collection = collection
        self.topics = topics
        self.drawn = drawn
        self.points = points
        self.placed: dict[OpenSegment, Float32s] = {}
        self.is_drawn = collection.description == drawn.description
        is_one = len(collection.segments) == 1 and collection.index.pieces.live is None
        if self.is_drawn and is_one and drawn.positions.axes:
            self.placed = {collection.segments[0]: drawn.positions.places}
        self.cache: dict[str, bytes] = {}
        self.known: dict[int, Clusters] = {}  # clusters in other numbers
        self.is_provisional = False  # a map of neighbors is being drawn
        self.lock = Lock()  # one clustering at a time: it takes a core for seconds

    @cached_property
    def positions(self) -> Positions:
        """The coordinates of the documents; those of an earlier state and its newcomers."""
        if self.is_drawn:
            return self.drawn.positions
        return updated_positions(self.collection, self.drawn, self.points, self.placed)

    @cached_property
    def clusters(self) -> Clusters | None:
        """The topics; after a change, the documents are in the nearest of the earlier ones."""
        found = self.drawn.clusters
        if self.topics is not None:
            topics = read_topics(self.topics)
            return recluster(self.collection, *topics) if topics else None
        if self.is_drawn or found is None:
            return found
        return recluster(self.collection, found.names, found.directions, found.reason)

    @cached_property
    def duplicates(self) -> DuplicatePairs:
        """The pairs of near-duplicates, those that share most first."""
        pairs = self.collection.duplicates().pairs
        order = np.argsort(-pairs.shared, kind="stable")
        return DuplicatePairs(*(column[order] for column in pairs))

    @property
    def names(self) -> list[RegionName]:
        """The names of regions."""
        if self.collection.map and self.drawn.positions.method == "neighbors":
            return self.collection.map.names
        return self.drawn.names

    @classmethod
    def of(
        cls,
        collection: Collection,
        method: str = "neighbors",
        *,
        points: int = POINTS,
        on_stage: Callable[[str], None] = lambda stage: None,
        stored: StoredMap | None = None,
        topics: Path | None = None,
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
        topics
            A file with topics; by default they are found here.
        """
        names: list[RegionName] = []
        if method == "neighbors":
            found = stored or collection.map or draw_map(collection, on_stage=on_stage)
            placed, names = place_layout(found.places, points), found.names
        else:
            placed = compute_layout(collection.index.vectors, method, points=points)
        on_stage("finding clusters")
        clusters = None if topics else usual_clusters(collection)
        ids = None if placed.axes else collection.ids
        drawn = Drawn(collection.description, placed, clusters, ids, names)
        return cls(collection, drawn, points=points, topics=topics)

    @classmethod
    def at_once(
        cls,
        collection: Collection,
        method: str,
        *,
        points: int = POINTS,
        topics: Path | None = None,
    ) -> MapView:
        """The map by this method if it was drawn before; else by principal components for now."""
        stored = collection.map or (find_cached_map(collection) if method == "neighbors" else None)
        if method == "pca" or stored:
            return cls.of(collection, method, points=points, stored=stored, topics=topics)
        made = cls.of(collection, "pca", points=points, topics=topics)
        made.is_provisional = True
        return made

    def finished(self) -> MapView | None:
        """The map that this one stands for, once it has been drawn."""
        stored = find_cached_map(self.collection) if self.is_provisional else None
        return stored and MapView.of(
            self.collection, points=self.points, stored=stored, topics=self.topics
        )

    def after(self, collection: Collection) -> MapView:
        """The map of the collection after an update; a new one if the model has changed."""
        is_other = collection.description.model != self.drawn.description.model
        if is_other or (self.is_provisional and collection.map):
            method = "neighbors" if self.is_provisional else self.drawn.positions.method
            return MapView.at_once(collection, method, points=self.points)
        after = MapView(collection, self.drawn, points=self.points, topics=self.topics)
        after.is_provisional = self.is_provisional
        there = set(collection.segments)
        after.placed = {one: at for one, at in self.placed.items() if one in there}
        return after

    @property
    def state(self) -> str:
        """A checksum that changes with the collection."""
        return self.collection.description.state

    @property
    def color_names(self) -> list[str]:
        """What the points can be colored by."""
        has_topics = self.drawn.clusters or (self.topics and usual_number(self.collection))
        clusters = [CLUSTER] if has_topics else []
        return clusters + [name for name in self.collection.columns if name != CLUSTER]

    def is_known(self, count: int | None) -> bool:
        """Whether the clusters in this number need not be computed."""
        if self.topics is not None and "clusters" not in self.__dict__:
            return False
        return self.clusters is None or count in (None, len(self.clusters), *self.known)

    def clusters_of(self, count: int | None) -> Clusters:
        """The clusters in this number; the default ones for None."""
        if self.clusters is None:
            raise invalid("the collection is too small for clusters", "clusters")
        if count is None or count == len(self.clusters):
            return self.clusters
        most = min(MOST_CLUSTERS, len(self.collection) - self.collection.description.zero_rows)
        if not FEWEST_CLUSTERS <= count <= most:
            raise invalid(
                f"clusters must be from {FEWEST_CLUSTERS} to {most}, got {count}", "clusters"
            )
        with self.lock:
            if count not in self.known:
                if len(self.known) >= CACHED_CLUSTERS:
                    self.known.pop(next(iter(self.known)))
                self.known[count] = self.collection.cluster(count, seed=0)
            return self.known[count]

    def map_json(self) -> bytes:
        """The points."""
        return self._cached("map", self._points)

    def color_json(
        self, by: str, clusters: Clusters | None = None, filter: str | None = None
    ) -> bytes:
        """The colors of the points that a filter leaves; of these clusters, if by cluster."""
        found = clusters if by == CLUSTER else None
        key = f"colors {'' if found is None else len(found)} {by} {filter}"
        return self._cached(key, lambda: self.colors(by, found, filter)._asdict())

    def topics_json(self, clusters: Clusters) -> bytes:
        """The topics: clusters with their words."""
        return self._cached(f"topics {len(clusters)}", lambda: describe_topics(clusters))

    def columns_json(self, filter: str | None = None) -> bytes:
        """The columns of the documents that a filter leaves, with examples of filters."""
        return self._cached(f"columns {filter}", lambda: self._columns(filter))

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

    def _columns(self, filter: str | None) -> dict[str, Any]:
        collection = self.collection
        columns = [(name, collection.column(name)) for name in collection.columns]
        if filter:
            mask = pa.array(collection.mask(filter))
            columns = [(name, column.filter(mask)) for name, column in columns]
        return {"columns": [describe_column(name, column) for name, column in columns]}

    def colors(
        self, by: str, clusters: Clusters | None = None, filter: str | None = None
    ) -> Colors:
        """The colors of the points that a filter leaves; for clusters, of these."""
        shown = self.positions.shown
        left = self.collection.mask(filter)[shown] if filter else np.ones(len(shown), bool)
        if by == CLUSTER:
            colors = cluster_colors(clusters or self.clusters_of(None), shown[left])
        else:
            colors = column_colors(by, self.collection.column(by).take(shown[left]))
        values: list[Any] = np.full(len(shown), None).tolist()
        for place, value in zip(np.flatnonzero(left).tolist(), colors.values, strict=True):
            values[place] = value
        return colors._replace(values=values)


def usual_number(collection: Collection) -> int:
    """As many topics as there are colors; 0 for a collection that is too small."""
    there = len(collection) - collection.description.zero_rows
    count = min(MOST_LABELS, len(collection) // 2, there)
    return count if count >= FEWEST_CLUSTERS else 0


def usual_clusters(collection: Collection) -> Clusters | None:
    """The topics by default."""
    count = usual_number(collection)
    return collection.cluster(count, seed=0) if count else None


def write_topics(collection: Collection, path: Path) -> None:
    """Find the topics of a collection, for all processes that serve it.

    So none of them needs the memory to find them, and all have the same ones.
    """
    found = usual_clusters(collection)
    entry = found and (found.names, found.directions.tolist(), found.reason)
    with replacing(path) as temporary:
        temporary.write_text(json.dumps(entry))


def read_topics(path: Path) -> tuple[list[list[str]], Float64s, str] | None:
    """The names and directions of topics that another process writes, once they are there."""
    while not path.exists():
        stop_if_cancelled()
        time.sleep(SECONDS_TO_WAIT)
    entry = json.loads(path.read_text())
    return (entry[0], np.array(entry[1]), entry[2]) if entry else None


def updated_positions(
    collection: Collection, drawn: Drawn, points: int, placed: dict[OpenSegment, Float32s]
) -> Positions:
    """The coordinates of a collection's documents on the map of an earlier state.

    ``placed`` are those of its segments, as far as they are known; others are added.
    """
    axes, pieces = drawn.positions.axes, collection.index.pieces
    if axes:
        for one in collection.segments:
            if one not in placed:
                placed[one] = axes.places(one.vectors)
        places = np.concatenate([placed[one] for one in collection.segments])
        live = places if pieces.live is None else places[pieces.live]
        shown = sample_rows(np.arange(len(live)), points, 0)
        return drawn.positions._replace(places=live, shown=shown)
    if collection.map:
        return place_layout(collection.map.places, points)
    return drawn.positions.kept(places_of(drawn.ids, collection.ids), collection.index, points)


def describe_topics(clusters: Clusters) -> dict[str, Any]:
    """Clusters as plain objects."""
    keys = ("name", "words", "documents", "central_id", "cohesion")
    names = [topic_name(words) for words in clusters.names]
    columns = names, clusters.names, clusters.sizes, clusters.central_ids, clusters.cohesion
    return {"topics": [dict(zip(keys, one, strict=True)) for one in zip(*columns, strict=True)]}
