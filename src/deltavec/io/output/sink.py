"""Where vectors are written to: one parquet file, one npy file, or a folder of parquet files."""

from __future__ import annotations

import errno
import itertools
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
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
from deltavec.io.output.growing import FORMATS, grown
from deltavec.io.output.shards import Put, Shard, Store


@contextmanager
def folder_of_shards(folder: Path, schema: pa.Schema) -> Iterator[Store]:
    """A folder of parquet files: the shards are the output."""
    before = shards.finished_shards(folder, schema, ".parquet")
    yield shard_store(folder, ".parquet", before, folder, put=lambda table: None)


@contextmanager
def one_parquet(folder: Path, schema: pa.Schema) -> Iterator[Store]:
    """A parquet file of vectors with columns, a row group for each shard.

    pyarrow writes it, and cannot go on with a file that it has left: a run goes on from shards
    beside it. Each goes to the output while the next are embedded; to put all of them together
    afterwards would leave the other cores idle.
    """
    before = shards.finished_shards(folder, schema, ".arrow")
    # A name of this run alone: where locks do nothing, another run never gets it.
    path = unfinished(folder / "assembled")
    with path.open("xb") as file, shards.parquet_rows(file, schema) as put:
        for shard in before:
            put(shards.read_shard(shard.path))
        yield shard_store(folder, ".arrow", before, path, put)


def shard_store(folder: Path, suffix: str, before: list[Shard], path: Path, put: Put) -> Store:
    """What makes shards after those before, and puts each into the output."""
    numbers = itertools.count(len(before))

    def add(table: pa.Table) -> Shard:
        shard = shards.write_shard(shards.shard_path(folder, next(numbers), suffix), table)
        put(table)
        return shard

    return Store(before, add, path)


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
        if not target.is_folder and path.suffix.lower() not in FORMATS:
            raise InputError(
                f"output must end in {' or '.join(FORMATS)}, or be a folder "
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
        """Where vectors of a run go, out of sight; the output is whole when the context ends."""
        if self.is_folder:
            kind = folder_of_shards(self.partial, schema)
        elif schema.names == [shards.EMBEDDING]:
            kind = grown(self.partial, schema, self.path.suffix.lower())
        else:
            kind = one_parquet(self.partial, schema)
        with ExitStack() as stack:
            with self.failing_clearly():
                store = stack.enter_context(kind)
            try:
                yield store
            except BaseException:
                # A full disk has been complained of already.
                with suppress(OSError, pa.ArrowException):
                    stack.__exit__(*sys.exc_info())
                raise
            with self.failing_clearly():
                stack.close()

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
