"""One pass over a column: the counts of its words, or the second moment of its vectors.

Each is one table of numbers for each partition, added up in Spark until few are left.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from deltavec.core.batching import EmbeddedBatch, count_batch, embed_batch
from deltavec.core.components import SecondMoment, leading_components
from deltavec.core.model import EmbeddingModel
from deltavec.core.statistics import CorpusStatistics
from deltavec.core.text.batches import Tokenizer, as_text_batch
from deltavec.core.vocabulary import Vocabulary
from deltavec.spark.frames import bytes_type, failing_clearly
from deltavec.spark.ship import ShippedModel, arrived_model, arrived_vocabulary, ship_model

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

NUMBERS_BEFORE_COUNTS = 3  # documents, tokens, unknown_documents
ONE_THREAD = 1  # Spark runs a task on each core
# Tables added in one process at once, and rounds: 8 ** 3 = 512 partitions become one table.
FAN_IN = 8
ROUNDS = 3
SCHEMA = "part long, numbers binary"

TableOf = Callable[[Any, Any], npt.NDArray[Any]]
"""The numbers of some texts, an Arrow column, by a model or a vocabulary that has arrived."""


def corpus_statistics(
    texts: DataFrame, tokenizer: Tokenizer, key: str, words: int
) -> CorpusStatistics:
    """The counts of a whole column for the vocabulary that was shipped under this key."""

    def table_of(texts: Any, vocabulary: Vocabulary) -> npt.NDArray[np.int64]:
        return as_table(count_batch(as_text_batch(texts, tokenizer), vocabulary, ONE_THREAD))

    empty = as_table(CorpusStatistics.empty(words))
    return of_table(summed(texts, partial(arrived_vocabulary, key), table_of, empty))


def as_table(statistics: CorpusStatistics) -> npt.NDArray[np.int64]:
    """Statistics as one row of integers, which add."""
    numbers = [statistics.documents, statistics.tokens, statistics.unknown_documents]
    return np.concatenate(
        [np.array(numbers, np.int64), statistics.token_counts, statistics.document_counts]
    )


def of_table(table: npt.NDArray[np.int64]) -> CorpusStatistics:
    """The statistics that such a row holds."""
    documents, tokens, unknown = (int(number) for number in table[:NUMBERS_BEFORE_COUNTS])
    token_counts, document_counts = np.split(table[NUMBERS_BEFORE_COUNTS:], 2)
    return CorpusStatistics(token_counts, document_counts, documents, tokens, unknown)


def second_moment(texts: DataFrame, shipped: ShippedModel, dimensions: int) -> SecondMoment:
    """The second moment of a column's vectors, by the model that was shipped."""

    def table_of(texts: Any, model: EmbeddingModel) -> npt.NDArray[np.float64]:
        return flattened(SecondMoment.of(embedded(texts, model).vectors))

    empty = flattened(SecondMoment.empty(dimensions))
    numbers = summed(texts, partial(arrived_model, *shipped), table_of, empty)
    return SecondMoment(numbers[1:].reshape(dimensions, dimensions), int(numbers[0]))


def embedded(texts: Any, model: EmbeddingModel) -> EmbeddedBatch:
    """The vectors of some texts, an Arrow column."""
    batch = as_text_batch(texts, model.tokenizer)
    return embed_batch(batch, model.vocabulary, model.table, ONE_THREAD)


def without_components(texts: DataFrame, model: EmbeddingModel) -> EmbeddingModel:
    """The model with the components removed that the documents have in common."""
    shipped = ship_model(texts.sparkSession, model)
    moment = second_moment(texts, shipped, model.dimensions)
    components = leading_components(moment, model.recipe.n_components_removed)
    return replace(model, table=model.table.without(components))


def flattened(moment: SecondMoment) -> npt.NDArray[np.float64]:
    """A moment as one row of numbers, which add; documents are exact below 2 ** 53."""
    return np.concatenate([[float(moment.documents)], moment.matrix.ravel()])


def summed(
    texts: DataFrame,
    open: Callable[[], Any],
    table_of: TableOf,
    empty: npt.NDArray[Any],
    fan_in: int = FAN_IN,
) -> npt.NDArray[Any]:
    """The sum of the tables of all partitions.

    Tables are added in the order of their partitions, a few at a time, in tasks; the driver adds
    what is left of very many partitions, one after the other. Integers give the same bits
    whatever the partitions, floating-point numbers the same to rounding.

    Parameters
    ----------
    texts
        A frame with one column of strings.
    open
        Opens what has arrived, on an executor.
    table_of
        Makes the table of some texts, there.
    empty
        The table of no text at all: its kind and length are those of all tables.
    fan_in
        How many tables one process holds at once.
    """
    kind, stored = empty.dtype, bytes_type(texts)

    def added(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        from pyspark import TaskContext

        arrived = open()
        tables = (table_of(batch.column(0), arrived) for batch in batches if len(batch))
        task = TaskContext.get()
        if (first := next(tables, None)) is not None and task is not None:
            yield one_row(task.partitionId(), total(tables, first), stored)

    def joined(group: pa.Table) -> pa.Table:
        rows = group.sort_by("part")
        part = rows["part"][0].as_py() // fan_in
        first, *others = (np.frombuffer(one.as_buffer(), kind) for one in rows["numbers"])
        return pa.Table.from_batches([one_row(part, total(others, first.copy()), stored)])

    tables = texts.mapInArrow(added, SCHEMA)
    for _ in range(ROUNDS):
        tables = tables.groupBy(tables["part"] - tables["part"] % fan_in).applyInArrow(
            joined, SCHEMA
        )
    with failing_clearly():
        rows = tables.toLocalIterator()
        return total((np.frombuffer(row.numbers, kind) for row in rows), empty.copy())


def one_row(part: int, table: npt.NDArray[Any], stored: pa.DataType) -> pa.RecordBatch:
    """A table and its place, as Spark sees them."""
    numbers = pa.array([table.tobytes()], stored)
    return pa.RecordBatch.from_arrays([pa.array([part]), numbers], ["part", "numbers"])


def total(tables: Iterable[npt.NDArray[Any]], first: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The sum of tables, in the memory of the first."""
    for table in tables:
        first += table
    return first
