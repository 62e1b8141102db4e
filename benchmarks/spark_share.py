"""What Spark's own transfer takes of an embedding: processor time a document, three ways in turn.

    python benchmarks/spark_share.py reviews.parquet -o benchmarks/results/spark_share.json

The same text is read and thrown away; given to Python, which hands it back with zeros of the
vectors' shape; and embedded. What lies between the first two is the transfer to Python and back,
between the last two it is ours. Beside them stands ``embed`` in memory, on one core. Nothing is
written: rows end in Spark's ``noop``. Processor time is that of Java and of all its workers.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from measuring import publish, surroundings
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import ArrayType, FloatType, StructField, StructType

import deltavec as dv

PACKAGES = ["numba", "numpy", "pyarrow", "pyspark"]


def session(cores: int, folder: Path) -> SparkSession:
    os.environ["PYSPARK_PYTHON"] = sys.executable
    settings = {
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.memory": "3g",
        "spark.local.dir": str(folder),
        "spark.sql.files.maxPartitionBytes": "32m",
        "spark.sql.warehouse.dir": str(folder),
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }
    builder = SparkSession.builder.master(f"local[{cores}]")
    for name, value in settings.items():
        builder = builder.config(name, value)
    made = builder.getOrCreate()
    made.sparkContext.setLogLevel("ERROR")
    return made


def zeros(frame: DataFrame, dimensions: int) -> DataFrame:
    """Vectors of zeros for a column of text: all that Spark does, and nothing of ours."""

    def work(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            begins = np.arange(len(batch) + 1, dtype=np.int32) * np.int32(dimensions)
            numbers = np.zeros(len(batch) * dimensions, np.float32)
            lists = pa.ListArray.from_arrays(pa.array(begins), pa.array(numbers))
            yield pa.RecordBatch.from_arrays([*batch.columns, lists], names)

    vectors = StructField("embedding", ArrayType(FloatType(), containsNull=False), False)
    schema = StructType([*frame.schema.fields, vectors])
    names = schema.names
    return frame.mapInArrow(work, schema)


def processor_seconds() -> float:
    """What the processes that this one has started have taken, and those they started."""
    parents, spent = {}, {}
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            told = (entry / "stat").read_text().rpartition(") ")[2].split()
        except OSError:  # gone meanwhile
            continue
        parents[int(entry.name)] = int(told[1])
        spent[int(entry.name)] = sum(map(int, told[11:15])) / os.sysconf("SC_CLK_TCK")
    ours, found = {os.getpid()}, True
    while found:
        found = {child for child, parent in parents.items() if parent in ours} - ours
        ours |= found
    return sum(spent[one] for one in ours - {os.getpid()})


def in_turn(asked: dict[str, Callable[[], float]], runs: int) -> dict[str, list[float]]:
    """What each takes, several times; the first is not counted, and compiles."""
    found: dict[str, list[float]] = {name: [] for name in asked}
    for _ in range(runs + 1):
        for name, measure in asked.items():
            found[name].append(measure())
    return {name: some[1:] for name, some in found.items()}


def measured(spark: SparkSession, given: argparse.Namespace, folder: Path) -> dict[str, Any]:
    texts = pq.read_table(given.corpus, columns=[given.column]).column(0).combine_chunks()
    rng = np.random.default_rng(0)
    words = dv.train_vectors(texts[:20_000], dimensions=8).words
    drawn = rng.standard_normal((len(words), given.dimensions), dtype=np.float32)
    model = dv.fit(texts[:20_000], dv.WordVectors(words, drawn), "idf-sum")
    copies = max(1, round(given.documents / len(texts)))
    for number in range(copies):
        pq.write_table(
            pa.table({"text": texts}), folder / f"{number}.parquet", row_group_size=10_000
        )
    documents = copies * len(texts)
    frame = spark.read.parquet(*(str(folder / f"{n}.parquet") for n in range(copies)))
    frame = frame.select("text")

    def on_spark(made: DataFrame) -> Callable[[], float]:
        def run() -> float:
            before = processor_seconds()
            made.write.format("noop").mode("overwrite").save()
            return (processor_seconds() - before) / documents * 1e6

        return run

    def in_memory() -> float:
        before = time.process_time()
        model.embed(texts, threads=1)
        return (time.process_time() - before) / len(texts) * 1e6

    asked = {
        "read": on_spark(frame),
        "zeros": on_spark(zeros(frame, given.dimensions)),
        "embedded": on_spark(dv.spark.embed(frame, "text", model)),
        "in memory": in_memory,
    }
    microseconds = in_turn(asked, given.runs)
    middle = {name: statistics.median(some) for name, some in microseconds.items()}
    return {
        **surroundings(PACKAGES),
        "documents": documents,
        "dimensions": given.dimensions,
        "cores": given.cores,
        "microseconds_a_document": microseconds,
        "medians": {name: round(value, 2) for name, value in middle.items()},
        "share_of_zeros": round(middle["zeros"] / middle["embedded"], 3),
        "beyond_zeros_over_in_memory": round(
            (middle["embedded"] - middle["zeros"]) / middle["in memory"], 3
        ),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("corpus", type=Path, help="a Parquet file")
    parser.add_argument("--column", default="text")
    parser.add_argument("--documents", type=int, default=400_000)
    parser.add_argument("--dimensions", type=int, default=100)
    parser.add_argument("--cores", type=int, default=2)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("-o", "--output", type=Path)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="deltavec-spark-") as made:
        folder = Path(made)
        spark = session(given.cores, folder / "spark")
        try:
            result = measured(spark, given, folder)
        finally:
            spark.stop()
    publish(result, given.output)


if __name__ == "__main__":
    main()
