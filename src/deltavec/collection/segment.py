"""The files of a collection, opened: vectors, postings, and documents in segments.

A segment is a file in Arrow's format, mapped into memory. Nothing is compressed, so to show ten
results only ten documents are read (docs/decisions/0020). Documents are stored in small groups.
Each group has a checksum per column, which is compared when the column is first read, and then all
values of the column are validated. So a changed byte is noticed, and a hostile file leads nowhere
outside of itself.
"""

from __future__ import annotations

import mmap
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np
import pyarrow as pa

from deltavec.collection.manifest import StoredFile, WordsFile, open_file
from deltavec.core.arrays import Float32s, Int64s, offsets_of, require_mapped_whole
from deltavec.errors import InputError
from deltavec.io.artifacts.tensors import Layout, layout, mapped_tensors
from deltavec.io.output.json_values import value_of
from deltavec.search.lexical.storage import Sizes, StoredPostings, map_postings

ID, TEXT = "id", "text"
HEADER_BYTES = (
    256  # of the file of vectors: fixed, so that rows are written before they are counted
)
CHECKSUMS = b"crc32"
GROUPS_KEPT = 4096  # a few kilobytes each: the documents stay in the file
MAGIC_BYTES = 8  # before the stream that the file holds


class Segment:
    """A file of documents, mapped.

    Parameters
    ----------
    folder, stored
        Where the file is, and what the manifest says of it.
    columns
        The columns that it must have beside id and text.
    verify
        Whether the checksum of the file must be right.
    """

    def __init__(
        self, folder: Path, stored: StoredFile, columns: Sequence[str], verify: bool = False
    ) -> None:
        self.path = folder / stored.name
        with open_file(folder, stored, verify=verify) as file:
            self.memory = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        with damage_of(self.path):
            mapped = pa.py_buffer(self.memory)
            self.file = pa.ipc.open_file(mapped)
            self.schema: pa.Schema = self.file.schema
            # Types have no checksum, but they are written twice: at the beginning and at the end.
            if pa.ipc.open_stream(mapped[MAGIC_BYTES:]).schema != self.schema:
                raise InputError(f"{self.path}: its two lists of columns differ: damaged")
            count = self.file.num_record_batches
            self.sizes = [self.file.get_batch(number).num_rows for number in range(count)]
            same = self.schema.names == [ID, TEXT, *columns]
            if not same or {self.schema.field(n).type for n in (ID, TEXT)} != {pa.string()}:
                raise InputError(f"{self.path}: other columns than described: damaged")
            if sum(self.sizes) != stored.documents:
                raise InputError(f"{self.path}: other documents than described: damaged")
        self.lock = Lock()  # a reader is for one thread at a time
        self.checked = np.zeros((count, len(self.schema)), bool)  # columns of groups
        self.kept: dict[int, pa.RecordBatch] = {}

    def group(self, number: int) -> pa.RecordBatch:
        """A group of documents."""
        require_mapped_whole(self.memory)
        batch = self.kept.get(number)
        if batch is None:
            batch = self.read(number, range(len(self.schema)))
            if len(self.kept) >= GROUPS_KEPT:
                self.kept.clear()
            self.kept[number] = batch
        return batch

    def read(self, number: int, fields: Sequence[int]) -> pa.RecordBatch:
        """A group, of which the columns at these positions are checked."""
        require_mapped_whole(self.memory)
        with damage_of(self.path):
            with self.lock:
                batch, metadata = self.file.get_batch_with_custom_metadata(number)
            if self.checked[number, list(fields)].all():
                return batch
            batch.validate()
            stored = metadata.get(CHECKSUMS, b"") if metadata else b""
            for field in fields:
                column = batch.column(field)
                if checksum(column) != stored[4 * field : 4 * field + 4]:
                    raise InputError(
                        f"{self.path}: a document does not have its checksum: the file is damaged"
                    )
                column.validate(full=True)
                self.checked[number, field] = True
        return batch


class Documents:
    """The documents of a collection, read from its segments as they are asked for.

    Parameters are those of `Segment`.
    """

    def __init__(
        self,
        folder: Path,
        segments: Sequence[StoredFile],
        columns: Sequence[str],
        *,
        verify: bool = False,
    ) -> None:
        self.segments = [Segment(folder, stored, columns, verify) for stored in segments]
        self.schema = self.segments[0].schema
        for segment in self.segments:
            if segment.schema != self.schema:
                raise InputError(f"{segment.path}: other types than the first segment: damaged")
        self.groups = [(one, group) for one in self.segments for group in range(len(one.sizes))]
        self.offsets = offsets_of([size for segment in self.segments for size in segment.sizes])

    def locate(self, rows: Int64s) -> Iterator[tuple[pa.RecordBatch, int]]:
        """The group of each document, and its position in there."""
        groups = np.searchsorted(self.offsets, rows, side="right") - 1
        positions = (rows - self.offsets[groups]).tolist()
        for number, position in zip(groups.tolist(), positions, strict=True):
            segment, group = self.groups[number]
            yield segment.group(group), position

    def rows(self, rows: Int64s) -> pa.Table:
        """The documents in these rows, in this order."""
        found = [group.slice(position, 1) for group, position in self.locate(rows)]
        return pa.Table.from_batches(found, self.schema)

    def entries(self, rows: Int64s) -> list[dict[str, Any]]:
        """The same documents as dicts: for a few, faster than a table."""
        return [
            {
                name: value_of(column, position)
                for name, column in zip(self.schema.names, group.columns, strict=True)
            }
            for group, position in self.locate(rows)
        ]

    def columns(self, names: Sequence[str]) -> pa.Table:
        """Some columns of all documents."""
        fields = [self.schema.get_field_index(name) for name in names]
        batches = [segment.read(group, fields).select(fields) for segment, group in self.groups]
        table = pa.Table.from_batches(batches, pa.schema([self.schema.field(n) for n in fields]))
        if ID in names and table.column(ID).null_count:
            paths = ", ".join(str(segment.path) for segment in self.segments)
            raise InputError(f"{paths}: a document has no id: the file is damaged")
        return table

    def batches(self) -> Iterator[pa.RecordBatch]:
        """All documents, a group at a time."""
        for segment, group in self.groups:
            yield segment.group(group)


@contextmanager
def damage_of(path: Path) -> Iterator[None]:
    """Turn what cannot be read inside into an error that names the file."""
    try:
        yield
    except InputError:
        raise
    except (OSError, ValueError, pa.ArrowException) as error:
        raise InputError(f"{path}: the file is damaged ({error})") from error


def checksum(column: pa.Array) -> bytes:
    """The checksum of all bytes of a column."""
    total = 0
    for buffer in column.buffers():
        if buffer is not None:
            total = zlib.crc32(buffer, total)
    return total.to_bytes(4, "little")


def vectors_layout(documents: int, dimensions: int) -> Layout:
    """The layout of a file of so many vectors."""
    shapes = {"vectors": ("F32", (documents, dimensions))}
    return layout("deltavec collection", shapes, aligned="vectors", shortest_header=HEADER_BYTES)


def map_vectors(
    folder: Path, stored: StoredFile, dimensions: int, *, verify: bool = False
) -> Float32s:
    """The vectors of a file, a read-only view of it."""
    with open_file(folder, stored, verify=verify, begin=HEADER_BYTES) as file:
        return mapped_tensors(file, vectors_layout(stored.documents, dimensions))["vectors"]


def open_postings(
    folder: Path, stored: WordsFile, dimensions: int, *, verify: bool = False
) -> StoredPostings:
    """The postings of a collection, mapped."""
    entries = asdict(stored)
    sizes = Sizes(dimensions=dimensions, **{n: entries[n] for n in Sizes._fields if n in entries})
    with open_file(folder, stored, verify=verify) as file:
        return map_postings(file, sizes, verify=verify)
