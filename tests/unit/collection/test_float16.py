"""Vectors stored as float16: half the file, and search is exact for what is stored."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import deltavec as dv
from deltavec.collection.manifest import COLLECTION_FOLDER, as_entries
from deltavec.core.arrays import Float32s

TEXTS = [f"{a} {b} by the {c}" for a in ("sea", "bay", "tide") for b in ("lamp", "bed", "room")
         for c in ("storm", "wind", "rain")]  # fmt: skip
MODEL = dv.fit(TEXTS)


def rounded(vectors: Float32s) -> Float32s:
    return vectors.astype(np.float16).astype(np.float32)


@pytest.fixture
def collection(tmp_path: Path) -> dv.Collection:
    return dv.build_collection(
        MODEL, [*TEXTS, "xyz"], tmp_path / "c.idx", as_collection=False, dtype="float16"
    )


def test_rows_are_the_vectors_rounded_to_float16(collection: dv.Collection) -> None:
    expected = rounded(MODEL.embed([*TEXTS, "xyz"]))
    assert np.array_equal(collection.index.vectors, expected)
    assert collection.description.zero_rows == 1
    lengths = np.linalg.norm(expected[:-1].astype(np.float64), axis=1)
    assert collection.description.length_error == pytest.approx(abs(lengths - 1).max(), abs=1e-12)
    assert dv.open_collection(collection.path).index.vectors.dtype == np.float32


def test_the_file_has_half_the_size(collection: dv.Collection, tmp_path: Path) -> None:
    whole = dv.build_collection(MODEL, [*TEXTS, "xyz"], tmp_path / "w.idx", as_collection=False)
    assert (whole.info()["dtype"], collection.info()["dtype"]) == ("float32", "float16")
    saved = whole.info()["vector_bytes"] - collection.info()["vector_bytes"]
    assert saved == 2 * len(whole) * MODEL.dimensions


def test_the_ranking_is_that_of_the_rounded_vectors(collection: dv.Collection) -> None:
    exact = dv.Index(rounded(MODEL.embed([*TEXTS, "xyz"])))
    query = collection.index.take([4])[0]
    [best] = collection.best([collection.vector_query(query, 5)])
    found = exact.search(query, 5)
    assert best.numbers.tolist() == found.ids[0].tolist()
    assert np.allclose(best.scores, found.scores[0], atol=1e-7)
    for by in ("hybrid", "semantic"):
        for hit in collection.search("storm in the bay", k=5, by=by):
            why = collection.why("storm in the bay", hit.id, by=by)
            assert why.score == pytest.approx(hit.score, abs=1e-5)


def test_every_change_keeps_the_type(collection: dv.Collection, tmp_path: Path) -> None:
    changed = collection.with_map().add(["storm on the sea", "a lamp"]).remove(["3"])
    texts = [*TEXTS[:3], *TEXTS[4:], "xyz", "storm on the sea", "a lamp"]
    changed.backup(tmp_path / "copy.idx")
    for one in (changed, changed.compact(), dv.open_collection(tmp_path / "copy.idx")):
        assert one.description.dtype == "float16"
        assert np.array_equal(one.index.vectors, rounded(MODEL.embed(texts)))
        size = sum(segment.vectors.documents for segment in one.description.segments)
        headers = 256 * len(one.segments)
        assert one.info()["vector_bytes"] == 2 * size * MODEL.dimensions + headers
    named = dv.build_collection(MODEL, TEXTS, tmp_path / "n.idx", dtype="float16").refit()
    assert named.description.dtype == "float16"
    assert np.array_equal(named.index.vectors, rounded(named.model.embed(TEXTS)))


def test_other_types_are_refused(tmp_path: Path) -> None:
    with pytest.raises(dv.InputError, match="dtype must be one of float32, float16, got 'int8'"):
        dv.build_collection(MODEL, TEXTS, tmp_path / "c.idx", dtype="int8")


def test_a_collection_without_a_type_has_float32(tmp_path: Path) -> None:
    built = dv.build_collection(MODEL, TEXTS, tmp_path / "c.idx")
    entries = as_entries(built.description)
    assert entries.pop("dtype") == "float32"
    COLLECTION_FOLDER.write_manifest(built.path, entries)
    opened = dv.open_collection(built.path)
    assert opened.description == built.description
    assert opened.search("storm") == built.search("storm")
