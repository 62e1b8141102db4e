"""A program for a cluster: embeds documents, or finds duplicates; every task waits for a file.

    python spark_driver.py MASTER FOLDER embed|duplicates

Reads ``documents.parquet`` and the model ``reviews.dv``, writes ``vectors`` or
``duplicates.parquet``. A task says
where it runs in ``started/PARTITION-ATTEMPT``, and goes on once there is a file ``go``.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import SparkSession

import deltavec as dv
from support.spark_cluster import PATIENCE, settings

PARTITIONS = 4


def main(master: str, folder: Path, what: str) -> None:
    builder = SparkSession.builder.master(master).appName("deltavec")
    for name, value in {
        **settings(folder),
        "spark.executor.memory": "512m",
        "spark.executorEnv.NUMBA_CACHE_DIR": str(folder / "compiled"),
        "spark.speculation": "true",
        "spark.speculation.multiplier": "1",
        "spark.speculation.quantile": "0.1",
    }.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()

    def waiting(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        from pyspark import TaskContext

        task = TaskContext.get()
        mark = folder / "started" / f"{task.partitionId()}-{task.taskAttemptId()}"
        mark.write_text(str(Path.cwd()))  # the executor's folder, which is in its worker's
        deadline = time.monotonic() + PATIENCE
        while not (folder / "go").exists():
            assert time.monotonic() < deadline, "nobody said go"
            time.sleep(0.02)  # between two looks at the condition
        yield from batches

    documents = spark.read.parquet(str(folder / "documents.parquet")).repartition(PARTITIONS)
    waiting_documents = documents.mapInArrow(waiting, documents.schema)
    if what == "duplicates":
        found = dv.spark.duplicates(waiting_documents, "id", "text")
        pq.write_table(found.table, folder / "duplicates.parquet")
    else:
        vectors = dv.spark.embed(waiting_documents, "text", folder / "reviews.dv")
        vectors.write.parquet(str(folder / "vectors"))
    spark.stop()


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), sys.argv[3])
