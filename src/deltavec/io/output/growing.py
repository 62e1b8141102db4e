"""One file of vectors that grows where it is, and a journal of how far it is good.

Vectors are written once: behind those before, into the file that will be the output. When a group
of them is on disk, a line of the journal says so: how many documents, how many of them zero, and
where the group ends. Whatever stops the run, everything up to the end that the last whole line
names is good; the next run writes on from there, over whatever stands behind it.

Both files are called after the run, by the digest of its manifest. So even where locks do nothing
and two runs are in one folder, one that is made from something else never gets at them, and one
that is made from the same writes the same bytes to the same places. That is why nothing is cut off
before the end.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, NamedTuple, Protocol
from zlib import crc32

import pyarrow as pa

from deltavec.core.arrays import Float32s
from deltavec.io.artifacts.atomic import flush_to_disk
from deltavec.io.artifacts.tensors import npy_header
from deltavec.io.output import shards
from deltavec.io.output.vector_pages import VectorPages

JOURNAL = ".journal"


class Group(NamedTuple):
    """Rows that are on disk.

    Attributes
    ----------
    documents, zero_rows : int
        How many they are, and how many of these are zero.
    end : int
        Where in the file they end.
    """

    documents: int
    zero_rows: int
    end: int

    def line(self) -> bytes:
        """The group as a line of the journal, with a checksum: a line may be cut short."""
        told = json.dumps(self).encode()
        return b"%08x %s\n" % (crc32(told), told)

    @classmethod
    def of(cls, line: bytes) -> Group | None:
        """The group that a line tells of; None if the line is damaged."""
        checksum, _, told = line.rstrip(b"\n").partition(b" ")
        is_whole = line.endswith(b"\n") and checksum == b"%08x" % crc32(told)
        return cls(*json.loads(told)) if is_whole else None


class Rows(Protocol):
    """A file of vectors in one format."""

    place: int
    """Where the next vectors go."""

    def add(self, vectors: Float32s) -> None:
        """Write vectors behind those before."""

    def finish(self) -> None:
        """Make a file of its format of it; nothing stands behind where this ends."""


class NpyRows:
    """A npy file. How many rows there are is written into its header at the end."""

    def __init__(self, file: BinaryIO, schema: pa.Schema, before: Sequence[Group]) -> None:
        self._file = file
        self._width = schema.field(shards.EMBEDDING).type.list_size
        self._rows = sum(group.documents for group in before)
        self.place = before[-1].end if before else len(npy_header(0, self._width))
        file.seek(self.place)

    def add(self, vectors: Float32s) -> None:
        """Write vectors behind those before."""
        self.place += self._file.write(vectors.astype("<f4", copy=False).data)
        self._rows += len(vectors)

    def finish(self) -> None:
        """Write the header."""
        self._file.seek(0)
        self._file.write(npy_header(self._rows, self._width))
        self._file.seek(self.place)


def parquet_rows(file: BinaryIO, schema: pa.Schema, before: Sequence[Group]) -> VectorPages:
    """A parquet file, a row group for each group."""
    return VectorPages(file, schema, [(group.documents, group.end) for group in before])


FORMATS: dict[str, Callable[[BinaryIO, pa.Schema, Sequence[Group]], Rows]] = {
    ".parquet": parquet_rows,
    ".npy": NpyRows,
}


@contextmanager
def grown(folder: Path, schema: pa.Schema, suffix: str) -> Iterator[shards.Store]:
    """The file of vectors of a run as it grows in a folder of ours; whole when the context ends.

    Parameters
    ----------
    folder
        Where it is, and its journal.
    schema
        The column of vectors, of a run (`deltavec.io.output.shards.of_run`).
    suffix
        Its format, of `FORMATS`.
    """
    path = folder / f"grown-{(shards.run_of(schema) or b'').decode()}"
    journal = path.with_name(path.name + JOURNAL)
    before = good_groups(journal, path)
    with opened(path) as file, opened(journal) as notes:
        flush_to_disk(folder)
        notes.seek(sum(len(group.line()) for group in before))
        notes.truncate()
        rows = FORMATS[suffix](file, schema, before)

        def add(table: pa.Table) -> Group:
            vectors = shards.vectors_of(table)
            rows.add(vectors)
            file.flush()
            os.fsync(file.fileno())
            group = Group(len(vectors), shards.zero_rows(vectors), rows.place)
            notes.write(group.line())
            notes.flush()  # need not reach the disk: a line that is lost is work done again
            return group

        yield shards.Store(before, add, path)
        rows.finish()
        file.truncate()


def opened(path: Path) -> BinaryIO:
    """A file to read and write, made if it is not there."""
    path.touch()
    return path.open("r+b")


def good_groups(journal: Path, path: Path) -> list[Group]:
    """The groups that are on disk, from the first on."""
    if not journal.exists() or not path.exists():
        return []
    size = path.stat().st_size
    groups: list[Group] = []
    for line in journal.read_bytes().splitlines(keepends=True):
        group = Group.of(line)
        if group is None or group.end > size:
            break
        groups.append(group)
    return groups
