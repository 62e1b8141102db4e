"""What cannot be used: one line that says so, or a documented result; never a traceback."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

import deltavec as dv
from deltavec.io.artifacts.atomic import only_writer
from support.typed import Deltavec, Outcome, reviews


@pytest.fixture
def fitted(small: Path, tmp_path: Path, deltavec: Deltavec) -> Deltavec:
    """Fits a corpus with the small vectors."""

    def run(corpus: Path, *options: object) -> Outcome:
        vectors = ("--vectors", small / "reviews.vec")
        return deltavec("fit", corpus, *vectors, "-o", tmp_path / "m.dv", *options)

    return run


@pytest.mark.parametrize("name", ["empty.txt", "empty.csv", "empty.jsonl", "header.csv"])
def test_an_empty_corpus(name: str, tmp_path: Path, deltavec: Deltavec, fitted: Deltavec) -> None:
    corpus = tmp_path / name
    corpus.write_text("text\n" if name == "header.csv" else "")
    assert "no documents" in fitted(corpus).error or "empty" in fitted(corpus).error
    for arguments in (("fit", corpus, "-o", "m.dv"), ("vectors", "train", corpus, "-o", "v.vec")):
        error = deltavec(*arguments[:-1], tmp_path / arguments[-1]).error
        assert "no documents" in error or "empty" in error or "no words" in error


def test_an_empty_parquet_file(tmp_path: Path, fitted: Deltavec) -> None:
    corpus = tmp_path / "empty.parquet"
    parquet.write_table(pa.table({"text": pa.array([], pa.string())}), corpus)
    assert "no documents" in fitted(corpus).error


def test_an_empty_folder(tmp_path: Path, fitted: Deltavec) -> None:
    (tmp_path / "nothing").mkdir()
    assert "holds no file" in fitted(tmp_path / "nothing").error


def test_empty_documents_only(tmp_path: Path, deltavec: Deltavec, fitted: Deltavec) -> None:
    corpus = tmp_path / "blank.txt"
    corpus.write_text("\n\n  \n?!\n")
    assert "holds a word" in fitted(corpus).error
    done = deltavec("vectors", "train", corpus, "-o", tmp_path / "v.vec")
    assert "word" in done.error


def test_some_empty_documents_are_counted(tmp_path: Path, fitted: Deltavec) -> None:
    corpus = tmp_path / "some.txt"
    corpus.write_text("\n".join(["", *reviews(), "?"]))
    done = fitted(corpus, "--json")
    assert done.json["documents"] == 74
    assert done.json["documents_without_known_words"] == 2
    assert "2 of them without a known word" in fitted(corpus).stdout


def test_no_known_words(tmp_path: Path, fitted: Deltavec) -> None:
    corpus = tmp_path / "other.txt"
    corpus.write_text("Привет мир\n你好\n")
    assert "has a vector" in fitted(corpus).error


@pytest.mark.parametrize("recipe", ["auto", "idf-sum", "idf-center-pca", "sif-delta-pca"])
def test_one_document(
    recipe: str, tmp_path: Path, small: Path, deltavec: Deltavec, fitted: Deltavec
) -> None:
    corpus = tmp_path / "one.txt"
    corpus.write_text("a quiet bay\n")
    assert fitted(corpus, "--recipe", recipe).code == 0
    model = dv.load(tmp_path / "m.dv")
    assert np.isfinite(model.embed(["a quiet bay", "the loud lamp"])).all()
    assert deltavec("explain", tmp_path / "m.dv", "a quiet bay", "loud lamp").code == 0


def test_all_documents_equal(tmp_path: Path, deltavec: Deltavec, fitted: Deltavec) -> None:
    corpus = tmp_path / "same.txt"
    corpus.write_text("a quiet bay\n" * 20)
    assert fitted(corpus).code == 0
    # What all documents have in common is all there is: nothing is left, and it is counted.
    assert not dv.load(tmp_path / "m.dv").embed(["a quiet bay"]).any()
    # No word tells the documents apart: a corpus like that teaches nothing by itself.
    assert "they hold the same words" in deltavec("fit", corpus, "-o", tmp_path / "own.dv").error
    assert deltavec("vectors", "train", corpus, "-o", tmp_path / "v.vec").code == 0


def test_a_wrong_column_names_the_columns_there_are(
    small: Path, tmp_path: Path, deltavec: Deltavec, fitted: Deltavec
) -> None:
    error = fitted(small / "reviews.csv", "--column", "txt").error
    assert "'txt'" in error
    assert "'id', 'text'" in error
    jsonl = tmp_path / "reviews.jsonl"
    jsonl.write_text('{"body": "a quiet bay", "id": 1}\n')
    assert "'body', 'id'" in fitted(jsonl).error
    table = tmp_path / "numbers.parquet"
    parquet.write_table(pa.table({"text": [1, 2]}), table)
    assert "must be text" in fitted(table).error


def test_mixed_types_name_the_line(tmp_path: Path, fitted: Deltavec) -> None:
    corpus = tmp_path / "mixed.jsonl"
    corpus.write_text('{"text": "a quiet bay"}\n{"text": 5}\n')
    error = fitted(corpus).error
    assert "line 2" in error
    assert "must be text" in error


@pytest.mark.parametrize("line", ["{", "[1, 2]", '"text"', "null", "NaN"])
def test_what_is_no_json_object_names_the_line(line: str, tmp_path: Path, fitted: Deltavec) -> None:
    corpus = tmp_path / "broken.jsonl"
    corpus.write_text(f'{{"text": "a quiet bay"}}\n{line}\n')
    assert "line 2" in fitted(corpus).error


def test_a_missing_text_is_an_empty_document(tmp_path: Path, fitted: Deltavec) -> None:
    corpus = tmp_path / "null.jsonl"
    lines = [json.dumps({"text": text}) for text in (None, *reviews())]
    corpus.write_text("\n".join(lines))
    assert fitted(corpus, "--json").json["documents_without_known_words"] == 1


def test_broken_utf_8_parts_words_if_it_is_asked_for(
    tmp_path: Path, small: Path, fitted: Deltavec
) -> None:
    corpus = tmp_path / "broken.txt"
    corpus.write_bytes("\n".join(reviews()).encode() + b"\nquiet\xffbay \xe2\x82\n")
    assert "line 73: not UTF-8" in fitted(corpus).error
    found = fitted(corpus, "--encoding", "utf-8", "--json").json
    assert found["documents"] == 73
    whole = tmp_path / "whole.txt"
    whole.write_text("\n".join([*reviews(), "quiet bay"]))
    assert found["fingerprint"] == fitted(whole, "--json").json["fingerprint"]


def test_a_document_of_50_megabytes(tmp_path: Path, fitted: Deltavec) -> None:
    corpus = tmp_path / "long.txt"
    corpus.write_text("quiet bay " * 5_000_000 + "\n" + "\n".join(reviews()))
    assert fitted(corpus, "--json").json["documents"] == 73


@pytest.mark.parametrize("number", ["nan", "inf", "-inf", "1e999"])
def test_vectors_with_nan_name_the_line(
    number: str, small: Path, tmp_path: Path, deltavec: Deltavec
) -> None:
    vectors = tmp_path / "nan.vec"
    vectors.write_text(f"2 2\nquiet 1 0\nbay 1 {number}\n")
    done = deltavec("fit", small / "reviews.csv", "-v", vectors, "-o", tmp_path / "m.dv")
    assert "nan.vec" in done.error
    assert "line 3" in done.error


@pytest.mark.parametrize(
    "content", [b"", b"5 3\n", b"quiet\n", b"\x80\x04\x95pickle", b"2 2\nquiet 1\n"]
)
def test_a_file_that_holds_no_vectors(
    content: bytes, small: Path, tmp_path: Path, deltavec: Deltavec
) -> None:
    vectors = tmp_path / "vectors.vec"
    vectors.write_bytes(content)
    arguments = ("fit", small / "reviews.csv", "-o", tmp_path / "m.dv", "-v")
    assert "vectors.vec" in deltavec(*arguments, vectors).error
    assert "nothing.vec" in deltavec(*arguments, tmp_path / "nothing.vec").error
    assert deltavec(*arguments, tmp_path).error


@pytest.mark.parametrize("corpus", ["nothing.csv", "*.nothing", "reviews.vec"])
def test_a_corpus_that_is_not_there_or_of_no_known_kind(
    corpus: str, small: Path, fitted: Deltavec
) -> None:
    assert corpus in fitted(small / corpus).error


COMMANDS_WITH_A_MODEL = (
    ("info", "{model}"),
    ("explain", "{model}", "a quiet bay", "loud"),
    ("embed", "{model}", "{corpus}", "-o", "{output}"),
)


def typed(command: tuple[str, ...], model: Path, small: Path, tmp_path: Path) -> list[str]:
    corpus, output = small / "reviews.csv", tmp_path / "out.parquet"
    return [word.format(model=model, corpus=corpus, output=output) for word in command]


@pytest.mark.parametrize("command", COMMANDS_WITH_A_MODEL)
@pytest.mark.parametrize("file", ["model.json", "model.safetensors"])
def test_a_damaged_model(
    file: str, command: tuple[str, ...], small: Path, tmp_path: Path, deltavec: Deltavec
) -> None:
    whole = (small / "reviews.dv" / file).read_bytes()
    damaged = {
        "changed": whole[: len(whole) // 2] + bytes([whole[len(whole) // 2] ^ 1]),
        "cut": whole[: len(whole) // 2],
        "empty": b"",
    }
    damaged["changed"] += whole[len(whole) // 2 + 1 :]
    for how, content in damaged.items():
        model = tmp_path / f"{how}.dv"
        shutil.copytree(small / "reviews.dv", model, dirs_exist_ok=True)
        (model / file).write_bytes(content)
        assert f"{how}.dv/{file}: " in deltavec(*typed(command, model, small, tmp_path)).error
    (model / file).unlink()
    assert file in deltavec(*typed(command, model, small, tmp_path)).error


@pytest.mark.parametrize("command", COMMANDS_WITH_A_MODEL)
def test_what_is_no_model(
    command: tuple[str, ...], small: Path, tmp_path: Path, deltavec: Deltavec
) -> None:
    for model in (tmp_path / "nothing.dv", small / "reviews.csv", small):
        assert str(model) in deltavec(*typed(command, model, small, tmp_path)).error


def test_the_corpus_is_never_written_over(tmp_path: Path, deltavec: Deltavec) -> None:
    corpus = tmp_path / "reviews.txt"
    corpus.write_text("\n".join(reviews()))
    assert "corpus itself" in deltavec("vectors", "train", corpus, "-o", corpus).error
    assert corpus.read_text() == "\n".join(reviews())


def test_the_corpus_is_never_written_over_by_vectors(
    small: Path, tmp_path: Path, deltavec: Deltavec
) -> None:
    corpus = tmp_path / "reviews.parquet"
    parquet.write_table(pa.table({"text": reviews()}), corpus)
    before = corpus.read_bytes()
    assert (
        "replace the corpus" in deltavec("embed", small / "reviews.dv", corpus, "-o", corpus).error
    )
    assert corpus.read_bytes() == before


def test_what_has_no_vector_is_a_zero_row_and_counted(
    small: Path, tmp_path: Path, deltavec: Deltavec
) -> None:
    corpus = tmp_path / "odd.jsonl"
    texts = ["a quiet bay", "", None, "Привет", "\ud800 bay", "?!"]
    corpus.write_text("\n".join(json.dumps({"text": text}) for text in texts))
    done = deltavec("embed", small / "reviews.dv", corpus, "-o", tmp_path / "v.npy")
    assert "zero rows   4 without known words" in done.stdout
    lengths = np.linalg.norm(np.load(tmp_path / "v.npy"), axis=1)
    assert lengths == pytest.approx([1, 0, 0, 0, 1, 0], abs=1e-6)


def test_an_empty_corpus_has_no_vectors(small: Path, tmp_path: Path, deltavec: Deltavec) -> None:
    corpus = tmp_path / "empty.txt"
    corpus.touch()
    for name in ("v.npy", "v.parquet"):
        done = deltavec("embed", small / "reviews.dv", corpus, "-o", tmp_path / name, "--json")
        assert done.json["documents"] == 0
    assert np.load(tmp_path / "v.npy").shape == (0, 8)


@pytest.mark.parametrize(
    "lines", [['{"text": "a quiet bay"}', '{"text": 5}'], ['{"text": "a quiet bay"}', "oops"]]
)
def test_embedding_stops_at_what_it_cannot_read(
    lines: list[str], small: Path, tmp_path: Path, deltavec: Deltavec
) -> None:
    corpus = tmp_path / "mixed.jsonl"
    corpus.write_text("\n".join(lines))
    done = deltavec("embed", small / "reviews.dv", corpus, "-o", tmp_path / "v.npy")
    assert "line 2" in done.error
    assert not (tmp_path / "v.npy").exists()


def test_embedding_asks_for_a_column_that_is_there(
    small: Path, tmp_path: Path, deltavec: Deltavec
) -> None:
    arguments = ("embed", small / "reviews.dv", small / "reviews.csv", "-o", tmp_path / "v.parquet")
    assert "'txt'" in deltavec(*arguments, "--column", "txt").error
    assert "'rating'" in deltavec(*arguments, "--keep", "rating").error


def test_an_output_that_cannot_be_written_is_refused_before_any_work(
    small: Path, tmp_path: Path, deltavec: Deltavec
) -> None:
    nothing = tmp_path / "no-such-corpus.txt"  # the output is looked at first
    (tmp_path / "folder.vec").mkdir()
    train = ("vectors", "train", nothing, "-o")
    assert "is a folder" in deltavec(*train, tmp_path / "folder.vec").error
    assert "there is no folder" in deltavec(*train, tmp_path / "no" / "v.vec").error
    assert "there is no folder" in deltavec("fit", nothing, "-o", tmp_path / "no" / "m.dv").error
    assert "exists" in deltavec("demo", "-o", small).error
    embed = ("embed", tmp_path / "no-such-model.dv", nothing, "-o")
    assert "folder first" in deltavec(*embed, tmp_path / "no" / "out.npy").error
    assert "other files" in deltavec(*embed, small).error
    assert "vectors only" in deltavec(*embed, tmp_path / "out.npy", "--keep", "id").error


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may do anything")
def test_a_folder_that_may_not_be_written_to(
    small: Path, tmp_path: Path, deltavec: Deltavec
) -> None:
    tmp_path.chmod(0o500)
    done = deltavec("fit", small / "reviews.csv", "-o", tmp_path / "m.dv")
    tmp_path.chmod(0o700)
    assert "may not be written to" in done.error


def test_a_collection_in_the_place_of_a_model_is_told_where_its_model_is(
    small: Path, tmp_path: Path, deltavec: Deltavec
) -> None:
    corpus, collection = small / "reviews.csv", tmp_path / "m.idx"
    assert deltavec("index", "build", small / "reviews.dv", corpus, "-o", collection).code == 0
    for arguments in (
        ("embed", collection, corpus, "-o", tmp_path / "v.npy"),
        ("explain", collection, "a", "b"),
        ("index", "build", collection, corpus, "-o", tmp_path / "other.idx"),
    ):
        assert deltavec(*arguments).error.endswith(f"use its own: {collection / 'model.dv'}")
    assert deltavec("explain", collection / "model.dv", "a", "b").code == 0


def test_the_name_of_a_recipe_that_is_misspelt_gets_a_suggestion(fitted: Deltavec) -> None:
    done = fitted(Path("reviews.csv"), "--recipe", "idf-dleta")
    assert done.code == 2
    assert "did you mean 'idf-delta'?" in done.stderr


@pytest.mark.parametrize(
    ("command", "output"),
    [
        ("fit {corpus} --vectors {vectors}", "m.dv"),
        ("vectors train {corpus}", "v.vec"),
        ("embed {model} {corpus}", "v.npy"),
        ("embed {model} {corpus}", "shards/"),
        ("index build {model} {corpus}", "m.idx"),
    ],
)
def test_a_second_writer_is_refused_at_its_start_and_the_output_is_as_it_was(
    command: str, output: str, small: Path, tmp_path: Path, deltavec: Deltavec
) -> None:
    names = {"corpus": "reviews.csv", "vectors": "reviews.vec", "model": "reviews.dv"}
    paths = {name: small / file for name, file in names.items()}
    arguments = [word.format(**paths) for word in command.split()]
    target = f"{tmp_path}/{output}"
    missing = [
        str(tmp_path / "not there.csv") if word.endswith(".csv") else word for word in arguments
    ]
    with only_writer(tmp_path / output):
        # Not even the corpus is looked for.
        assert "another process is writing to it" in deltavec(*missing, "-o", target).error
        assert not (tmp_path / output).exists()
    assert deltavec(*arguments, "-o", target).code == 0
    assert [entry.name for entry in tmp_path.iterdir()] == [output.rstrip("/")]
