"""The output of an embedding run: one file, or a folder of Parquet files."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Protocol

import pyarrow as pa

from deltavec.errors import DeltavecError, InputError
from deltavec.io.artifacts.atomic import (
    flush_to_disk,
    put_folder_in_place,
    put_in_place,
    unfinished,
)
from deltavec.io.artifacts.locks import only_writer
from deltavec.io.artifacts.tensors import npy_header
from deltavec.io.artifacts.workdir import MOVE_AWAY, open_to_all, own_folder, require_same_folder
from deltavec.io.output import shards
from deltavec.io.output.shards import EMBEDDING, EmbeddedRows, Shard, vectors_of


class Writer(Protocol):
    """Writes tables of one schema to a file."""

    def write_table(self, table: pa.Table) -> None:
        """Append the rows of a table."""

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


class NpyWriter:
    """Writes the vectors as a npy file; the number of rows goes into the header at the end."""

    def __init__(self, file: BinaryIO, schema: pa.Schema) -> None:
        self._file = file
        self._width = schema.field(EMBEDDING).type.list_size
        self._rows = 0
        file.write(npy_header(0, self._width))

    def write_table(self, table: pa.Table) -> None:
        """Append the vectors of a table."""
        self._file.write(vectors_of(table).astype("<f4", copy=False).data)
        self._rows += len(table)

    def close(self) -> None:
        """Write the header again; its length does not depend on the number of rows."""
        self._file.seek(0)
        self._file.write(npy_header(self._rows, self._width))


WRITERS: dict[str, Callable[[BinaryIO, pa.Schema], Writer]] = {
    ".parquet": parquet_writer,
    ".arrow": pa.ipc.new_file,
    ".npy": NpyWriter,
}


@dataclass(frozen=True)
class Target:
    """A file or folder for the vectors that can be written."""

    path: Path
    is_folder: bool

    @classmethod
    def of(cls, output: str | os.PathLike[str], keep: Sequence[str]) -> Target:
        """The target that an output names; an InputError if it cannot be written."""
        path = Path(output) if Path(output).name else Path(output).resolve()
        target = cls(path, os.fspath(output).endswith(("/", os.sep)) or path.is_dir())
        if not target.is_folder and target.suffix not in WRITERS:
            raise InputError(
                f"output must end in {', '.join(WRITERS)}, or be a folder "
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
        if keep and target.suffix == ".npy" and not target.is_folder:
            raise InputError("a .npy file holds vectors only; to keep columns write .parquet")
        if EMBEDDING in keep:
            raise InputError(
                f"a column called {EMBEDDING!r} cannot be kept beside the vectors, which have "
                "that name; rename it"
            )
        if len(set(keep)) < len(keep):
            raise InputError(f"each column can be kept once, got {', '.join(keep)}")
        return target

    @property
    def suffix(self) -> str:
        """The suffix of the file."""
        return self.path.suffix.lower()

    @property
    def partial(self) -> Path:
        """The folder of unfinished work."""
        return self.path.with_name(f"{self.path.name}.partial")

    def check_apart_from(self, files: Iterable[Path]) -> None:
        """Refuse to replace the files that are read."""
        here = self.path.resolve()
        for file in map(Path.resolve, files):
            if here == file or (self.is_folder and here in file.parents):
                raise InputError(f"output {self.path} would replace the corpus; name another")

    @contextmanager
    def report_disk_errors(self) -> Iterator[None]:
        """Turn errors of the file system into one clear DeltavecError."""
        try:
            yield
        except OSError as error:
            full = error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
            advice = "make room" if full else "see that the folder can be written"
            raise DeltavecError(
                f"cannot write {self.path}: {error.strerror or error}; {advice} and run again: "
                f"what {self.partial} holds is kept"
            ) from error


class Sink:
    """The shards of a run and, unless they are the output themselves, the file made of them.

    Each shard goes to the file while the next documents are embedded. The file has a name of this
    run alone: where locks have no effect, another run never writes to it.

    Attributes
    ----------
    shards : list of Shard
        All finished shards, those of earlier runs first.
    resumed : int
        The documents of earlier runs.
    """

    def __init__(self, target: Target, folder_id: tuple[int, int], schema: pa.Schema) -> None:
        self._target, self._folder_id, self._schema = target, folder_id, schema
        self._suffix = ".parquet" if target.is_folder else ".arrow"
        self.shards = shards.finished_shards(target.partial, schema, self._suffix)
        self.resumed = sum(shard.documents for shard in self.shards)
        self._path = target.partial
        self._writer: Writer | None = None
        if not target.is_folder:
            self._path = unfinished(target.partial / "assembled")
            self._file = self._path.open("xb")
            self._writer = WRITERS[target.suffix](self._file, schema)
            for shard in self.shards:
                self._writer.write_table(shards.read_shard(shard.path))

    def add(self, group: Sequence[EmbeddedRows]) -> None:
        """Write a shard; when this returns it is on disk."""
        table = shards.as_table(group, self._schema)
        path = shards.shard_path(self._target.partial, len(self.shards), self._suffix)
        with self._target.report_disk_errors():
            require_same_folder(self._target.partial, self._folder_id)
            temporary = unfinished(path)
            # A Python file: its errors of a full disk reach us as they are.
            with (
                temporary.open("xb") as file,
                closing(WRITERS[self._suffix](file, table.schema)) as writer,
            ):
                writer.write_table(table)
            put_in_place(temporary, path)
            if self._writer is not None:
                self._writer.write_table(table)
        self.shards.append(Shard(path, len(table), shards.zero_rows(vectors_of(table))))

    def close(self) -> None:
        """Complete the file."""
        if self._writer is not None:
            with self._file:
                self._writer.close()

    def put_in_place(self) -> None:
        """Rename the output to its final name, in one step, and remove what was unfinished."""
        target = self._target
        require_same_folder(target.partial, self._folder_id)
        if target.is_folder:
            open_to_all(self._path)
            put_folder_in_place(self._path, target.path)
            flush_to_disk(target.path.absolute().parent)
        else:
            put_in_place(self._path, target.path)
        if target.partial.is_dir():
            shards.clear(target.partial)
            with suppress(OSError):  # it holds files that are not ours
                target.partial.rmdir()


@contextmanager
def open_sink(
    target: Target, schema: pa.Schema, manifest: Mapping[str, Any], notice: Callable[[str], None]
) -> Iterator[Sink]:
    """Where the vectors of a run go; at the end of the context the output is complete.

    Raises
    ------
    InputError
        If another run writes to the same output, or its folder of unfinished work is a link or
        another user's.
    """
    if target.partial.is_symlink():
        raise InputError(f"{target.partial} is a link, expected a folder: {MOVE_AWAY}")
    with ExitStack() as stack:
        with target.report_disk_errors():
            stack.enter_context(only_writer(target.partial))
            folder_id = own_folder(target.partial)
            if reason := shards.prepare(target.partial, manifest):
                notice(f"starting over: {target.partial} cannot be used, {reason}")
            sink = Sink(target, folder_id, schema)
        if sink.resumed:
            notice(f"going on after {sink.resumed:,} documents that {target.partial} holds")
        try:
            yield sink
        except BaseException:
            with suppress(OSError, pa.ArrowException):  # the first error is the one to report
                sink.close()
            raise
        notice(f"putting {target.path.name} in its place")
        with target.report_disk_errors():
            sink.close()
            sink.put_in_place()
