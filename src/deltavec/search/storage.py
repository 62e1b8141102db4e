"""An index on disk: a folder of ordinary files, which appears whole or not at all; never a pickle.

======================  ====================================================================
``index.json``          sizes, settings, and a checksum of each file, itself included
``vectors.npy``         the rows, mapped into memory when the index is loaded
``ids.arrow``           the ids, in Arrow's file format; not there if they are 0, 1, 2, ...
======================  ====================================================================
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa

from deltavec.core.arrays import Float32s, Int64s, read_only
from deltavec.errors import InputError
from deltavec.io.artifacts.atomic import on_disk
from deltavec.io.artifacts.manifest import (
    LARGEST_COUNT,
    Artifact,
    names,
    problems_of,
    require_ranges,
    require_size,
    require_types,
    require_unchanged,
)
from deltavec.io.artifacts.tensors import npy_header
from deltavec.search.ids import NUMBERS, STRINGS, Ids, require_unique
from deltavec.search.kernels import MOST_DIMENSIONS
from deltavec.search.matrix import LARGEST_ERROR, ChunkedMatrix, length_error
from deltavec.search.query import IndexState

DESCRIPTION, VECTORS, IDS = FILES = ("index.json", "vectors.npy", "ids.arrow")
INDEX_FOLDER = Artifact("index", 1, DESCRIPTION, names(FILES))
BYTES_AT_ONCE = 1 << 24

ENTRIES: dict[str, type[Any]] = {
    "rows": int,
    "dimensions": int,
    "length_error": float,
    "id_kind": str,
    "ids_given": bool,
    "following": int,
    "files": dict,
}
RANGES = {
    "rows": (0, LARGEST_COUNT),
    "dimensions": (1, MOST_DIMENSIONS),
    "length_error": (0, LARGEST_ERROR),
    "following": (0, LARGEST_COUNT),
}
FILE_ENTRIES: dict[str, type[Any]] = {"bytes": int, "sha256": str}


def save(state: IndexState, folder: Path) -> None:
    """Write an index to a folder, in the place of the one that stands there."""
    replacement = INDEX_FOLDER.replacing(folder)
    with problems_of(folder), replacement as fresh:
        with (fresh / VECTORS).open("wb") as file:
            write_vectors(state.pieces, file)
        if state.ids.given or state.ids.following != len(state.ids):
            with (fresh / IDS).open("wb") as file:
                write_ids(state.ids, file)
        there = [name for name in FILES if (fresh / name).exists()]
        files = {name: on_disk(fresh / name)._asdict() for name in there}
        INDEX_FOLDER.write_manifest(fresh, manifest_entries(state, files))


def manifest_entries(state: IndexState, files: Mapping[str, Any]) -> dict[str, Any]:
    """The entries for an index."""
    pieces, ids = state
    return {
        "rows": len(pieces),
        "dimensions": pieces.dimensions,
        "length_error": float(pieces.length_error),
        "id_kind": ids.kind,
        "ids_given": ids.given,
        "following": ids.following,
        "files": dict(files),
    }


def require_sound(entries: Mapping[str, Any]) -> None:
    """Refuse entries that are missing, unknown, of the wrong type or out of range."""
    require_types(entries, ENTRIES)
    files = entries["files"]
    for file in files.values():
        require_types(file if isinstance(file, dict) else {}, FILE_ENTRIES)
    if set(files) not in ({VECTORS}, {VECTORS, IDS}):
        raise InputError(f"files must be those of an index, got {', '.join(files):.100}")
    if entries["id_kind"] not in (NUMBERS, STRINGS):
        raise InputError(f"id_kind must be {NUMBERS} or {STRINGS}, got {entries['id_kind']!r:.60}")
    if entries["id_kind"] == STRINGS and not entries["ids_given"]:
        raise InputError("ids that are strings must be given")
    require_ranges(entries, RANGES)


def load(folder: Path, *, mmap: bool, verify: bool) -> IndexState:
    """The index in a folder."""
    return INDEX_FOLDER.read_whole(folder, partial(read, mmap=mmap, verify=verify))


def read(folder: Path, *, mmap: bool, verify: bool) -> IndexState:
    """The index in a folder that nobody replaces meanwhile."""
    entries = INDEX_FOLDER.read_manifest(folder)
    with problems_of(folder / DESCRIPTION):
        require_sound(entries)
    files = entries["files"]
    for name in files:
        with INDEX_FOLDER.opened(folder / name) as file:
            require_size(file, files[name]["bytes"])
            # The vectors are many, and any bytes are numbers; the others are read by parsers.
            if verify or name != VECTORS:
                require_unchanged(file, files[name]["sha256"])
    rows, dimensions = entries["rows"], entries["dimensions"]
    with INDEX_FOLDER.opened(folder / VECTORS) as file:
        array = read_vectors(file, rows, dimensions, mmap)
        error = length_error(array, "vectors") if verify else entries["length_error"]
    ids = Ids.counted(rows)
    if IDS in files:
        with INDEX_FOLDER.opened(folder / IDS) as file:
            ids = read_ids(file, entries)
    return IndexState(ChunkedMatrix((array,), error), ids)


def write_vectors(pieces: ChunkedMatrix, file: BinaryIO) -> None:
    """Write the rows as npy, a part at a time."""
    file.write(npy_header(len(pieces), pieces.dimensions))
    rows = max(1, BYTES_AT_ONCE // (4 * pieces.dimensions))
    for _, array in pieces:
        for first in range(0, len(array), rows):
            file.write(array[first : first + rows].astype("<f4", copy=False).data)


def read_vectors(file: BinaryIO, rows: int, dimensions: int, mmap: bool) -> Float32s:
    """The rows of a npy file that must have this shape, mapped or in memory."""
    header = npy_header(rows, dimensions)
    require_size(file, len(header) + 4 * rows * dimensions)
    if file.read(len(header)) != header:
        raise InputError("the header is not the one of this index: the file is damaged")
    shape = rows, dimensions
    if not rows or not mmap:
        return read_only(np.fromfile(file, "<f4").reshape(shape).astype(np.float32, copy=False))
    mapped = np.memmap(file, "<f4", "r", len(header), shape)
    return read_only(mapped.astype(np.float32, copy=False))


def write_ids(ids: Ids, file: BinaryIO) -> None:
    """Write ids in Arrow's file format."""
    batch = pa.RecordBatch.from_pydict({"id": ids.values})
    with pa.ipc.new_file(file, batch.schema) as writer:
        writer.write_batch(batch)


def read_ids(file: BinaryIO, entries: Mapping[str, Any]) -> Ids:
    """The ids in Arrow's file format, one for each row."""
    try:
        table = pa.ipc.open_file(pa.py_buffer(file.read())).read_all()
        table.validate(full=True)
    except (pa.ArrowException, UnicodeDecodeError) as error:  # the latter for a column's name
        raise InputError(f"expected Arrow's file format: {error}") from None
    kind = pa.int64() if entries["id_kind"] == NUMBERS else pa.large_string()
    if table.schema != pa.schema([("id", kind)]) or len(table) != entries["rows"]:
        raise InputError(f"expected {entries['rows']:,} ids that are {entries['id_kind']}")
    ids = pa.concat_arrays(table["id"].chunks)
    if ids.null_count:
        raise InputError("an id is missing")
    require_unique(ids)
    if not entries["ids_given"]:
        require_ascending(ids.to_numpy(), entries["following"])
    return Ids(ids, entries["ids_given"], entries["following"])


def require_ascending(numbers: Int64s, following: int) -> None:
    """Refuse numbers that cannot have been given out one after the other."""
    # Compared, not subtracted: a difference can wrap around.
    ascending = (numbers[:-1] < numbers[1:]).all()
    if not ascending or (len(numbers) and (numbers[0] < 0 or numbers[-1] >= following)):
        raise InputError(f"numbers must ascend from 0, and stay below {following:,}")
