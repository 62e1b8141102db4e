"""How many groups a collection has, by itself."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import deltavec as dv
from deltavec.collection.topics.clusters import best_k, numbers_to_try


def blobs(groups: int, members: int, spread: float) -> np.ndarray:
    rng = np.random.default_rng(3)
    middles = rng.standard_normal((groups, 24))
    middles /= np.linalg.norm(middles, axis=1, keepdims=True)
    points = np.repeat(middles, members, axis=0)
    points = points + spread * rng.standard_normal(points.shape) / np.sqrt(24)
    return (points / np.linalg.norm(points, axis=1, keepdims=True)).astype(np.float32)


@pytest.mark.parametrize("groups", [8, 16])
def test_as_many_groups_as_there_are_blobs(groups: int) -> None:
    found, reason = best_k(blobs(groups, 40, 0.5), seed=0)
    assert groups <= found <= 1.5 * groups
    assert "nearly as stable as any" in reason


def test_few_documents_have_few_groups() -> None:
    assert numbers_to_try(1) == [1]
    assert numbers_to_try(9) == [2]
    assert numbers_to_try(45) == [2, 3, 4]
    assert numbers_to_try(350) == [8, 12, 16, 24, 32]
    assert numbers_to_try(10**6)[-1] == 64


@pytest.mark.parametrize("texts", [["sea"], ["sea"] * 50, ["<b>sea</b> <p>"] * 20])
def test_one_document_and_equal_ones_make_one_group(texts: list[str], tmp_path: Path) -> None:
    vectors = dv.WordVectors(["sea", "room"], [[1, 0], [0, 1]])
    built = dv.build_collection(dv.fit(texts, vectors, "unit-sum"), texts, tmp_path / "c.idx")
    found = built.cluster(levels=3)
    assert (found.sizes, found.names) == ([len(texts)], [["sea"]])
    assert dv.topics(built, per_document=3)["cluster"].to_pylist() == [0] * len(texts)


def test_a_collection_without_any_vector_is_refused(tmp_path: Path) -> None:
    vectors = dv.WordVectors(["sea", "room"], [[1, 0], [0, 1]])
    built = dv.build_collection(dv.fit(["sea"], vectors, "unit-sum"), ["xyz"], tmp_path / "c.idx")
    with pytest.raises(dv.InputError, match="0 documents that have a vector: all of them are out"):
        built.cluster()
