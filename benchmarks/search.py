"""Exact search over vectors, near-duplicates; beside NumPy, faiss, usearch and hnswlib."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import numpy as np
from run import Given, Step

import deltavec as dv

DIMENSIONS = 100
K = 10
SINGLE, BATCH = 50, 200
ROWS_A_CENTER = 200
DUPLICATE_ROWS = 20_000


def drawn(rows: int, seed: int = 0) -> np.ndarray:
    """Unit rows around centers, their dimensions of falling variance."""
    rng = np.random.default_rng(seed)
    scale = 1 / np.sqrt(np.arange(1, DIMENSIONS + 1, dtype=np.float32))
    count = max(1, rows // ROWS_A_CENTER)
    centers = scale * rng.standard_normal((count, DIMENSIONS), dtype=np.float32)
    vectors = scale * rng.standard_normal((rows, DIMENSIONS), dtype=np.float32)
    vectors += centers[rng.integers(0, count, rows)]
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors


def rows_and_queries(given: Given) -> tuple[np.ndarray, np.ndarray]:
    """Vectors, and others of the same kind as queries."""
    both = drawn(given.rows + BATCH)
    return both[:-BATCH], both[-BATCH:]


def steps(given: Given) -> dict[str, Step]:
    """An exact index."""
    vectors, queries = rows_and_queries(given)
    index = dv.Index(vectors)
    duplicated = drawn(DUPLICATE_ROWS, seed=2)

    def single() -> dict[str, Any]:
        for query in queries[:SINGLE]:
            index.search(query, K)
        return {"items": SINGLE}

    def batch() -> dict[str, Any]:
        hits = index.search(queries, K)
        answer = {"ids": hits.ids.tolist(), "numbers": hits.scores.ravel().tolist()}
        return {"items": BATCH, "answer": answer}

    def duplicates() -> dict[str, Any]:
        dv.similar_pairs(duplicated, 0.9)
        return {"items": DUPLICATE_ROWS}

    return {
        "queries, one at a time": single,
        "queries, all at once": batch,
        "rows, near-duplicates": duplicates,
    }


def peers(given: Given) -> dict[str, Step]:
    """Other libraries on the same rows; hnswlib is approximate and says its recall."""
    vectors, queries = rows_and_queries(given)
    found: dict[str, Step] = {"numpy, one at a time": single_step(numpy_search(vectors), queries)}
    if find_spec("faiss"):
        import faiss

        flat = faiss.IndexFlatIP(DIMENSIONS)
        flat.add(vectors)
        found["faiss flat, one at a time"] = single_step(
            lambda query: flat.search(query[None], K)[1][0], queries
        )
    if find_spec("usearch"):
        from usearch.index import MetricKind, search

        found["usearch exact, one at a time"] = single_step(
            lambda query: search(vectors, query, K, MetricKind.IP, exact=True).keys, queries
        )
    if find_spec("hnswlib"):
        import hnswlib

        graph = hnswlib.Index("ip", DIMENSIONS)
        graph.init_index(len(vectors))
        graph.add_items(vectors)
        graph.set_ef(64)
        expected = dv.Index(vectors).search(queries[:SINGLE], K).ids
        labels = graph.knn_query(queries[:SINGLE], K)[0]
        recall = np.mean([len({*a} & {*b}) / K for a, b in zip(labels, expected, strict=True)])
        found["hnswlib, one at a time"] = single_step(
            lambda query: graph.knn_query(query, K)[0], queries, recall=float(recall)
        )
    return found


def numpy_search(vectors: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    """A product and ``argpartition``."""

    def search(query: np.ndarray) -> np.ndarray:
        scores = vectors @ query
        best = np.argpartition(scores, -K)[-K:]
        return best[np.argsort(-scores[best])]

    return search


def single_step(search: Callable[[np.ndarray], Any], queries: np.ndarray, **figures: float) -> Step:
    """Some queries one after the other."""

    def step() -> dict[str, Any]:
        for query in queries[:SINGLE]:
            search(query)
        return {"items": SINGLE, **figures}

    return step
