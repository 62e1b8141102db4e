"""The map of a collection: drawn once, carried along as documents come and go.

``neighbors`` is a t-SNE layout (`deltavec.search.tsne`): a document stands among the most similar
ones, and distances between groups mean little. ``pca`` shows the first two principal components:
faster, and mostly one cloud. Regions are named by topics in several degrees of fineness, each where
most of its documents are.

A document that is added stands among its nearest neighbors. When more than one in ten came that
way the map is let go: it is drawn anew when it is next wanted.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from safetensors.numpy import load_file, save_file

from deltavec.collection.manifest import (
    CollectionManifest,
    MapFile,
    StoredFile,
    StoredSegment,
    file_path,
    next_number,
    open_file,
    save_manifest,
)
from deltavec.collection.segment import map_vectors
from deltavec.core.arguments import require_one_of
from deltavec.core.arrays import Float32s, Float64s, Int64s
from deltavec.core.jit import cache_folder
from deltavec.core.threads import one_blas_thread
from deltavec.errors import DeltavecError, InputError
from deltavec.io.artifacts.atomic import on_disk, unfinished
from deltavec.io.artifacts.manifest import problems_of, require_types
from deltavec.io.artifacts.tensors import Arrays, Layout, layout, mapped_tensors, write_tensors

if TYPE_CHECKING:
    from deltavec.collection.collection import Collection
    from deltavec.search import Index

DIGITS = 4  # of a coordinate between -1 and 1: finer than a screen
POINTS = 200_000  # documents on a map; of more a sample
EQUAL = 1 - 1e-6  # the cosine of two documents that are the same
SPEAKING = 5  # neighbors that say where a document stands that came later

OnShare = Callable[[float], None]


class Axes(NamedTuple):
    """The two directions of a map, and the piece of the plane that it shows.

    Attributes
    ----------
    mean : ndarray of float64, shape (dimensions,)
        Where the directions cross.
    directions : ndarray of float64, shape (dimensions, 2)
        Along which documents are placed; fewer in fewer dimensions.
    frame : Frame
        The piece of the plane.
    """

    mean: Float64s
    directions: Float64s
    frame: Frame

    @one_blas_thread()
    def places(self, vectors: Float32s) -> Float32s:
        """Where documents stand on the map; those beyond its edge stand on it."""
        from deltavec.search.tsne.layout import project

        return self.frame.scaled(project(vectors, self.mean, self.directions))


class Positions(NamedTuple):
    """Where documents stand.

    Attributes
    ----------
    method : str
        ``neighbors`` or ``pca``.
    places : ndarray of float32, shape (documents, 2)
        Between -1 and 1; NaN for a document that was not placed.
    shown : ndarray of int64
        The rows on the map, in their order: all, or a sample.
    explained : tuple of float
        The share of the documents' variance along each axis; empty for ``neighbors``.
    axes : Axes or None
        What places other documents on the same map; None for ``neighbors``.
    """

    method: str
    places: Float32s
    shown: Int64s
    explained: tuple[float, ...]
    axes: Axes | None = None

    def of(self, rows: Int64s) -> list[tuple[float, float] | None]:
        """Where each of these documents stands; None for one that was not placed."""
        return [
            None if math.isnan(x) else (round(x, DIGITS), round(y, DIGITS))
            for x, y in self.places[rows].tolist()
        ]

    def kept(self, numbers: Int64s, index: Index, points: int) -> Positions:
        """Where documents stand that had these rows when the map was drawn; -1 came later."""
        places = np.where((numbers >= 0)[:, None], self.places[numbers], np.float32(np.nan))
        fresh = np.flatnonzero(numbers < 0)
        places[fresh] = place_new_documents(places, index, index.take(fresh))
        return place_layout(places, points)


def compute_layout(
    vectors: Float32s,
    method: str = "neighbors",
    *,
    points: int = POINTS,
    seed: int = 0,
    threads: int | None = None,
    on_progress: OnShare | None = None,
) -> Positions:
    """Where the documents of these vectors stand.

    Parameters
    ----------
    vectors
        One a row; may be memory-mapped.
    method
        ``neighbors`` or ``pca``.
    points
        How many to show; of more documents a sample is drawn, and the map is that of the sample.
    seed
        For the sample.
    threads
        How many cores; all of them by default.
    on_progress
        Called with the share of the work that is done.
    """
    require_one_of("map", method, ("neighbors", "pca"))
    if method == "pca":
        return pca(vectors, points, seed)
    from deltavec.search.tsne.layout import neighbor_layout, rows_with_direction

    there = sample_rows(np.flatnonzero(rows_with_direction(vectors)), points, seed)
    places = np.full((len(vectors), 2), np.nan)
    places[there] = neighbor_layout(vectors[there], threads=threads, on_progress=on_progress)
    return place_layout(Frame.of(places).scaled(places), points)


def place_layout(places: Float32s, points: int = POINTS, seed: int = 0) -> Positions:
    """The positions of a map of neighbors, by its places."""
    shown = sample_rows(np.flatnonzero(~np.isnan(places[:, 0])), points, seed)
    return Positions("neighbors", places, shown, ())


def place_new_documents(places: Float32s, index: Index, vectors: Float32s) -> Float32s:
    """The places of new documents: the middle (median) of their nearest neighbors' places.

    A mean would put one whose neighbors stand in two groups into the gap between them. A document
    without a vector has no place.

    Parameters
    ----------
    places
        The places of the documents of an index; NaN for those that have none.
    index
        Their vectors.
    vectors
        Those of the new documents.
    """
    from deltavec.search.tsne.layout import rows_with_direction

    known = ~np.isnan(places[:, 0])
    found = np.full((len(vectors), 2), np.nan, np.float32)
    there = np.flatnonzero(rows_with_direction(vectors))
    if known.any() and len(there):
        near = index.search(vectors[there], SPEAKING, where=known)
        around = places[near.ids]
        same = near.scores[:, :1] >= EQUAL  # equal documents stand in one place
        found[there] = np.where(same, around[:, 0], np.median(around, axis=1))
    return found


def sample_rows(rows: Int64s, points: int, seed: int) -> Int64s:
    """The rows to show: all of them, or so many drawn at random, in their order."""
    if len(rows) <= points:
        return rows
    drawn = np.random.default_rng(seed).choice(len(rows), points, replace=False, shuffle=False)
    return rows[np.sort(drawn)]


class Frame(NamedTuple):
    """The piece of the plane that holds all places: its middle, and how far it goes from there."""

    middle: Float64s
    reach: float

    @classmethod
    def of(cls, places: Float64s) -> Frame:
        """The frame of these places; both axes have one scale."""
        if not len(places) or np.isnan(places).all():
            return cls(np.zeros(2), 1.0)
        low, high = np.nanmin(places, axis=0), np.nanmax(places, axis=0)
        return cls((low + high) / 2, float((high - low).max()) / 2 or 1.0)

    def scaled(self, places: Float64s) -> Float32s:
        """The places, between -1 and 1, however small the frame is and however it is rounded."""
        moved: Float64s = np.clip((places - self.middle) / self.reach, -1, 1)
        return moved.astype(np.float32)


@one_blas_thread()
def pca(vectors: Float32s, points: int, seed: int) -> Positions:
    """All documents along the first two principal axes of the shown ones."""
    from deltavec.search.tsne.layout import principal_axes, project

    shown = sample_rows(np.arange(len(vectors)), points, seed)
    mean, axes, variances = principal_axes(vectors[shown])
    places = project(vectors, mean, axes)
    total = float(variances.sum())
    shares = (float(value) / total if total > 0 else 0.0 for value in variances[:2])
    frame = Frame.of(places)
    return Positions("pca", frame.scaled(places), shown, tuple(shares), Axes(mean, axes, frame))


LEVELS = (8, 40, 160)  # topics, where there are documents enough:
FEWEST_MEMBERS = 25  # so many for each of them
WORDS = 3
CELLS = 96  # of the grid on which most documents of a topic are looked for
BLUR = 2  # cells
MOST_NAMES = 10_000
LONGEST_NAME = 500


class RegionName(NamedTuple):
    """A name on the map.

    Attributes
    ----------
    text : str
        Some words.
    level : int
        0 for the broadest topics; higher levels show when the map is zoomed.
    x, y : float
        Where it stands.
    documents : int
        How many documents it is a name for.
    """

    text: str
    level: int
    x: float
    y: float
    documents: int


def region_names(collection: Collection, positions: Positions) -> list[RegionName]:
    """The names of a map, the broadest topics first; none if the documents are too few.

    Topics, as `Collection.cluster` finds them, are the first level; below them are regions of the
    map itself, so that what is read stands on what it names.
    """
    from deltavec.collection.topics.clusters import k_means
    from deltavec.collection.topics.names import group_names

    there = np.flatnonzero(~np.isnan(positions.places[:, 0]))
    counts = dict.fromkeys(min(count, len(there) // FEWEST_MEMBERS) for count in LEVELS)
    names = []
    for level, count in enumerate(count for count in counts if count >= 2):
        if level == 0:
            topics = collection.cluster(count, words=WORDS)
            labels, named = topics.labels, topics.names
        else:
            labels = np.full(len(positions.places), -1, np.int32)
            with one_blas_thread():
                here = positions.places[there].astype(np.float64)
                labels[there] = k_means(here, count, seed=0, starts=1).labels_
            named = group_names(collection, labels, words=WORDS)
        for topic, words in enumerate(named):
            members = there[labels[there] == topic]
            if len(members) and words:
                x, y = densest_cell(positions.places[members])
                names.append(RegionName(", ".join(words), level, x, y, len(members)))
    return names


def densest_cell(places: Float32s) -> tuple[float, float]:
    """Where most of these places are."""
    from scipy.ndimage import gaussian_filter

    columns, rows = np.clip((places.T.astype(np.float64) + 1) / 2 * CELLS, 0, CELLS - 1).astype(int)
    counts = np.bincount(rows * CELLS + columns, minlength=CELLS * CELLS).reshape(CELLS, CELLS)
    row, column = divmod(int(np.argmax(gaussian_filter(counts.astype(np.float64), BLUR))), CELLS)
    x, y = (2 * (place + 0.5) / CELLS - 1 for place in (column, row))
    return round(x, DIGITS), round(y, DIGITS)


def names_json(names: list[RegionName]) -> bytes:
    """The names as they are stored."""
    return json.dumps([list(name) for name in names], ensure_ascii=False).encode()


def read_names(stored: bytes) -> list[RegionName]:
    """The names that are stored, each looked at."""
    try:
        entries = json.loads(stored)
    except ValueError:
        raise InputError("the names of the map are no JSON: the file is damaged") from None
    if not isinstance(entries, list) or len(entries) > MOST_NAMES:
        raise InputError("expected a list of names of the map: the file is damaged")
    return [name_regions(entry) for entry in entries]


def name_regions(entry: Any) -> RegionName:
    """One name."""
    fields = RegionName._fields
    if not isinstance(entry, list) or len(entry) != len(fields):
        raise InputError("expected a name with its place: the map is damaged")
    kinds = {"text": str, "level": int, "x": float, "y": float, "documents": int}
    require_types(dict(zip(fields, entry, strict=True)), kinds)
    name = RegionName(*entry)
    within = 0 <= name.level < len(LEVELS) and abs(name.x) <= 1 and abs(name.y) <= 1
    if not within or len(name.text) > LONGEST_NAME or name.documents < 0:
        raise InputError("expected a name within the map: the file is damaged")
    return name


MOST_NEWCOMERS = 0.1  # of the documents that a map was drawn of


class StoredMap(NamedTuple):
    """A map: where documents stand (NaN: nowhere), and names of regions."""

    places: Float32s
    names: list[RegionName]


def draw_map(
    collection: Collection,
    *,
    threads: int | None = None,
    on_stage: Callable[[str], None] | None = None,
    on_progress: OnShare | None = None,
) -> StoredMap:
    """The map of a collection, drawn now."""
    begin = on_stage or (lambda stage: None)
    begin("drawing the map")
    placed = compute_layout(collection.index.vectors, threads=threads, on_progress=on_progress)
    begin("naming regions")
    return StoredMap(placed.places, region_names(collection, placed))


def store_map(collection: Collection, drawn: StoredMap) -> None:
    """Store a map in the folder of the collection that it was drawn of."""
    from deltavec.collection.updates import updating

    with updating(collection) as current:
        stated, pieces = current.description, current.index.pieces
        if stated.segments != collection.description.segments:
            raise InputError(
                f"{collection.path}: it changed while its map was drawn: draw it again"
            )
        places = np.full((len(pieces), 2), np.nan, np.float32)
        places[slice(None) if pieces.live is None else pieces.live] = drawn.places
        count = int(np.count_nonzero(~np.isnan(drawn.places[:, 0])))
        number = next_number(collection.path)
        segments: list[StoredSegment] = []
        for segment, (begin, array) in zip(stated.segments, pieces, strict=True):
            path = file_path(collection.path, "map", number + len(segments))
            here = StoredMap(places[begin : begin + len(array)], [] if segments else drawn.names)
            segments.append(replace(segment, map=write_map(path, here, count)))
        save_manifest(collection.path, replace(stated, segments=tuple(segments)), stated)


def keep_map(collection: Collection) -> None:
    """Draw the map of a collection and store it: in its folder, or in the cache of this user.

    A folder may be read-only, or somebody may be writing to it.
    """
    drawn = draw_map(collection)
    try:
        store_map(collection, drawn)
    except DeltavecError:
        path = cached_map(collection)
        if path is not None:
            path.parent.mkdir(exist_ok=True)
            made = unfinished(path)
            names = np.frombuffer(names_json(drawn.names), np.uint8)
            save_file({"places": drawn.places, "names": names}, made)
            made.replace(path)


def cached_map(collection: Collection) -> Path | None:
    """Where the map of a collection in this state is, if it is not in its folder."""
    folder = cache_folder()
    state = hashlib.blake2b(repr(collection.description.segments).encode(), digest_size=16)
    return folder and folder.parent / "maps" / f"{state.hexdigest()}.safetensors"


def find_cached_map(collection: Collection) -> StoredMap | None:
    """The map of a collection that is in the cache."""
    path = cached_map(collection)
    if path is None or not path.is_file():
        return None
    with problems_of(path):
        found = load_file(path)
        return StoredMap(found["places"], read_names(found["names"].tobytes()))


def map_layout(documents: int, name_bytes: int) -> Layout:
    """The file of a map of so many documents."""
    shapes = {"places": ("F32", (documents, 2)), "names": ("U8", (name_bytes,))}
    return layout("deltavec map", shapes, aligned="places")


def write_map(path: Path, drawn: StoredMap, count: int) -> MapFile:
    """Write a map to a new file; so many documents were placed when it was drawn."""
    names = np.frombuffer(names_json(drawn.names), np.uint8)
    with path.open("xb") as file:
        arrays: Arrays = {"places": drawn.places, "names": names}
        write_tensors(file, map_layout(len(drawn.places), len(names)), arrays)
    return MapFile(path.name, len(drawn.places), *on_disk(path), count, len(names))


def open_map(
    folder: Path, manifest: CollectionManifest, deleted: Sequence[Int64s], *, verify: bool = False
) -> StoredMap | None:
    """The map in a folder, once its files are known to be those described; None without one."""
    if manifest.map is None:
        return None
    files = [segment.map for segment in manifest.segments if segment.map]
    parts = [read_map(folder, file, verify=verify) for file in files]
    both = zip(parts, deleted, strict=True)
    live = [np.delete(p.places, rows, 0) if len(rows) else p.places for p, rows in both]
    return StoredMap(live[0] if len(live) == 1 else np.concatenate(live), parts[0].names)


def read_map(folder: Path, stored: MapFile, *, verify: bool = False) -> StoredMap:
    """The map of one segment."""
    with open_file(folder, stored, verify=verify) as file:
        found = mapped_tensors(file, map_layout(stored.documents, stored.name_bytes))
        places = found["places"]
        # NaN is a document without a place; both of its numbers are, then.
        outside = ~(np.abs(places) <= 1)
        if (outside.any(axis=1) != np.isnan(places).all(axis=1)).any():
            raise InputError("expected places from -1 to 1: the map is damaged")
        return StoredMap(places, read_names(found["names"].tobytes()))


def place_fresh(current: Collection, stored: StoredFile, path: Path) -> MapFile | None:
    """Write where new documents stand on the map; None if there is none, or if it is let go."""
    stated = current.description
    if current.map is None or stated.map is None:
        return None
    placed = np.count_nonzero(~np.isnan(current.map.places[:, 0]))
    if placed + stored.documents > (1 + MOST_NEWCOMERS) * stated.map.drawn:
        return None
    vectors = map_vectors(current.path, stored, stated.dimensions, stated.dtype)
    places = place_new_documents(current.map.places, current.index, vectors)
    return write_map(path, StoredMap(places, []), stated.map.drawn)
