"""Vectors on disk in shards, each complete or absent, so that work survives a kill.

A run writes one file for every few thousand documents into a folder of its own, beside a manifest
that says what they were made from: Parquet files if the output is a folder, else Arrow IPC files,
which cost next to nothing to write and read. A shard gets its name only when it is on disk. So
whatever stops the run, the shards in the folder are valid, and a run with the same manifest
continues after the last of them. Each shard also carries a digest of the manifest, so shards of
two runs are never mixed. Where a shard ends depends on the documents alone, so a run that was
killed and resumed writes the same shards as one that was not.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from deltavec.core.arrays import as_fixed_size_lists
from deltavec.core.text.batches import combine_chunks
from deltavec.errors import InputError
from deltavec.io.artifacts.atomic import UNFINISHED, replacing

EMBEDDING = "embedding"
MANIFEST = "_deltavec.json"  # readers of Parquet folders skip names that begin with _
SHARD_DOCUMENTS = 16_384
SHARD_TEXT_BYTES = 64 << 20

RUN = b"deltavec.run"  # in the metadata of a shard

_UNFINISHED = re.compile(rf"{UNFINISHED}|{re.escape(MANIFEST)}\.tmp")
_SHARD = r"part-\d{6}\.(?:arrow|parquet)"
_OURS = re.compile(rf"({_SHARD}|{re.escape(MANIFEST)})(\.tmp)?|{UNFINISHED}")


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
    names = schema.names[:-1]
    if not names:
        return pa.table([embedding], schema=schema)
    kept = pa.Table.from_batches([rows.kept for rows in group], schema.remove(len(names)))
    return kept.append_column(schema.field(len(names)), embedding).combine_chunks()


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
        raise InputError(
            f"{folder} holds files that are not deltavec's, such as {others[0]}; "
            "move it away: it is where unfinished work goes"
        )
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
    with replacing(folder / MANIFEST) as temporary:
        temporary.write_text(json.dumps(manifest, indent=2) + "\n")
    return reason
