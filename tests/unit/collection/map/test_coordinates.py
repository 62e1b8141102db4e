"""The map: places and values."""

from __future__ import annotations

import numpy as np
import pytest

import deltavec as dv
from deltavec.collection.map.storage import compute_layout, place_new_documents
from deltavec.errors import InputError


def drawn(rows: int, dimensions: int = 5) -> np.ndarray:
    rng = np.random.default_rng(0)
    vectors = rng.standard_normal((rows, dimensions)) * np.arange(dimensions, 0, -1) ** 2
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)


def test_places_are_principal_components_but_for_sign_and_scale() -> None:
    vectors = drawn(200)
    found = compute_layout(vectors, "pca")
    centered = vectors - vectors.mean(axis=0)
    left, singular, _ = np.linalg.svd(centered.astype(np.float64), full_matrices=False)
    for axis in range(2):
        expected = left[:, axis] * singular[axis]
        assert abs(np.corrcoef(found.places[:, axis], expected)[0, 1]) > 0.9999
    shares = singular**2 / (singular**2).sum()
    assert found.explained == pytest.approx(shares[:2], rel=1e-5)


def test_places_are_between_minus_one_and_one_and_touch_both() -> None:
    places = compute_layout(drawn(200), "pca").places
    assert np.abs(places).max() == pytest.approx(1)
    assert np.ptp(places, axis=0).max() == pytest.approx(2)


def test_of_many_documents_a_sample_is_shown_and_all_are_placed() -> None:
    found = compute_layout(drawn(300), "pca", points=50)
    assert len(found.shown) == 50
    assert (np.diff(found.shown) > 0).all()
    assert np.isfinite(found.places).all()
    assert (found.shown == compute_layout(drawn(300), "pca", points=50).shown).all()


@pytest.mark.parametrize(("rows", "dimensions"), [(1, 5), (2, 1), (3, 2)])
def test_few_documents_have_a_map_too(rows: int, dimensions: int) -> None:
    found = compute_layout(drawn(rows, dimensions), "pca")
    assert np.isfinite(found.places).all()
    assert found.of(np.array([0])) != [None]


def test_documents_without_a_vector_stand_somewhere() -> None:
    assert np.isfinite(compute_layout(np.zeros((4, 3), np.float32), "pca").places).all()


def test_an_unknown_method_is_refused() -> None:
    with pytest.raises(InputError, match="map must be one of neighbors, pca, got 'tsne'"):
        compute_layout(drawn(5), "tsne")


def test_neighbors_are_placed_within_the_map_and_zero_rows_nowhere() -> None:
    vectors = drawn(60)
    vectors[7] = 0

    found = compute_layout(vectors, points=40)

    assert found.method == "neighbors"
    assert len(found.shown) == 40
    assert 7 not in found.shown
    assert np.abs(found.places[found.shown]).max() == pytest.approx(1)
    assert np.isnan(np.delete(found.places, found.shown, axis=0)).all()
    np.testing.assert_array_equal(compute_layout(vectors, points=40).places, found.places)


@pytest.mark.parametrize("rows", [0, 1, 2, 3, 5])
def test_few_rows_and_equal_rows_have_a_map_of_neighbors_too(rows: int) -> None:
    assert np.isfinite(compute_layout(drawn(rows)).places).all()
    equal = np.repeat(drawn(1), rows, axis=0)
    assert (compute_layout(equal).places == 0).all()


def test_a_newcomer_stands_in_the_middle_of_its_neighbors() -> None:
    vectors = np.repeat(np.eye(2, dtype=np.float32), 6, axis=0)
    vectors[5] = [0.8, 0.6]
    places = np.zeros((12, 2), np.float32)
    places[:6] = [[0.1 * n, 0.5] for n in range(6)]
    places[[5, 11]] = np.nan

    found = place_new_documents(places, dv.Index(vectors), vectors[[5, 11]])

    assert found[0] == pytest.approx([0.2, 0.5])
    assert found[1] == pytest.approx([0, 0])  # where the same document stands


def test_a_newcomer_without_a_vector_or_without_neighbors_stands_nowhere() -> None:
    vectors = np.array([[1, 0], [0, 0]], np.float32)
    places = np.array([[0.5, 0.5], [np.nan, np.nan]], np.float32)
    index = dv.Index(vectors)
    assert np.isnan(place_new_documents(places, index, vectors[1:])).all()
    nowhere = np.full((2, 2), np.nan, np.float32)
    assert np.isnan(place_new_documents(nowhere, index, vectors[:1])).all()
