"""The output of an embedding run: one file, or a folder of Parquet files."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pyarrow as pa

from deltavec.errors import DeltavecError, InputError
from deltavec.io.artifacts.atomic import (
    flush_to_disk,
    put_folder_in_place,
    put_in_place,
    unfinished,
)
from deltavec.io.artifacts.locks import only_writer
from deltavec.io.artifacts.workdir import MOVE_AWAY, open_to_all, own_folder, require_same_folder
from deltavec.io.output import shards
from deltavec.io.output.shards import Shard
from deltavec.io.output.writers import WRITERS, Writer


class Store:
    """The shards of a run and, unless they are the output themselves, the file made of them.

    Each shard goes to the file while the next documents are embedded. The file has a name of this
    run alone: where locks do nothing, another run never gets it.

    Attributes
    ----------
    before : list of Shard
        Shards that earlier runs left.
    path : Path
        The output until it is complete.
    """

    def __init__(self, folder: Path, schema: pa.Schema, suffix: str | None) -> None:
        self._folder = folder
        self._suffix = ".parquet" if suffix is None else ".arrow"
        self.before = shards.finished_shards(folder, schema, self._suffix)
        self._count = len(self.before)
        self.path = folder if suffix is None else unfinished(folder / "assembled")
        self._writer: Writer | None = None
        if suffix is not None:
            self._file = self.path.open("xb")
            self._writer = WRITERS[suffix](self._file, schema)
            for shard in self.before:
                self._writer.write_table(shards.read_shard(shard.path))

    def add(self, table: pa.Table) -> Shard:
        """Write a shard; when this returns it is on disk."""
        path = shards.shard_path(self._folder, self._count, self._suffix)
        temporary = unfinished(path)
        # A Python file: its errors of a full disk reach us as they are.
        with (
            temporary.open("xb") as file,
            closing(WRITERS[self._suffix](file, table.schema)) as writer,
        ):
            writer.write_table(table)
        put_in_place(temporary, path)
        self._count += 1
        if self._writer is not None:
            self._writer.write_table(table)
        return Shard(path, len(table), shards.zero_rows(shards.vectors_of(table)))

    def close(self) -> None:
        """Complete the output."""
        if self._writer is not None:
            with self._file:
                self._writer.close()


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

    @contextmanager
    def alone(self) -> Iterator[Callable[[], None]]:
        """While it lasts the folder of unfinished work is ours alone; what sees that it still is.

        Raises
        ------
        InputError
            If another run has it, or it is a link or another user's.
        """
        if self.partial.is_symlink():
            raise InputError(f"{self.partial} is a link, expected a folder: {MOVE_AWAY}")
        with ExitStack() as stack:
            with self.failing_clearly():
                stack.enter_context(only_writer(self.partial))
                identity = own_folder(self.partial)
            yield partial(require_same_folder, self.partial, identity)

    @contextmanager
    def store(self, schema: pa.Schema) -> Iterator[Store]:
        """Where the vectors of a run go until the output is complete, at the end of the context."""
        with self.failing_clearly():
            store = Store(self.partial, schema, None if self.is_folder else self.suffix)
        try:
            yield store
        except BaseException:
            with suppress(OSError, pa.ArrowException):  # the first error is the one to report
                store.close()
            raise
        with self.failing_clearly():
            store.close()

    @property
    def suffix(self) -> str:
        """The ending of the file."""
        return self.path.suffix.lower()

    @contextmanager
    def failing_clearly(self) -> Iterator[None]:
        """Within it, what the disk refuses is one clear error."""
        try:
            yield
        except OSError as error:
            full = error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
            advice = "make room" if full else "see that the folder can be written"
            raise DeltavecError(
                f"cannot write {self.path}: {error.strerror or error}; {advice} and run again: "
                f"what {self.partial} holds is kept"
            ) from error

    def put_in_place(self, finished: Path) -> None:
        """Give what is finished its name, in one step, and remove what was unfinished."""
        if self.is_folder:
            open_to_all(finished)
            put_folder_in_place(finished, self.path)
            flush_to_disk(self.path.absolute().parent)
        else:
            put_in_place(finished, self.path)
        if self.partial.is_dir():
            shards.remove(self.partial)
