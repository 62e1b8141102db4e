"""The map of a collection on disk: drawn once, carried along as documents come and go.

A document that is added stands among its nearest neighbors. When more than one in ten came that
way the map is let go: it is drawn anew when it is next wanted.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from deltavec.collection.manifest import (
    CollectionManifest,
    MapFile,
    StoredFile,
    file_path,
    next_number,
    open_file,
    save_manifest,
)
from deltavec.collection.map.coordinates import OnShare, compute_layout, place_new_documents
from deltavec.collection.map.names import RegionName, names_json, read_names, region_names
from deltavec.collection.segment import map_vectors
from deltavec.core.arrays import Float32s
from deltavec.errors import DeltavecError, InputError
from deltavec.io.artifacts.atomic import on_disk
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
        if current.description.vectors != collection.description.vectors:
            raise InputError(
                f"{collection.path}: it changed while its map was drawn: draw it again"
            )
        count = int(np.count_nonzero(~np.isnan(drawn.places[:, 0])))
        stored = write_map(collection.path, drawn, count)
        stated = current.description
        save_manifest(collection.path, replace(stated, map=stored), stated)


def keep_map(
    collection: Collection,
    *,
    threads: int | None = None,
    on_stage: Callable[[str], None] | None = None,
    on_progress: OnShare | None = None,
) -> tuple[Collection, StoredMap]:
    """The collection with a map that is drawn now, and the map; stored if the folder lets us.

    A folder may be read-only, or somebody may be writing to it: then the map is not kept.
    """
    from deltavec.collection.open import refresh

    drawn = draw_map(collection, threads=threads, on_stage=on_stage, on_progress=on_progress)
    try:
        store_map(collection, drawn)
    except DeltavecError:
        return collection, drawn
    return refresh(collection), drawn


def map_layout(documents: int, name_bytes: int) -> Layout:
    """The file of a map of so many documents."""
    shapes = {"places": ("F32", (documents, 2)), "names": ("U8", (name_bytes,))}
    return layout("deltavec map", shapes, aligned="places")


def write_map(folder: Path, drawn: StoredMap, count: int) -> MapFile:
    """Write a map to a new file; so many documents were placed when it was drawn."""
    names = np.frombuffer(names_json(drawn.names), np.uint8)
    path = file_path(folder, "map", next_number(folder))
    with path.open("xb") as file:
        arrays: Arrays = {"places": drawn.places, "names": names}
        write_tensors(file, map_layout(len(drawn.places), len(names)), arrays)
    return MapFile(path.name, len(drawn.places), *on_disk(path), count, len(names))


def open_map(folder: Path, stored: MapFile, *, verify: bool) -> StoredMap:
    """The map in a folder, once the file is known to be the one described."""
    with open_file(folder, stored, verify=verify) as file:
        found = mapped_tensors(file, map_layout(stored.documents, stored.name_bytes))
        places = found["places"]
        # NaN is a document without a place; both of its numbers are, then.
        outside = ~(np.abs(places) <= 1)
        if (outside.any(axis=1) != np.isnan(places).all(axis=1)).any():
            raise InputError("expected places from -1 to 1: the map is damaged")
        return StoredMap(places, read_names(found["names"].tobytes()))


def carry_map(
    folder: Path,
    before: CollectionManifest,
    keep: npt.NDArray[np.bool_] | None,
    vectors: StoredFile,
) -> MapFile | None:
    """The map after a change of a collection that has one; None if it is let go.

    Parameters
    ----------
    folder
        Where the collection is.
    before
        What it was.
    keep
        Which documents stay; None keeps all. Others may come behind them.
    vectors
        The vectors of all documents after the change.
    """
    if before.map is None:
        return None
    old = open_map(folder, before.map, verify=True)
    kept = old.places if keep is None else old.places[keep]
    if not len(kept):
        return None
    places = np.full((vectors.documents, 2), np.nan, np.float32)
    places[: len(kept)] = kept
    fresh = np.arange(len(kept), len(places))
    placed = np.count_nonzero(~np.isnan(kept[:, 0]))
    if placed + len(fresh) > (1 + MOST_NEWCOMERS) * before.map.drawn and len(fresh):
        return None
    mapped = map_vectors(folder, vectors, before.dimensions)
    places = place_new_documents(places, mapped, fresh)
    return write_map(folder, StoredMap(places, old.names), before.map.drawn)
