"""Rows in two dimensions: what pushes is a sum over all pairs, and neighbors stay near.

Neighbors by way of groups: nearly those that all pairs give.
"""

from __future__ import annotations

import numpy as np
import pytest

from deltavec.search.pairs import neighbors
from deltavec.search.tsne import layout
from deltavec.search.tsne.layout import (
    affinities,
    neighbor_layout,
    principal_axes,
    project,
    repulsion,
)


def drawn(rows: int) -> np.ndarray:
    rng = np.random.default_rng(2)
    centers = rng.standard_normal((30, 16))[rng.integers(0, 30, rows)]
    vectors = centers + 0.5 * rng.standard_normal((rows, 16))
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)


def test_most_neighbors_are_found_by_way_of_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(layout, "ROWS_A_GROUP", 40)
    monkeypatch.setattr(layout, "PRODUCTS", 3000)  # several blocks
    rows = drawn(1200)
    exact = neighbors(rows, 10).ids
    told: list[float] = []
    found = layout.approximate_neighbors(rows, 10, threads=2, on_progress=told.append)
    kept = [len(np.intersect1d(*pair)) for pair in zip(exact, found, strict=True)]
    assert np.mean(kept) > 9.5
    assert (found != np.arange(1200)[:, None]).all()
    assert told[-1] == 1
    np.testing.assert_array_equal(layout.approximate_neighbors(rows, 10, threads=1), found)


def test_groups_that_are_too_small_are_looked_beyond(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(layout, "ROWS_A_GROUP", 1)
    monkeypatch.setattr(layout, "LEAST_GROUPS", 1)
    found = layout.approximate_neighbors(drawn(40), 8)
    assert all(len(set(row)) == 8 for row in found.tolist())


def test_a_map_of_many_rows_uses_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(layout, "MOST_EXACT", 100)
    assert np.isfinite(layout.neighbor_layout(drawn(150))).all()


def in_groups(groups: int, each: int, dimensions: int = 12) -> np.ndarray:
    rng = np.random.default_rng(5)
    centers = np.repeat(rng.standard_normal((groups, dimensions)), each, axis=0)
    rows = centers + 0.3 * rng.standard_normal(centers.shape)
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


@pytest.mark.parametrize("spread", [1e-4, 1.0, 8.0])
def test_what_pushes_is_what_all_pairs_add_up_to(spread: float) -> None:
    places = spread * np.random.default_rng(1).standard_normal((300, 2))
    apart = places[:, None] - places[None]
    near = 1 / (1 + (apart**2).sum(axis=2))
    pushes = (near[..., None] ** 2 * apart).sum(axis=1)

    found, total = repulsion(places)

    assert total == pytest.approx(near.sum() - 300, rel=0.01)
    # Cubic interpolation, of functions of width 1 on nodes half a width apart: between two
    # points alone off by up to a tenth, and less the more points there are.
    assert np.abs(found - pushes).max() < 0.1 * np.abs(pushes).max()


def test_a_map_larger_than_the_grid_is_drawn_on_a_coarser_one() -> None:
    places = np.array([[0.0, 0.0], [3000.0, 0.0], [0.0, 3000.0]])
    assert np.isfinite(repulsion(places)[0]).all()


def test_links_go_both_ways_and_weigh_one_together() -> None:
    links = affinities(np.array([[1], [0], [0]]))
    assert links.begins.tolist() == [0, 2, 3, 4]
    assert links.points.tolist() == [1, 2, 0, 0]
    assert links.weights.sum() == pytest.approx(1)
    assert links.weights[0] == 2 * links.weights[1]  # each names the other


def test_groups_stand_apart_and_neighbors_together() -> None:
    places = neighbor_layout(in_groups(4, 30))
    distances = np.linalg.norm(places[:, None] - places[None], axis=2)
    np.fill_diagonal(distances, np.inf)
    group = np.arange(120) // 30
    assert (group[distances.argmin(axis=1)] == group).mean() > 0.95


def test_few_rows_stand_as_in_principal_components() -> None:
    rows = in_groups(1, 6)
    start = project(rows, *principal_axes(rows)[:2])
    np.testing.assert_array_equal(neighbor_layout(rows), start)


def test_progress_goes_from_the_search_to_the_end() -> None:
    told: list[float] = []
    neighbor_layout(in_groups(2, 15), on_progress=told.append)
    assert told == sorted(told)
    assert told[-1] == 1
