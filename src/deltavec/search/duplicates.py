"""Rows that are nearly the same: pairs above a cosine, and the groups they make."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from numbers import Real
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from deltavec.core.arrays import Float32s, Int64s
from deltavec.core.threads import thread_count
from deltavec.errors import InputError
from deltavec.io.artifacts.atomic import replacing
from deltavec.notebook import table
from deltavec.search.ids import Ids, IdsLike
from deltavec.search.keeping import KeepFirst
from deltavec.search.matrix import ChunkedMatrix
from deltavec.search.pairs import RowGroups, RowPairs, UnionFind, row_pairs

MOST_PAIRS_IN_MEMORY = 50_000_000  # a gigabyte
PAIRS_A_ROW_GROUP = 100_000
SHOWN = 20


class Pairs(NamedTuple):
    """Pairs of rows in ascending order: the ids of both, and their cosine."""

    a: npt.NDArray[Any]
    b: npt.NDArray[Any]
    score: Float32s


@dataclass(frozen=True, eq=False)
class Duplicates:
    """Pairs of rows at or above a cosine, and the groups that they make.

    Attributes
    ----------
    threshold : float
        The cosine asked for.
    count : int
        How many pairs there are.
    groups : tuple of arrays
        The ids of rows that pairs link, directly or by way of others; largest group first.
    representatives : array
        The id of one row of each group: the one with the highest mean cosine with its others, the
        first of them if there are several.
    table : pyarrow.Table
        A row for each row that is in a group: ``id``; ``group``, its number; ``keep``, whether it
        stays if duplicates go; ``representative``, the id of the one that stays for it, the most
        alike of several; ``score``, the cosine with that. A row stays unless one before it that
        stays is as alike as the threshold asks: so no two that stay are duplicates, and for each
        that goes there is one that stays, however long the chain of pairs is that links a group.
    removed : ndarray of int64
        The numbers of the rows that go, ascending.
    output : Path or None
        The Parquet file that holds the pairs, if they were written to one.
    """

    threshold: float
    count: int
    groups: tuple[npt.NDArray[Any], ...]
    representatives: npt.NDArray[Any]
    table: pa.Table
    removed: Int64s
    output: Path | None = None
    _pairs: Pairs | None = field(default=None, repr=False)

    @property
    def pairs(self) -> Pairs:
        """All pairs; read from the file if they were written to one."""
        if self._pairs is not None:
            return self._pairs
        from pyarrow import parquet

        columns = parquet.read_table(self.output)
        return Pairs(*(columns[name].to_numpy() for name in Pairs._fields))

    def __len__(self) -> int:
        return self.count

    def __repr__(self) -> str:
        return (
            f"Duplicates({self.count:,} pairs at or above {self.threshold:g}, "
            f"{len(self.groups):,} groups)"
        )

    def _repr_html_(self) -> str:
        """The largest groups, as a table."""
        shown = zip(self.representatives[:SHOWN], self.groups[:SHOWN], strict=True)
        rows = [
            (representative, len(group), ", ".join(map(str, group[:SHOWN])))
            for representative, group in shown
        ]
        hidden = len(self.groups) > SHOWN or any(len(group) > SHOWN for group in self.groups)
        return table(repr(self), ("representative", "rows", "ids"), rows, hidden)


def duplicates(
    U: npt.ArrayLike,
    threshold: float = 0.95,
    *,
    ids: IdsLike | None = None,
    threads: int | None = None,
    on_progress: Callable[[float], None] | None = None,
    output: str | PathLike[str] | None = None,
) -> Duplicates:
    """All pairs of rows whose cosine is at or above a threshold, and the groups they make.

    Every pair is found, and each only once, without a matrix of all pairs. A cosine is computed in
    float64 and rounded to float32, and so is the threshold it is compared with; equal rows have
    the cosine 1. Rows of zeros are nobody's duplicates.

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
    output
        A Parquet file (``.parquet``) for the pairs, with the columns a, b and score, in ascending
        order of the rows. It is written as pairs are found, and appears when it is complete.

    Raises
    ------
    InputError
        If there are more pairs than 50 million, and no output for them.

    Examples
    --------
    >>> import numpy as np
    >>> found = duplicates(np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0], [0.8, 0.6]]), 0.75)
    >>> found
    Duplicates(3 pairs at or above 0.75, 1 groups)
    >>> found.pairs.a, found.pairs.b
    (array([0, 0, 2]), array([2, 3, 3]))
    >>> found.groups, found.representatives
    ((array([0, 2, 3]),), array([0]))
    """
    cosine = require_threshold(threshold)
    thread_count(threads)
    path = require_output(output)
    pieces = ChunkedMatrix.of(U, "U", threads)
    names = Ids.of(ids, len(pieces))
    links, keeping = UnionFind(len(pieces)), KeepFirst(len(pieces))
    pairs_found = row_pairs(pieces, cosine, threads=threads, on_progress=on_progress)
    found = keeping.through(links.through(pairs_found))
    if path is None:
        pairs = collect_pairs(found, names, cosine)
        count = len(pairs.a)
    else:
        pairs = None
        count = write_pairs(found, names, path)
    grouped = links.groups(pieces.arrays[0])
    members = names.at(grouped.members)
    return Duplicates(
        cosine,
        count,
        tuple(np.split(members, grouped.begins[1:-1])) if len(members) else (),
        names.at(grouped.centers),
        members_table(names, grouped, keeping),
        keeping.removed,
        path,
        pairs,
    )


def members_table(names: Ids, grouped: RowGroups, keeping: KeepFirst) -> pa.Table:
    """What becomes of each member of a group."""
    members = grouped.members
    stays = keeping.nearest[members] < 0
    for_it = np.where(stays, members, keeping.nearest[members])
    score = np.where(stays, np.float32(1), keeping.scores[members])
    numbers = np.repeat(np.arange(len(grouped.centers)), np.diff(grouped.begins))
    return pa.table(
        {
            "id": names.values.take(pa.array(members)),
            "group": pa.array(numbers, pa.int64()),
            "keep": pa.array(stays),
            "representative": names.values.take(pa.array(for_it)),
            "score": pa.array(score, pa.float32()),
        }
    )


def collect_pairs(
    found: Iterator[RowPairs], names: Ids, threshold: float, most: int = MOST_PAIRS_IN_MEMORY
) -> Pairs:
    """All pairs in memory, if they are not too many."""
    parts: list[RowPairs] = []
    count = 0
    for part in found:
        parts.append(part)
        count += len(part.a)
        if count > most:
            raise InputError(
                f"more than {most:,} pairs are at or above {threshold:g}: raise the threshold, or "
                "write them to a file with output='pairs.parquet'"
            )
    a, b, score = join_rows(parts)
    return Pairs(names.at(a), names.at(b), score)


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
            yield join_rows(waiting)
            waiting.clear()
    if waiting:
        yield join_rows(waiting)


def join_rows(parts: list[RowPairs]) -> RowPairs:
    """The pairs of all parts."""
    none = RowPairs(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, np.float32))
    return RowPairs(*(np.concatenate(values) for values in zip(none, *parts, strict=True)))


def require_threshold(threshold: float) -> float:
    """The threshold, if it is a cosine above 0."""
    if isinstance(threshold, bool) or not isinstance(threshold, Real) or not 0 < threshold <= 1:
        raise InputError(f"threshold must be a cosine above 0, up to 1, got {threshold!r}")
    return float(threshold)


def require_output(output: str | PathLike[str] | None) -> Path | None:
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
