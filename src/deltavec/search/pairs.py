"""Pairs of similar rows, the groups they link, and the nearest neighbors of each row.

All pairs at or above a cosine are found without a matrix of all of them. Rows are taken a strip at
a time and multiplied with blocks of the rows from there on; threads have a strip each. Pairs come
in ascending order of their rows. A strip with more pairs than memory is set aside for is cut in
half, and again, so that memory stays bounded however many pairs there are.
`deltavec.search.kernels` says why none is missed, and none is found that should not be.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import islice
from numbers import Real
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from deltavec.core.arguments import require_whole
from deltavec.core.arrays import Float32s, Int64s
from deltavec.core.threads import one_blas_thread, thread_count
from deltavec.errors import InputError
from deltavec.io.artifacts.atomic import replacing
from deltavec.search import kernels
from deltavec.search.ids import Ids, IdsLike
from deltavec.search.index import Hits
from deltavec.search.matrix import ChunkedMatrix
from deltavec.search.topk import nearest_rows

Found = TypeVar("Found")
Arrays = TypeVar("Arrays", bound=tuple[Any, ...])
MOST_PAIRS = 50_000_000  # in memory: a gigabyte


class Strips(NamedTuple):
    """How the work is cut; changes the time and the memory it takes, and nothing else."""

    rows: int = 512
    columns: int = 2048
    pairs: int = 1_000_000


class RowPairs(NamedTuple):
    """Pairs of rows a < b with their cosines, in ascending order."""

    a: Int64s
    b: Int64s
    score: Float32s


NO_PAIRS = RowPairs(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, np.float32))


def row_pairs(
    pieces: ChunkedMatrix,
    threshold: float,
    *,
    threads: int | None = None,
    on_progress: Callable[[float], None] | None = None,
    strips: Strips | None = None,
) -> Iterator[RowPairs]:
    """All pairs whose cosine is at or above the threshold, a strip of rows at a time."""
    cut = strips or Strips()
    with one_blas_thread():
        yield from in_strips(
            len(pieces),
            cut.rows,
            lambda first, last: strip_pairs(pieces, first, last, threshold, cut),
            threads,
            on_progress,
        )


def in_strips(
    count: int,
    size: int,
    work: Callable[[int, int], Found | None],
    threads: int | None,
    on_progress: Callable[[float], None] | None,
) -> Iterator[Found]:
    """What ``work`` gives for strips of rows, in their order; one that gives None is cut in half.

    The work of a strip is taken to grow with the rows from it on.
    """
    workers = thread_count(threads)
    coming = iter([(first, min(first + size, count)) for first in range(0, count, size)])
    waiting: deque[tuple[int, int, Future[Found | None]]] = deque()
    with ThreadPoolExecutor(workers) as pool:

        def submitted(first: int, last: int) -> tuple[int, int, Future[Found | None]]:
            return first, last, pool.submit(work, first, last)

        try:
            # No more strips ahead of the one that is handed over than threads have to do.
            waiting.extend(submitted(*strip) for strip in islice(coming, 2 * workers))
            while waiting:
                first, last, task = waiting.popleft()
                found = task.result()
                if found is None:
                    middle = (first + last) // 2
                    waiting.extendleft([submitted(middle, last), submitted(first, middle)])
                    continue
                yield found
                if on_progress is not None:
                    on_progress(1 - ((count - last) / count) ** 2)
                if len(waiting) < 2 * workers:
                    waiting.extend(submitted(*strip) for strip in islice(coming, 1))
        finally:
            for _, _, task in waiting:
                task.cancel()


def collect(parts: Iterable[Arrays], empty: Arrays, most: int, problem: str) -> Arrays:
    """All parts in memory, after an empty one; an error if they have more rows than allowed."""
    held, count = [empty], 0
    for part in parts:
        held.append(part)
        count += len(part[0])
        if count > most:
            raise InputError(f"more than {most:,} pairs {problem}")
    return join(held)


def join(parts: Sequence[Arrays]) -> Arrays:
    """Named tuples of arrays as one."""
    columns = zip(*parts, strict=True)
    return type(parts[0])(*(np.concatenate(column) for column in columns))


def strip_pairs(
    pieces: ChunkedMatrix, first: int, last: int, threshold: float, cut: Strips
) -> RowPairs | None:
    """The pairs of rows ``first`` to ``last`` with rows behind them; None if they are too many."""
    vectors = pieces.arrays[0]
    # A single row has room enough, whatever was set aside.
    room = max(cut.pairs, len(vectors))
    pairs = RowPairs(np.empty(room, np.int64), np.empty(room, np.int64), np.empty(room, np.float32))
    # Above zero, however small the threshold: rows of zeros are nobody's duplicates.
    least = max(np.float32(threshold), np.finfo(np.float32).smallest_subnormal)
    margin = kernels.margin(pieces.dimensions, pieces.length_error, pieces.length_error)
    memory = np.empty((last - first) * cut.columns, np.float32)
    found = 0
    for first_b in range(first, len(vectors), cut.columns):
        block = vectors[first_b : first_b + cut.columns]
        products = memory[: (last - first) * len(block)].reshape(last - first, len(block))
        np.matmul(vectors[first:last], block.T, out=products)
        found = kernels.pairs_in_products(
            vectors, first, first_b, products, np.float32(threshold - margin), least, *pairs, found
        )
        if found < 0:
            return None
    order = np.argsort(pairs.a[:found] * len(vectors) + pairs.b[:found])
    return RowPairs(pairs.a[order], pairs.b[order], pairs.score[order])


class RowGroups(NamedTuple):
    """Groups of two rows or more, largest first, then by their lowest row."""

    members: Int64s  # the rows of all groups, one group after the other, each ascending
    begins: Int64s  # where each group begins, and where the last one ends


def linked_rows(rows: int, a: Int64s, b: Int64s) -> RowGroups:
    """The groups of rows that pairs link, directly or through other ones."""
    from scipy import sparse

    links = sparse.coo_array((np.ones(len(a), bool), (a, b)), (rows, rows))
    _, firsts, groups = np.unique(
        sparse.csgraph.connected_components(links, directed=False)[1],
        return_index=True,
        return_inverse=True,
    )
    lowest, sizes = firsts[groups], np.bincount(groups)[groups]
    members = np.flatnonzero(sizes > 1)
    members = members[np.lexsort((members, lowest[members], -sizes[members]))]
    begins = np.flatnonzero(np.diff(lowest[members], prepend=-1))
    return RowGroups(members, np.append(begins, len(members)))


class Pairs(NamedTuple):
    """Pairs of rows in ascending order: the ids of both, and their cosine."""

    a: npt.NDArray[Any]
    b: npt.NDArray[Any]
    score: Float32s

    def __repr__(self) -> str:
        return f"Pairs({len(self.a):,} pairs)"


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

    Examples
    --------
    >>> dv.write_similar_pairs("pairs.parquet", model.embed(texts), threshold=0.4)
    1
    """
    from pyarrow import parquet

    path = require_output(output)
    names, found = find_pairs(U, threshold, ids, threads, on_progress)
    kind, count = names.values.type, 0
    schema = pa.schema([("a", kind), ("b", kind), ("score", pa.float32())])
    with replacing(path) as temporary, parquet.ParquetWriter(temporary, schema) as writer:
        for a, b, score in found:
            columns = [*(names.values.take(pa.array(rows)) for rows in (a, b)), pa.array(score)]
            writer.write_table(pa.table(columns, schema=schema))
            count += len(a)
    return count


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


def neighbors(
    U: npt.ArrayLike,
    k: int = 10,
    *,
    ids: IdsLike | None = None,
    threads: int | None = None,
    on_progress: Callable[[float], None] | None = None,
) -> Hits:
    """The k rows most similar to each row, itself left out.

    Parameters
    ----------
    U
        Rows of unit length, or zero. A row of zeros has the score 0 with all others.
    k
        How many neighbors; where there are fewer other rows, that many.
    ids
        What the rows are called: unique whole numbers or strings; by default their numbers. Rows
        with the same score come in the ascending order of their ids.
    threads
        How many cores; all of them by default.
    on_progress
        Called with the share of the work that is done.

    Returns
    -------
    Hits
        Ids and scores, both of shape (rows, k), in the order of the rows.

    Examples
    --------
    >>> import numpy as np
    >>> neighbors(np.array([[1.0, 0.0], [0.0, 1.0], [0.8, 0.6]]), k=1).ids
    array([[2],
           [2],
           [0]])
    """
    require_whole("k", k)
    thread_count(threads)
    pieces = ChunkedMatrix.of(U, "U", threads)
    names = Ids.of(ids, len(pieces))
    k = min(k, max(0, len(pieces) - 1))
    # The k best of the others are among the k + 1 best of all; the row itself may not be, if
    # others are equal to it.
    most = min(k + 1, len(pieces))
    found = nearest_rows(
        pieces, pieces, most, ranks=names.ranks, threads=threads, on_progress=on_progress
    )
    rows = names.rows_at(found.ranks)
    itself = rows == np.arange(len(rows))[:, None]
    others = np.argsort(itself, axis=1, kind="stable")[:, :k]
    return Hits(
        names.at(np.take_along_axis(rows, others, axis=1)),
        np.take_along_axis(found.scores, others, axis=1).astype(np.float32),
    )
