"""Neighbors by way of groups: nearly those that all pairs give."""

from __future__ import annotations

import numpy as np
import pytest

from deltavec.search import neighbors
from deltavec.search.tsne import knn, layout


def drawn(rows: int) -> np.ndarray:
    rng = np.random.default_rng(2)
    centers = rng.standard_normal((30, 16))[rng.integers(0, 30, rows)]
    vectors = centers + 0.5 * rng.standard_normal((rows, 16))
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)


def test_most_neighbors_are_found_by_way_of_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(knn, "ROWS_A_GROUP", 40)
    monkeypatch.setattr(knn, "PRODUCTS", 3000)  # several blocks
    rows = drawn(1200)
    exact = neighbors(rows, 10).ids
    told: list[float] = []
    found = knn.approximate_neighbors(rows, 10, threads=2, on_progress=told.append)
    kept = [len(np.intersect1d(*pair)) for pair in zip(exact, found, strict=True)]
    assert np.mean(kept) > 9.5
    assert (found != np.arange(1200)[:, None]).all()
    assert told[-1] == 1
    np.testing.assert_array_equal(knn.approximate_neighbors(rows, 10, threads=1), found)


def test_groups_that_are_too_small_are_looked_beyond(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(knn, "ROWS_A_GROUP", 1)
    monkeypatch.setattr(knn, "LEAST_GROUPS", 1)
    found = knn.approximate_neighbors(drawn(40), 8)
    assert all(len(set(row)) == 8 for row in found.tolist())


def test_a_map_of_many_rows_uses_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(layout, "MOST_EXACT", 100)
    assert np.isfinite(layout.neighbor_layout(drawn(150))).all()
