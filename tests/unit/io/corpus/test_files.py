"""Files that make up a corpus: one document per line, or per file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import deltavec as dv


def folder_of_letters(folder: Path, count: int, text: str = "Dear {n},\n\nall is well.\n") -> Path:
    for number in range(count):
        path = folder / f"{number % 3}" / f"{number:02}.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text.format(n=number), encoding="utf-8")
    return folder


def test_many_short_text_files_are_a_document_each_and_it_is_said(tmp_path: Path) -> None:
    corpus = dv.read_corpus(folder_of_letters(tmp_path, 20))
    table = pa.Table.from_batches(corpus.batches(["path"]))
    assert table["text"].to_pylist()[0] == "Dear 0,\n\nall is well."
    assert table["path"].to_pylist()[:2] == ["0/00.txt", "0/03.txt"]
    assert corpus.documents == len(table) == 20
    assert corpus.note == (
        "20 short files: each is one document (whole_files=False, --no-whole-files: each line)"
    )
    lines = dv.read_corpus(tmp_path, whole_files=False)
    assert sum(map(len, lines)) == 60
    assert lines.note is None
    assert lines.identity != corpus.identity


def test_few_files_or_long_ones_have_a_document_per_line_unless_whole_files_are_wanted(
    tmp_path: Path,
) -> None:
    few = folder_of_letters(tmp_path / "few", 19)
    assert sum(map(len, dv.read_corpus(few))) == 57
    assert sum(map(len, dv.read_corpus(few, whole_files=True))) == 19
    long = folder_of_letters(tmp_path / "long", 20, "a line\n" * 10_000)
    assert sum(map(len, dv.read_corpus(long))) == 200_000
    one = dv.read_corpus(few / "0" / "00.txt", whole_files=True)
    assert next(iter(one)).to_pylist() == ["Dear 0,\n\nall is well."]
    assert one.note is None


def test_whole_files_are_for_text_files(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("text\nsea\n")
    with pytest.raises(dv.CorpusError, match=r"--whole-files\) is for .txt files"):
        dv.read_corpus(tmp_path, whole_files=True)
    with pytest.raises(dv.CorpusError, match="whole_files is for files"):
        dv.read_corpus(["sea"], whole_files=True)


def test_paths_are_the_ids_of_documents_that_are_files(tmp_path: Path) -> None:
    folder = folder_of_letters(tmp_path / "letters", 20)
    model = dv.fit(dv.read_corpus(folder), dv.WordVectors(["dear", "well"], [[1, 0], [0, 1]]))
    built = dv.build_collection(model, folder, tmp_path / "c.idx")
    assert built.text("1/04.txt") == "Dear 4,\n\nall is well."
    named = dv.build_collection(model, folder, tmp_path / "d.idx", keep=["path"], id_column="path")
    assert named.ids == built.ids


def test_a_document_of_a_gigabyte_is_refused(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr("deltavec.io.corpus.readers.LARGEST_DOCUMENT", 10)
    (tmp_path / "a.txt").write_text("more than ten bytes\n")
    with pytest.raises(dv.CorpusError, match="a document may have 10 bytes"):
        list(dv.read_corpus(tmp_path / "a.txt", whole_files=True))
