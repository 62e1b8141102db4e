"""Files of vectors, written table by table: Parquet, Arrow IPC and npy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, BinaryIO, Protocol

import pyarrow as pa

from deltavec.io.artifacts.tensors import npy_header
from deltavec.io.output.shards import EMBEDDING, vectors_of


class Writer(Protocol):
    """Writes tables of one schema, one after the other."""

    def write_table(self, table: pa.Table) -> None:
        """Write the rows of a table after those before."""

    def close(self) -> None:
        """Complete the file."""


def parquet_writer(file: BinaryIO, schema: pa.Schema) -> Any:
    """Pyarrow's writer, with options that suit vectors."""
    from pyarrow import parquet

    kept = schema.names[:-1]
    return parquet.ParquetWriter(
        file,
        schema,
        # Floats are not worth compressing: zstd takes 404 bytes for the 400 of a vector.
        compression=dict.fromkeys(kept, "zstd") | {f"{EMBEDDING}.list.element": "none"},
        use_dictionary=kept,
        write_statistics=kept,
        write_batch_size=1 << 16,  # numbers at once; a quarter less work than with the default
    )


def arrow_writer(file: BinaryIO, schema: pa.Schema) -> Any:
    """Pyarrow's writer of Arrow IPC files, which can be memory-mapped."""
    return pa.ipc.new_file(file, schema)


class NpyWriter:
    """Writes the vectors as a npy file; the number of rows goes into the header at the end."""

    def __init__(self, file: BinaryIO, schema: pa.Schema) -> None:
        self._file = file
        self._width = schema.field(EMBEDDING).type.list_size
        self._rows = 0
        file.write(npy_header(0, self._width))

    def write_table(self, table: pa.Table) -> None:
        """Write the vectors of a table after those before."""
        self._file.write(vectors_of(table).astype("<f4", copy=False).data)
        self._rows += len(table)

    def close(self) -> None:
        """Write the header again; its length does not depend on the number of rows."""
        self._file.seek(0)
        self._file.write(npy_header(self._rows, self._width))


WRITERS: dict[str, Callable[[BinaryIO, pa.Schema], Writer]] = {
    ".parquet": parquet_writer,
    ".arrow": arrow_writer,
    ".npy": NpyWriter,
}
