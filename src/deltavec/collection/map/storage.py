"""The map of a collection on disk: drawn once, carried along as documents come and go.

A document that is added stands among its nearest neighbors. When more than one in ten came that
way the map is let go: it is drawn anew when it is next wanted.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

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
from deltavec.collection.map.coordinates import OnShare, compute_layout, place_new_documents
from deltavec.collection.map.names import RegionName, names_json, read_names, region_names
from deltavec.collection.segment import map_vectors
from deltavec.core.arrays import Float32s, Int64s
from deltavec.core.jit import cache_folder
from deltavec.errors import DeltavecError, InputError
from deltavec.io.artifacts.atomic import on_disk, unfinished
from deltavec.io.artifacts.manifest import problems_of
from deltavec.io.artifacts.tensors import Arrays, Layout, layout, mapped_tensors, write_tensors

if TYPE_CHECKING:
    from deltavec.collection.collection import Collection

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
