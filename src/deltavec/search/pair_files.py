"""Pairs written to a Parquet file as they are found."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path

import numpy as np
import pyarrow as pa

from deltavec.errors import InputError
from deltavec.io.files import replacing
from deltavec.search.ids import Ids
from deltavec.search.pairs import RowPairs

PAIRS_A_ROW_GROUP = 100_000


def checked_output(output: str | PathLike[str] | None) -> Path | None:
    """The file to write, if it can be one."""
    if output is None:
        return None
    path = Path(output)
    if path.suffix.lower() != ".parquet":
        raise InputError(f"output must end in .parquet, got {str(output)!r}")
    if path.is_dir():
        raise InputError(f"output must be a file, {path} is a folder")
    if not path.absolute().parent.is_dir():
        raise InputError(f"{path.absolute().parent} is not there; make the folder first")
    return path


@contextmanager
def parquet_writer(path: Path, names: Ids) -> Iterator[Callable[[RowPairs], None]]:
    """What writes pairs to a file that appears when it is complete."""
    from pyarrow import parquet

    kind = names.values.type
    schema = pa.schema([("a", kind), ("b", kind), ("score", pa.float32())])
    waiting: list[RowPairs] = []

    def write_waiting() -> None:
        a, b, score = (np.concatenate(values) for values in zip(*waiting, strict=True))
        columns = [names.values.take(pa.array(a)), names.values.take(pa.array(b)), pa.array(score)]
        writer.write_table(pa.table(columns, schema=schema))
        waiting.clear()

    def write(part: RowPairs) -> None:
        waiting.append(part)
        if sum(len(part.a) for part in waiting) >= PAIRS_A_ROW_GROUP:
            write_waiting()

    with replacing(path) as temporary, parquet.ParquetWriter(temporary, schema) as writer:
        yield write
        if waiting:
            write_waiting()
