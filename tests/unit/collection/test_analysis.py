"""Outliers, keywords, labels, and the words that differ between two sets of documents."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import deltavec as dv
from deltavec.collection import analysis
from deltavec.collection.analysis import mean_similarity

SEA = ["a quiet bay by the sea", "the sea and a sandy beach", "waves on the beach, a bay"] * 10
ROOM = ["a large bed and a lamp", "the lamp by the bed is bright", "a desk, a bed, a chair"] * 10


@pytest.fixture(scope="module")
def stays(tmp_path_factory: pytest.TempPathFactory) -> dv.Collection:
    texts = [*SEA, *ROOM, ""]
    kinds = ["sea"] * len(SEA) + ["room"] * len(ROOM) + [None]
    frame = pd.DataFrame({"text": texts, "kind": kinds})
    return dv.build_collection(frame, tmp_path_factory.mktemp("stays") / "s.idx", keep=["kind"])


def test_the_document_unlike_all_others_is_the_outlier() -> None:
    odd = "parliament voted on tax reform"
    found = dv.outliers([*SEA, odd, odd, *ROOM], 2)
    assert found.column_names == ["id", "text", "similarity"]
    assert found["text"].to_pylist() == [odd, odd]
    assert found["id"].to_pylist() == [str(len(SEA)), str(len(SEA) + 1)]


def test_documents_without_a_vector_are_no_outliers(stays: dv.Collection) -> None:
    assert "" not in dv.outliers(stays, 100)["text"].to_pylist()


def test_similarity_with_a_sample_leaves_the_row_itself_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(60, 5)).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    cosines = rows @ rows.T
    np.fill_diagonal(cosines, -np.inf)
    exact = np.sort(cosines, axis=1)[:, -10:].mean(axis=1)
    assert np.allclose(mean_similarity(rows), exact, atol=1e-5)
    monkeypatch.setattr(analysis, "COMPARED_WITH", 30)
    chosen = np.random.default_rng(0).choice(60, 30, replace=False)
    sampled = np.sort(cosines[:, chosen], axis=1)[:, -10:].mean(axis=1)
    assert np.allclose(mean_similarity(rows), sampled, atol=1e-5)


def test_keywords_of_documents_and_of_groups(stays: dv.Collection) -> None:
    own = dv.keywords(stays, 2)
    assert own["id"].to_pylist() == stays.ids.to_pylist()
    assert "waves" in own["keywords"].to_pylist()[2]
    assert own["keywords"].to_pylist()[-1] == []
    groups = dv.keywords(stays, 3, by="kind").to_pylist()
    assert [(one["kind"], one["documents"]) for one in groups] == [("sea", 30), ("room", 30)]
    assert "beach" in groups[0]["keywords"]
    assert "bed" in groups[1]["keywords"]


def test_labels_by_words_alone(stays: dv.Collection) -> None:
    found = dv.label(stays, {"coast": "sea beach", "furniture": "bed lamp"})
    labels = found["label"].to_pylist()
    assert labels == ["coast"] * 30 + ["furniture"] * 30 + [None]
    assert found["cosine"].to_pylist()[-1] is None
    assert dv.label(stays, ["sea", "bed"])["label"].to_pylist()[0] == "sea"


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ({}, "expected several labels"),
        ("sea", "expected several labels"),
        (["sea", "xyzzy"], "the label 'xyzzy' is described by no word"),
    ],
)
def test_labels_that_mean_nothing_are_refused(
    labels: dict[str, str], message: str, stays: dv.Collection
) -> None:
    with pytest.raises(dv.InputError, match=message):
        dv.label(stays, labels)


def test_words_that_differ_are_found_with_their_sign() -> None:
    found = dv.compare(SEA, ROOM)
    rows = {row["word"]: row for row in found.table.to_pylist()}
    assert rows["sea"]["log_odds_ratio"] > 0 > rows["bed"]["log_odds_ratio"]
    assert rows["bed"]["share_a"] == 0
    assert rows["bed"]["share_b"] == 1
    assert "sea" in found.more(1)
    assert "bed" in found.more(-1)
    assert len(repr(found).splitlines()) == 3
    assert "share in A" in found._repr_html_()


def test_nothing_differs_between_two_halves_of_one_set(stays: dv.Collection) -> None:
    found = dv.compare(SEA[::2], SEA[1::2])
    assert len(found) == 0
    assert repr(found) == "Comparison(nothing: none of 11 words differs)"
    assert len(dv.compare(stays, stays)) == 0


def test_a_log_odds_ratio_worked_by_hand() -> None:
    row = dv.compare(["x y"] * 40 + ["y"] * 10, ["x y"] * 5 + ["y"] * 45).table.to_pylist()[0]
    assert row["word"] == "x"
    assert row["log_odds_ratio"] == pytest.approx(math.log(40.5 * 45.5 / (5.5 * 10.5)))


def test_a_share_of_errors_outside_0_to_1_is_refused() -> None:
    with pytest.raises(dv.InputError, match="significance must be between 0 and 1"):
        dv.compare(SEA, ROOM, significance=0)


def test_a_collection_without_a_model_fits_one(tmp_path: Path) -> None:
    pd.DataFrame({"text": [*SEA, *ROOM], "n": range(60)}).to_csv(tmp_path / "s.csv")
    stages: list[str] = []
    built = dv.build_collection(
        tmp_path / "s.csv", tmp_path / "s.idx", keep=["n"], on_stage=stages.append
    )
    assert built.columns == ["n"]
    assert "learning the vocabulary" in stages
    same = dv.build_collection(dv.fit([*SEA, *ROOM]), [*SEA, *ROOM], tmp_path / "same.idx")
    assert built.search("sea")[0].score == pytest.approx(same.search("sea")[0].score)
    with pytest.raises(dv.InputError, match="expected a fitted model, got str"):
        dv.build_collection("m.dv", [*SEA], tmp_path / "x.idx")


def test_a_column_that_is_missing_is_an_error_before_the_fit(tmp_path: Path) -> None:
    with pytest.raises(dv.DeltavecError, match="no column 'm'"):
        dv.build_collection(pd.DataFrame({"text": SEA}), tmp_path / "s.idx", keep=["m"])


def test_models_are_fitted_on_paths_and_frames(tmp_path: Path) -> None:
    frame = pd.DataFrame({"text": SEA})
    frame.to_csv(tmp_path / "s.csv")
    expected = dv.fit(SEA).fingerprint
    assert dv.fit(frame).fingerprint == expected
    assert dv.fit(tmp_path / "s.csv").fingerprint == expected
    assert dv.fit(corpus=str(tmp_path / "s.csv")).fingerprint == expected
    assert dv.fit([tmp_path / "s.csv"]).fingerprint == expected
    words = dv.train_vectors(frame, dimensions=4).vocabulary.words
    assert words == dv.train_vectors(SEA, dimensions=4).vocabulary.words
