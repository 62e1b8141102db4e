"""What people see of an object fits on a screen."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import deltavec as dv
from support.typed import reviews


@pytest.fixture(scope="module")
def collection(tmp_path_factory: pytest.TempPathFactory) -> dv.Collection:
    path = tmp_path_factory.mktemp("reprs") / "r.idx"
    return dv.build_collection(dv.fit(reviews()), reviews(), path)


def test_every_repr_has_at_most_ten_lines(collection: dv.Collection, tmp_path: Path) -> None:
    model, vectors = collection.model, np.asarray(collection.vectors())
    encoder = collection.export(tmp_path / "out")
    shown: list[Any] = [
        model, model.recipe, model.vocabulary, model.explain("quiet sea", "a bay"),
        dv.DocumentEmbedder(), dv.read_corpus(reviews()), collection,
        collection.search("quiet", k=50), collection.search("quiet", k=1)[0],
        collection.why("quiet sea", 0), collection.keywords(0), collection.cluster(4),
        collection.duplicates(), collection.against(reviews()), dv.duplicates(reviews()),
        dv.Index(vectors), dv.Index(vectors).search(vectors, k=5), dv.compare(reviews(), reviews()),
        dv.compare(reviews()[:36] * 3, reviews()[36:] * 3), dv.similar_pairs(vectors, 0.5),
        dv.open_collections([collection.path] * 2), dv.merge_statistics([collection] * 2),
        encoder, encoder.query("quiet sea"), dv.WordVectors(["a", "b"], np.eye(2)),
    ]  # fmt: skip
    long = {type(one): repr(one) for one in shown if len(repr(one)) > 1_200}
    assert long == {}
    assert [repr(one) for one in shown if repr(one).count("\n") > 10] == []
