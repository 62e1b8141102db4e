"""Topics as a table."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import deltavec as dv
from deltavec.collection.topics.clusters import topic_table

WORDS = ["sea", "beach", "room", "bed", "bank", "share", "cat", "dog"]
VECTORS = dv.WordVectors(
    WORDS,
    [[1, 0.2, 0, 0], [1, 0.3, 0, 0], [0.2, 1, 0, 0], [0.3, 1, 0, 0],
     [0, 0, 1, 0.2], [0, 0, 1, 0.3], [0, 0, 0.2, 1], [0, 0, 0.3, 1]],
)  # fmt: skip
TEXTS = [f"{a} {b}" for a, b in zip(WORDS[::2], WORDS[1::2], strict=True) for _ in range(5)] + [""]


@pytest.fixture(scope="module")
def collection(tmp_path_factory: pytest.TempPathFactory) -> dv.Collection:
    folder = tmp_path_factory.mktemp("frame") / "c.idx"
    return dv.build_collection(dv.fit(TEXTS, VECTORS, "unit-sum"), TEXTS, folder)


def test_each_document_has_its_topic_name_and_cosine(collection: dv.Collection) -> None:
    found = collection.cluster(4)
    table = dv.topics(collection, 4)
    assert table.column_names == ["id", "cluster", "name", "cosine"]
    assert table["id"].to_pylist() == [str(row) for row in range(21)]
    assert table["cluster"].to_pylist() == [*found.labels[:20].tolist(), None]
    assert table["name"][20].as_py() is table["cosine"][20].as_py() is None
    assert sorted(table["name"][0].as_py().split(", ")) == ["beach", "sea"]
    assert table["cosine"][0].as_py() == pytest.approx(found.cosines[0])


def test_wider_topics_are_made_of_whole_ones(collection: dv.Collection) -> None:
    table = dv.topics(collection, 4, levels=2)
    assert table.column_names[-2:] == ["cluster_2", "name_2"]
    wide = table["cluster_2"].to_pylist()
    assert len(set(wide[:10])) == len(set(wide[10:20])) == 1
    assert wide[0] != wide[10]
    assert wide[20] is None
    assert collection.cluster(4, levels=3).wider is not None


def test_several_topics_come_nearest_first(collection: dv.Collection) -> None:
    found = collection.cluster(4)
    table = topic_table(collection, found, 3)
    ranks, ids = table["rank"].to_pylist(), table["id"].to_pylist()
    first = [row for row, one in enumerate(ids) if one == "0"]
    assert [ranks[row] for row in first] == [1, 2]  # the others are at right angles
    cosines = table["cosine"].take(first).to_pylist()
    assert cosines == sorted(cosines, reverse=True)
    numbers = table["cluster"].take(first).to_pylist()
    expected = found.directions[numbers] @ collection.index.vectors[0]
    assert cosines == pytest.approx(expected, abs=1e-6)
    assert ids.count("20") == 1
    assert len(dv.topics(collection, 2, per_document=9)) <= 2 * len(collection)


def test_documents_that_are_no_collection_have_topics_too(tmp_path: Path) -> None:
    table = dv.topics(TEXTS, 4, model=dv.fit(TEXTS, VECTORS, "unit-sum"))
    assert len(table) == 21
    (tmp_path / "named.csv").write_text(
        "name,text\n" + "".join(f"n/{i},{text}\n" for i, text in enumerate(TEXTS))
    )
    fitted = dv.topics(str(tmp_path / "named.csv"), 2, id_column="name")
    assert fitted["id"][3].as_py() == "n/3"
    assert np.isfinite(fitted["cosine"].drop_null().to_numpy()).all()


def test_wrong_arguments_are_refused(collection: dv.Collection) -> None:
    with pytest.raises(dv.InputError, match="per_document must be a whole number from 1 on"):
        dv.topics(collection, per_document=0)
    with pytest.raises(dv.InputError, match="levels must be from 1 to 3, got 4"):
        dv.topics(collection, levels=4)
    with pytest.raises(dv.InputError, match="n must be a whole number from 1 on, got 0"):
        dv.topics(collection, 0)
