"""The nearest documents of queries: each partition finds its own, Spark the best of all."""

from __future__ import annotations

from collections.abc import Iterator
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from deltavec.core.arguments import require_whole
from deltavec.core.model import EmbeddingModel
from deltavec.errors import InputError
from deltavec.search import Index
from deltavec.spark.embed import ROWS_AT_ONCE
from deltavec.spark.frames import failing_clearly, named_texts
from deltavec.spark.reduce import ONE_THREAD, embedded
from deltavec.spark.ship import (
    arrived_arrays,
    arrived_model,
    opened_model,
    ship_arrays,
    ship_model,
)

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

MOST_QUERIES = 1_000_000  # their vectors come to the driver and go to all executors
BEST_FIRST = [("query", "ascending"), ("score", "descending"), ("id", "ascending")]


def neighbors(
    frame: DataFrame,
    id_column: str,
    text_column: str,
    model: EmbeddingModel | str | PathLike[str],
    queries: Any,
    k: int = 10,
) -> DataFrame:
    """The k nearest documents of each query, by the cosine of their vectors.

    Exact: every query is compared with every document. Of equal cosines the lower id comes first.

    Parameters
    ----------
    frame
        The documents.
    id_column
        A column of unique strings or whole numbers.
    text_column
        The column with the text.
    model
        A model, or the folder of one, as the driver sees it.
    queries
        A list of texts, which are numbered from 0 on; or a frame with the same two columns, to
        match two frames. Up to a million: their vectors come to the driver.
    k
        How many documents to find for each.

    Returns
    -------
    DataFrame
        ``query``, ``id``, ``score`` and ``rank`` from 1 on. A query without known words has no
        rows, and no document without known words is found.
    """
    require_whole("k", k)
    documents, kind = named_texts(frame, id_column, text_column)
    opened = opened_model(model)
    shipped = ship_model(frame.sparkSession, opened)
    names, query_kind = list(range(len(queries))) if isinstance(queries, list) else None, "bigint"
    if names is None:
        texts, query_kind = named_texts(queries, id_column, text_column)
        with failing_clearly():
            table = texts.limit(MOST_QUERIES + 1).toArrow()
        names, queries = table.column(0).to_pylist(), table.column(1).combine_chunks()
    if len(names) > MOST_QUERIES:
        raise InputError(f"up to {MOST_QUERIES:,} queries can be compared at once, got more")
    vectors = opened.embed(queries)
    there = np.flatnonzero(vectors.any(axis=1))
    key = ship_arrays(frame.sparkSession, vectors[there])

    def work(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        arrived, asked = arrived_model(*shipped), arrived_arrays(key, 1)[0]
        best: pa.Table | None = None
        for batch in batches:
            for first in range(0, len(batch), ROWS_AT_ONCE):
                part = batch.slice(first, ROWS_AT_ONCE)
                found = nearest(part, embedded(part.column(1), arrived).vectors, asked, k)
                best = found if best is None else top(pa.concat_tables([best, found]), k)
        if best is not None:
            yield from best.combine_chunks().to_batches()

    from pyspark.sql import Window, functions

    if not len(there):
        return frame.sparkSession.createDataFrame(
            [], f"query {query_kind}, id {kind}, score float, rank int"
        )
    found = documents.mapInArrow(work, f"query bigint, id {kind}, score float")
    order = Window.partitionBy("query").orderBy(functions.desc("score"), "id")
    ranked = found.withColumn("rank", functions.row_number().over(order)).where(f"rank <= {k}")
    rows = [(place, names[row]) for place, row in enumerate(there.tolist())]
    named = frame.sparkSession.createDataFrame(rows, f"place bigint, name {query_kind}")
    joined = ranked.join(named, ranked["query"] == named["place"])
    return joined.select(functions.col("name").alias("query"), "id", "score", "rank")


def nearest(part: pa.RecordBatch, vectors: Any, asked: Any, k: int) -> pa.Table:
    """The best documents of a batch for each query."""
    there = np.flatnonzero(vectors.any(axis=1))
    ids = part.column(0).take(pa.array(there))
    order = np.asarray(pa.compute.sort_indices(ids))  # rows in the order of ids: ties are cut right
    hits = Index(vectors[there[order]], threads=ONE_THREAD).search(asked, k)
    rows = np.repeat(np.arange(len(asked)), hits.ids.shape[1])
    found = ids.take(pa.array(order[hits.ids.ravel()]))
    return pa.table({"query": rows, "id": found, "score": hits.scores.ravel()})


def top(table: pa.Table, k: int) -> pa.Table:
    """The first k rows of each query."""
    table = table.sort_by(BEST_FIRST)
    rows = np.arange(len(table))
    queries = table["query"].to_numpy()
    begins = np.maximum.accumulate(np.where(np.diff(queries, prepend=-1) != 0, rows, 0))
    return table.take(pa.array(np.flatnonzero(rows - begins < k)))
