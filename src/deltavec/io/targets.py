"""Where vectors are written to: one parquet file, one npy file, or a folder of parquet files."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

from deltavec.errors import InputError
from deltavec.io import folders, shards
from deltavec.io.files import flush_to_disk, put_in_place

Assemble = Callable[[Path, Sequence[Path], pa.Schema], None]


def _one_parquet(path: Path, parts: Sequence[Path], schema: pa.Schema) -> None:
    from pyarrow import parquet

    with (
        path.open("wb") as file,
        parquet.ParquetWriter(file, schema, **shards.parquet_options(schema)) as writer,
    ):
        for part in parts:
            table = shards.read_shard(part)
            writer.write_table(table, row_group_size=max(1, len(table)))


def _one_npy(path: Path, parts: Sequence[Path], schema: pa.Schema) -> None:
    rows = sum(len(shards.read_shard(part)) for part in parts)
    width = schema.field(shards.EMBEDDING).type.list_size
    with path.open("wb") as file:
        header = {"descr": "<f4", "fortran_order": False, "shape": (rows, width)}
        np.lib.format.write_array_header_1_0(file, header)
        for part in parts:
            file.write(shards.vectors_of(shards.read_shard(part)).astype("<f4").tobytes())


ASSEMBLERS: dict[str, Assemble] = {".parquet": _one_parquet, ".npy": _one_npy}


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
        if not target.is_folder and path.suffix.lower() not in ASSEMBLERS:
            raise InputError(
                f"output must end in {' or '.join(ASSEMBLERS)}, or be a folder "
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

    def assemble(self, parts: Sequence[Path], schema: pa.Schema) -> None:
        """Put the shards in the output's place, in one step, and remove what was unfinished."""
        if self.is_folder:
            folders.put_in_place(self.partial, self.path)
            flush_to_disk(self.path.absolute().parent)
        else:
            assembled = self.partial / "assembled"
            ASSEMBLERS[self.path.suffix.lower()](assembled, parts, schema)
            put_in_place(assembled, self.path)
        if self.partial.is_dir():
            shards.remove(self.partial)
