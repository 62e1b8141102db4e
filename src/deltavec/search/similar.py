"""Similar rows: all pairs above a cosine."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from numbers import Real
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import numpy.typing as npt
import pyarrow as pa

from deltavec.core.arrays import Float32s
from deltavec.core.threads import thread_count
from deltavec.errors import InputError
from deltavec.io.artifacts.atomic import replacing
from deltavec.search.ids import Ids, IdsLike
from deltavec.search.matrix import ChunkedMatrix
from deltavec.search.pairs import MOST_PAIRS, NO_PAIRS, RowPairs, collect, join, row_pairs

PAIRS_A_ROW_GROUP = 100_000


class Pairs(NamedTuple):
    """Pairs of rows in ascending order: the ids of both, and their cosine."""

    a: npt.NDArray[Any]
    b: npt.NDArray[Any]
    score: Float32s


def similar_pairs(
    U: npt.ArrayLike,
    threshold: float = 0.95,
    *,
    ids: IdsLike | None = None,
    threads: int | None = None,
    on_progress: Callable[[float], None] | None = None,
) -> Pairs:
    """All pairs of rows whose cosine is at or above a threshold, in ascending order of the rows.

    Every pair is found, and each only once, without a matrix of all pairs. A cosine is computed in
    float64 and rounded to float32, and so is the threshold it is compared with; equal rows have
    the cosine 1. Rows of zeros are similar to nothing.

    A cosine tells what documents are about; whether they are the same text, `duplicates` tells.

    Parameters
    ----------
    U
        Rows of unit length, or zero.
    threshold
        A cosine above 0, up to 1.
    ids
        What the rows are called: unique whole numbers or strings; by default their numbers.
    threads
        How many cores; all of them by default.
    on_progress
        Called with the share of the work that is done.

    Raises
    ------
    InputError
        If there are more pairs than 50 million: `write_similar_pairs` writes any number to a file.

    Examples
    --------
    >>> import numpy as np
    >>> found = similar_pairs(np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0], [0.8, 0.6]]), 0.75)
    >>> found.a, found.b
    (array([0, 0, 2]), array([2, 3, 3]))
    """
    names, found = find_pairs(U, threshold, ids, threads, on_progress)
    advice = "raise the threshold, or write them to a file with write_similar_pairs"
    problem = f"are at or above {threshold:g}: {advice}"
    a, b, score = collect(found, NO_PAIRS, MOST_PAIRS, problem)
    return Pairs(names.at(a), names.at(b), score)


def write_similar_pairs(
    output: str | PathLike[str],
    U: npt.ArrayLike,
    threshold: float = 0.95,
    *,
    ids: IdsLike | None = None,
    threads: int | None = None,
    on_progress: Callable[[float], None] | None = None,
) -> int:
    """Write the pairs of `similar_pairs` to a Parquet file as they are found; how many they are.

    The file has the columns a, b and score, and appears when it is complete.
    """
    path = require_output(output)
    names, found = find_pairs(U, threshold, ids, threads, on_progress)
    return write_pairs(found, names, path)


def find_pairs(
    U: npt.ArrayLike,
    threshold: float,
    ids: IdsLike | None,
    threads: int | None,
    on_progress: Callable[[float], None] | None,
) -> tuple[Ids, Iterator[RowPairs]]:
    """What rows are called, and their pairs as they are found."""
    cosine = require_threshold(threshold)
    thread_count(threads)
    pieces = ChunkedMatrix.of(U, "U", threads)
    names = Ids.of(ids, len(pieces))
    return names, row_pairs(pieces, cosine, threads=threads, on_progress=on_progress)


def write_pairs(found: Iterator[RowPairs], names: Ids, path: Path) -> int:
    """How many pairs there were to write to a Parquet file, which appears when it is complete."""
    from pyarrow import parquet

    kind = names.values.type
    schema = pa.schema([("a", kind), ("b", kind), ("score", pa.float32())])
    count = 0
    with replacing(path) as temporary, parquet.ParquetWriter(temporary, schema) as writer:
        for a, b, score in row_groups(found):
            ids = (names.values.take(pa.array(rows)) for rows in (a, b))
            writer.write_table(pa.table([*ids, pa.array(score)], schema=schema))
            count += len(a)
    return count


def row_groups(found: Iterator[RowPairs]) -> Iterator[RowPairs]:
    """The pairs, as many at a time as make a group of rows in a file."""
    waiting: list[RowPairs] = []
    for part in found:
        waiting.append(part)
        if sum(len(part.a) for part in waiting) >= PAIRS_A_ROW_GROUP:
            yield join(waiting)
            waiting.clear()
    if waiting:
        yield join(waiting)


def require_threshold(threshold: float, what: str = "cosine") -> float:
    """The threshold, if it is above 0, up to 1."""
    if isinstance(threshold, bool) or not isinstance(threshold, Real) or not 0 < threshold <= 1:
        raise InputError(f"threshold must be a {what} above 0, up to 1, got {threshold!r}")
    return float(threshold)


def require_output(output: str | PathLike[str]) -> Path:
    """The file to write, if it can be one."""
    path = Path(output)
    if path.suffix.lower() != ".parquet":
        raise InputError(f"output must end in .parquet, got {str(output)!r}")
    if path.is_dir():
        raise InputError(f"output must be a file, {path} is a folder")
    if not path.absolute().parent.is_dir():
        raise InputError(f"{path.absolute().parent} is not there; make the folder first")
    return path
