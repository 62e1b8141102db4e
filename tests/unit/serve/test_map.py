"""The map: places and values."""

from __future__ import annotations

import datetime
import json
import sys

import numpy as np
import pytest

from deltavec.errors import InputError, MissingDependencyError
from deltavec.serve.map import positions
from deltavec.serve.responses import plain


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


def test_umap_that_is_not_installed_says_how_to_install_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "umap", None)
    with pytest.raises(MissingDependencyError, match=r"pip install 'deltavec\[map\]'"):
        positions(drawn(5), "umap")


@pytest.mark.filterwarnings("ignore:Tensorflow not installed:ImportWarning")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_umap_places_the_sample_and_nothing_else() -> None:
    pytest.importorskip("umap", exc_type=ImportError)
    vectors = drawn(60)

    found = positions(vectors, "umap", points=40)

    assert found.method == "umap"
    assert len(found.shown) == 40
    assert np.isfinite(found.places[found.shown]).all()
    assert np.isnan(np.delete(found.places, found.shown, axis=0)).all()
    np.testing.assert_array_equal(positions(vectors, "umap", points=40).places, found.places)


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
