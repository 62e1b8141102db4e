"""Every command, typed as its user would."""

from __future__ import annotations

import gzip
import inspect
import json
import re
import shlex
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

import deltavec as dv
from deltavec.cli.commands.fit import fit, recipe_names
from deltavec.core.recipes import DEFAULTS
from support.typed import Deltavec, reviews

COMMANDS = ("demo", "vectors train", "fit", "embed", "explain", "info", "export")


def test_no_command_shows_the_commands_there_are(deltavec: Deltavec) -> None:
    shown = deltavec("--help")
    assert shown.code == 0
    assert "Search, deduplicate, cluster and explain your own documents" in shown.stdout
    for command in COMMANDS:
        assert command.split()[0] in shown.stdout
    assert deltavec().code == 2


def test_the_version_is_the_package_s(deltavec: Deltavec) -> None:
    assert deltavec("--version").stdout == f"deltavec {dv.__version__}\n"


def examples(help_text: str) -> list[list[str]]:
    lines = [line.strip() for line in help_text.splitlines()]
    return [shlex.split(line)[1:] for line in lines if line.startswith("deltavec ")]


@pytest.mark.parametrize("command", COMMANDS)
def test_help_has_examples(command: str, deltavec: Deltavec) -> None:
    shown = deltavec(*command.split(), "--help")
    assert shown.code == 0
    assert "\n  Example" in shown.stdout
    assert all(
        example[: len(command.split())] == command.split() for example in examples(shown.stdout)
    )
    assert max(map(len, shown.stdout.splitlines())) <= 84


def test_the_examples_in_help_work_one_after_the_other(
    tmp_path: Path, small: Path, deltavec: Deltavec, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copy(small / "reviews.csv", tmp_path)
    monkeypatch.chdir(tmp_path)
    for command in COMMANDS[1:]:  # the demo has tests of its own
        typed = examples(deltavec(*command.split(), "--help").stdout)
        assert typed
        for arguments in typed:
            done = deltavec(*arguments)
            assert done.code == 0, done.stderr
            assert done.stdout


@pytest.mark.parametrize("command", COMMANDS)
def test_an_unknown_option_is_wrong_usage(command: str, deltavec: Deltavec) -> None:
    done = deltavec(*command.split(), "--nonsense")
    assert done.code == 2
    assert done.stderr.startswith("Usage: ")


@pytest.mark.parametrize(
    "arguments",
    [
        "fit",
        "fit reviews.csv",
        "fit reviews.csv -o m.dv --recipe idf-mean",
        "fit reviews.csv -o m.dv --remove -1",
        "fit reviews.csv -o m.dv --threads 0",
        "fit reviews.csv -o m.dv --tokenizer bpe",
        "fit reviews.csv -o m.dv --limit 5",
        "fit reviews.csv -o m.dv --format xml",
        "vectors train reviews.csv -o vectors.parquet",
        "vectors train reviews.csv -o v.vec --method glove",
        "embed reviews.dv reviews.csv -o out.csv",
        "explain reviews.dv only-one",
        "explain reviews.dv a b --words 0",
        "train",
    ],
)
def test_wrong_values_are_wrong_usage(
    arguments: str, small: Path, deltavec: Deltavec, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(small)
    before = sorted(small.iterdir())
    done = deltavec(*arguments.split())
    assert done.code == 2
    assert done.stdout == ""
    assert done.stderr.startswith("Usage: ")
    assert sorted(small.iterdir()) == before


def test_completion_knows_the_recipes() -> None:
    assert recipe_names("") == ["auto", "spectral", *dv.RECIPES]
    assert recipe_names("sp") == ["spectral"]


def test_vectors_train_writes_every_format_and_says_what_it_did(
    tmp_path: Path, small: Path, deltavec: Deltavec
) -> None:
    written = []
    for suffix in (".safetensors", ".txt", ".vec", ".bin"):
        path = tmp_path / f"vectors{suffix}"
        done = deltavec(
            "vectors", "train", small / "reviews.csv", "--dimensions", 6, "-o", path, "--json"
        )
        assert done.json["dimensions"] == 6
        assert done.json["vectors"] == str(path)
        written.append(dv.load_vectors(path))
        assert done.json["words"] == len(written[-1])
    for vectors in written[1:]:
        assert vectors.words == written[0].words
        assert np.array_equal(vectors.matrix, written[0].matrix)


def test_fit_writes_the_model_that_the_library_makes(small: Path) -> None:
    corpus = dv.read_corpus(small / "reviews.csv")
    made = dv.fit(corpus, dv.load_vectors(small / "reviews.vec"))
    assert dv.load(small / "reviews.dv").fingerprint == made.fingerprint


def test_fit_says_recipe_reason_documents_coverage_sizes_time_and_place(
    tmp_path: Path, small: Path, deltavec: Deltavec
) -> None:
    corpus, vectors = small / "reviews.csv", small / "reviews.vec"
    done = deltavec("fit", corpus, "-v", vectors, "-o", tmp_path / "m.dv")
    lines = [line for line in done.stdout.splitlines() if line[:1].strip()]
    told = dict(line.split(maxsplit=1) for line in lines)
    assert told["Next:"].startswith("deltavec index build ")
    assert told["recipe"].startswith("idf-sum-pca (documents hold")
    assert told["documents"].startswith("72 documents")
    assert told["coverage"].startswith("100.0 %")
    assert told["dimensions"] == "8"
    assert "m.dv" in done.stdout
    assert {"vectors", "words", "time", "saved"} <= told.keys()
    assert done.stderr == ""


def test_fit_without_vectors_is_spectral(tmp_path: Path, small: Path, deltavec: Deltavec) -> None:
    done = deltavec("fit", small / "reviews.csv", "-o", tmp_path / "m.dv", "--json")
    assert done.json["recipe"] == "spectral"
    assert done.json["reason"] == "spectral: no word vectors were given"
    assert done.json["documents"] == 72
    assert done.json["seconds"] > 0


def test_fit_trains_vectors_for_a_recipe_that_needs_them(
    tmp_path: Path, small: Path, deltavec: Deltavec
) -> None:
    arguments = ("fit", small / "reviews.csv", "-o", tmp_path / "m.dv", "--json")
    for chosen in (("--recipe", "auto"), ("--remove", 2)):
        done = deltavec(*arguments, *chosen, "--max-memory", 0.001)
        assert "trained on the corpus" in done.json["vectors"]


def test_fit_says_that_a_small_corpus_gives_a_small_model(
    tmp_path: Path, process: Deltavec
) -> None:
    (tmp_path / "a.txt").write_text("sea and sand\nsea and sky\nsand in the sky\n")
    done = process("fit", tmp_path / "a.txt", "-o", tmp_path / "m.dv")
    assert done.code == 0
    assert "warning: the corpus' 6 words have" in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_text_that_the_model_does_not_know_is_warned_of_in_one_line(
    tmp_path: Path, small: Path, process: Deltavec
) -> None:
    (tmp_path / "other.txt").write_text("miten voit tänään\n" * 400, encoding="utf-8")
    for command in ("embed", small / "reviews.dv"), ("index", "build", small / "reviews.dv"):
        output = tmp_path / ("u.npy" if "embed" in command else "u.idx")
        done = process(*command, tmp_path / "other.txt", "-o", output)
        assert done.code == 0
        (line,) = done.stderr.splitlines()
        assert line.startswith("deltavec: warning: little of this text is known: 0% of 1,200 words")
        assert "400 of 400 documents hold no known word; is it the right column" in line


def test_a_tokenizer_of_others_is_named_at_the_fit_and_trusted_afterwards(
    tmp_path: Path, small: Path, deltavec: Deltavec, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "at_blanks.py").write_text("cut = str.split\n")
    model, corpus = tmp_path / "m.dv", small / "reviews.csv"
    done = deltavec("fit", corpus, "--tokenizer", "at_blanks:cut", "-o", model)
    assert done.code == 0
    assert "at_blanks:cut" in deltavec("info", model).stdout
    refused = deltavec("embed", model, corpus, "-o", tmp_path / "u.npy")
    assert "is at_blanks:cut, third-party code that is not imported on load" in refused.error
    assert deltavec("embed", model, corpus, "--trust", "-o", tmp_path / "u.npy").code == 0
    assert deltavec("explain", model, "The sea", "The bay", "--trust").code == 0
    missing = deltavec("fit", corpus, "--tokenizer", "nowhere:cut", "-o", tmp_path / "n.dv")
    assert "needs the module 'nowhere'" in missing.error


def test_embedding_as_a_collection_is_what_for_collection_gives(
    tmp_path: Path, small: Path, deltavec: Deltavec
) -> None:
    deltavec("fit", small / "reviews.csv", "-o", tmp_path / "m.dv")
    few = tmp_path / "few.txt"
    few.write_text("quiet room by the sea\nquiet\nbreakfast and a view of the sea\n")
    deltavec("embed", tmp_path / "m.dv", few, "--as-collection", "-o", tmp_path / "u.npy")
    model, found = dv.load(tmp_path / "m.dv"), np.load(tmp_path / "u.npy")
    documents = dv.read_corpus(few)
    assert np.array_equal(found, model.for_collection(documents).embed(documents))
    assert not np.array_equal(found, model.embed(documents))


@pytest.mark.parametrize("recipe", ["unit-sum", "sif-center-pca", "subsampling-delta"])
def test_fit_takes_the_recipe_asked_for(
    recipe: str, tmp_path: Path, small: Path, deltavec: Deltavec
) -> None:
    arguments = (small / "reviews.csv", "-v", small / "reviews.vec", "-r", recipe)
    done = deltavec("fit", *arguments, "-o", tmp_path / "m.dv", "--json")
    assert done.json["recipe"] == recipe


def test_fit_removes_as_many_components_as_asked_for(
    tmp_path: Path, small: Path, deltavec: Deltavec
) -> None:
    arguments = (small / "reviews.csv", "-v", small / "reviews.vec", "-o", tmp_path / "m.dv")
    assert deltavec("fit", *arguments, "--remove", 2, "--json").json["components_removed"] == 2
    none = deltavec("fit", *arguments, "--remove", 0, "--json").json
    assert (none["recipe"], none["components_removed"]) == ("idf-center", 0)


@pytest.mark.parametrize(
    ("recipe", "parameters"),
    [
        ("sif-center", {"a": 0.01, "min_frequency": 0.001, "n_components_removed": 2}),
        ("subsampling-sum", {"t": 0.01}),
        (
            "spectral",
            {
                "dimensions": 9,
                "window": 6,
                "context_smoothing": 0.5,
                "identity_share": 0.5,
                "spectrum_exponent": 0.5,
                "power_iterations": 3,
                "measured_documents": 10,
            },
        ),
    ],
)
def test_fit_takes_every_parameter_of_a_recipe(
    recipe: str, parameters: dict[str, float], tmp_path: Path, small: Path, deltavec: Deltavec
) -> None:
    given = [] if recipe == "spectral" else ["-v", small / "reviews.vec", "--recipe", recipe]
    for name, value in parameters.items():
        option = "remove" if name == "n_components_removed" else name.replace("_", "-")
        given += [f"--{option}", value]
    assert deltavec("fit", small / "reviews.csv", *given, "-o", tmp_path / "m.dv").code == 0
    expected = replace(dv.Recipe.named(recipe), **parameters)
    assert dv.load(tmp_path / "m.dv").recipe == expected


def test_fit_takes_prior_vectors(tmp_path: Path, small: Path, deltavec: Deltavec) -> None:
    arguments = (small / "reviews.csv", "--prior", small / "reviews.vec", "-o", tmp_path / "m.dv")
    assert "words have one" in deltavec("fit", *arguments, "--json").json["prior"]
    refused = deltavec("fit", *arguments, "-v", small / "reviews.vec", "-r", "idf-sum")
    assert refused.code == 1
    assert "prior vectors are for spectral" in refused.error


def test_fit_has_an_option_for_every_parameter() -> None:
    known = set(inspect.signature(fit).parameters) | {"weighting", "form", "n_components_removed"}
    assert DEFAULTS.keys() <= known


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("--recipe idf-sum --a 0.1", "'--a': only for recipes with sif, got idf-sum"),
        ("--a 0.1", "'--a': only for recipes with sif, got idf-auto-pca"),
        ("--recipe sif-sum --t 0.1", "'--t': only for recipes with subsampling, got sif-sum"),
        ("--recipe idf-sum --min-frequency 0.1", "only for recipes with center or auto, got idf-"),
        ("--recipe idf-sum --dimensions 9", "'--dimensions': only for recipes with spectral, got"),
        ("-v reviews.vec --window 9", "'--window': only for recipes with spectral, got idf-auto"),
        ("--recipe spectral --remove 1", "'--remove': only for recipes with sum or center or"),
        ("--dimensions 0", "'--dimensions': dimensions must be a whole number from 1 on, got 0"),
        ("--recipe sif-sum --a -1", "'--a': a must be a number above 0, got -1.0"),
    ],
)
def test_fit_refuses_a_parameter_that_the_recipe_does_not_use(
    arguments: str,
    message: str,
    small: Path,
    deltavec: Deltavec,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(small)
    done = deltavec("fit", "reviews.csv", "-o", "refused.dv", *arguments.split())
    assert done.code == 2
    assert message in " ".join(done.stderr.split())
    assert not (small / "refused.dv").exists()


def test_fit_uses_only_the_first_vectors_if_asked_to(
    tmp_path: Path, small: Path, deltavec: Deltavec
) -> None:
    arguments = (small / "reviews.csv", "-v", small / "reviews.vec", "-o", tmp_path / "m.dv")
    assert deltavec("fit", *arguments, "--limit", 5, "--json").json["words"] == 5


def test_fit_replaces_a_model_and_nothing_else(
    tmp_path: Path, small: Path, deltavec: Deltavec
) -> None:
    arguments = ("fit", small / "reviews.csv", "-v", small / "reviews.vec", "-o")
    model = tmp_path / "m.dv"
    assert deltavec(*arguments, model).code == deltavec(*arguments, model).code == 0
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes.txt").write_text("mine")
    assert "notes.txt" in deltavec(*arguments, tmp_path / "mine").error
    assert "choose another name" in deltavec(*arguments, small / "reviews.vec").error
    assert "there is no folder" in deltavec(*arguments, tmp_path / "no" / "m.dv").error


def write_corpus(folder: Path, kind: str) -> Path:
    """The reviews in a file of this kind."""
    path = folder / f"reviews.{kind}"
    lines = {
        "txt": reviews(),
        "tsv": ["text", *reviews()],
        "jsonl": [json.dumps({"text": text}) for text in reviews()],
    }
    if kind == "parquet":
        parquet.write_table(pa.table({"text": reviews()}), path)
    elif kind.endswith(".gz"):
        path.write_bytes(gzip.compress("\n".join(lines[kind.removesuffix(".gz")]).encode()))
    else:
        path.write_text("\n".join(lines[kind]))
    return path


@pytest.mark.parametrize("kind", ["txt", "tsv", "jsonl", "parquet", "txt.gz"])
def test_fit_reads_every_kind_of_corpus_alike(
    kind: str, tmp_path: Path, small: Path, deltavec: Deltavec
) -> None:
    corpus = write_corpus(tmp_path, kind)
    arguments = ("-v", small / "reviews.vec", "-o", tmp_path / "m.dv", "--json")
    done = deltavec("fit", corpus, *arguments)
    assert done.json["fingerprint"] == dv.load(small / "reviews.dv").fingerprint


def test_fit_reads_a_folder_and_a_pattern(tmp_path: Path, small: Path, deltavec: Deltavec) -> None:
    folder = tmp_path / "texts"
    folder.mkdir()
    for number in range(0, 72, 24):
        (folder / f"{number:02}.txt").write_text("\n".join(reviews()[number : number + 24]))
    for corpus in (folder, folder / "*.txt"):
        arguments = ("-v", small / "reviews.vec", "-o", tmp_path / "m.dv", "--json")
        done = deltavec("fit", corpus, *arguments)
        assert done.json["fingerprint"] == dv.load(small / "reviews.dv").fingerprint


def test_embed_writes_what_the_library_computes(
    small: Path, tmp_path: Path, deltavec: Deltavec
) -> None:
    expected = dv.load(small / "reviews.dv").embed(reviews())
    arguments = ("embed", small / "reviews.dv", small / "reviews.csv", "-o")
    assert deltavec(*arguments, tmp_path / "v.npy").code == 0
    assert np.array_equal(np.load(tmp_path / "v.npy"), expected)
    done = deltavec(*arguments, tmp_path / "v.parquet", "--keep", "id", "--keep", "text", "--json")
    assert done.json["documents"] == 72
    assert done.json["zero_rows"] == done.json["resumed_documents"] == 0
    assert done.json["dimensions"] == 8
    table = parquet.read_table(tmp_path / "v.parquet")
    assert table.column_names == ["id", "text", "embedding"]
    assert table["text"].to_pylist() == reviews()
    assert np.array_equal(np.array(table["embedding"].to_pylist(), np.float32), expected)
    deltavec(*arguments, f"{tmp_path / 'folder'}/")
    parts = parquet.read_table(tmp_path / "folder")
    assert np.array_equal(np.array(parts["embedding"].to_pylist(), np.float32), expected)


def test_explain_prints_columns_that_add_up_to_the_cosine(small: Path, deltavec: Deltavec) -> None:
    done = deltavec(
        "explain", small / "reviews.dv", "A quiet bay zzz", "the loud island", "--words", 2
    )
    assert done.code == 0
    assert "Not known in A: a, zzz" in done.stdout
    assert "1 other word" in done.stdout
    cosine = float(re.search(r"^cosine (\S+)$", done.stdout, re.MULTILINE)[1])  # type: ignore[index]
    totals = re.findall(r"^cosine +(\S+)$", done.stdout, re.MULTILINE)
    assert [float(total) for total in totals] == [cosine] * 3  # the head, and below each text
    expected = dv.load(small / "reviews.dv").explain("A quiet bay zzz", "the loud island").cosine
    assert cosine == pytest.approx(expected, abs=5e-4)


def test_explain_as_json_lists_every_word(small: Path, deltavec: Deltavec) -> None:
    found = deltavec(
        "explain", small / "reviews.dv", "quiet bay", "quiet island lamp", "--words", 1, "--json"
    ).json
    assert {word["word"] for word in found["words_b"]} == {"quiet", "island", "lamp"}
    assert sum(word["share"] for word in found["words_a"]) + found["offset_a"] == pytest.approx(
        found["cosine"], abs=1e-6
    )
    assert {"word_a", "word_b", "share"} == found["pairs"][0].keys()


@pytest.mark.parametrize("columns", ["40", "80", "120"])
def test_explain_fits_the_terminal(
    columns: str, small: Path, deltavec: Deltavec, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    done = deltavec(
        "explain", small / "reviews.dv", " ".join(PLACEHOLDER), "[bold]quiet[/bold] bay"
    )
    assert max(map(len, lines_to_read(done.stdout))) <= int(columns)


def lines_to_read(printed: str) -> list[str]:
    """The lines without the command that comes next, which is whole, to be copied."""
    return [line for line in printed.splitlines() if not line.startswith("Next: ")]


PLACEHOLDER = ("quiet", "bay", "lamp", "x" * 500, "\x1b[31m")


def test_what_is_typed_never_steers_the_terminal(
    tmp_path: Path, small: Path, deltavec: Deltavec
) -> None:
    arguments = ("--tokenizer", "whitespace", "-o", tmp_path / "m.dv")
    deltavec("fit", small / "reviews.csv", "-v", small / "reviews.vec", *arguments)
    done = deltavec("explain", tmp_path / "m.dv", "quiet \x1b[31mred [bold]bay[/bold]", "quiet")
    assert done.code == 0
    assert "\x1b" not in done.stdout
    assert "[bold]bay[/bold]" in done.stdout


def test_info_is_a_table_or_an_object(small: Path, deltavec: Deltavec) -> None:
    shown = deltavec("info", small / "reviews.dv").stdout
    assert "idf-sum-pca" in shown
    assert "100.0 %" in shown
    found = deltavec("info", small / "reviews.dv", "--json").json
    model = dv.load(small / "reviews.dv")
    assert found == {"model": str(small / "reviews.dv"), **model.info()}


def test_export_says_what_it_wrote(tmp_path: Path, small: Path, deltavec: Deltavec) -> None:
    model = small / "reviews.dv"
    shown = deltavec("export", model, "-o", tmp_path / "out").stdout
    assert "model2vec, float32" in shown
    asked = ("--format", "safetensors", "--dtype", "float16", "--json")
    found = deltavec("export", model, "-o", tmp_path / "rows", *asked).json
    assert found["words"] == len(dv.load(model).vocabulary)
    assert 0 < found["largest_error"] < 1e-3
    assert found["not_found"] == 0


def test_export_refuses_a_delta_model_in_a_line(
    tmp_path: Path, small: Path, deltavec: Deltavec
) -> None:
    model = tmp_path / "delta.dv"
    deltavec(
        *("fit", small / "reviews.csv", "--vectors", small / "reviews.vec"),
        *("--recipe", "idf-delta", "-o", model),
    )
    done = deltavec("export", model, "-o", tmp_path / "out")
    assert done.code == 1
    assert "form delta" in done.stderr
    assert not (tmp_path / "out").exists()


def test_fit_learns_from_targets_in_a_file(tmp_path: Path, deltavec: Deltavec) -> None:
    texts = [f"the {a} by the {b} {n % 5}" for a in ["sea", "bay", "bed"] for b in
             ["room", "tide", "door"] for n in range(8)]  # fmt: skip
    (tmp_path / "t.txt").write_text("\n".join(texts))
    vectors = np.random.default_rng(0).standard_normal((60, 4)).tolist()
    table = pa.table({"row": range(60), "vector": vectors})
    parquet.write_table(table, tmp_path / "s.parquet")
    out = ("-o", tmp_path / "m.dv", "--targets", tmp_path / "s.parquet", "--texts", "posts")
    done = deltavec("fit", tmp_path / "t.txt", *out)
    assert done.code == 0, done.stderr
    assert "60 documents, weight 0.5" in dv.load(tmp_path / "m.dv").info()["targets"]
    parquet.write_table(table.drop_columns(["row"]), tmp_path / "s.parquet")
    wrong = deltavec("fit", tmp_path / "t.txt", *out)
    assert wrong.code == 1
    assert "expected the columns 'text'" in wrong.stderr
    ragged = pa.table({"text": texts[:60], "vector": [[1.0] * (1 + n % 2) for n in range(60)]})
    parquet.write_table(ragged, tmp_path / "s.parquet")
    assert "of one length" in deltavec("fit", tmp_path / "t.txt", *out).stderr
    (tmp_path / "s.parquet").write_text("no")
    assert "expected a Parquet file" in deltavec("fit", tmp_path / "t.txt", *out).stderr
