"""A model for the documents of a frame, and how much of their words it knows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import astuple, replace
from functools import partial
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from deltavec.core.batching import ShareSum, count_batch
from deltavec.core.learning.split_half import COLLECTION_DOCUMENTS, HalfSample
from deltavec.core.model import EmbeddingModel, half_vectors_of, recentered
from deltavec.core.statistics import CorpusStatistics, TextCounts, warn_low_coverage
from deltavec.core.text.batches import as_text_batch
from deltavec.errors import InputError
from deltavec.spark.frames import as_lists, failing_clearly, rereadable_text
from deltavec.spark.reduce import (
    ONE_THREAD,
    as_table,
    embedded,
    of_table,
    summed,
    without_components,
)
from deltavec.spark.ship import ShippedModel, arrived_model, ship_model

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

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
    """
    if not isinstance(model, EmbeddingModel):
        raise InputError(f"expected a fitted model, got {type(model).__name__}")
    texts = rereadable_text(frame, column)
    if not model.recipe.depends_on_documents:
        return model
    if model.recipe.needs_vectors:
        return without_components(texts, replace(model, table=model.table.restored()))
    shipped, words = ship_model(frame.sparkSession, model), len(model.vocabulary)

    def table_of(texts: Any, arrived: EmbeddingModel) -> npt.NDArray[np.int64]:
        shares = ShareSum(words)
        batch = as_text_batch(texts, arrived.tokenizer)
        shares.add(batch, arrived.vocabulary, ONE_THREAD)
        statistics = count_batch(batch, arrived.vocabulary, ONE_THREAD)
        return np.concatenate([as_table(statistics), *shares.units])

    size = len(as_table(CorpusStatistics.empty(words)))
    empty = np.zeros(size + 2 * words, np.int64)
    numbers = summed(texts, partial(arrived_model, *shipped), table_of, empty)
    statistics, shares = of_table(numbers[:size]), ShareSum(words)
    shares.units[:] = numbers[size:].reshape(2, words)
    sample = HalfSample.empty(model.dimensions)
    if model.is_measured:
        sample = half_sample(texts, shipped, statistics.documents, model.dimensions)
    return recentered(model, statistics, shares.total, sample)


def half_sample(
    texts: DataFrame, shipped: ShippedModel, documents: int, dimensions: int
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
            arrived = arrived_model(*shipped)
            for batch in batches:
                found = half_vectors_of(
                    as_text_batch(batch.column(0), arrived.tokenizer), arrived, ONE_THREAD
                )
                low = np.flatnonzero(found.hashes <= limit)
                hashes = pa.array(found.hashes[low].view(np.int64))
                parts = (as_lists(part[low]) for part in found[:2])
                columns = [hashes, pa.array(found.weights[low]), *parts]
                yield pa.RecordBatch.from_arrays(columns, ["hash", "weight", "first", "second"])

        with failing_clearly():
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
    """
    texts = rereadable_text(frame, column)
    shipped = ship_model(frame.sparkSession, model)

    def table_of(texts: Any, arrived: EmbeddingModel) -> npt.NDArray[np.int64]:
        return np.array(astuple(embedded(texts, arrived).counts), np.int64)

    numbers = summed(texts, partial(arrived_model, *shipped), table_of, np.zeros(4, np.int64))
    warn_low_coverage(counts := TextCounts(*numbers.tolist()))
    return counts
