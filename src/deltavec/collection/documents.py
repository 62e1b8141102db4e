"""Ids, texts and columns of a collection: parquet files of small row groups.

To show ten results a few row groups are read, never all texts. Every page has a checksum, which
is looked at whenever it is read.
"""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from threading import Lock

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pyarrow import parquet

from deltavec.collection.description import StoredFile
from deltavec.errors import InputError
from deltavec.io.documents import text_sizes
from deltavec.io.model_tensors import sha256
from deltavec.io.shards import Rows, in_shards

ID, TEXT = "id", "text"
GROUP_DOCUMENTS = 1_024
GROUP_BYTES = 1 << 20  # of text
GROUPS_KEPT = 32  # in memory, for searches that find the same documents again


def documents_schema(kept: pa.Schema) -> pa.Schema:
    """The columns of a file: id, text, and those kept."""
    return pa.schema([(ID, pa.string()), (TEXT, pa.string()), *kept])


def in_groups(rows: Iterable[Rows]) -> Iterator[list[Rows]]:
    """The rows in groups small enough to be read for a single document."""
    return in_shards(rows, GROUP_DOCUMENTS, GROUP_BYTES)


class DocumentsWriter:
    """A parquet file that documents are written to, a row group at a time."""

    def __init__(self, path: Path, schema: pa.Schema) -> None:
        self.path = path
        self.schema = schema
        self.documents = 0
        self.file = path.open("xb")
        self.writer = parquet.ParquetWriter(
            self.file, schema, compression="zstd", write_page_checksum=True
        )

    def __enter__(self) -> DocumentsWriter:
        return self

    def __exit__(self, *error: object) -> None:
        self.writer.close()
        self.file.close()

    def write(self, batches: Sequence[pa.RecordBatch]) -> None:
        """Write these batches as one row group."""
        table = pa.Table.from_batches(batches, self.schema)
        self.writer.write_table(table, row_group_size=max(1, len(table)))
        self.documents += len(table)

    def finished(self) -> StoredFile:
        """What was written, on disk by now."""
        self.writer.close()
        self.file.flush()
        os.fsync(self.file.fileno())
        with self.path.open("rb") as file:
            digest = sha256(file)
        return StoredFile(self.path.name, self.documents, self.path.stat().st_size, digest)


def merged(files: Sequence[Path], path: Path) -> StoredFile:
    """The documents of several files, in their order, in a new one."""

    def rows() -> Iterator[Rows]:
        for file in files:
            with parquet.ParquetFile(file, page_checksum_verification=True) as opened:
                for batch in opened.iter_batches(GROUP_DOCUMENTS):
                    none = np.zeros((len(batch), 0), np.float32)
                    yield Rows(batch, text_sizes(batch.column(TEXT)), none)

    schema = parquet.read_schema(files[0])
    with DocumentsWriter(path, schema) as writer:
        for group in in_groups(rows()):
            writer.write([part.kept for part in group])
        return writer.finished()


class DocumentStore:
    """The documents of a collection, read from disk as they are asked for.

    Parameters
    ----------
    folder
        Where the files are.
    segments
        The files, as the collection describes them.
    columns
        The columns they must have beside id and text.
    """

    def __init__(
        self, folder: Path, segments: Sequence[StoredFile], columns: Sequence[str]
    ) -> None:
        self.folder = folder
        self.segments = segments
        self.files = [self._opened(segment, columns) for segment in segments]
        self.groups = [
            (file, group)
            for file in range(len(self.files))
            for group in range(self.files[file].metadata.num_row_groups)
        ]
        sizes = [self.files[f].metadata.row_group(g).num_rows for f, g in self.groups]
        self.begins = np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])
        self.kept: OrderedDict[int, pa.Table] = OrderedDict()
        self.lock = Lock()  # a reader of parquet is for one thread at a time

    @property
    def schema(self) -> pa.Schema:
        """The columns and their types."""
        return self.files[0].schema_arrow

    def rows(self, numbers: npt.NDArray[np.int64]) -> pa.Table:
        """The documents at these places, in this order."""
        groups = np.searchsorted(self.begins, numbers, side="right") - 1
        found = []
        order = np.argsort(groups, kind="stable")
        for group in np.unique(groups):
            places = numbers[order][groups[order] == group] - self.begins[group]
            found.append(self._group(int(group)).take(pa.array(places)))
        if not found:
            return self.schema.empty_table()
        back = np.empty(len(order), np.int64)
        back[order] = np.arange(len(order))
        return pa.concat_tables(found).take(pa.array(back))

    def columns(self, names: Sequence[str]) -> pa.Table:
        """Some columns of all documents."""
        tables = []
        with self.lock:
            for segment, file in zip(self.segments, self.files, strict=True):
                with self._damage(segment):
                    tables.append(file.read(columns=list(names)))
        return pa.concat_tables(tables).select(list(names))

    def require_unchanged(self) -> None:
        """Refuse files of which a bit has changed."""
        for segment in self.segments:
            with (self.folder / segment.name).open("rb") as file:
                if sha256(file) != segment.sha256:
                    raise InputError(
                        f"{self.folder / segment.name}: the content does not have its checksum: "
                        "the file is damaged"
                    )

    def _group(self, number: int) -> pa.Table:
        with self.lock:
            if number in self.kept:
                self.kept.move_to_end(number)
                return self.kept[number]
            file, group = self.groups[number]
            with self._damage(self.segments[file]):
                table = self.files[file].read_row_group(group)
            self.kept[number] = table
            if len(self.kept) > GROUPS_KEPT:
                self.kept.popitem(last=False)
            return table

    def _opened(self, segment: StoredFile, columns: Sequence[str]) -> parquet.ParquetFile:
        path = self.folder / segment.name
        with self._damage(segment):
            found = path.stat().st_size
            if found != segment.bytes:
                raise InputError(
                    f"{path}: expected {segment.bytes:,} bytes, found {found:,}: "
                    "the file was cut short or exchanged"
                )
            file = parquet.ParquetFile(path, page_checksum_verification=True)
        names = [ID, TEXT, *columns]
        if file.schema_arrow.names != names or file.metadata.num_rows != segment.documents:
            raise InputError(f"{path}: other columns or documents than described: damaged")
        return file

    def _damage(self, segment: StoredFile) -> Damage:
        return Damage(self.folder / segment.name)


class Damage:
    """Within it, what parquet cannot read is an error that names the file."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, FileNotFoundError):
            raise InputError(f"{self.path}: the file is missing: the collection is damaged")
        if isinstance(error, OSError | pa.ArrowException):
            raise InputError(f"{self.path}: the file is damaged ({error})") from error
