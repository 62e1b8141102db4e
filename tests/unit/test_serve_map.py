"""The map: places, colours and values."""

from __future__ import annotations

import datetime
import importlib.util
import json

import numpy as np
import pyarrow as pa
import pytest

from deltavec.errors import InputError, MissingDependencyError
from deltavec.serve.colors import MOST_LABELS, column_colors
from deltavec.serve.map import positions
from deltavec.serve.values import plain


def drawn(rows: int, dimensions: int = 5) -> np.ndarray:
    rng = np.random.default_rng(0)
    vectors = rng.standard_normal((rows, dimensions)) * np.arange(dimensions, 0, -1) ** 2
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)


def test_places_are_principal_components_but_for_sign_and_scale() -> None:
    vectors = drawn(200)
    found = positions(vectors)
    centred = vectors - vectors.mean(axis=0)
    left, singular, _ = np.linalg.svd(centred.astype(np.float64), full_matrices=False)
    for axis in range(2):
        expected = left[:, axis] * singular[axis]
        assert abs(np.corrcoef(found.places[:, axis], expected)[0, 1]) > 0.9999
    shares = singular**2 / (singular**2).sum()
    assert found.explained == pytest.approx(shares[:2], rel=1e-5)


def test_places_are_between_minus_one_and_one_and_touch_both() -> None:
    places = positions(drawn(200)).places
    assert np.abs(places).max() == pytest.approx(1)
    assert np.ptp(places, axis=0).max() == pytest.approx(2)


def test_of_many_documents_a_sample_is_shown_and_all_are_placed() -> None:
    found = positions(drawn(300), points=50)
    assert len(found.shown) == 50
    assert (np.diff(found.shown) > 0).all()
    assert np.isfinite(found.places).all()
    assert (found.shown == positions(drawn(300), points=50).shown).all()


@pytest.mark.parametrize(("rows", "dimensions"), [(1, 5), (2, 1), (3, 2)])
def test_few_documents_have_a_map_too(rows: int, dimensions: int) -> None:
    found = positions(drawn(rows, dimensions))
    assert np.isfinite(found.places).all()
    assert found.of(0) is not None


def test_documents_without_a_vector_stand_somewhere() -> None:
    assert np.isfinite(positions(np.zeros((4, 3), np.float32)).places).all()


def test_an_unknown_method_is_refused() -> None:
    with pytest.raises(InputError, match="map must be 'pca' or 'umap', got 'tsne'"):
        positions(drawn(5), "tsne")


@pytest.mark.skipif(importlib.util.find_spec("umap") is not None, reason="umap is installed")
def test_umap_that_is_not_installed_says_how_to_install_it() -> None:
    with pytest.raises(MissingDependencyError, match="pip install umap-learn"):
        positions(drawn(5), "umap")


def column(values: list[object]) -> pa.ChunkedArray:
    return pa.chunked_array([pa.array(values)])


def test_the_most_frequent_names_have_a_colour_and_the_others_none() -> None:
    names = ["a"] * 3 + ["b"] * 2 + [f"c{n}" for n in range(20)]
    found = column_colors("city", column([*names, None]))
    assert found.kind == "category"
    assert found.labels[:2] == ["a", "b"]
    assert found.counts[:2] == [3, 2]
    assert len(found.labels) == MOST_LABELS
    assert found.values[:5] == [0, 0, 0, 1, 1]
    assert found.values[-2:] == [None, None]


def test_few_numbers_are_categories_and_many_a_scale() -> None:
    assert column_colors("stars", column([1, 2, 2, None])).labels == ["2", "1"]
    found = column_colors("price", column([*map(float, range(101)), float("nan"), None]))
    assert found.kind == "number"
    assert found.range == pytest.approx([1, 99])
    assert found.values[-2:] == [None, None]


def test_truth_values_and_dates_are_categories() -> None:
    assert column_colors("open", column([True, False, True])).labels == ["True", "False"]
    day = datetime.date(2020, 1, 2)
    assert column_colors("day", column([day])).labels == ["2020-01-02"]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, None),
        (True, True),
        (3, 3),
        (2**60, str(2**60)),
        (0.5, 0.5),
        (float("inf"), None),
        (b"\xff", "ff"),
        ({"a": [1, float("nan")]}, {"a": [1, None]}),
        (datetime.timedelta(1), "1 day, 0:00:00"),
        ("x" * 5000, "x" * 999 + "…"),
    ],
)
def test_values_of_columns_become_json(value: object, expected: object) -> None:
    assert plain(value) == expected
    json.dumps(plain(value), allow_nan=False)
