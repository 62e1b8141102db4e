"""Names of regions: topics in several degrees of fineness, each where most of its documents are."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from deltavec.collection.map.coordinates import DIGITS, Positions
from deltavec.core.arrays import Float32s
from deltavec.core.threads import one_blas_thread
from deltavec.errors import InputError
from deltavec.io.artifacts.manifest import require_types

if TYPE_CHECKING:
    from deltavec.collection.collection import Collection

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
