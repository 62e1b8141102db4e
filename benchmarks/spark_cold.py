"""CPU time of a Python worker of Spark that embeds, with an empty compilation cache and a full one.

    python benchmarks/spark_cold.py reviews.parquet -o benchmarks/results/spark_cold.json

A model of 2,000 documents is fitted first, with another cache. Then a session of one core embeds
the same documents in one partition, as `deltavec.spark.embed` does. The CPU time is that of the
worker from its start on: imports, the model, the compilation and the vectors.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from measuring import MAIN, command, publish, surroundings
from texts import read_column

DOCUMENTS = 2_000
PROGRAM = """
import json, time
import pyarrow as pa
from pyspark.sql import SparkSession
import deltavec as dv

settings = {"spark.driver.host": "127.0.0.1", "spark.ui.enabled": "false"}
builder = SparkSession.builder.master("local[1]")
for name, value in settings.items():
    builder = builder.config(name, value)
spark = builder.getOrCreate()

def work(batches):
    from deltavec.spark.reduce import embedded

    model, documents = dv.load("MODEL", verify=False), 0
    for batch in batches:
        documents += len(embedded(batch.column(0), model).vectors)
    cpu = time.process_time()
    yield pa.RecordBatch.from_pydict({"cpu": [cpu], "documents": [documents]})

frame = spark.read.text("texts.txt").coalesce(1)
found = frame.mapInArrow(work, "cpu double, documents long").first()
json.dump({"worker_cpu": round(found.cpu, 2), "documents": found.documents}, open("out.json", "w"))
"""


def embed(folder: Path, cache: str) -> dict[str, Any]:
    """The CPU time of the worker."""
    own = {"NUMBA_CACHE_DIR": str(folder / cache), "PYSPARK_PYTHON": sys.executable}
    own |= {"SPARK_LOCAL_IP": "127.0.0.1"}
    environment = {**os.environ, **own}
    subprocess.run(
        [sys.executable, "-c", PROGRAM.replace("MODEL", str(folder / "a.dv"))],
        cwd=folder,
        env=environment,
        check=True,
    )
    found: dict[str, Any] = json.loads((folder / "out.json").read_text())
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("corpus", type=Path)
    parser.add_argument("-o", "--output", type=Path)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        texts = read_column(asked.corpus, DOCUMENTS).to_pylist()
        (folder / "texts.txt").write_text("\n".join(" ".join(text.split()) for text in texts))
        begin = f"import os; os.environ['NUMBA_CACHE_DIR'] = {str(folder / 'other')!r}; "
        command("fit", "texts.txt", "-o", "a.dv", program=begin + MAIN, cwd=folder)
        report = {"cold": embed(folder, "cache"), "warm": embed(folder, "cache")}
    packages = ("deltavec", "pyspark", "numba", "pyarrow", "numpy")
    about = {**surroundings(packages), "documents": DOCUMENTS, "text": f"real: {asked.corpus.name}"}
    publish({**about, **report}, asked.output)


if __name__ == "__main__":
    main()
