"""The files of a collection, opened.

Documents are in a file of Arrow's format, mapped into memory. Nothing is compressed, so to show ten
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
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np
import pyarrow as pa

from deltavec.collection.manifest import (
    CollectionManifest,
    RowsFile,
    StoredFile,
    StoredSegment,
    open_file,
)
from deltavec.core.arrays import (
    Float32s,
    Int32s,
    Int64s,
    UInt64s,
    offsets_of,
    read_only,
    require_mapped_whole,
)
from deltavec.errors import InputError
from deltavec.io.artifacts.tensors import Layout, Shapes, layout, mapped_tensors
from deltavec.io.output.tables import value_of
from deltavec.search.hybrid.score_scale import ScoreScale
from deltavec.search.lexical.index import PostingsSegment
from deltavec.search.lexical.writer import map_postings
from deltavec.search.matrix import ChunkedMatrix, as_rows
from deltavec.search.quantized.build import LazyQuantizer, code_shapes, from_arrays

ID, TEXT = "id", "text"
HEADER_BYTES = (
    256  # of the file of vectors: fixed, so that rows are written before they are counted
)
CHECKSUMS = b"crc32"
VECTOR_TYPES = {"float32": "F32", "float16": "F16"}
GROUPS_KEPT = 4096  # a few kilobytes each: the documents stay in the file
MAGIC_BYTES = 8  # before the stream that the file holds
NOTHING = read_only(np.zeros(0, np.int64))


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

    Parameters
    ----------
    segments
        The files of documents.
    pieces
        Their vectors, which know what is deleted; None if nothing is. Rows count live documents.
    """

    def __init__(self, segments: Sequence[Segment], pieces: ChunkedMatrix | None = None) -> None:
        self.segments, self.pieces = segments, pieces
        self.schema = self.segments[0].schema
        for segment in self.segments:
            if segment.schema != self.schema:
                raise InputError(f"{segment.path}: other types than the first segment: damaged")
        self.groups = [(one, group) for one in self.segments for group in range(len(one.sizes))]
        self.offsets = offsets_of([size for segment in self.segments for size in segment.sizes])

    @property
    def live(self) -> Int64s | None:
        """The documents that are not deleted, numbered through all files; None for all."""
        return None if self.pieces is None else self.pieces.live

    def locate(self, rows: Int64s) -> Iterator[tuple[pa.RecordBatch, int]]:
        """The group of each document, and its position in there."""
        places = rows if self.live is None else self.live[rows]
        groups = np.searchsorted(self.offsets, places, side="right") - 1
        positions = (places - self.offsets[groups]).tolist()
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
        batches = [
            self._live(number, segment.read(group, fields).select(fields))
            for number, (segment, group) in enumerate(self.groups)
        ]
        table = pa.Table.from_batches(batches, pa.schema([self.schema.field(n) for n in fields]))
        if ID in names and table.column(ID).null_count:
            paths = ", ".join(str(segment.path) for segment in self.segments)
            raise InputError(f"{paths}: a document has no id: the file is damaged")
        return table

    def batches(self) -> Iterator[pa.RecordBatch]:
        """All documents, a group at a time."""
        for number, (segment, group) in enumerate(self.groups):
            yield self._live(number, segment.group(group))

    def _live(self, number: int, batch: pa.RecordBatch) -> pa.RecordBatch:
        """What is live of a group."""
        if self.live is None:
            return batch
        begin, end = self.offsets[number : number + 2].tolist()
        here = self.live[slice(*np.searchsorted(self.live, [begin, end]))] - begin
        return batch if len(here) == len(batch) else batch.take(pa.array(here))


@dataclass(frozen=True, eq=False)
class OpenSegment:
    """The files of a segment, mapped; they never change.

    Attributes
    ----------
    stored : StoredSegment
        Their names, without that of the deleted documents.
    documents : Segment
        Ids, texts and columns.
    vectors : ndarray of float32
        The vectors.
    quantizer : LazyQuantizer
        Their codes.
    id_hashes, id_rows : ndarray
        The hashes of the ids, ascending, and the row of each.
    postings : PostingsSegment
        The postings.
    """

    stored: StoredSegment
    documents: Segment
    vectors: Float32s
    quantizer: LazyQuantizer
    id_hashes: UInt64s
    id_rows: Int32s
    postings: PostingsSegment

    @classmethod
    def of(
        cls,
        folder: Path,
        stored: StoredSegment,
        manifest: CollectionManifest,
        *,
        verify: bool = False,
    ) -> OpenSegment:
        """The segment with these files, which must have the sizes that the manifest names."""
        dimensions = manifest.dimensions
        vectors = map_vectors(folder, stored.vectors, dimensions, manifest.dtype, verify=verify)
        with open_file(folder, stored.rows, verify=verify) as file:
            arrays = mapped_tensors(file, rows_layout(stored.rows, dimensions))
        codes = from_arrays(arrays) if stored.rows.coded else None
        with open_file(folder, stored.words, verify=verify) as file:
            postings = map_postings(file, stored.words, verify=verify)
        return cls(
            replace(stored, deleted=None),
            Segment(folder, stored.documents, manifest.columns, verify),
            vectors,
            LazyQuantizer(codes),
            arrays["id_hashes"],
            arrays["id_rows"],
            postings,
        )

    def rows_of(self, ids: pa.Array, hashes: UInt64s) -> tuple[Int64s, Int64s]:
        """Which of these ids are here, by their places, and the row of each."""
        begins = np.searchsorted(self.id_hashes, hashes, side="left")
        counts = np.searchsorted(self.id_hashes, hashes, side="right") - begins
        places = np.repeat(np.arange(len(ids)), counts)
        within = np.arange(len(places)) - np.repeat(np.cumsum(counts) - counts, counts)
        rows = self.id_rows[begins[places] + within].astype(np.int64)
        inside = (rows >= 0) & (rows < self.stored.documents.documents)
        places, rows = places[inside], rows[inside]
        wanted = [ids[place].as_py() for place in places.tolist()]
        found = [
            group.column(0)[n].as_py() for group, n in Documents([self.documents]).locate(rows)
        ]
        same = np.array([a == b for a, b in zip(wanted, found, strict=True)], bool)
        return places[same], rows[same]


def read_deleted(folder: Path, stored: StoredSegment, *, verify: bool = False) -> Int64s:
    """The deleted documents of a segment, ascending."""
    if stored.deleted is None:
        return NOTHING
    with open_file(folder, stored.deleted, verify=verify) as file:
        rows = mapped_tensors(file, deleted_layout(stored.deleted.documents))["rows"]
        found: Int64s = rows.astype(np.int64)
    if (np.diff(found) <= 0).any() or not 0 <= found[0] <= found[-1] < stored.documents.documents:
        raise InputError(f"{folder / stored.deleted.name}: documents that are not there: damaged")
    return found


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


def vectors_layout(documents: int, dimensions: int, dtype: str) -> Layout:
    """The layout of a file of so many vectors."""
    shapes = {"vectors": (VECTOR_TYPES[dtype], (documents, dimensions))}
    return layout("deltavec collection", shapes, aligned="vectors", shortest_header=HEADER_BYTES)


def map_vectors(
    folder: Path, stored: StoredFile, dimensions: int, dtype: str, *, verify: bool = False
) -> Float32s:
    """The vectors of a file: a read-only view of it, or float32 numbers made from it."""
    with open_file(folder, stored, verify=verify, begin=HEADER_BYTES) as file:
        found = mapped_tensors(file, vectors_layout(stored.documents, dimensions, dtype))["vectors"]
    return as_rows(found, "vectors")


def rows_layout(stored: RowsFile, dimensions: int) -> Layout:
    """The layout of a file of codes and hashes of ids."""
    coded = stored.documents if stored.coded else 0
    shapes: Shapes = {
        "id_hashes": ("U64", (stored.documents,)),
        **code_shapes(coded, dimensions, stored.heads),
    }
    # Eight bytes, then four, then one.
    last = {name: shape for name, shape in shapes.items() if shape[0] == "I8"}
    first = {name: shape for name, shape in shapes.items() if shape[0] != "I8"}
    return layout(
        "deltavec rows", {**first, "id_rows": ("I32", (stored.documents,)), **last}, aligned="codes"
    )


def deleted_layout(documents: int) -> Layout:
    """The layout of a file of deleted documents."""
    return layout("deltavec deleted", {"rows": ("I32", (documents,))}, aligned="rows")


def scale_layout(dimensions: int) -> Layout:
    """The layout of a file of sums over vectors."""
    shapes = {"moment": ("F64", (dimensions, dimensions)), "total": ("F64", (dimensions,))}
    return layout("deltavec scale", shapes, aligned="moment")


def read_scale(
    folder: Path, stored: StoredFile, dimensions: int, *, verify: bool = False
) -> ScoreScale:
    """How the vectors of all documents are spread."""
    with open_file(folder, stored, verify=verify) as file:
        arrays = mapped_tensors(file, scale_layout(dimensions))
    for array in arrays.values():
        if not np.isfinite(array).all():
            raise InputError(f"{folder / stored.name}: expected finite numbers: damaged")
    return ScoreScale(arrays["moment"], arrays["total"], stored.documents)
