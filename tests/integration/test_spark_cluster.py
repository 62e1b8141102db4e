"""A cluster of processes: a worker dies while documents are embedded, and nothing is lost."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import deltavec as dv
from support.spark_cluster import PATIENCE, running_cluster, surroundings, waited_for
from support.typed import reviews

DRIVER = Path(__file__).parents[1] / "support/spark_driver.py"


def started_on(folder: Path, worker: str) -> set[str]:
    """The partitions of which a task was started on this worker."""
    marks = [mark for mark in folder.glob("started/*") if f"/{worker}/" in mark.read_text()]
    return {mark.name.partition("-")[0] for mark in marks}


def run_and_lose_a_worker(tmp_path: Path, what: str) -> None:
    """Run the driver, and kill one of the two workers when both have begun."""
    (tmp_path / "started").mkdir()
    with running_cluster(tmp_path) as cluster, (tmp_path / "driver.txt").open("wb") as log:
        driver = subprocess.Popen(
            [sys.executable, str(DRIVER), cluster.address, str(tmp_path), what],
            stdout=log,
            stderr=subprocess.STDOUT,
            cwd=tmp_path,
            env={**surroundings(), "PYTHONPATH": str(DRIVER.parents[1])},
        )
        try:

            def both_started() -> set[str] | None:
                assert driver.poll() is None, (tmp_path / "driver.txt").read_text()
                return started_on(tmp_path, "worker-2") and started_on(tmp_path, "worker-1")

            lost = waited_for("tasks on both workers", both_started)
            cluster.workers["worker-1"].kill()
            (tmp_path / "go").touch()
            assert driver.wait(PATIENCE) == 0, (tmp_path / "driver.txt").read_text()
        finally:
            driver.kill()
            driver.wait()
    assert lost <= started_on(tmp_path, "worker-2")  # they were begun again there


def test_a_worker_that_dies_while_duplicates_are_found_changes_nothing(tmp_path: Path) -> None:
    texts = [" ".join(f"{word}{n}" for word in reviews()[n].split() * 4) for n in range(40)]
    documents = [None, *texts, texts[3].upper(), f"{texts[5]} again and again", "short"]
    table = pa.table({"id": range(len(documents)), "text": documents})
    pq.write_table(table, tmp_path / "documents.parquet")
    run_and_lose_a_worker(tmp_path, "duplicates")
    found = pq.read_table(tmp_path / "duplicates.parquet")
    assert found.num_rows == 4
    assert found.drop(["group"]) == dv.duplicates(documents).table.drop(["group"])


def test_a_worker_that_dies_during_embed_changes_nothing(tmp_path: Path) -> None:
    documents = [None, *reviews()]
    table = pa.table({"id": range(len(documents)), "text": documents})
    pq.write_table(table, tmp_path / "documents.parquet")
    model = dv.fit(documents, dv.train_vectors(reviews(), dimensions=8), "idf-delta-pca")
    model.save(tmp_path / "reviews.dv")
    run_and_lose_a_worker(tmp_path, "embed")
    rows = pq.read_table(tmp_path / "vectors").sort_by("id")
    assert rows["id"].to_pylist() == list(range(len(documents)))
    assert rows["text"].to_pylist() == documents
    found = np.array(rows["embedding"].to_pylist(), np.float32)
    np.testing.assert_array_equal(found, model.embed(documents))
    # Both executors had to compile at the same time, into the folder that they were told.
    assert list((tmp_path / "compiled").rglob("*.nbi"))
