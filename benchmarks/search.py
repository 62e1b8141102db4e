"""Search: deltavec against NumPy, faiss and usearch, exactly; its approximate index; duplicates.

    python benchmarks/search.py -o benchmarks/results/search.json
    python benchmarks/search.py --vectors documents.npy --parts approximate
    python benchmarks/search.py --parts exact --before ../older/.venv/bin/python

All get the same vectors in the same run, all cores, and take turns, so that whatever else the
machine does falls on all alike. Without a file of vectors they are drawn: rows around centres (one
for 200 rows), both normal, with standard deviations that fall with the square root of the
dimension's number, as those of real text do. Queries are drawn in the same way, or taken out of
the file. Peers that are not installed are reported as absent. ``--before`` names the interpreter of
another checkout's environment: that one searches the same rows, in a process of its own.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import numpy as np
from measuring import publish, surroundings, timed

import deltavec as dv

K = 10
BATCH = 200
RECALL_QUERIES = 1000
EXPANSIONS = (8, 16, 32, 64, 128, 256)
ROWS_A_CENTRE = 200

Search = Callable[[np.ndarray], np.ndarray]
"""From queries to the numbers of the best rows."""


def drawn(rows: int, dimensions: int, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    scale = 1 / np.sqrt(np.arange(1, dimensions + 1, dtype=np.float32))
    count = max(1, rows // ROWS_A_CENTRE)
    centres = scale * rng.standard_normal((count, dimensions), dtype=np.float32)
    vectors = scale * rng.standard_normal((rows, dimensions), dtype=np.float32)
    vectors += centres[rng.integers(0, count, rows)]
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors


def numpy_search(vectors: np.ndarray) -> Search:
    def search(queries: np.ndarray) -> np.ndarray:
        # One query is a product with a vector, which NumPy hands to another routine.
        scores = (vectors @ queries[0])[None] if len(queries) == 1 else queries @ vectors.T
        best = np.argpartition(scores, -K, axis=1)[:, -K:]
        order = np.argsort(-np.take_along_axis(scores, best, axis=1), axis=1)
        return np.take_along_axis(best, order, axis=1)

    return search


def faiss_search(vectors: np.ndarray) -> Search:
    import faiss

    index = faiss.IndexFlatIP(vectors.shape[1])
    index.add(vectors)
    return lambda queries: index.search(queries, K)[1]


def usearch_search(vectors: np.ndarray) -> Search:
    from usearch.index import MetricKind, search

    return lambda queries: search(
        vectors, queries, K, MetricKind.IP, exact=True, threads=0
    ).keys.reshape(len(queries), K)


def deltavec_search(vectors: np.ndarray) -> Search:
    index = dv.Index(vectors)
    return lambda queries: index.search(queries, K).ids


class Before:
    """The search of another checkout, in a process of its own; it says how long it took."""

    def __init__(self, python: str, vectors: np.ndarray, queries: np.ndarray) -> None:
        self.folder = tempfile.TemporaryDirectory()
        np.save(Path(self.folder.name, "vectors.npy"), vectors)
        np.save(Path(self.folder.name, "queries.npy"), queries)
        self.process = subprocess.Popen(
            [python, __file__, "--answer", self.folder.name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def search(self, first: int, size: int) -> Run:
        """The rows found for these queries."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(f"{first} {size}\n")
        self.process.stdin.flush()
        said = json.loads(self.process.stdout.readline())
        return Run(np.array(said["ids"]), said["seconds"], said["processor"])

    def stop(self) -> None:
        """End it."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()
        self.folder.cleanup()


def answer(folder: Path) -> None:
    """Search as standard input asks, until it ends."""
    search = deltavec_search(np.load(folder / "vectors.npy"))
    queries = np.load(folder / "queries.npy")
    for line in sys.stdin:
        first, size = map(int, line.split())
        run = measured(search, queries[first : first + size])
        found = {"ids": run.ids.tolist(), "seconds": run.seconds, "processor": run.processor}
        print(json.dumps(found), flush=True)


class Run(NamedTuple):
    """What was found, how long it took, and how much of the processor."""

    ids: np.ndarray
    seconds: float
    processor: float


def measured(search: Search, queries: np.ndarray) -> Run:
    begin, used = time.perf_counter(), time.process_time()
    ids = search(queries)
    return Run(ids, time.perf_counter() - begin, time.process_time() - used)


METHODS = {
    "deltavec": (deltavec_search, "deltavec", "deltavec"),
    "numpy": (numpy_search, "numpy", "numpy"),
    "faiss": (faiss_search, "faiss", "faiss-cpu"),
    "usearch_exact": (usearch_search, "usearch", "usearch"),
}


def exact_part(
    vectors: np.ndarray,
    queries: np.ndarray,
    repeats: int,
    sizes: list[int],
    before: str | None,
) -> dict[str, Any]:
    searches = {
        name: make(vectors) for name, (make, module, _) in METHODS.items() if find_spec(module)
    }
    older = Before(before, vectors, queries) if before else None
    report: dict[str, Any] = {"same_as_reference": same_as_reference(vectors, queries[:3])}
    for size in sizes:
        runs: dict[str, list[Run]] = {name: [] for name in searches}
        if older:
            runs["deltavec_before"] = []
        agreement = {}
        # The first ones are for warming up; batches take long, and vary less.
        warming, turns = (2, repeats) if size == 1 else (1, max(2, repeats // 5))
        for turn in range(warming + turns):
            first = turn % 5 * size
            batch = queries[first : first + size]
            expected = searches["deltavec"](batch)
            for name, each in runs.items():
                if name == "deltavec_before" and older:
                    run = older.search(first, size)
                else:
                    run = measured(searches[name], batch)
                if turn >= warming:
                    each.append(run)
                agreement[name] = float(np.mean(np.sort(run.ids) == np.sort(expected)))
        wall = {name: median(run.seconds for run in each) for name, each in runs.items()}
        used = {name: median(run.processor for run in each) for name, each in runs.items()}
        report[f"queries_{size}"] = {
            "median_seconds": {name: round(time, 5) for name, time in wall.items()},
            "median_processor_seconds": {name: round(time, 5) for name, time in used.items()},
            "all_seconds": {
                name: [round(run.seconds, 5) for run in each] for name, each in runs.items()
            },
            "times_deltavec_is_faster": {
                name: round(time / wall["deltavec"], 2) for name, time in wall.items()
            },
            "times_less_processor_deltavec_takes": {
                name: round(time / used["deltavec"], 2) for name, time in used.items()
            },
            "rows_found_by_deltavec_too": agreement,
        }
    if older:
        older.stop()
    report["absent"] = sorted(METHODS.keys() - searches.keys())
    report["load_of_the_machine"] = [round(each, 1) for each in os.getloadavg()]
    return report


def same_as_reference(vectors: np.ndarray, queries: np.ndarray) -> bool:
    """Whether ids and scores are those of a sort of all cosines in float64."""
    hits = dv.Index(vectors).search(queries, K)
    for query, ids, scores in zip(queries.astype(float), hits.ids, hits.scores, strict=True):
        dots, squares, square = np.zeros(len(vectors)), np.zeros(len(vectors)), 0.0
        for k in range(vectors.shape[1]):
            column = vectors[:, k].astype(float)
            dots += query[k] * column
            squares += column * column
            square += query[k] * query[k]
        lengths = np.sqrt(squares * square)
        cosines = np.divide(dots, lengths, out=np.zeros_like(dots), where=lengths > 0)
        expected = np.lexsort((np.arange(len(vectors)), -cosines.astype(np.float32)))[:K]
        if (ids != expected).any() or (scores != cosines[expected].astype(np.float32)).any():
            return False
    return True


def approximate_part(vectors: np.ndarray, queries: np.ndarray, repeats: int) -> dict[str, Any]:
    exact = dv.Index(vectors)
    dv.Index(vectors[:10_000], approximate=True).search(queries[0], K)  # compiled, or fetched
    used = time.process_time()
    built = timed(lambda: dv.Index(vectors, approximate=True), 1)
    used = time.process_time() - used
    index = built.result
    index.search(queries[0], K)
    asked = queries[:RECALL_QUERIES]
    best = exact.search(asked, K).scores

    def rates(one: dv.Index) -> dict[str, float]:
        """Queries for each second of the processor, on one core."""
        batch, single = [], []
        for _ in range(repeats):
            begun = time.process_time()
            one.search(asked[:BATCH], K, threads=1)
            batch.append(time.process_time() - begun)
            begun = time.process_time()
            for query in asked[:20]:
                one.search(query, K, threads=1)
            single.append(time.process_time() - begun)
        return {
            "batch": BATCH / median(batch),
            "single": 20 / median(single),
        }

    exact_rates, curve = rates(exact), []
    for expansion in EXPANSIONS:
        index.expansion = expansion
        found = index.search(asked, K).scores
        here = rates(index)
        curve.append(
            {
                "expansion": expansion,
                "recall_at_10": round(float((found >= best[:, -1:]).mean()), 4),
                **{f"queries_a_second_{way}": round(rate) for way, rate in here.items()},
                **{
                    f"times_the_exact_rate_{way}": round(rate / exact_rates[way], 1)
                    for way, rate in here.items()
                },
            }
        )
    return {
        "build_seconds": built.seconds[0],
        "build_processor_seconds": round(used, 1),
        "load_of_the_machine": [round(each, 1) for each in os.getloadavg()],
        "exact_queries_a_second": {way: round(rate, 1) for way, rate in exact_rates.items()},
        "curve": curve,
    }


def duplicates_part(rows: int, dimensions: int) -> dict[str, Any]:
    vectors = drawn(rows, dimensions, seed=2)
    rng = np.random.default_rng(3)
    copies, originals = rng.permutation(rows)[: rows // 100 * 2].reshape(2, -1)
    noise = rng.standard_normal((len(copies), dimensions), dtype=np.float32)
    vectors[copies] = vectors[originals] + 0.2 * noise / np.sqrt(dimensions)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    dv.duplicates(vectors[:100], 0.95)  # compiled, or fetched from the cache
    before = peak_megabytes()
    run = timed(lambda: dv.duplicates(vectors, 0.95), 1)
    return {
        "rows": rows,
        "dimensions": dimensions,
        "threshold": 0.95,
        "seconds": run.seconds[0],
        "pairs": run.result.count,
        "groups": len(run.result.groups),
        "megabytes_before": before,
        "peak_megabytes": peak_megabytes(),
    }


def peak_megabytes() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


def installed(packages: list[str]) -> list[str]:
    found = []
    for package in packages:
        try:
            version(package)
        except PackageNotFoundError:
            continue
        found.append(package)
    return found


def from_file(path: Path, held_out: int) -> tuple[np.ndarray, np.ndarray]:
    """Vectors of unit length without rows of zeros, and some of them kept apart as queries."""
    vectors = np.load(path).astype(np.float32)
    vectors = vectors[vectors.any(axis=1)]
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    order = np.random.default_rng(0).permutation(len(vectors))
    return vectors[order[held_out:]], vectors[order[:held_out]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--dimensions", type=int, default=100)
    parser.add_argument("--vectors", type=Path, help="a .npy file to take the place of drawn rows")
    parser.add_argument("--duplicate-rows", type=int, default=200_000)
    parser.add_argument("--duplicate-dimensions", type=int, default=300)
    parser.add_argument("--repeats", type=int, default=11)
    parser.add_argument(
        "--parts",
        nargs="+",
        choices=("exact", "approximate", "duplicates"),
        default=["exact", "approximate", "duplicates"],
    )
    parser.add_argument("--queries", type=int, nargs="+", default=[1, BATCH], help="at a time")
    parser.add_argument("--before", help="the interpreter of an older checkout's environment")
    parser.add_argument("--answer", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("-o", "--output", type=Path)
    arguments = parser.parse_args()
    if arguments.answer:
        answer(arguments.answer)
        return
    if arguments.vectors:
        vectors, queries = from_file(arguments.vectors, RECALL_QUERIES)
    else:
        both = drawn(arguments.rows + RECALL_QUERIES, arguments.dimensions)
        vectors, queries = both[:-RECALL_QUERIES], both[-RECALL_QUERIES:]
    report = {
        **surroundings(installed(["faiss-cpu", "numba", "numpy", "usearch"])),
        "rows": len(vectors),
        "dimensions": vectors.shape[1],
        "vectors": arguments.vectors.name if arguments.vectors else "drawn around centres",
        "k": K,
        "repeats": arguments.repeats,
    }
    if "exact" in arguments.parts:
        report["exact"] = exact_part(
            vectors, queries, arguments.repeats, arguments.queries, arguments.before
        )
    if "approximate" in arguments.parts:
        report["approximate"] = approximate_part(vectors, queries, arguments.repeats)
    if "duplicates" in arguments.parts:
        del vectors, queries
        report["duplicates"] = duplicates_part(
            arguments.duplicate_rows, arguments.duplicate_dimensions
        )
    publish(report, arguments.output)


if __name__ == "__main__":
    main()
