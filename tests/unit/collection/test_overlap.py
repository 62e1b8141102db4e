"""A collection without what is there twice, or elsewhere."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import csv, parquet

import deltavec as dv
from deltavec.collection.overlap import duplicate_report

VECTORS = dv.WordVectors(["sea", "room", "bay", "bed"], [[1, 0], [0, 1], [0.9, 0.1], [0.1, 0.9]])
ROOM = "a quiet room with a bed and a view of the bay and the sea below"
TEXTS = [ROOM, f"<b>{ROOM.upper()}</b>", "a room", f"{ROOM} at night", "A room!", "", "xyz"]
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
    found = collection.duplicates()
    rows = {row.pop("id"): row for row in found.table.to_pylist()}
    kept = {"group": 0, "keep": True, "representative": 'a/1"', "shared": 1, "why": "kept"}
    assert rows['a/1"'] == kept
    assert rows["d 4"].pop("shared") == pytest.approx(0.7, abs=0.2)
    assert rows["d 4"] == {
        "group": 0, "keep": False, "representative": 'a/1"', "why": "shared text"
    }  # fmt: skip
    assert rows["e"]["representative"] == "c,3"
    assert rows["e"]["why"] == "same words"
    assert found.removed.tolist() == [1, 3, 4]
    longest = collection.duplicates(keep="longest")
    assert longest.removed.tolist() == [0, 3, 4]  # the second has two words more
    assert "<td>" in found._repr_html_()


@pytest.mark.parametrize("whole", [False, True], ids=["what was kept", "the corpus"])
@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".parquet"])
def test_what_is_left_is_written_with_its_columns(
    suffix: str, whole: bool, collection: dv.Collection, tmp_path: Path
) -> None:
    output = tmp_path / f"left{suffix}"
    removed = collection.duplicates().removed
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
    removed = collection.duplicates().removed
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
    (tmp_path / "c.txt").write_text("\n".join(["sea", "room", "SEA!", "bed"]) + "\n")
    model = dv.fit(TEXTS, VECTORS, "unit-sum")
    built = dv.build_collection(model, dv.read_corpus(tmp_path / "c.txt"), tmp_path / "c.idx")
    removed = built.duplicates().removed
    built.write_without(removed, tmp_path / "left.jsonl", corpus=tmp_path / "c.txt")
    lines = (tmp_path / "left.jsonl").read_text().splitlines()
    assert [json.loads(line) for line in lines] == [
        {"text": text} for text in ("sea", "room", "bed")
    ]


def test_what_is_elsewhere_too_is_found_with_its_match(
    collection: dv.Collection, tmp_path: Path
) -> None:
    told: list[int] = []
    others = ["XYZ", "nothing", f"We had {ROOM}, far from everything that we know, and it rained"]
    found = collection.against(others, on_progress=told.append)
    assert found.table.column_names == ["id", "match", "shared", "contained"]
    assert found.table["id"].to_pylist() == ['a/1"', "g"]
    assert found.table["match"].to_pylist() == ["2", "0"]
    assert found.table["contained"].to_pylist()[0] > 0.8
    assert (found.documents, len(found), told) == (3, 2, [3])
    assert found.removed.tolist() == [0, 6]
    named = collection.against(tmp_path / "corpus.parquet", 1.0, id_column="id")
    assert named.table["match"].to_pylist() == ['a/1"', "b'2", "c,3", "d 4", "c,3", "g"]


def test_another_collection_has_its_own_ids_and_any_model(
    collection: dv.Collection, tmp_path: Path
) -> None:
    assert collection.against(collection, 1.0).table["match"].to_pylist()[4] == "c,3"
    other_model = dv.fit(TEXTS, dv.WordVectors(["sea", "xyz"], [[0, 1], [1, 1]]), "unit-sum")
    other = dv.build_collection(other_model, ["a room", "sea"], tmp_path / "o.idx")
    assert collection.against(other).table["match"].to_pylist() == ["0", "0"]
    with pytest.raises(dv.InputError, match="id_column is for a corpus"):
        collection.against(other, id_column="id")


def test_wrong_arguments_are_refused_before_any_work(
    collection: dv.Collection, tmp_path: Path
) -> None:
    with pytest.raises(dv.InputError, match="threshold must be a share above 0"):
        collection.against(["sea"], 0)
    with pytest.raises(dv.InputError, match="must hold text or whole numbers, got list"):
        collection.against(tmp_path / "corpus.parquet", id_column="tags")
    with pytest.raises(dv.CorpusError, match="nowhere"):
        collection.against(tmp_path / "corpus.parquet", id_column="nowhere")


def test_a_report_counts_at_each_threshold_and_shows_pairs(collection: dv.Collection) -> None:
    wide = collection.duplicates(0.4)
    report = duplicate_report(wide, 0.55)
    assert [step.threshold for step in report.steps] == [0.4, 0.5, 0.55, 0.6, 0.7, 0.8, 0.9, 1.0]
    for step in report.steps:
        found = collection.duplicates(step.threshold)
        assert (step.pairs, step.removed) == (len(found), len(found.removed))
    assert report.clear is not None
    assert report.border is not None
    assert report.border.shared == wide.at(0.55).rows.shared.min() < 1
    assert report.largest == ['a/1"', "b'2", "d 4"]
    equal = duplicate_report(wide, 1.0)
    assert equal.border is not None
    assert equal.border.shared == 1  # there is nothing else
    with pytest.raises(dv.InputError, match=r"duplicates from 0\.4 on, got 0\.3"):
        wide.at(0.3)


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
    assert all(step.removed == 39 for step in duplicate_report(found.at(1.0), 1.0).steps)
    none = duplicate_report(alone.duplicates(0.4), 0.5)
    assert (none.clear, none.border, none.largest) == (None, None, [])
