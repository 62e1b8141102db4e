"""Approximate indexes side by side: our lists and usearch's graphs, built and asked on one core.

    python benchmarks/approximate.py -o benchmarks/results/approximate.json

Seconds are those of the processor, on one core, so that what else the machine does matters little.
Each of usearch's graphs proposes twice as many rows as are wanted, and the best by float32 products
count. Recall is the share of the ten best rows that is found.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from measuring import publish, surroundings
from search import K, drawn

import deltavec as dv

QUERIES = 500
EXPANSIONS = (8, 16, 32, 64, 128)
# Numbers of usearch's graphs: kind, connectivity, expansion when rows are added.
GRAPHS = (("f16", 16, 128), ("i8", 16, 128), ("i8", 12, 48))


def lists(rows: np.ndarray) -> tuple[Any, Callable[[Any, np.ndarray, int], np.ndarray]]:
    """Our own."""

    def search(index: Any, queries: np.ndarray, expansion: int) -> np.ndarray:
        index.expansion = expansion
        return np.asarray(index.search(queries, K, threads=1).ids)

    index = dv.Index(rows, approximate=True, threads=1)
    index.search(rows[0], K)
    return index, search


def graph(
    rows: np.ndarray, kind: str, connectivity: int, expansion: int
) -> tuple[Any, Callable[[Any, np.ndarray, int], np.ndarray]]:
    """One of usearch's."""
    from usearch.index import Index

    def search(index: Any, queries: np.ndarray, expansion: int) -> np.ndarray:
        index.expansion_search = expansion
        keys = index.search(queries, 2 * K, threads=1).keys.astype(np.int64)
        scores = np.einsum("qkd,qd->qk", rows[keys], queries)
        order = np.argsort(-scores, axis=1)[:, :K]
        return np.take_along_axis(keys, order, axis=1)

    index = Index(
        ndim=rows.shape[1],
        metric="cos",
        dtype=kind,
        connectivity=connectivity,
        expansion_add=expansion,
    )
    index.add(np.arange(len(rows)), rows, threads=1)
    return index, search


def measured(make: Callable[[], Any], queries: np.ndarray, best: np.ndarray) -> dict[str, Any]:
    """What an index takes to build, what it finds, and how quickly."""
    begun = time.process_time()
    index, search = make()
    built = time.process_time() - begun
    curve = []
    for expansion in EXPANSIONS:
        begun = time.process_time()
        found = search(index, queries, expansion)
        used = time.process_time() - begun
        shared = [len(set(a) & set(b)) for a, b in zip(found.tolist(), best.tolist(), strict=True)]
        curve.append(
            {
                "expansion": expansion,
                "recall_at_10": round(sum(shared) / best.size, 4),
                "milliseconds_a_query": round(1000 * used / len(queries), 3),
            }
        )
    return {"build_processor_seconds": round(built, 2), "curve": curve}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--dimensions", type=int, default=100)
    parser.add_argument("-o", "--output", type=Path)
    arguments = parser.parse_args()
    both = drawn(arguments.rows + QUERIES, arguments.dimensions)
    rows, queries = both[:-QUERIES], np.ascontiguousarray(both[-QUERIES:])
    dv.Index(rows[:10_000], approximate=True).search(queries, K)  # compiled, or fetched
    exact = dv.Index(rows)
    begun = time.process_time()
    best = np.asarray(exact.search(queries, K, threads=1).ids)
    used = time.process_time() - begun
    report = {
        **surroundings(["numba", "numpy", "usearch"]),
        "load_of_the_machine": [round(each, 1) for each in os.getloadavg()],
        "rows": len(rows),
        "dimensions": arguments.dimensions,
        "exact_milliseconds_a_query": round(1000 * used / QUERIES, 3),
        "deltavec_lists": measured(lambda: lists(rows), queries, best),
        **{
            f"usearch_{kind}_{links}_{seen}": measured(
                lambda kind=kind, links=links, seen=seen: graph(rows, kind, links, seen),
                queries,
                best,
            )
            for kind, links, seen in GRAPHS
        },
    }
    publish(report, arguments.output)


if __name__ == "__main__":
    main()
