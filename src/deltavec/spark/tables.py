"""One table of numbers for each partition, added up in Spark until few are left."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from deltavec.spark.frames import bytes_type, failing_clearly

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

# So many tables in one process at once; so many times, until 512 partitions are one table.
FAN_IN = 8
ROUNDS = 3
SCHEMA = "part long, numbers binary"

Chunks = Iterable[Any]
TableOf = Callable[[Chunks], npt.NDArray[Any] | None]
"""The numbers of a partition whose texts come in chunks; None if they are all zero."""


def summed(
    texts: DataFrame, table_of: TableOf, empty: npt.NDArray[Any], fan_in: int = FAN_IN
) -> npt.NDArray[Any]:
    """The sum of the tables of all partitions.

    Tables are added in the order of their partitions, a few at a time, in tasks; the driver adds
    what is left of very many partitions, one after the other. Integers give the same bits
    whatever the partitions, floating-point numbers the same to rounding.

    Parameters
    ----------
    texts
        A frame with one column of strings.
    table_of
        Makes the table of one partition, on an executor.
    empty
        The table of no text at all: its kind and length are those of all tables.
    fan_in
        How many tables one process holds at once.
    """
    kind, stored = empty.dtype, bytes_type(texts)

    def partial(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        from pyspark import TaskContext

        table = table_of(batch.column(0) for batch in batches)
        task = TaskContext.get()
        if table is not None and task is not None:
            yield one_row(task.partitionId(), table, stored)

    def joined(group: pa.Table) -> pa.Table:
        rows = group.sort_by("part")
        part = rows["part"][0].as_py() // fan_in
        return pa.Table.from_batches([one_row(part, total(rows["numbers"], kind), stored)])

    tables = texts.mapInArrow(partial, SCHEMA)
    for _ in range(ROUNDS):
        tables = tables.groupBy(tables["part"] - tables["part"] % fan_in).applyInArrow(
            joined, SCHEMA
        )
    with failing_clearly():
        whole = empty.copy()
        for row in tables.toLocalIterator():
            whole += np.frombuffer(row.numbers, kind)
        return whole


def one_row(part: int, table: npt.NDArray[Any], stored: pa.DataType) -> pa.RecordBatch:
    """A table and its place, as Spark sees them."""
    numbers = pa.array([table.tobytes()], stored)
    return pa.RecordBatch.from_arrays([pa.array([part]), numbers], ["part", "numbers"])


def total(tables: Iterable[Any], kind: np.dtype[Any]) -> npt.NDArray[Any]:
    """The sum of tables that are Arrow bytes."""
    arrays = (np.frombuffer(table.as_buffer(), kind) for table in tables)
    whole = next(arrays).copy()
    for array in arrays:
        whole += array
    return whole
