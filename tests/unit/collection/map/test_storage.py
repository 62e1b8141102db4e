"""Maps on disk: drawn once, carried along, and refused when damaged."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import deltavec as dv
from deltavec.collection.manifest import load_manifest, writing
from deltavec.collection.map import storage
from deltavec.collection.map.storage import (
    RegionName,
    StoredMap,
    find_cached_map,
    keep_map,
    names_json,
    read_names,
    store_map,
)

WORDS = ["sea", "beach", "wave", "room", "bed", "door", "bread", "soup", "cheese", "wine"]
VECTORS = dv.WordVectors(WORDS, np.random.default_rng(0).standard_normal((10, 5)))
TEXTS = [" ".join(np.random.default_rng(n).choice(WORDS, 4)) for n in range(60)]
MODEL = dv.fit(TEXTS, VECTORS, "unit-sum")


@pytest.fixture
def drawn(tmp_path: Path) -> dv.Collection:
    table = pa.table({"text": [*TEXTS, "zzz"], "name": [f"<{n}>/'\"" for n in range(61)]})
    return dv.build_collection(MODEL, table, tmp_path / "c.idx", id_column="name").with_map()


def files(collection: dv.Collection) -> list[str]:
    return sorted(path.name for path in collection.path.glob("map-*"))


def test_a_map_is_stored_with_names_and_opens_again(drawn: dv.Collection) -> None:
    assert drawn.map is not None
    again = dv.open_collection(drawn.path)
    assert again.map is not None
    np.testing.assert_array_equal(again.map.places, drawn.map.places)
    assert again.map.names == drawn.map.names
    assert {name.level for name in again.map.names} == {0}
    assert np.isnan(again.map.places[60]).all()
    assert drawn.info()["map"]["drawn"] == 60


def test_a_collection_built_without_a_map_has_none(tmp_path: Path) -> None:
    built = dv.build_collection(MODEL, TEXTS[:1], tmp_path / "one.idx")
    assert built.map is None
    assert built.info()["map"] is None
    after = built.with_map()  # of one document
    assert after.map is not None
    assert after.map.places.tolist() == [[0, 0]]
    assert after.map.names == []


def test_equal_documents_stand_in_one_place(tmp_path: Path) -> None:
    built = dv.build_collection(MODEL, ["sea room"] * 60, tmp_path / "equal.idx").with_map()
    assert built.map is not None
    assert (built.map.places == 0).all()


def test_what_is_added_stands_among_neighbors_and_what_is_removed_is_gone(
    drawn: dv.Collection,
) -> None:
    assert drawn.map is not None
    more = pa.table({"text": [TEXTS[5], "xyz"], "name": ["a", "b"]})
    after = drawn.add(more).remove(["<0>/'\""])
    assert after.map is not None
    np.testing.assert_array_equal(after.map.places[:60], drawn.map.places[1:])
    assert np.isfinite(after.map.places[60]).all()
    assert np.isnan(after.map.places[61]).all()
    assert after.map.names == drawn.map.names
    assert len(files(after)) == 1
    assert dv.open_collection(after.path).map is not None


def test_a_map_of_which_too_much_came_later_is_let_go(drawn: dv.Collection) -> None:
    more = pa.table({"text": TEXTS[:20], "name": [f"n{n}" for n in range(20)]})
    after = drawn.add(more)
    assert after.map is None
    assert files(after) == []


def test_a_map_of_another_state_is_not_stored(drawn: dv.Collection) -> None:
    drawn.remove(["<0>/'\""])
    assert drawn.map is not None
    with pytest.raises(dv.InputError, match="changed while its map was drawn"):
        store_map(drawn, drawn.map)


def test_a_map_that_cannot_be_stored_is_kept_in_the_cache(
    drawn: dv.Collection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(storage, "cache_folder", lambda: tmp_path / "cache" / "digest")
    (tmp_path / "cache").mkdir()
    assert find_cached_map(drawn) is None
    with writing(drawn.path):  # somebody else is at it
        keep_map(drawn)
    found = find_cached_map(drawn)
    assert found is not None
    assert drawn.map is not None
    np.testing.assert_array_equal(found.places, drawn.map.places)
    assert found.names == drawn.map.names
    assert find_cached_map(drawn.remove(["<0>/'\""])) is None
    monkeypatch.setattr(storage, "cache_folder", lambda: None)
    assert find_cached_map(drawn) is None


def test_a_damaged_map_is_refused(drawn: dv.Collection) -> None:
    path = drawn.path / files(drawn)[0]
    whole = path.read_bytes()
    path.write_bytes(whole[:-1])
    with pytest.raises(dv.InputError, match="cut short"):
        dv.open_collection(drawn.path, verify=False)
    path.write_bytes(whole[:-1] + b"?")
    with pytest.raises(dv.InputError):
        dv.open_collection(drawn.path)
    with pytest.raises(dv.InputError, match="no JSON"):
        dv.open_collection(drawn.path, verify=False)


@pytest.mark.parametrize("odd", [[5.0, 0.0], [np.nan, 0.0]])
def test_places_beyond_the_map_are_refused(odd: list[float], drawn: dv.Collection) -> None:
    assert drawn.map is not None
    places = drawn.map.places.copy()
    places[0] = odd
    store_map(drawn, StoredMap(places, []))
    with pytest.raises(dv.InputError, match="expected places from -1 to 1"):
        dv.open_collection(drawn.path)


@pytest.mark.parametrize(
    "stored",
    [
        {"text": "sea"},
        [["sea", 0, 0.0, 0.0]],
        [["sea", 0, 0.0, "0", 3]],
        [["sea", 9, 0.0, 0.0, 3]],
        [["sea", 0, 2.0, 0.0, 3]],
        [["sea", 0, 0.0, 0.0, -3]],
        ["sea"],
        [["s" * 501, 0, 0.0, 0.0, 3]],
    ],
)
def test_names_that_cannot_be_are_refused(stored: object) -> None:
    with pytest.raises(dv.InputError):
        read_names(json.dumps(stored).encode())


def test_names_are_read_as_they_were_written() -> None:
    names = [RegionName("<b>sea</b>, „größe“", 1, -0.5, 1.0, 7)]
    assert read_names(names_json(names)) == names


def test_a_description_names_the_map(drawn: dv.Collection) -> None:
    stated = load_manifest(drawn.path)
    assert stated.map in stated.files
