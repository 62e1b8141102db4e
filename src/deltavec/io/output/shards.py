"""The output of an embedding run, and its shards: each complete or absent.

A run writes one file for every few thousand documents into a folder of its own, beside a manifest
that says what they were made from: Parquet files if the output is a folder, else Arrow IPC files,
which cost next to nothing to write and read. A shard gets its name only when it is on disk. So
whatever stops the run, the shards in the folder are valid, and a run with the same manifest
continues after the last of them. Each shard also carries a digest of the manifest, so shards of
two runs are never mixed. Where a shard ends depends on the documents alone, so a run that was
killed and resumed writes the same shards as one that was not.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from deltavec.core.arrays import as_fixed_size_lists
from deltavec.core.text.batches import combine_chunks
from deltavec.errors import DeltavecError, InputError
from deltavec.io.artifacts import atomic
from deltavec.io.artifacts.tensors import npy_header

EMBEDDING = "embedding"
MANIFEST = "_deltavec.json"  # readers of Parquet folders skip names that begin with _
SHARD_DOCUMENTS = 16_384
SHARD_TEXT_BYTES = 64 << 20

RUN = b"deltavec.run"  # in the metadata of a shard

_UNFINISHED = re.compile(rf"{atomic.UNFINISHED}|{re.escape(MANIFEST)}\.tmp")
_SHARD = r"part-\d{6}\.(?:arrow|parquet)"
_OURS = re.compile(rf"({_SHARD}|{re.escape(MANIFEST)})(\.tmp)?|{atomic.UNFINISHED}")


class EmbeddedRows(NamedTuple):
    """Embedded documents: kept columns, sizes of the texts, vectors."""

    kept: pa.RecordBatch
    text_sizes: npt.NDArray[np.int64]
    vectors: npt.NDArray[np.float32]

    def part(self, start: int, stop: int) -> EmbeddedRows:
        """A slice of the rows."""
        return EmbeddedRows(
            self.kept.slice(start, stop - start),
            self.text_sizes[start:stop],
            self.vectors[start:stop],
        )


class Shard(NamedTuple):
    """A finished shard."""

    path: Path
    documents: int
    zero_rows: int


def in_shards(
    batches: Iterable[EmbeddedRows],
    documents: int = SHARD_DOCUMENTS,
    text_bytes: int = SHARD_TEXT_BYTES,
) -> Iterator[list[EmbeddedRows]]:
    """The same rows in groups: a shard is full at `documents` documents or `text_bytes` of text."""
    group: list[EmbeddedRows] = []
    count = size = 0
    for rows in batches:
        ends = np.cumsum(rows.text_sizes)
        start, before = 0, 0
        while start < len(ends):
            enough = int(np.searchsorted(ends, before + text_bytes - size)) + 1
            stop = min(enough, start + documents - count, len(ends))
            group.append(rows.part(start, stop))
            count, size = count + stop - start, size + int(ends[stop - 1]) - before
            start, before = stop, int(ends[stop - 1])
            if count == documents or size >= text_bytes:
                yield group
                group, count, size = [], 0, 0
    if group:
        yield group


def shard_schema(kept: pa.Schema, dimensions: int, manifest: Mapping[str, Any]) -> pa.Schema:
    """The columns of a shard, the vectors last, with a digest of what they are made from."""
    digest = hashlib.sha256(json.dumps(manifest, sort_keys=True).encode()).hexdigest()
    vectors = pa.field(EMBEDDING, pa.list_(pa.float32(), dimensions))
    return kept.append(vectors).with_metadata({RUN: digest})


def check_writable(schema: pa.Schema) -> None:
    """Refuse columns of a type that parquet cannot hold."""
    from pyarrow import parquet

    for field in schema:
        try:
            parquet.write_table(pa.schema([field]).empty_table(), pa.BufferOutputStream())
        except pa.ArrowException as error:
            raise InputError(
                f"column {field.name!r} of type {field.type} cannot be kept: {error}"
            ) from error


def as_table(group: Sequence[EmbeddedRows], schema: pa.Schema) -> pa.Table:
    """The rows of a shard as one table in one chunk."""
    if not group:
        return schema.empty_table()
    vectors = np.concatenate([rows.vectors for rows in group]).astype(np.float32, copy=False)
    embedding = as_fixed_size_lists(vectors)
    if len(schema) == 1:
        return pa.table([embedding], schema=schema)
    kept = pa.Table.from_batches([rows.kept for rows in group], schema.remove(len(schema) - 1))
    return kept.append_column(schema.field(EMBEDDING), embedding).combine_chunks()


def vectors_of(table: pa.Table) -> npt.NDArray[np.float32]:
    """The vectors of a shard's table, one per row."""
    column = combine_chunks(table.column(EMBEDDING))
    values = column.flatten().to_numpy(zero_copy_only=False)
    return np.asarray(values, np.float32).reshape(-1, column.type.list_size)


def zero_rows(vectors: npt.NDArray[np.float32]) -> int:
    """How many rows are zero: documents without known words."""
    suspects = vectors[vectors[:, 0] == 0] if vectors.size else vectors
    return int(len(suspects) - np.count_nonzero(suspects.any(axis=1)))


def shard_path(folder: Path, number: int, suffix: str) -> Path:
    """The path of a shard."""
    return folder / f"part-{number:06}{suffix}"


def read_shard(path: Path) -> pa.Table:
    """The table of a shard."""
    from pyarrow import parquet

    if path.suffix == ".arrow":
        with path.open("rb") as file:
            return pa.ipc.open_file(file).read_all()
    return parquet.ParquetFile(path).read()


def finished_shards(folder: Path, schema: pa.Schema, suffix: str) -> list[Shard]:
    """The valid shards up to the first gap or damaged one; the rest is removed."""
    shards: list[Shard] = []
    while (path := shard_path(folder, len(shards), suffix)).exists():
        try:
            table = read_shard(path)
        except (pa.ArrowInvalid, OSError):
            break
        if not table.schema.equals(schema) or table.schema.metadata != schema.metadata:
            break
        shards.append(Shard(path, len(table), zero_rows(vectors_of(table))))
    clear(folder, [MANIFEST, *(shard.path.name for shard in shards)])
    return shards


def clear(folder: Path, but: Sequence[str] = ()) -> None:
    """Remove our own files from a folder, except some."""
    ours = [path for path in folder.iterdir() if _OURS.fullmatch(path.name)]
    # The manifest last: without it, shards that a kill leaves would count as foreign files.
    for path in sorted(ours, key=lambda path: path.name == MANIFEST):
        if path.name not in but:
            path.unlink()


def foreign_files(folder: Path) -> list[str]:
    """The names of files in a folder that deltavec has not written."""
    names = sorted(path.name for path in folder.iterdir())
    ours = _OURS if MANIFEST in names else _UNFINISHED
    return [name for name in names if not ours.fullmatch(name)]


def prepare(folder: Path, manifest: Mapping[str, Any]) -> str:
    """Make a folder ready for a run; why earlier work in it cannot be used, if there is some.

    Parameters
    ----------
    folder : Path
        A folder of our own.
    manifest : mapping
        What this run makes its vectors from. If its ``corpus`` is None, the documents may have
        changed, and nothing is reused.
    """
    if others := foreign_files(folder):
        found = f"files that are not deltavec's, such as {others[0]}"
        raise InputError(f"{folder} is for unfinished work and holds {found}; move it away")
    try:
        before = json.loads((folder / MANIFEST).read_text())
    except (FileNotFoundError, ValueError):
        before = None
    reason = ""
    if isinstance(before, dict):
        changed = [key for key in manifest if before.get(key) != manifest[key]]
        if manifest["corpus"] is None:
            reason = "whether the documents are still the same cannot be told"
        elif changed:
            reason = f"it was made with another {' and another '.join(changed)}"
        else:
            return ""
    clear(folder)
    with atomic.replacing(folder / MANIFEST) as temporary:
        temporary.write_text(json.dumps(manifest, indent=2) + "\n")
    return reason


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


# What write_table and close belong to.
WRITERS: dict[str, Callable[[BinaryIO, pa.Schema], Any]] = {
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
            expected = f"{', '.join(WRITERS)}, or be a folder (with a slash at its end)"
            raise InputError(f"output must end in {expected}, got {os.fspath(output)!r}")
        others = foreign_files(path) if path.is_dir() else []
        for refused, why in (
            (
                not path.absolute().parent.is_dir(),
                f"{path.absolute().parent}: make the folder first",
            ),
            (others, f"{path} holds other files, such as {''.join(others[:1])}; give a new folder"),
            (isinstance(keep, str), f"keep must be a list of columns, got the string {keep!r}"),
            (
                keep and target.suffix == ".npy" and not target.is_folder,
                ".npy holds vectors only; to keep columns write .parquet",
            ),
            (
                EMBEDDING in keep,
                f"a column {EMBEDDING!r} cannot be kept beside the vectors; rename it",
            ),
            (len(set(keep)) < len(keep), f"each column can be kept once, got {', '.join(keep)}"),
        ):
            if refused:
                raise InputError(why)
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
            kept = f"{advice} and run again: what {self.partial} holds is kept"
            raise DeltavecError(
                f"cannot write {self.path}: {error.strerror or error}; {kept}"
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
        self.shards = finished_shards(target.partial, schema, self._suffix)
        self.resumed = sum(shard.documents for shard in self.shards)
        self._path = target.partial
        self._writer: Any = None
        if not target.is_folder:
            self._path = atomic.unfinished(target.partial / "assembled")
            self._file = self._path.open("xb")
            self._writer = WRITERS[target.suffix](self._file, schema)
            for shard in self.shards:
                self._writer.write_table(read_shard(shard.path))

    def add(self, group: Sequence[EmbeddedRows]) -> None:
        """Write a shard; when this returns it is on disk."""
        table = as_table(group, self._schema)
        path = shard_path(self._target.partial, len(self.shards), self._suffix)
        with self._target.report_disk_errors():
            atomic.require_same_folder(self._target.partial, self._folder_id)
            temporary = atomic.unfinished(path)
            # A Python file: its errors of a full disk reach us as they are.
            with (
                temporary.open("xb") as file,
                closing(WRITERS[self._suffix](file, table.schema)) as writer,
            ):
                writer.write_table(table)
            atomic.put_in_place(temporary, path)
            if self._writer is not None:
                self._writer.write_table(table)
        self.shards.append(Shard(path, len(table), zero_rows(vectors_of(table))))

    def close(self) -> None:
        """Complete the file."""
        if self._writer is not None:
            with self._file:
                self._writer.close()

    def put_in_place(self) -> None:
        """Rename the output to its final name, in one step, and remove what was unfinished."""
        target = self._target
        atomic.require_same_folder(target.partial, self._folder_id)
        if target.is_folder:
            atomic.open_to_all(self._path)
            atomic.put_folder_in_place(self._path, target.path)
            atomic.flush_to_disk(target.path.absolute().parent)
        else:
            atomic.put_in_place(self._path, target.path)
        if target.partial.is_dir():
            clear(target.partial)
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
        raise InputError(f"{target.partial} is a link, expected a folder: {atomic.MOVE_AWAY}")
    with ExitStack() as stack:
        with target.report_disk_errors():
            stack.enter_context(atomic.only_writer(target.partial))
            folder_id = atomic.own_folder(target.partial)
            if reason := prepare(target.partial, manifest):
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
