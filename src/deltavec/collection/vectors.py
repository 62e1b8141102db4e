"""The vectors of a collection: one safetensors file, written in one go and mapped to be read.

The header has a fixed length, so that rows can be written before anybody knows how many there are.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Protocol

import numpy as np
import numpy.typing as npt

from deltavec.collection.folder import COLLECTION_FOLDER
from deltavec.collection.manifest import CollectionManifest, StoredFile
from deltavec.core.arrays import Float32s, blocks
from deltavec.io.artifacts.atomic import flush_to_disk
from deltavec.io.artifacts.manifest import (
    problems_of,
    require_checksum,
    require_size,
    require_unchanged,
)
from deltavec.io.artifacts.tensors import Layout, layout, mapped_tensors
from deltavec.io.output.shards import zero_rows
from deltavec.search.matrix import as_rows, length_error

HEADER_BYTES = 256
COPIED_AT_ONCE = 16 << 20


def vectors_layout(documents: int, dimensions: int) -> Layout:
    """The file of so many vectors."""
    shapes = {"vectors": ("F32", (documents, dimensions))}
    return layout("deltavec collection", shapes, aligned="vectors", shortest_header=HEADER_BYTES)


class Measured(Protocol):
    """What is known of rows: how many are zero, and how far the others are from unit length."""

    @property
    def zero_rows(self) -> int: ...  # noqa: D102
    @property
    def length_error(self) -> float: ...  # noqa: D102


class VectorsWriter:
    """A file that vectors are written to, row after row; `finished` when the context ends well."""

    def __init__(self, path: Path, dimensions: int) -> None:
        self.path = path
        self.dimensions = dimensions
        self.documents = 0
        self.zero_rows = 0
        self.length_error = 0.0
        self.file = path.open("xb")
        self.digest = hashlib.sha256()
        self.file.write(bytes(HEADER_BYTES))

    def __enter__(self) -> VectorsWriter:
        return self

    def __exit__(self, *error: object) -> None:
        self.file.close()

    def write(self, vectors: Float32s) -> None:
        """Write some more rows."""
        self.zero_rows += zero_rows(vectors)
        self._measure(vectors)
        self._append(vectors)

    def copy(
        self,
        vectors: Float32s,
        before: CollectionManifest,
        keep: npt.NDArray[np.bool_] | None = None,
    ) -> None:
        """Begin with the rows that a collection has and keeps, if no bit of all has changed."""
        there = hashlib.sha256()
        gone = 0
        for rows in blocks(len(vectors), COPIED_AT_ONCE // (4 * self.dimensions) or 1):
            part = vectors[rows]
            if keep is None:
                self._append(part)
                continue
            there.update(np.ascontiguousarray(part, "<f4").data.cast("B"))
            gone += int((~part[~keep[rows]].any(axis=1)).sum())
            self._append(part[keep[rows]])
        stored = before.vectors
        found = self.digest if keep is None else there
        with problems_of(self.path.with_name(stored.name)):
            require_checksum(found.hexdigest(), stored.sha256)
        self.zero_rows += before.zero_rows - gone
        if before.length_error is None:
            self._measure(vectors)
        else:
            self.length_error = before.length_error

    def extend(self, vectors: Float32s, measured: Measured) -> None:
        """Write rows that were measured when they were written before."""
        for rows in blocks(len(vectors), COPIED_AT_ONCE // (4 * self.dimensions) or 1):
            self._append(vectors[rows])
        self.zero_rows += measured.zero_rows
        self.length_error = max(self.length_error, measured.length_error)

    def finished(self) -> StoredFile:
        """What was written, on disk by now."""
        self.file.seek(0)
        layout = vectors_layout(self.documents, self.dimensions)
        self.file.write(layout.header)
        self.file.close()
        flush_to_disk(self.path)
        return StoredFile(self.path.name, self.documents, layout.size, self.digest.hexdigest())

    def _append(self, vectors: Float32s) -> None:
        if not len(vectors):  # nothing that bytes could be seen in
            return
        data = np.ascontiguousarray(vectors, "<f4").data.cast("B")
        self.file.write(data)
        self.digest.update(data)
        self.documents += len(vectors)

    def _measure(self, vectors: Float32s) -> None:
        error = length_error(as_rows(vectors, "vectors"), "vectors")
        self.length_error = max(self.length_error, error)


def map_vectors(folder: Path, stored: StoredFile, dimensions: int) -> Float32s:
    """The vectors of a file, a read-only view of it, once it is known to be the one described.

    Raises
    ------
    InputError
        If the length of the file or its header is another.
    """
    with COLLECTION_FOLDER.opened(folder / stored.name) as file:
        require_size(file, stored.bytes)
        return mapped_tensors(file, vectors_layout(stored.documents, dimensions))["vectors"]


def require_unchanged_vectors(folder: Path, stored: StoredFile) -> None:
    """Refuse vectors of which a bit has changed."""
    with COLLECTION_FOLDER.opened(folder / stored.name) as file:
        require_unchanged(file, stored.sha256, HEADER_BYTES)
