"""Documents with the same text in a column of Spark: all pairs, as on one machine.

Python makes the shingles of each document, and compares the pairs that are left in the end. What is
between is Spark's: equal texts are grouped by a hash; the shingles in the prefixes of documents are
joined with themselves, and the weights of those that two documents have in common are added up.
`deltavec.search.shingles` says why no pair is missed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from deltavec.core.arrays import offsets_of
from deltavec.errors import CorpusError, InputError
from deltavec.search import shingle_kernels as kernels
from deltavec.search.duplicates import DUPLICATE, Duplicates
from deltavec.search.ids import Ids
from deltavec.search.pairs import MOST_PAIRS, require_threshold
from deltavec.search.shingle_kernels import TextPairs, Weights
from deltavec.search.shingles import COUNTED, REST, SHORT, Shingles, counter_bits, weights_of
from deltavec.spark.reduce import ONE_THREAD
from deltavec.spark.ship import failing_clearly, named_texts, ship_arrays

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

SHINGLED = "words long, digest long, keys array<int>, own array<int>"
POSTING = "key long, weight double, total double, cut double, rest double"
Table = Callable[[], list[npt.NDArray[Any]]]
"""What opens the weights of shingles on an executor."""
# The most that two documents can share, by the weights of what both their prefixes have.
MOST = "least(sum * {up} + if(a.cut > b.cut, a.rest, b.rest), a.total, b.total)"


def duplicates(
    frame: DataFrame, id_column: str, text_column: str, threshold: float = DUPLICATE
) -> Duplicates:
    """All pairs of documents of a frame that share text, and which to remove.

    The pairs are those of `deltavec.duplicates`, whatever the partitions. They come to the driver,
    up to 50 million of them. Of two duplicates the one with the lower id stays.

    Parameters
    ----------
    frame
        The documents.
    id_column
        A column of unique strings or whole numbers.
    text_column
        The column with the text.
    threshold
        The least share of the longer text, above 0 and up to 1.

    Returns
    -------
    Duplicates
        Only documents that are in a pair have rows in it; ``table`` says by id which of them stay.

    Examples
    --------
    >>> dv.spark.duplicates(frame, "id", "text").pairs.show()  # doctest: +SKIP
    """
    least = require_threshold(threshold, "share")
    from pyspark.sql import functions

    named, kind = named_texts(frame, id_column, text_column)
    documents = shingle(named, kind).persist()
    one = functions.min(functions.struct("id", "words", "keys", "own")).alias("one")
    distinct = documents.where("words > 0").groupBy("digest").agg(one).select("digest", "one.*")
    distinct = distinct.persist()
    try:
        with failing_clearly():
            if documents.where("id is null").head(1):
                raise CorpusError(f"expected an id in every row, {id_column!r} holds null")
            table = ship_arrays(frame.sparkSession, count_weights(distinct).table)
            pairs = compare(candidates(distinct, kind, least, table), kind, least, table)
            firsts = distinct.select("digest", functions.col("id").alias("first"))
            copies = documents.where("words > 0").join(firsts, "digest").where("id <> first")
            found = pairs.limit(MOST_PAIRS + 1).toArrow()
            equal = copies.select("first", "id").toArrow()
    finally:
        documents.unpersist()
        distinct.unpersist()
    if len(found) > MOST_PAIRS:
        raise InputError(f"more than {MOST_PAIRS:,} pairs share {least:g}: raise it")
    return on_driver(found, equal, least)


def shingle(named: DataFrame, kind: str) -> DataFrame:
    """The shingles of each document."""

    def work(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            made = Shingles.of([batch.column(1)], ONE_THREAD)
            lists = (
                pa.ListArray.from_arrays(pa.array(at, pa.int32()), keys.view(np.int32))
                for keys, at in ((made.keys, made.offsets), (made.own_keys, made.own_offsets))
            )
            digests = pa.array(made.digests.view(np.int64))
            yield pa.RecordBatch.from_arrays(
                [batch.column(0), pa.array(made.words), digests, *lists],
                ["id", "words", "digest", "keys", "own"],
            )

    return named.mapInArrow(work, f"id {kind}, {SHINGLED}")


def from_lists(*columns: pa.Array) -> Shingles:
    """The shingles of documents; what else there is to know is left out."""
    read: list[Any] = []
    for column in columns:
        read += [column.flatten().to_numpy().view(np.uint32), offsets_of(column.value_lengths())]
    enough = np.full(len(columns[0]), SHORT)
    return Shingles(read[0], read[1], read[2], read[3], enough, enough.view(np.uint64))


def count_weights(distinct: DataFrame) -> Weights:
    """The weights of shingles, counted on the driver: see `Shingles.weights`."""
    step = np.uint64(-(-distinct.count() // COUNTED) or 1)

    def work(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            chosen = batch.column(0).to_numpy().view(np.uint64) % step == 0
            yield batch.select([1]).filter(pa.array(chosen))

    found = distinct.select("digest", "keys").mapInArrow(work, "keys array<int>").toArrow()
    documents = len(found)
    parts = [one.flatten().to_numpy().view(np.uint32) for one in found["keys"].chunks]
    bits = counter_bits(sum(map(len, parts)))
    counts = np.zeros(1 << bits, np.int64)
    for part in parts:
        counts += np.bincount(part >> np.uint32(32 - bits), minlength=len(counts))
    return weights_of(counts, documents)


def candidates(distinct: DataFrame, kind: str, least: float, table: Table) -> DataFrame:
    """The pairs of documents that may share enough, with their shingles."""
    from pyspark.sql import functions

    def work(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        weights = weights_in(*table())
        for batch in batches:
            shingles = from_lists(*batch.columns[1:])
            texts = shingles.texts(weights, REST * least)
            rows = np.repeat(np.arange(len(shingles)), np.diff(texts.offsets))
            weight = weights.table[texts.keys >> weights.shift].astype(np.float64)
            weight[texts.keys % 2 == 1] *= kernels.NUMBER
            inside = np.flatnonzero(weight >= texts.cuts[rows])
            at = rows[inside]
            numbers = (texts.totals[at], texts.cuts[at], texts.rests[at])
            columns = [texts.keys[inside].astype(np.int64), weight[inside], *numbers]
            yield pa.RecordBatch.from_arrays(
                [batch.column(0).take(pa.array(at)), *map(pa.array, columns)],
                ["id", "key", "weight", "total", "cut", "rest"],
            )

    long = distinct.where(f"words >= {SHORT}").select("id", "keys", "own")
    postings = long.mapInArrow(work, f"id {kind}, {POSTING}")
    a, b = postings.alias("a"), postings.alias("b")
    both = a.join(b, functions.expr("a.key = b.key and a.id < b.id"))
    numbers = [
        functions.first(f"{side}.{name}").alias(f"{side}_{name}")
        for side in "ab"
        for name in ("total", "cut", "rest")
    ]
    ids = functions.col("a.id").alias("a"), functions.col("b.id").alias("b")
    added = both.groupBy(*ids).agg(functions.sum("a.weight").alias("sum"), *numbers)
    most = MOST.format(up=kernels.UP).replace("a.", "a_").replace("b.", "b_")
    bound = least * (1 - kernels.ROUNDING)
    pairs = added.where(f"{most} >= {bound!r} * greatest(a_total, b_total)").select("a", "b")
    for side in "ab":
        names = ("id", side), ("keys", f"{side}_keys"), ("own", f"{side}_own")
        pairs = pairs.join(long.select(*(functions.col(x).alias(y) for x, y in names)), side)
    return pairs.select("a", "b", "a_keys", "a_own", "b_keys", "b_own")


def compare(pairs: DataFrame, kind: str, least: float, table: Table) -> DataFrame:
    """The pairs that share enough, and how much."""

    def work(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        weights = weights_in(*table())
        for batch in batches:
            a = from_lists(*batch.columns[2:4]).texts(weights)
            b = from_lists(*batch.columns[4:]).texts(weights)
            shares = np.array(
                [kernels.overlap(row, a, row, b) for row in range(len(batch))]
            ).reshape(-1, 2)
            contained = shares[:, 1] * a.totals / np.minimum(a.totals, b.totals)
            columns = [pa.array(one.astype(np.float32)) for one in (shares[:, 0], contained)]
            whole = pa.RecordBatch.from_arrays(
                [*batch.columns[:2], *columns], ["a", "b", "shared", "contained"]
            )
            yield whole.filter(pc.greater_equal(columns[0], np.float32(least)))

    return pairs.mapInArrow(work, f"a {kind}, b {kind}, shared float, contained float")


def weights_in(table: npt.NDArray[Any]) -> Weights:
    """The weights of shingles, by the table that the driver sent."""
    return Weights(np.uint32(33 - len(table).bit_length()), table)


def on_driver(found: pa.Table, equal: pa.Table, least: float) -> Duplicates:
    """Pairs and equal texts, as they are on one machine."""
    columns = [*found.columns[:2], *equal.columns]
    ids = pc.unique(
        pa.chunked_array([part for one in columns for part in one.chunks], columns[0].type)
    )
    ids = ids.take(pc.sort_indices(ids))
    a, b, first, copy = (
        pc.index_in(one, ids).combine_chunks().to_numpy(zero_copy_only=False).astype(np.int64)
        for one in columns
    )
    firsts = np.arange(len(ids))
    firsts[copy] = first
    shares = (found[name].to_numpy() for name in ("shared", "contained"))
    rows = TextPairs(a, b, *shares)
    rows = rows.at(np.lexsort((b, a)))
    return Duplicates(least, Ids.of(ids, len(ids)), np.zeros_like(firsts), firsts, rows)
