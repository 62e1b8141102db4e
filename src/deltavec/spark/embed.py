"""Vectors of a column, cosines of two, nearest topics, and the nearest documents of queries."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from deltavec.core.arguments import require_whole
from deltavec.core.arrays import Float32s
from deltavec.core.model import EmbeddingModel
from deltavec.errors import InputError
from deltavec.search import Index
from deltavec.spark import ship
from deltavec.spark.reduce import ONE_THREAD, embedded

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import DataType

ROWS_AT_ONCE = 8192  # 10 MB of vectors at 300 dimensions


def embed(
    frame: DataFrame,
    column: str,
    model: EmbeddingModel | str | PathLike[str],
    output: str = "embedding",
    *,
    trust: bool = False,
) -> DataFrame:
    """The frame with one more column: each document's vector, an array of float.

    Vectors are those of `EmbeddingModel.embed`, bit for bit, whatever the partitions. Rows keep
    their partitions, their order and their other columns. A document without known words, or
    null, is an array of zeros.

    Like other frames it is computed when something is done with it. What is done at once is to
    send the model to the executors, and to see that one of them can open it.

    Parameters
    ----------
    frame
        The documents.
    column
        The column with the text.
    model
        A model, or the folder of one, as the driver sees it.
    output
        The name of the new column.
    trust
        Whether executors, and the driver, import the tokenizer that the model in a folder names, if
        that is third-party code: see `deltavec.load`. A model at hand was trusted when it was
        loaded, or not.

    Examples
    --------
    >>> dv.spark.embed(frame, "text", model).write.parquet("vectors")  # doctest: +SKIP
    """
    ship.require_text_column(frame, column)
    from pyspark.sql.types import ArrayType, FloatType

    kind = ArrayType(FloatType(), containsNull=False)
    return with_column(frame, [column], model, trust, output, kind, ship.as_lists)


def similarity(
    frame: DataFrame,
    a: str,
    b: str,
    model: EmbeddingModel | str | PathLike[str],
    output: str = "similarity",
    *,
    trust: bool = False,
) -> DataFrame:
    """The frame with one more column: the cosine of the texts of two columns, a float.

    It is the product of the vectors that `EmbeddingModel.embed` gives, whatever the partitions. 0
    where a text is null, or holds no known word. Rows keep their partitions, their order and their
    other columns.

    Parameters
    ----------
    frame
        The documents.
    a, b
        The columns with the texts.
    model
        A model, or the folder of one, as the driver sees it.
    output
        The name of the new column.
    trust
        As for `deltavec.spark.embed`.

    Examples
    --------
    >>> dv.spark.similarity(frame, "question", "answer", model).show()  # doctest: +SKIP
    """
    for column in (a, b):
        ship.require_text_column(frame, column)
    from pyspark.sql.types import FloatType

    def cosines(x: Float32s, y: Float32s) -> pa.Array:
        products = np.einsum("ij,ij->i", x.astype(np.float64), y.astype(np.float64))
        return pa.array(products.astype(np.float32))

    return with_column(frame, [a, b], model, trust, output, FloatType(), cosines)


def assign(
    frame: DataFrame,
    column: str,
    model: EmbeddingModel | str | PathLike[str],
    directions: npt.ArrayLike,
    output: str = "topic",
) -> DataFrame:
    """The frame with one more column: the number of the nearest direction, by cosine.

    Fit topics on a sample: ``collection.cluster().directions`` of `deltavec.build_collection`.

    Parameters
    ----------
    frame, column, model
        As for `embed`.
    directions
        A row for each topic, of the model's dimensions.
    output
        The name of the new column; -1 where a text has no known word.

    Examples
    --------
    >>> dv.spark.assign(frame, "text", model, clusters.directions).show()  # doctest: +SKIP
    """
    ship.require_text_column(frame, column)
    from pyspark.sql.types import IntegerType

    rows = ship.ship_arrays(frame.sparkSession, np.ascontiguousarray(directions, np.float64))

    def nearest(vectors: Float32s) -> pa.Array:
        topics = np.argmax(vectors @ rows()[0].T, axis=1)
        return pa.array(np.where(vectors.any(axis=1), topics, -1).astype(np.int32))

    return with_column(frame, [column], model, False, output, IntegerType(), nearest)


def register(
    session: SparkSession,
    name: str,
    model: EmbeddingModel | str | PathLike[str],
    *,
    trust: bool = False,
) -> None:
    """Make a model a function of SQL: ``select id, name(text) from reviews``.

    Parameters
    ----------
    session
        The session, classic or of Spark Connect.
    name
        The name of the function, which takes a string and gives an array of float.
    model, trust
        As for `embed`. Needs Spark 4.1.

    Examples
    --------
    >>> dv.spark.register(spark, "embed", model)  # doctest: +SKIP
    >>> spark.sql("SELECT id, embed(text) FROM reviews")  # doctest: +SKIP
    """
    ship.require_pyspark()
    from pyspark.sql import functions
    from pyspark.sql.types import ArrayType, FloatType

    udf: Any = functions
    shipped = ship.ship_model(session, model, trust=trust)

    def embed_texts(texts: pa.Array) -> pa.Array:
        return ship.as_lists(embedded(texts, shipped()).vectors)

    embed_texts.__annotations__ = {"texts": pa.Array, "return": pa.Array}  # Spark reads them
    session.udf.register(name, udf.arrow_udf(embed_texts, ArrayType(FloatType(), False)))


def with_column(
    frame: DataFrame,
    columns: Sequence[str],
    model: EmbeddingModel | str | PathLike[str],
    trust: bool,
    output: str,
    kind: DataType,
    computed: Callable[..., pa.Array],
) -> DataFrame:
    """The frame with one more column, computed from the vectors of some columns of text."""
    require_room(frame, output)
    from pyspark.sql.types import StructField, StructType

    shipped = ship.ship_model(frame.sparkSession, model, trust=trust)
    names, places = [*frame.columns, output], [frame.columns.index(one) for one in columns]

    def work(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        arrived = shipped()
        for batch in batches:
            for first in range(0, len(batch), ROWS_AT_ONCE):
                part = batch.slice(first, ROWS_AT_ONCE)
                vectors = (embedded(part.column(place), arrived).vectors for place in places)
                yield pa.RecordBatch.from_arrays([*part.columns, computed(*vectors)], names)

    new = StructField(output, kind, nullable=False)
    # By number: mapInArrow stumbles over names with dots or quotes in them.
    numbered = frame.toDF(*(f"column_{number}" for number in range(len(frame.columns))))
    return numbered.mapInArrow(work, StructType([*frame.schema.fields, new]))


def require_room(frame: DataFrame, output: Any) -> None:
    """Refuse a name that is taken, and columns that Arrow cannot carry."""
    from pyspark.errors import PySparkException
    from pyspark.sql.pandas.types import to_arrow_type

    if not isinstance(output, str) or not output:
        raise InputError(f"expected a name for the new column, got {output!r}")
    if output.lower() in (name.lower() for name in frame.columns):
        raise InputError(f"the frame has a column {output!r} already: name another output")
    for field in frame.schema.fields:
        try:
            to_arrow_type(field.dataType, timezone="UTC")  # any: only whether it can be
        except PySparkException:
            raise InputError(
                f"the column {field.name!r} is of type {field.dataType.simpleString()}, which "
                "Spark cannot hand to Python as Arrow: drop it, or cast it to string"
            ) from None


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

    Examples
    --------
    >>> dv.spark.neighbors(frame, "id", "text", model, ["bush fires"]).show()  # doctest: +SKIP
    """
    require_whole("k", k)
    documents, kind = ship.named_texts(frame, id_column, text_column)
    opened = ship.opened_model(model)
    shipped = ship.ship_model(frame.sparkSession, opened)
    names, query_kind = list(range(len(queries))) if isinstance(queries, list) else None, "bigint"
    if names is None:
        texts, query_kind = ship.named_texts(queries, id_column, text_column)
        with ship.failing_clearly():
            table = texts.limit(MOST_QUERIES + 1).toArrow()
        names, queries = table.column(0).to_pylist(), table.column(1).combine_chunks()
    if len(names) > MOST_QUERIES:
        raise InputError(f"up to {MOST_QUERIES:,} queries can be compared at once, got more")
    vectors = opened.embed(queries)
    there = np.flatnonzero(vectors.any(axis=1))
    rows = ship.ship_arrays(frame.sparkSession, vectors[there])

    def work(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        arrived, asked = shipped(), rows()[0]
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
    placed = [(place, names[row]) for place, row in enumerate(there.tolist())]
    named = frame.sparkSession.createDataFrame(placed, f"place bigint, name {query_kind}")
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
