"""The map of a collection with its colors, topics and columns, as JSON.

Columns give colors to the map's points, and have examples of filters.
"""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from deltavec.collection.collection import Collection
from deltavec.collection.filters.masks import column_as_written, text_value
from deltavec.collection.ids import places_of
from deltavec.collection.manifest import CollectionManifest
from deltavec.collection.map.storage import (
    DIGITS,
    POINTS,
    Positions,
    RegionName,
    compute_layout,
    draw_map,
    find_cached_map,
    place_layout,
    sample_rows,
)
from deltavec.collection.segment import OpenSegment
from deltavec.collection.topics.clusters import Clusters, recluster, topic_name
from deltavec.core.arrays import Float32s, Float64s, Int64s
from deltavec.core.text.batches import is_text
from deltavec.core.threads import stop_if_cancelled
from deltavec.io.artifacts.atomic import replacing
from deltavec.search import DuplicatePairs
from deltavec.server.errors import as_json, invalid, plain
from deltavec.server.requests import MOST_CLUSTERS

CLUSTER = "cluster"
MOST_LABELS = 8  # colors that people can tell apart, with and without color blindness
FEWEST_NUMBERS = 3  # distinct values that make a scale; below that each value has its own color
MOST_VALUES = 50  # of a column of text that are listed
LONGEST_VALUE = 60  # characters of one that is
KINDS = {
    "number": (pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal),
    "date": (pa.types.is_date, pa.types.is_timestamp),
    "truth": (pa.types.is_boolean,),
    "text": (is_text,),
}


class Colors(NamedTuple):
    """A value for each point of the map.

    Attributes
    ----------
    by : str
        The column, or ``cluster``.
    kind : str
        ``category``: values are positions of labels, or null; ``number``: numbers; ``date``:
        seconds since 1970.
    labels : list of str
        The names of the categories, the most frequent first.
    counts : list of int
        How many points each category has.
    other : int
        How many points have a value too rare for a label.
    missing : int
        How many points have no value.
    range : list of float
        For numbers and dates, the ends of the scale: the 1st and the 99th percentile.
    values : list
        One for each point.
    """

    by: str
    kind: str
    labels: list[str]
    counts: list[int]
    other: int
    missing: int
    range: list[float]
    values: list[Any]


def cluster_colors(clusters: Clusters, shown: Int64s) -> Colors:
    """The colors of clusters, named by their words."""
    labels = [topic_name(words) for words in clusters.names]
    numbers = clusters.labels[shown]
    counts = np.bincount(numbers[numbers >= 0], minlength=len(labels)).tolist()
    values = [number if number >= 0 else None for number in numbers.tolist()]
    return Colors(CLUSTER, "category", labels, counts, 0, values.count(None), [], values)


def column_colors(name: str, column: pa.ChunkedArray) -> Colors:
    """The colors by a column: a scale for numbers and dates, else the most frequent values."""
    kind = column_kind(column.type)
    if kind in ("number", "date") and pc.count_distinct(column).as_py() >= FEWEST_NUMBERS:
        if kind == "date":
            column = column.cast(pa.timestamp("s"), safe=False).cast(pa.int64())
        numbers = column.cast(pa.float64(), safe=False).to_numpy()
        known = numbers[np.isfinite(numbers)]
        ends = np.quantile(known, (0.01, 0.99)).tolist() if len(known) else [0.0, 1.0]
        missing = len(numbers) - len(known)
        return Colors(name, kind, [], [], 0, missing, ends, [plain(n) for n in numbers.tolist()])
    values = [None if value is None else str(plain(value)) for value in column.to_pylist()]
    counts = Counter(value for value in values if value is not None)
    labels = sorted(counts, key=lambda value: (-counts[value], value))[:MOST_LABELS]
    positions = {value: position for position, value in enumerate(labels)}
    colored = [counts[value] for value in labels]
    missing = len(values) - counts.total()
    shown = [None if value is None else positions.get(value) for value in values]
    other = counts.total() - sum(colored)
    return Colors(name, "category", labels, colored, other, missing, [], shown)


def column_kind(type: pa.DataType) -> str:
    """What a column of this type holds: ``number``, ``date``, ``truth``, ``text`` or ``other``."""
    return next((kind for kind, holds in KINDS.items() if any(one(type) for one in holds)), "other")


def describe_column(name: str, column: pa.ChunkedArray) -> dict[str, Any]:
    """A column with its kind, its most frequent values, and an example of a filter."""
    kind = column_kind(column.type)
    written = column_as_written(name)
    known = column.drop_null()
    values, counts = VALUES[kind](known) if kind in VALUES and len(known) else ([], [])
    is_listed = kind in ("text", "truth")
    operator = "==" if is_listed else ">="
    return {
        "name": name,
        "kind": kind,
        "written": written,
        "values": values if is_listed else [],
        "counts": counts,
        "example": f"{written} {operator} {values[0]}" if written and values else None,
    }


def frequent_texts(column: pa.ChunkedArray) -> tuple[list[str], list[int]]:
    """The most frequent values of a text column, quoted as in a filter, and their counts."""
    texts = column.cast(pa.large_string())
    lengths = pc.utf8_length(texts)
    short = pc.and_(pc.greater(lengths, 0), pc.less_equal(lengths, LONGEST_VALUE))
    counts = texts.filter(short).value_counts()
    most = sorted(counts.to_pylist(), key=lambda entry: (-entry["counts"], entry["values"]))
    listed = most[:MOST_VALUES]
    return [text_value(one["values"]) for one in listed], [one["counts"] for one in listed]


def median_number(column: pa.ChunkedArray) -> tuple[list[str], list[int]]:
    """The median, to six digits."""
    middle = pc.quantile(column.cast(pa.float64()), 0.5, interpolation="lower")[0].as_py()
    return [] if middle is None or middle != middle else [f"{middle:.6g}"], []


def count_truths(column: pa.ChunkedArray) -> tuple[list[str], list[int]]:
    """How often a column is true, and false."""
    true = int(pc.sum(column).as_py() or 0)
    return ["true", "false"], [true, len(column) - true]


def median_date(column: pa.ChunkedArray) -> tuple[list[str], list[int]]:
    """The median date."""
    days = column.cast(pa.timestamp("s"), safe=False).combine_chunks()
    order = pc.sort_indices(days)
    day = days[order[len(order) // 2].as_py()].cast(pa.date32(), safe=False).as_py()
    return [text_value(day.isoformat())], []


VALUES: dict[str, Callable[[pa.ChunkedArray], tuple[list[str], list[int]]]] = {
    "text": frequent_texts,
    "number": median_number,
    "date": median_date,
    "truth": count_truths,
}


SECONDS_TO_WAIT = 0.1  # between two looks for a file
CACHED = 64  # JSON texts; each may be some hundred kilobytes
FEWEST_CLUSTERS = 2
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
        `deltavec.collection.map.storage`.
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
        self, collection: Collection, drawn: Drawn, *, points: int, topics: Path | None = None
    ) -> None:
        self.collection = collection
        self.topics = topics
        self.drawn = drawn
        self.points = points
        self.placed: WeakKeyDictionary[OpenSegment, Float32s] = WeakKeyDictionary()
        self.is_drawn = collection.description == drawn.description
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
        topics: Path | None = None,
        at_once: bool = False,
    ) -> MapView:
        """The map of a collection.

        Parameters
        ----------
        collection
            The collection to show.
        method
            ``neighbors`` or ``pca``: see `deltavec.collection.map.storage`.
        points
            How many documents to show.
        on_stage
            Called with a word or two when each part of the work begins.
        topics
            A file with topics; by default they are found here.
        at_once
            Whether a map by neighbors that was not drawn before is one by principal components for
            now.
        """
        names: list[RegionName] = []
        stored = collection.map or find_cached_map(collection) if method == "neighbors" else None
        if method == "pca" or (at_once and stored is None):
            placed = compute_layout(collection.index.vectors, "pca", points=points)
        else:
            found = stored or draw_map(collection, on_stage=on_stage)
            placed, names = place_layout(found.places, points), found.names
        on_stage("finding clusters")
        clusters = None if topics else usual_clusters(collection)
        ids = None if placed.axes else collection.ids
        drawn = Drawn(collection.description, placed, clusters, ids, names)
        made = cls(collection, drawn, points=points, topics=topics)
        made.is_provisional = method != placed.method
        if placed.axes and collection.index.pieces.live is None:
            parts = np.split(placed.places, collection.index.pieces.begins[1:-1])
            made.placed.update(zip(collection.segments, parts, strict=True))
        return made

    def finished(self) -> MapView | None:
        """The map that this one stands for, once it has been drawn."""
        if self.is_provisional and find_cached_map(self.collection):
            return MapView.of(self.collection, points=self.points, topics=self.topics)
        return None

    def after(self, collection: Collection) -> MapView:
        """The map of the collection after an update; a new one if the model has changed."""
        is_other = collection.description.model != self.drawn.description.model
        if is_other or (self.is_provisional and collection.map):
            method = "neighbors" if self.is_provisional else self.drawn.positions.method
            return MapView.of(collection, method, points=self.points, at_once=True)
        after = MapView(collection, self.drawn, points=self.points, topics=self.topics)
        after.is_provisional, after.placed = self.is_provisional, self.placed
        return after

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

    def cached(self, key: str, content: Callable[[], dict[str, Any]]) -> bytes:
        """Some content as JSON, which is made once."""
        known = self.cache.get(key)
        if known is None:
            known = as_json(content())
            if len(self.cache) >= CACHED:
                self.cache.clear()
            self.cache[key] = known
        return known

    def map_points(self) -> dict[str, Any]:
        """The points."""
        shown = self.positions.shown
        x, y = self.positions.places[shown].round(DIGITS).astype(float).T.tolist()
        return {
            "method": self.positions.method,
            "state": self.collection.description.state,
            "documents": len(self.collection),
            "explained": list(self.positions.explained),
            "ids": self.collection.ids.take(shown).to_pylist(),
            "x": [round(value, DIGITS) for value in x],
            "y": [round(value, DIGITS) for value in y],
            "names": [name._asdict() for name in self.names],
        }

    def columns(self, filter: str | None) -> dict[str, Any]:
        """The columns of the documents that a filter leaves, with examples of filters."""
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
    collection: Collection,
    drawn: Drawn,
    points: int,
    placed: WeakKeyDictionary[OpenSegment, Float32s],
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
