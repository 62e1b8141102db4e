"""An index on disk: a folder of ordinary files, which appears whole or not at all; never a pickle.

======================  ====================================================================
``index.json``          sizes, settings, and a checksum of each file, itself included
``vectors.npy``         the rows, mapped into memory when the index is loaded
``ids.arrow``           the ids, in Arrow's file format; not there if they are 0, 1, 2, ...
``graph.usearch``       the graph of an approximate index, as usearch writes it
======================  ====================================================================
"""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np
import pyarrow as pa

from deltavec.core.frozen import frozen
from deltavec.core.kernels import Float32s, Int64s
from deltavec.errors import InputError
from deltavec.io.folder_kinds import FolderKind, problems_of
from deltavec.io.folders import replacing_folder
from deltavec.io.model_tensors import sha256
from deltavec.search.description import LONGEST, MARK, described, sealed, unsealed
from deltavec.search.graph import Graph
from deltavec.search.ids import NUMBERS, Ids, require_unique
from deltavec.search.rows import Pieces, length_error

DESCRIPTION, VECTORS, IDS, GRAPH = "index.json", "vectors.npy", "ids.arrow", "graph.usearch"
FILES = (DESCRIPTION, VECTORS, IDS, GRAPH)
INDEX_FOLDER = FolderKind("index", FILES, DESCRIPTION, MARK)
BYTES_AT_ONCE = 1 << 24
NO_KEYS = np.empty(0, np.int64)


class Stored(NamedTuple):
    """What an index consists of."""

    pieces: Pieces
    ids: Ids
    graph: Graph | None
    recall: Mapping[str, Any]  # of the graph, as far as it was measured


def save(stored: Stored, folder: Path) -> None:
    """Write an index to a folder, in the place of the one that stands there."""
    with problems_of(folder):
        INDEX_FOLDER.require_replaceable(folder)
        with replacing_folder(folder, FILES) as fresh:
            files = {VECTORS: written(fresh / VECTORS, partial(write_vectors, stored.pieces))}
            if stored.graph or stored.ids.given or stored.ids.following != len(stored.ids):
                files[IDS] = written(fresh / IDS, partial(write_ids, stored))
            if stored.graph:
                stored.graph.write(fresh / GRAPH)
                files[GRAPH] = written(fresh / GRAPH, lambda file: None)
            entries = described(stored.pieces, stored.ids, stored.graph, stored.recall, files)
            written(fresh / DESCRIPTION, lambda file: file.write(sealed(entries)))


def load(folder: Path, *, mmap: bool, verify: bool) -> Stored:
    """The index in a folder."""
    while True:
        before = INDEX_FOLDER.identity(folder)
        try:
            stored = read(folder, mmap, verify)
        except InputError:
            if INDEX_FOLDER.identity(folder) == before:
                raise
        else:
            if INDEX_FOLDER.identity(folder) == before:
                return stored
        # Somebody saved another index between the reading of two files: once more.


def read(folder: Path, mmap: bool, verify: bool) -> Stored:
    """The index in a folder that nobody replaces meanwhile."""
    with INDEX_FOLDER.opened(folder / DESCRIPTION) as file:
        entries = unsealed(file.read(LONGEST + 1))
    files = entries["files"]
    for name in files:
        with INDEX_FOLDER.opened(folder / name) as file:
            require_size(file, files[name]["bytes"])
            # The vectors are many, and any bytes are numbers; the others are read by parsers.
            if (verify or name != VECTORS) and sha256(file) != files[name]["sha256"]:
                raise InputError("the content does not have its checksum: the file is damaged")
    rows, dimensions = entries["rows"], entries["dimensions"]
    with INDEX_FOLDER.opened(folder / VECTORS) as file:
        array = read_vectors(file, rows, dimensions, mmap)
        error = length_error(array, "vectors") if verify else entries["length_error"]
    ids, keys, graph = Ids.counted(rows), NO_KEYS, None
    if IDS in files:
        with INDEX_FOLDER.opened(folder / IDS) as file:
            ids, keys = read_ids(file, entries)
    if GRAPH in files:
        with INDEX_FOLDER.opened(folder / GRAPH):
            graph = Graph.read(folder / GRAPH, keys, dimensions, **entries["graph"])
    return Stored(Pieces((array,), error), ids, graph, entries["recall"])


def written(path: Path, write: Callable[[BinaryIO], object]) -> dict[str, Any]:
    """The size and the checksum of a file that was written, and is on disk."""
    with path.open("r+b" if path.exists() else "w+b") as file:
        write(file)
        file.flush()
        os.fsync(file.fileno())
        return {"bytes": os.fstat(file.fileno()).st_size, "sha256": sha256(file)}


def npy_header(rows: int, dimensions: int) -> bytes:
    """What a npy file of so many rows begins with."""
    header = io.BytesIO()
    fields = {"descr": "<f4", "fortran_order": False, "shape": (rows, dimensions)}
    np.lib.format.write_array_header_1_0(header, fields)
    return header.getvalue()


def write_vectors(pieces: Pieces, file: BinaryIO) -> None:
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
        return frozen(np.fromfile(file, "<f4").reshape(shape).astype(np.float32, copy=False))
    mapped = np.memmap(file, "<f4", "r", len(header), shape)
    return frozen(mapped.astype(np.float32, copy=False))


def write_ids(stored: Stored, file: BinaryIO) -> None:
    """Write ids in Arrow's file format, and the keys that their rows have in the graph."""
    columns = {"id": stored.ids.values}
    if stored.graph:
        columns["key"] = pa.array(stored.graph.keys)
    batch = pa.RecordBatch.from_pydict(columns)
    with pa.ipc.new_file(file, batch.schema) as writer:
        writer.write_batch(batch)


def read_ids(file: BinaryIO, entries: Mapping[str, Any]) -> tuple[Ids, Int64s]:
    """The ids in Arrow's file format, one for each row, and the rows' keys in the graph."""
    try:
        table = pa.ipc.open_file(pa.py_buffer(file.read())).read_all()
        table.validate(full=True)
    except pa.ArrowException as error:
        raise InputError(f"expected Arrow's file format: {error}") from None
    schema = [("id", pa.int64() if entries["id_kind"] == NUMBERS else pa.large_string())]
    schema += [("key", pa.int64())] if GRAPH in entries["files"] else []
    if table.schema != pa.schema(schema) or len(table) != entries["rows"]:
        raise InputError(f"expected {entries['rows']:,} ids that are {entries['id_kind']}")
    if any(column.null_count for column in table.columns):
        raise InputError("an id is missing")
    ids, *keys = (pa.concat_arrays(column.chunks) for column in table.columns)
    require_unique(ids)
    if not entries["ids_given"]:
        require_ascending(ids.to_numpy(), entries["following"])
    numbers: Int64s = keys[0].to_numpy() if keys else NO_KEYS
    if keys:
        require_ascending(numbers, entries["graph"]["following"])
    return Ids(ids, entries["ids_given"], entries["following"]), numbers


def require_ascending(numbers: Int64s, following: int) -> None:
    """Refuse numbers that cannot have been given out one after the other."""
    if (np.diff(numbers, prepend=-1, append=following) < 1).any():
        raise InputError(f"numbers must ascend from 0, and stay below {following:,}")


def require_size(file: BinaryIO, expected: int) -> None:
    """Refuse a file of another length."""
    found = os.fstat(file.fileno()).st_size
    if found != expected:
        raise InputError(
            f"expected {expected:,} bytes, found {found:,}: the file was cut short or exchanged"
        )
