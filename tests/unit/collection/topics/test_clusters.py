"""Clusters of a collection: which documents go together, and what the groups are called."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import deltavec as dv
from deltavec.collection.topics import clusters
from deltavec.core.arrays import blocks

WORDS = ["sea", "beach", "bay", "room", "bed", "lamp", "cheap", "dear", "the"]
VECTORS = dv.WordVectors(WORDS, np.repeat(np.eye(3), 3, axis=0) + 0.05 * np.eye(9, 3))
TEXTS = [
    f"the {a} the {b}"
    for words in (["sea", "beach", "bay"], ["room", "bed", "lamp"])
    for a in words
    for b in words
] + ["cheap cheap dear", "", "xyz"]


@pytest.fixture
def collection(tmp_path: Path) -> dv.Collection:
    return dv.build_collection(dv.fit(TEXTS, VECTORS, "idf-sum"), TEXTS, tmp_path / "c.idx")


def test_like_documents_share_a_cluster_and_zero_rows_have_none(collection: dv.Collection) -> None:
    found = collection.cluster(3)
    assert len(found) == 3
    assert found.sizes == [9, 9, 1]
    assert len(set(found.labels[:9])) == len(set(found.labels[9:18])) == 1
    assert found.labels[18] == 2
    assert found.labels[19:].tolist() == [-1, -1]
    assert all(0.9 < cosine <= 1.0001 for cosine in found.cohesion)
    assert found.cosines[19:].tolist() == [0, 0]
    for number, central in enumerate(found.central_ids):
        rows = np.flatnonzero(found.labels == number)
        own = found.cosines[rows]
        assert found.cohesion[number] == pytest.approx(own.mean())
        assert own.max() == found.cosines[collection.row(central)]
        assert own == pytest.approx(collection.index.vectors[rows] @ found.directions[number])
        assert found.labels[collection.row(central)] == number


def test_a_cluster_is_named_by_words_of_its_own(collection: dv.Collection) -> None:
    found = collection.cluster(3, words=3)
    names = [set(words) for words in found.names]
    assert {"sea", "beach", "bay"} in names
    assert {"room", "bed", "lamp"} in names
    assert names[2] == {"cheap", "dear"}


def test_a_seed_repeats(collection: dv.Collection) -> None:
    one, two = collection.cluster(4, seed=5), collection.cluster(4, seed=5)
    assert one.labels.tolist() == two.labels.tolist()
    assert one.names == two.names


def test_large_collections_are_learned_from_a_sample(
    collection: dv.Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(clusters, "ROWS_TO_LEARN", 10)
    monkeypatch.setattr(clusters, "blocks", lambda rows: blocks(rows, 5))
    found = collection.cluster(2)
    assert sum(found.sizes) == 19
    assert all(found.names)


def test_no_more_clusters_than_documents_with_a_vector(collection: dv.Collection) -> None:
    with pytest.raises(dv.InputError, match="cannot make 20 clusters of 19 documents"):
        collection.cluster(20)


def test_fewer_different_documents_than_clusters_make_fewer(tmp_path: Path) -> None:
    texts = ["sea"] * 5 + ["room"] * 4
    built = dv.build_collection(dv.fit(texts, VECTORS, "idf-sum"), texts, tmp_path / "c.idx")
    found = built.cluster(4)
    assert sum(found.sizes) == 9
    assert all(size > 0 for size in found.sizes)
    assert len(found.names) == len(found.central_ids) == len(found.sizes) <= 4


def test_vectors_that_are_no_numbers_are_refused() -> None:
    vectors = np.full((9, 3), np.nan, np.float32)
    with pytest.raises(dv.InputError, match="NaN or infinity among the vectors"):
        clusters.with_vector(vectors)
