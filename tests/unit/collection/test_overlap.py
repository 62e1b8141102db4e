"""A collection without what is there twice, or elsewhere."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import csv, parquet

import deltavec as dv
from deltavec.collection.overlap import duplicate_steps, overlap_steps

VECTORS = dv.WordVectors(["sea", "room", "bay", "bed"], [[1, 0], [0, 1], [0.9, 0.1], [0.1, 0.9]])
TEXTS = ["the sea", "<b>sea</b> sea", "a room", "sea bay", "bed", "", "xyz"]
TABLE = pa.table(
    {
        "id": ['a/1"', "b'2", "c,3", "d 4", "e", "f", "g"],
        "text": TEXTS,
        "tags": [["x"], [], None, ["y", "z"], ["x"], [], []],
        "stars": [1, 2, 3, 4, 5, 6, 7],
    }
)


@pytest.fixture
def collection(tmp_path: Path) -> dv.Collection:
    parquet.write_table(TABLE, tmp_path / "corpus.parquet")
    model = dv.fit(TEXTS, VECTORS, "unit-sum")
    corpus = dv.read_corpus(tmp_path / "corpus.parquet")
    return dv.build_collection(
        model, corpus, tmp_path / "c.idx", id_column="id", keep=["stars", "tags"]
    )


def test_duplicates_say_what_becomes_of_each_document(collection: dv.Collection) -> None:
    found = collection.duplicates(0.99)
    assert found.table.column_names == ["id", "group", "keep", "representative", "score"]
    rows = {row.pop("id"): row for row in found.table.to_pylist()}
    assert rows['a/1"'] == {"group": 0, "keep": True, "representative": 'a/1"', "score": 1}
    assert rows["b'2"] == {"group": 0, "keep": False, "representative": 'a/1"', "score": 1}
    assert rows["d 4"]["representative"] == 'a/1"'
    assert rows["e"]["representative"] == "c,3"
    assert found.removed.tolist() == [1, 3, 4]


@pytest.mark.parametrize("whole", [False, True], ids=["what was kept", "the corpus"])
@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".parquet"])
def test_what_is_left_is_written_with_its_columns(
    suffix: str, whole: bool, collection: dv.Collection, tmp_path: Path
) -> None:
    output = tmp_path / f"left{suffix}"
    removed = collection.duplicates(0.99).removed
    corpus = tmp_path / "corpus.parquet" if whole else None
    assert collection.write_without(removed, output, corpus=corpus) == 4
    if suffix == ".csv":
        rows = csv.read_csv(output, parse_options=csv.ParseOptions(newlines_in_values=True))
        assert rows["tags"].to_pylist()[0] == '["x"]'
    elif suffix == ".jsonl":
        lines = output.read_text("utf-8").splitlines()
        rows = pa.Table.from_pylist([json.loads(line) for line in lines])
    else:
        rows = parquet.read_table(output)
        assert rows["tags"].to_pylist() == [["x"], None, [], []]
    assert rows["id"].to_pylist() == ['a/1"', "c,3", "f", "g"]
    assert rows["stars"].to_pylist() == [1, 3, 6, 7]
    assert set(rows.column_names) == {"id", "text", "stars", "tags"}


def test_another_corpus_or_file_is_refused(collection: dv.Collection, tmp_path: Path) -> None:
    removed = collection.duplicates(0.99).removed
    with pytest.raises(dv.InputError, match=r"must end in .csv, .tsv, .jsonl or .parquet"):
        collection.write_without(removed, tmp_path / "left.xml")
    with pytest.raises(dv.InputError, match="with the id column 'id', got the columns 'text'"):
        collection.write_without(removed, tmp_path / "left.csv", corpus=["sea"])
    others = tmp_path / "others.parquet"
    parquet.write_table(TABLE.slice(2), others)
    with pytest.raises(dv.InputError, match="7 documents, got 5"):
        collection.write_without(removed, tmp_path / "left.csv", corpus=others)
    assert not (tmp_path / "left.csv").exists()


def test_numbered_documents_are_left_out_of_their_corpus(tmp_path: Path) -> None:
    (tmp_path / "c.txt").write_text("\n".join(["sea", "room", "sea sea", "bed"]) + "\n")
    model = dv.fit(TEXTS, VECTORS, "unit-sum")
    built = dv.build_collection(model, dv.read_corpus(tmp_path / "c.txt"), tmp_path / "c.idx")
    removed = built.duplicates(0.9999).removed
    built.write_without(removed, tmp_path / "left.jsonl", corpus=tmp_path / "c.txt")
    lines = (tmp_path / "left.jsonl").read_text().splitlines()
    assert [json.loads(line) for line in lines] == [
        {"text": text} for text in ("sea", "room", "bed")
    ]


def test_what_is_elsewhere_too_is_found_with_its_match(
    collection: dv.Collection, tmp_path: Path
) -> None:
    found = collection.against(["bed", "nothing", "sea"], 0.999)
    assert found.table.to_pylist() == [
        {"id": 'a/1"', "match": "2", "score": 1},
        {"id": "b'2", "match": "2", "score": 1},
        {"id": "e", "match": "0", "score": 1},
    ]
    assert (found.documents, len(found)) == (3, 3)
    assert found.removed.tolist() == [0, 1, 4]
    named = collection.against(tmp_path / "corpus.parquet", 1.0, id_column="id")
    assert named.table["match"].to_pylist() == ['a/1"', 'a/1"', "c,3", "d 4", "e"]


def test_another_collection_has_its_own_ids_and_any_model(
    collection: dv.Collection, tmp_path: Path
) -> None:
    assert collection.against(collection, 1.0).table["match"].to_pylist()[1] == 'a/1"'
    other_model = dv.fit(TEXTS, dv.WordVectors(["sea", "xyz"], [[0, 1], [1, 1]]), "unit-sum")
    other = dv.build_collection(other_model, ["room", "sea"], tmp_path / "o.idx")
    found = collection.against(other, 0.9999)
    assert found.table["match"].to_pylist() == ["1", "1", "0"]
    with pytest.raises(dv.InputError, match="id_column is for a corpus"):
        collection.against(other, id_column="id")


def test_wrong_arguments_are_refused_before_any_work(
    collection: dv.Collection, tmp_path: Path
) -> None:
    with pytest.raises(dv.InputError, match="threshold must be a cosine above 0"):
        collection.against(["sea"], 0)
    with pytest.raises(dv.InputError, match="must hold text or whole numbers, got list"):
        collection.against(tmp_path / "corpus.parquet", id_column="tags")
    with pytest.raises(dv.CorpusError, match="nowhere"):
        collection.against(tmp_path / "corpus.parquet", id_column="nowhere")


def test_a_report_counts_at_each_threshold_and_shows_the_least_alike(
    collection: dv.Collection,
) -> None:
    thresholds = (0.1, 0.99, 0.9999)
    steps = duplicate_steps(collection, thresholds)
    for step in steps:
        found = collection.duplicates(step.threshold)
        assert (step.pairs, step.removed) == (found.count, len(found.removed))
    example = steps[1].example
    assert example is not None
    scores = collection.duplicates(0.99).pairs.score
    assert example.score == scores[scores < 0.9999].min()
    assert example.text_a.startswith(("the sea", "a room", "<b>sea"))
    elsewhere = overlap_steps(collection, collection.against(["sea"], 0.1), thresholds)
    assert [step.pairs for step in elsewhere] == [4, 3, 2]


def test_one_document_and_equal_ones(tmp_path: Path) -> None:
    model = dv.fit(TEXTS, VECTORS, "unit-sum")
    alone = dv.build_collection(model, ["sea"], tmp_path / "alone.idx")
    assert len(alone.duplicates().table) == 0
    assert alone.write_without(alone.duplicates().removed, tmp_path / "left.csv") == 1
    equal = dv.build_collection(model, ["sea"] * 40, tmp_path / "equal.idx")
    found = equal.duplicates(1.0)
    assert found.removed.tolist() == list(range(1, 40))
    assert found.table["keep"].to_pylist().count(True) == 1
    assert equal.write_without(found.removed, tmp_path / "left.csv") == 1
    assert all(step.removed == 39 for step in duplicate_steps(equal))
