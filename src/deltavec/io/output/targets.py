"""Where vectors are written to: one parquet file, one npy file, or a folder of parquet files."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa

from deltavec.errors import DeltavecError, InputError
from deltavec.io.files import flush_to_disk, put_folder_in_place, put_in_place, unfinished
from deltavec.io.locks import only_writer
from deltavec.io.output import shards
from deltavec.io.output.shards import Add
from deltavec.io.private import MOVE_AWAY, open_to_all, own_folder, require_same_folder
from deltavec.io.tensors import npy_header


@contextmanager
def one_parquet(path: Path, schema: pa.Schema) -> Iterator[Add]:
    """One parquet file, a row group for each shard."""
    with path.open("xb") as file, shards.parquet_rows(file, schema) as add:
        yield add


@contextmanager
def one_npy(path: Path, schema: pa.Schema) -> Iterator[Add]:
    """One npy file. How many rows there are is written into its header at the end."""
    rows, width = 0, schema.field(shards.EMBEDDING).type.list_size

    def add(table: pa.Table) -> None:
        nonlocal rows
        file.write(shards.vectors_of(table).astype("<f4", copy=False).data)
        rows += len(table)

    with path.open("xb") as file:
        file.write(npy_header(rows, width))
        yield add
        file.seek(0)
        file.write(npy_header(rows, width))


class Assembly(NamedTuple):
    """An output as it grows: what adds to it, and where it is until it is whole."""

    add: Add
    path: Path


ASSEMBLIES = {".parquet": one_parquet, ".npy": one_npy}


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

    @property
    def shard_suffix(self) -> str:
        """What the names of shards end in: those of a folder stay as they are."""
        return ".parquet" if self.is_folder else ".arrow"

    @contextmanager
    def assembly(self, schema: pa.Schema) -> Iterator[Assembly]:
        """The output as it grows, out of sight, shard by shard in the order of the documents."""
        with ExitStack() as stack:
            add: Add = lambda table: None  # noqa: E731, a folder's shards are the output
            # A name of this run alone: where locks do nothing, another run never gets it.
            path = self.partial if self.is_folder else unfinished(self.partial / "assembled")
            if not self.is_folder:
                one_file = ASSEMBLIES[self.path.suffix.lower()]
                with self.failing_clearly():
                    add = stack.enter_context(one_file(path, schema))
            try:
                yield Assembly(add, path)
            except BaseException:
                # A full disk has been complained of already.
                with suppress(OSError, pa.ArrowException):
                    stack.close()
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

    def put_in_place(self, assembled: Path) -> None:
        """Give what is finished its name, in one step, and remove what was unfinished."""
        if self.is_folder:
            open_to_all(assembled)
            put_folder_in_place(assembled, self.path)
            flush_to_disk(self.path.absolute().parent)
        else:
            put_in_place(assembled, self.path)
        if self.partial.is_dir():
            shards.remove(self.partial)
