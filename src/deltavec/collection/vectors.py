"""The vectors of a collection: one safetensors file, written in one go and mapped to be read.

The header has a fixed length, so that rows can be written before anybody knows how many there are.
"""

from __future__ import annotations

import hashlib
import json
import mmap
import os
from pathlib import Path
from types import TracebackType

import numpy as np
import numpy.typing as npt

from deltavec.collection.description import StoredFile
from deltavec.errors import InputError

HEADER_BYTES = 256
COPIED_AT_ONCE = 16 << 20
DAMAGED = "the content does not have its checksum: the file is damaged"


def header(documents: int, dimensions: int) -> bytes:
    """The bytes that the file of so many vectors begins with."""
    entries = {
        "__metadata__": {"format": "deltavec collection"},
        "vectors": {
            "dtype": "F32",
            "shape": [documents, dimensions],
            "data_offsets": [0, 4 * documents * dimensions],
        },
    }
    text = json.dumps(entries, separators=(",", ":")).encode().ljust(HEADER_BYTES - 8)
    return len(text).to_bytes(8, "little") + text


class VectorsWriter:
    """A file that vectors are written to, row after row; `finished` when the context ends well."""

    def __init__(self, path: Path, dimensions: int) -> None:
        self.path = path
        self.dimensions = dimensions
        self.documents = 0
        self.zero_rows = 0
        self.file = path.open("xb")
        self.digest = hashlib.sha256()
        self.file.write(bytes(HEADER_BYTES))

    def __enter__(self) -> VectorsWriter:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.file.close()

    def write(self, vectors: npt.NDArray[np.float32]) -> None:
        """Write some more rows."""
        self.zero_rows += int(len(vectors) - np.count_nonzero(vectors.any(axis=1)))
        self._append(np.ascontiguousarray(vectors, "<f4").data.cast("B"), len(vectors))

    def copy(self, vectors: npt.NDArray[np.float32], stored: StoredFile, zero_rows: int) -> None:
        """Begin with the rows of another file, if no bit of them has changed."""
        step = max(1, COPIED_AT_ONCE // (4 * self.dimensions))
        for first in range(0, len(vectors), step):
            block = np.ascontiguousarray(vectors[first : first + step], "<f4")
            self._append(block.data.cast("B"), len(block))
        self.zero_rows += zero_rows
        if self.digest.hexdigest() != stored.sha256:
            raise InputError(f"{self.path.with_name(stored.name)}: {DAMAGED}")

    def finished(self) -> StoredFile:
        """What was written, on disk by now."""
        self.file.seek(0)
        self.file.write(header(self.documents, self.dimensions))
        self.file.flush()
        os.fsync(self.file.fileno())
        size = HEADER_BYTES + 4 * self.documents * self.dimensions
        return StoredFile(self.path.name, self.documents, size, self.digest.hexdigest())

    def _append(self, data: memoryview, documents: int) -> None:
        self.file.write(data)
        self.digest.update(data)
        self.documents += documents


def mapped_vectors(folder: Path, stored: StoredFile, dimensions: int) -> npt.NDArray[np.float32]:
    """The vectors of a file, a read-only view of it, once it is known to be the one described.

    Raises
    ------
    InputError
        If the length of the file or its header is another.
    """
    start = header(stored.documents, dimensions)
    expected = len(start) + 4 * stored.documents * dimensions
    with (folder / stored.name).open("rb") as file:
        found = os.fstat(file.fileno()).st_size
        if not stored.bytes == found == expected:
            raise InputError(
                f"expected {expected:,} bytes, found {found:,}: the file was cut short or exchanged"
            )
        memory = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    if memory[: len(start)] != start:
        raise InputError("the header is not the one of this collection: the file is damaged")
    shape = (stored.documents, dimensions)
    return np.ndarray(shape, np.dtype("<f4"), memory, len(start))


def require_unchanged(vectors: npt.NDArray[np.float32], stored: StoredFile) -> None:
    """Refuse vectors of which a bit has changed, or that are no vectors of documents."""
    digest = hashlib.sha256()
    step = max(1, COPIED_AT_ONCE // (4 * vectors.shape[1]))
    for first in range(0, len(vectors), step):
        digest.update(vectors[first : first + step].data.cast("B"))
    if digest.hexdigest() != stored.sha256:
        raise InputError(DAMAGED)
