"""Where vectors are written to: one parquet file, one npy file, or a folder of parquet files."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np
import pyarrow as pa

from deltavec.errors import InputError
from deltavec.io import folders, shards
from deltavec.io.files import flush_to_disk, put_in_place


class Assembly(Protocol):
    """The output while it grows, shard by shard, in the order of the documents."""

    def add(self, table: pa.Table) -> None:
        """Put the rows of a shard behind those that are there."""

    def finish(self) -> None:
        """Write what only the end tells, and let go of the file."""

    def abandon(self) -> None:
        """Let go of the file as it is."""


class OneParquet:
    """One parquet file, a row group for each shard."""

    def __init__(self, path: Path, schema: pa.Schema) -> None:
        from pyarrow import parquet

        self._file = path.open("wb")
        self._writer = parquet.ParquetWriter(self._file, schema, **shards.parquet_options(schema))

    def add(self, table: pa.Table) -> None:
        """Write the shard as one row group."""
        self._writer.write_table(table, row_group_size=max(1, len(table)))

    def finish(self) -> None:
        """Write the footer."""
        self._writer.close()
        self._file.close()

    def abandon(self) -> None:
        """Close the file; a full disk has been complained of already."""
        with suppress(OSError, pa.ArrowException):
            self._writer.close()
        with suppress(OSError):
            self._file.close()


class OneNpy:
    """One npy file. How many rows there are is written into its header at the end.

    NumPy leaves room in a header for the first axis to grow, so that it keeps its length.
    """

    def __init__(self, path: Path, schema: pa.Schema) -> None:
        self._file = path.open("wb")
        self._shape = (0, schema.field(shards.EMBEDDING).type.list_size)
        self._write_header()

    def _write_header(self) -> None:
        header = {"descr": "<f4", "fortran_order": False, "shape": self._shape}
        np.lib.format.write_array_header_1_0(self._file, header)

    def add(self, table: pa.Table) -> None:
        """Write the vectors."""
        self._file.write(shards.vectors_of(table).astype("<f4", copy=False).data)
        self._shape = (self._shape[0] + len(table), self._shape[1])

    def finish(self) -> None:
        """Write the number of rows."""
        self._file.seek(0)
        self._write_header()
        self._file.close()

    def abandon(self) -> None:
        """Close the file; a full disk has been complained of already."""
        with suppress(OSError):
            self._file.close()


class OwnFiles:
    """A folder of shards: they are the output."""

    def add(self, table: pa.Table) -> None:
        """Nothing: the shard is there."""

    def finish(self) -> None:
        """Nothing: there is no file to let go of."""

    def abandon(self) -> None:
        """Nothing: there is no file to let go of."""


ASSEMBLIES: dict[str, Callable[[Path, pa.Schema], Assembly]] = {
    ".parquet": OneParquet,
    ".npy": OneNpy,
}


@dataclass(frozen=True)
class Target:
    """Where the vectors go, checked."""

    path: Path
    is_folder: bool

    @classmethod
    def of(cls, output: str | os.PathLike[str], keep: Sequence[str]) -> Target:
        """The target that an output names, if it can be written."""
        path = Path(output) if Path(output).name else Path(output).resolve()
        target = cls(path, os.fspath(output).endswith(("/", os.sep)) or path.is_dir())
        if not target.is_folder and path.suffix.lower() not in ASSEMBLIES:
            raise InputError(
                f"output must end in {' or '.join(ASSEMBLIES)}, or be a folder "
                f"(with a slash at its end), got {os.fspath(output)!r}"
            )
        if not path.absolute().parent.is_dir():
            raise InputError(f"{path.absolute().parent} is not there; make the folder first")
        if path.is_dir() and (others := shards.foreign_files(path)):
            raise InputError(
                f"{path} holds other files, such as {others[0]}; give a new or empty folder"
            )
        if isinstance(keep, str):
            raise InputError(f"keep must be a list of columns, got the string {keep!r}")
        if keep and path.suffix.lower() == ".npy" and not target.is_folder:
            raise InputError("a .npy file holds vectors only; to keep columns write .parquet")
        if shards.EMBEDDING in keep:
            raise InputError(
                f"a column called {shards.EMBEDDING!r} cannot be kept beside the vectors, "
                "which have that name; rename it"
            )
        if len(set(keep)) < len(keep):
            raise InputError(f"each column can be kept once, got {', '.join(keep)}")
        return target

    def check_apart_from(self, files: Iterable[Path]) -> None:
        """Refuse to replace the files that are read."""
        here = self.path.resolve()
        for file in map(Path.resolve, files):
            if here == file or (self.is_folder and here in file.parents):
                raise InputError(f"output {self.path} would replace the corpus; name another")

    @property
    def partial(self) -> Path:
        """Where unfinished work is."""
        return self.path.with_name(f"{self.path.name}.partial")

    @property
    def shard_suffix(self) -> str:
        """What the names of shards end in: those of a folder stay as they are."""
        return ".parquet" if self.is_folder else ".arrow"

    def assembly(self, schema: pa.Schema) -> Assembly:
        """The output as it grows, out of sight."""
        if self.is_folder:
            return OwnFiles()
        return ASSEMBLIES[self.path.suffix.lower()](self._assembled, schema)

    def put_in_place(self) -> None:
        """Give what is finished its name, in one step, and remove what was unfinished."""
        if self.is_folder:
            folders.put_in_place(self.partial, self.path)
            flush_to_disk(self.path.absolute().parent)
        else:
            put_in_place(self._assembled, self.path)
        if self.partial.is_dir():
            shards.remove(self.partial)

    @property
    def _assembled(self) -> Path:
        return self.partial / "assembled"
