"""Documents in Arrow's file format, mapped into memory: ten of them in a tenth of a millisecond.

Nothing is compressed, so a text is where it stands in the file and no neighbor of it is read
(docs/decisions/0020). Documents are stored in small groups. Beside each group stands a checksum of
each of its columns, which is looked at when the column is first read, as all of its values are: a
changed byte is noticed, and a file made to do harm leads nowhere outside of itself.
"""

from __future__ import annotations

import mmap
import zlib
from collections.abc import Sequence
from pathlib import Path
from threading import Lock

import numpy as np
import pyarrow as pa

from deltavec.collection.manifest import StoredFile
from deltavec.core.arrays import require_mapped_whole
from deltavec.errors import InputError
from deltavec.io.artifacts.atomic import on_disk

CHECKSUMS = b"crc32"
GROUPS_KEPT = 4096  # a few kilobytes each, as their documents stay where they are
MAGIC_BYTES = 8  # before the stream that the file holds


class ArrowWriter:
    """A file that documents are written to, a group at a time."""

    def __init__(self, path: Path, schema: pa.Schema) -> None:
        self.path = path
        self.schema = schema
        self.documents = 0
        self.file = path.open("xb")  # a Python file: what it says about a full disk reaches us
        self.writer = pa.ipc.new_file(self.file, schema)

    def __enter__(self) -> ArrowWriter:
        return self

    def __exit__(self, *error: object) -> None:
        self.file.close()

    def write(self, batches: Sequence[pa.RecordBatch]) -> None:
        """Write these batches as one group."""
        table = pa.Table.from_batches(batches, self.schema).combine_chunks()
        for batch in table.to_batches():
            # As it will be read: what is cut out of something larger still has all its bytes.
            alone = pa.ipc.read_record_batch(batch.serialize(), self.schema)
            sums = b"".join(map(checksum, alone.columns))
            self.writer.write_batch(alone, custom_metadata={CHECKSUMS: sums})
        self.documents += len(table)

    def finished(self) -> StoredFile:
        """What was written, on disk by now."""
        self.writer.close()
        self.file.close()
        return StoredFile(self.path.name, self.documents, *on_disk(self.path))


class ArrowDocuments:
    """A file of documents, mapped."""

    def __init__(self, path: Path) -> None:
        self.path = path
        with path.open("rb") as file:
            self.memory = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        mapped = pa.py_buffer(self.memory)
        self.file = pa.ipc.open_file(mapped)
        self.schema: pa.Schema = self.file.schema
        # Types have no checksum, but they are written twice: at the beginning and at the end.
        if pa.ipc.open_stream(mapped[MAGIC_BYTES:]).schema != self.schema:
            raise InputError(f"{path}: its two lists of columns differ: the file is damaged")
        self.lock = Lock()  # a reader is for one thread at a time
        count = self.file.num_record_batches
        self.known = np.zeros((count, len(self.schema)), bool)  # columns that were looked at
        self.sizes = [self.file.get_batch(number).num_rows for number in range(count)]
        self.kept: dict[int, pa.RecordBatch] = {}

    def groups(self, numbers: Sequence[int]) -> list[pa.RecordBatch]:
        """Groups of documents."""
        require_mapped_whole(self.memory)
        return [self.kept.get(number) or self._kept(number) for number in numbers]

    def _kept(self, number: int) -> pa.RecordBatch:
        batch = self._looked_at(number, range(len(self.schema)))
        if len(self.kept) >= GROUPS_KEPT:
            self.kept.clear()
        self.kept[number] = batch
        return batch

    def columns(self, names: Sequence[str]) -> pa.Table:
        """Some columns of all documents."""
        fields = [self.schema.get_field_index(name) for name in names]
        groups = [
            self._looked_at(number, fields).select(list(names)) for number in range(len(self.sizes))
        ]
        return pa.Table.from_batches(groups, pa.schema([self.schema.field(n) for n in fields]))

    def _looked_at(self, number: int, fields: Sequence[int]) -> pa.RecordBatch:
        require_mapped_whole(self.memory)
        with self.lock:
            batch, beside = self.file.get_batch_with_custom_metadata(number)
        if not self.known[number, list(fields)].all():
            batch.validate()
            stored = beside.get(CHECKSUMS, b"") if beside else b""
            for field in fields:
                column = batch.column(field)
                if checksum(column) != stored[4 * field : 4 * field + 4]:
                    raise InputError(
                        f"{self.path}: a document does not have its checksum: the file is damaged"
                    )
                column.validate(full=True)
                self.known[number, field] = True
        return batch


def checksum(column: pa.Array) -> bytes:
    """The checksum of all bytes of a column."""
    total = 0
    for buffer in column.buffers():
        if buffer is not None:
            total = zlib.crc32(buffer, total)
    return total.to_bytes(4, "little")


def storable(schema: pa.Schema) -> pa.Schema:
    """The same columns, dictionaries undone: a file may have only one for all of its groups."""
    return pa.schema([field.with_type(plain_type(field.type)) for field in schema])


def plain_type(kind: pa.DataType) -> pa.DataType:
    """The type of the same values without a dictionary.

    Examples
    --------
    >>> plain_type(pa.list_(pa.dictionary(pa.int32(), pa.string())))
    ListType(list<item: string>)
    """
    types = pa.types
    if types.is_dictionary(kind):
        return plain_type(kind.value_type)
    if types.is_struct(kind):
        return pa.struct([field.with_type(plain_type(field.type)) for field in kind])
    if types.is_map(kind):
        return pa.map_(plain_type(kind.key_type), plain_type(kind.item_type), kind.keys_sorted)
    if types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind):
        field = kind.value_field.with_type(plain_type(kind.value_type))
        if types.is_fixed_size_list(kind):
            return pa.list_(field, kind.list_size)
        return pa.large_list(field) if types.is_large_list(kind) else pa.list_(field)
    return kind
