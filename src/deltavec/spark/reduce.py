"""One pass over a column: counts of its words, a second moment, coverage, a sample of documents.

Each is one table of numbers for each partition, added up in Spark until few are left.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import astuple, replace
from functools import reduce
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from deltavec.core.batching import EmbeddedBatch, ShareSum, count_batch, embed_batch
from deltavec.core.learning.split_half import COLLECTION_DOCUMENTS, HalfSample
from deltavec.core.model import EmbeddingModel, half_vectors_of, recentered
from deltavec.core.statistics import (
    CorpusStatistics,
    SecondMoment,
    TextCounts,
    leading_components,
    warn_low_coverage,
)
from deltavec.core.text.batches import Tokenizer, as_text_batch
from deltavec.core.vocabulary import Vocabulary
from deltavec.errors import InputError
from deltavec.spark import ship

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
    texts: DataFrame, tokenizer: Tokenizer, arrived: Callable[[], Vocabulary], words: int
) -> CorpusStatistics:
    """The counts of a whole column for a vocabulary that was shipped."""

    def table_of(texts: Any, vocabulary: Vocabulary) -> npt.NDArray[np.int64]:
        return as_table(count_batch(as_text_batch(texts, tokenizer), vocabulary, ONE_THREAD))

    empty = as_table(CorpusStatistics.empty(words))
    return of_table(summed(texts, arrived, table_of, empty))


def as_table(statistics: CorpusStatistics) -> npt.NDArray[np.int64]:
    """Statistics as one row of integers, which add."""
    numbers = [statistics.documents, statistics.tokens, statistics.unknown_documents]
    return np.concatenate([numbers, statistics.token_counts, statistics.document_counts])


def of_table(table: npt.NDArray[np.int64]) -> CorpusStatistics:
    """The statistics that such a row holds."""
    token_counts, document_counts = np.split(table[NUMBERS_BEFORE_COUNTS:], 2)
    return CorpusStatistics(token_counts, document_counts, *table[:NUMBERS_BEFORE_COUNTS].tolist())


def embedded(texts: Any, model: EmbeddingModel) -> EmbeddedBatch:
    """The vectors of some texts, an Arrow column."""
    batch = as_text_batch(texts, model.tokenizer)
    return embed_batch(batch, model.vocabulary, model.table, ONE_THREAD)


def without_components(texts: DataFrame, model: EmbeddingModel) -> EmbeddingModel:
    """The model with the components removed that the documents have in common."""

    def table_of(texts: Any, arrived: EmbeddingModel) -> npt.NDArray[np.float64]:
        return flattened(SecondMoment.of(embedded(texts, arrived).vectors))

    shipped, width = ship.ship_model(texts.sparkSession, model), model.dimensions
    numbers = summed(texts, shipped, table_of, flattened(SecondMoment.empty(width)))
    moment = SecondMoment(numbers[1:].reshape(width, width), int(numbers[0]))
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
    kind, stored = empty.dtype, ship.bytes_type(texts)

    def added(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        from pyspark import TaskContext

        arrived = open()
        tables = (table_of(batch.column(0), arrived) for batch in batches if len(batch))
        task = TaskContext.get()
        if (first := next(tables, None)) is not None and task is not None:
            yield one_row(task.partitionId(), reduce(np.add, tables, first), stored)

    def joined(group: pa.Table) -> pa.Table:
        rows = group.sort_by("part")
        part = rows["part"][0].as_py() // fan_in
        first, *others = (np.frombuffer(one.as_buffer(), kind) for one in rows["numbers"])
        return pa.Table.from_batches([one_row(part, reduce(np.add, others, first), stored)])

    tables = texts.mapInArrow(added, SCHEMA)
    for _ in range(ROUNDS):
        tables = tables.groupBy(tables["part"] - tables["part"] % fan_in).applyInArrow(
            joined, SCHEMA
        )
    with ship.failing_clearly():
        rows = tables.toLocalIterator()
        return reduce(np.add, (np.frombuffer(row.numbers, kind) for row in rows), empty)


def one_row(part: int, table: npt.NDArray[Any], stored: pa.DataType) -> pa.RecordBatch:
    """A table and its place, as Spark sees them."""
    numbers = pa.array([table.tobytes()], stored)
    return pa.RecordBatch.from_arrays([pa.array([part]), numbers], ["part", "numbers"])


SAMPLED = "hash long, weight double, first array<float>, second array<float>"


def for_collection(frame: DataFrame, column: str, model: EmbeddingModel) -> EmbeddingModel:
    """The model for comparing the documents of a frame: see `EmbeddingModel.for_collection`.

    Counts are those of one machine, bit for bit. The frame is read once or twice.

    Parameters
    ----------
    frame
        The documents; null is an empty one.
    column
        The column with the text.
    model
        A fitted model.

    Examples
    --------
    >>> model = dv.spark.for_collection(frame, "text", model)  # doctest: +SKIP
    """
    if not isinstance(model, EmbeddingModel):
        raise InputError(f"expected a fitted model, got {type(model).__name__}")
    texts = ship.rereadable_text(frame, column)
    if not model.recipe.depends_on_documents:
        return model
    if model.recipe.needs_vectors:
        return without_components(texts, replace(model, table=model.table.restored()))
    shipped, words = ship.ship_model(frame.sparkSession, model), len(model.vocabulary)

    def table_of(texts: Any, arrived: EmbeddingModel) -> npt.NDArray[np.int64]:
        shares = ShareSum(words)
        batch = as_text_batch(texts, arrived.tokenizer)
        shares.add(batch, arrived.vocabulary, ONE_THREAD)
        statistics = count_batch(batch, arrived.vocabulary, ONE_THREAD)
        return np.concatenate([as_table(statistics), *shares.units])

    size = len(as_table(CorpusStatistics.empty(words)))
    empty = np.zeros(size + 2 * words, np.int64)
    numbers = summed(texts, shipped, table_of, empty)
    statistics, shares = of_table(numbers[:size]), ShareSum(words)
    shares.units[:] = numbers[size:].reshape(2, words)
    sample = HalfSample.empty(model.dimensions)
    if model.is_measured:
        sample = half_sample(texts, shipped, statistics.documents, model.dimensions)
    return recentered(model, statistics, shares.total, sample)


def half_sample(
    texts: DataFrame, shipped: Callable[[], EmbeddingModel], documents: int, dimensions: int
) -> HalfSample:
    """The documents with the lowest hashes, each in two parts, as one machine samples them.

    Tasks return those below a limit. If these are too few, it is raised.
    """
    share = 2 * COLLECTION_DOCUMENTS / max(documents, 1)
    while True:
        limit = np.uint64(min(share, 1.0) * (2**64 - 2**12))

        def work(
            batches: Iterator[pa.RecordBatch], limit: np.uint64 = limit
        ) -> Iterator[pa.RecordBatch]:
            arrived = shipped()
            for batch in batches:
                found = half_vectors_of(
                    as_text_batch(batch.column(0), arrived.tokenizer), arrived, ONE_THREAD
                )
                low = np.flatnonzero(found.hashes <= limit)
                hashes = pa.array(found.hashes[low].view(np.int64))
                parts = (ship.as_lists(part[low]) for part in found[:2])
                columns = [hashes, pa.array(found.weights[low]), *parts]
                yield pa.RecordBatch.from_arrays(columns, ["hash", "weight", "first", "second"])

        with ship.failing_clearly():
            table = texts.mapInArrow(work, SAMPLED).toArrow()
        if len(table) >= COLLECTION_DOCUMENTS or share >= 1:
            break
        share *= 8
    first, second = (
        table[name].combine_chunks().flatten().to_numpy().reshape(-1, dimensions)
        for name in ("first", "second")
    )
    weights, hashes = table["weight"].to_numpy(), table["hash"].to_numpy().view(np.uint64)
    return HalfSample.empty(dimensions).sampled(HalfSample(first, second, weights, hashes))


def coverage(
    frame: DataFrame, column: str, model: EmbeddingModel | str | PathLike[str]
) -> TextCounts:
    """How many documents, words and known words a column has; warns if few are known.

    `embed` cannot warn: it is computed later. The frame is read once; give it a sample of yours.

    Examples
    --------
    >>> dv.spark.coverage(frame, "text", model).coverage  # doctest: +SKIP
    """
    texts = ship.rereadable_text(frame, column)
    shipped = ship.ship_model(frame.sparkSession, model)

    def table_of(texts: Any, arrived: EmbeddingModel) -> npt.NDArray[np.int64]:
        return np.array(astuple(embedded(texts, arrived).counts), np.int64)

    numbers = summed(texts, shipped, table_of, np.zeros(4, np.int64))
    warn_low_coverage(counts := TextCounts(*numbers.tolist()))
    return counts
