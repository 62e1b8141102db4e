"""All pairs of rows at or above a cosine, without a matrix of all, and the groups they link.

Rows are taken a strip at a time and multiplied with blocks of the rows from there on; threads have
a strip each. Pairs come in ascending order of their rows. A strip with more pairs than memory is
set aside for is cut in half, and again, so that memory stays bounded however many pairs there are.
`deltavec.search.kernels` says why none is missed, and none is found that should not be.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import islice
from typing import Any, NamedTuple, TypeVar

import numpy as np

from deltavec.core.arrays import Float32s, Int64s
from deltavec.core.threads import one_blas_thread, thread_count
from deltavec.errors import InputError
from deltavec.search import kernels
from deltavec.search.matrix import ChunkedMatrix

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


class UnionFind:
    """Groups as they form while pairs come in; memory for one number a row.

    Parameters
    ----------
    rows
        How many rows there are.
    """

    def __init__(self, rows: int) -> None:
        self._parents = np.arange(rows)

    def add(self, a: Int64s, b: Int64s) -> None:
        """Link the two rows of each pair."""
        kernels.join_groups(self._parents, a, b)

    def groups(self) -> RowGroups:
        """The groups that all pairs together make."""
        lowest = self._parents.copy()
        kernels.flatten_groups(lowest)
        sizes = np.bincount(lowest, minlength=len(lowest))
        members = np.flatnonzero(sizes[lowest] > 1)
        members = members[np.lexsort((members, lowest[members], -sizes[lowest[members]]))]
        lengths = sizes[lowest[members]]
        begins = [0]
        while begins[-1] < len(members):
            begins.append(begins[-1] + int(lengths[begins[-1]]))
        return RowGroups(members, np.array(begins))
