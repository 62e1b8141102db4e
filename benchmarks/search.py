"""Search: deltavec against NumPy, faiss and usearch, exactly; its approximate index; duplicates.

    python benchmarks/search.py -o benchmarks/results/search.json
    python benchmarks/search.py --vectors documents.npy --parts approximate

All get the same vectors in the same run, all cores, and take turns, so that whatever else the
machine does falls on all alike. Without a file of vectors they are drawn: rows around centres (one
for 200 rows), both normal, with standard deviations that fall with the square root of the
dimension's number, as those of real text do. Queries are drawn in the same way, or taken out of
the file. Peers that are not installed are reported as absent.
"""

from __future__ import annotations

import argparse
import resource
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from measuring import publish, surroundings, timed

import deltavec as dv

K = 10
BATCH = 200
RECALL_QUERIES = 1000
EXPANSIONS = (16, 32, 64, 128, 256)
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


METHODS = {
    "deltavec": (deltavec_search, "deltavec", "deltavec"),
    "numpy": (numpy_search, "numpy", "numpy"),
    "faiss": (faiss_search, "faiss", "faiss-cpu"),
    "usearch_exact": (usearch_search, "usearch", "usearch"),
}


def exact_part(vectors: np.ndarray, queries: np.ndarray, repeats: int) -> dict[str, Any]:
    searches = {
        name: make(vectors) for name, (make, module, _) in METHODS.items() if find_spec(module)
    }
    report: dict[str, Any] = {"same_as_reference": same_as_reference(vectors, queries[:3])}
    for size in (1, BATCH):
        seconds: dict[str, list[float]] = {name: [] for name in searches}
        agreement = {}
        for turn in range(repeats + 1):
            batch = queries[turn % 5 * size :][:size]
            expected = searches["deltavec"](batch)
            for name, search in searches.items():
                run = timed(lambda search=search, batch=batch: search(batch), 1)
                if turn:  # the first is for warming up
                    seconds[name] += run.seconds
                agreement[name] = float(np.mean(np.sort(run.result) == np.sort(expected)))
        times = {name: median(values) for name, values in seconds.items()}
        report[f"queries_{size}"] = {
            "median_seconds": times,
            "all_seconds": seconds,
            "times_deltavec_is_faster": {
                name: round(time / times["deltavec"], 2) for name, time in times.items()
            },
            "rows_found_by_deltavec_too": agreement,
        }
    report["absent"] = sorted(METHODS.keys() - searches.keys())
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
    if find_spec("usearch") is None:
        return {"absent": ["usearch"]}
    exact = dv.Index(vectors)
    built = timed(lambda: dv.Index(vectors, approximate=True), 1)
    index = built.result
    asked = queries[:RECALL_QUERIES]
    best = exact.search(asked, K).scores

    def rates(one: dv.Index) -> dict[str, float]:
        batch = timed(lambda: one.search(asked[:BATCH], K), repeats).median
        single = timed(lambda: [one.search(query, K) for query in asked[:20]], repeats).median
        return {"batch": BATCH / batch, "single": 20 / single}

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
    parser.add_argument("-o", "--output", type=Path)
    arguments = parser.parse_args()
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
        report["exact"] = exact_part(vectors, queries, arguments.repeats)
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
