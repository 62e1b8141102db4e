"""What an earlier version said, found and stored is what this one says, finds and reads.

tests/snapshots was written by that version, with tools/take_snapshots.py. New names, commands,
options and fields are welcome; nothing recorded may go.

Arithmetic of BLAS differs in the last bits from one processor to the next. Where it has a part, the
tests leave room for that; DELTAVEC_EXACT_SNAPSHOTS=1 leaves none, on the machine that took them.
"""

from __future__ import annotations

import json
import os
import pickle
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors import safe_open
from safetensors.numpy import load_file
from typer.testing import CliRunner

import deltavec as dv
from deltavec.cli.application import app
from deltavec.server.app import create_app
from support.recorded import (
    collection_answers,
    command_line,
    copied,
    demands,
    explanation,
    http_api,
    index_answers,
    lost,
    options_in,
    shown_help,
    table,
)
from support.served import ask

SNAPSHOTS = Path(__file__).parents[1] / "snapshots"
WORD_VECTORS = SNAPSHOTS / "word-vectors.safetensors"
DOCUMENTS = SNAPSHOTS / "documents.csv"
EXACT = os.environ.get("DELTAVEC_EXACT_SNAPSHOTS", "0") not in {"", "0"}
# Shares are sums of a few dozen float64 products below 10.
FLOAT64 = 0.0 if EXACT else 1e-12
# What BLAS may change in an array, as a share of its largest entry: two steps of float32; of
# float64 some more, since eigenvectors carry rounding on, over the gap between eigenvalues.
BY_BLAS = {} if EXACT else {"float32": 2.4e-7, "float64": 1e-11}
COSINE = 1 - 1e-5
# The version that wrote the vectors fused products and sums, and divided by the length: the same to
# a few roundings of float32, of numbers up to 1 (docs/decisions/0025).
TO_A_ROUNDING = {"rtol": 0, "atol": 2.0**-22}
SCORES = 2.0**-21  # of two such vectors
# Components are those of such vectors, hundreds of them: their roundings meet in the sum.
OF_VECTORS = {"float32": 2.4e-7, "float64": 1e-7}


def recorded(name: str) -> Any:
    return json.loads((SNAPSHOTS / name).read_text("utf-8"))


MODELS = recorded("models.json")
WITH_VECTORS = sorted(name for name in MODELS if name != "spectral")
INDEXES = recorded("indexes.json")
COLLECTIONS = recorded("collections.json")
COMMANDS = recorded("command_line.json")
TEXTS = recorded("texts.json")


@pytest.fixture(scope="module")
def current_commands() -> dict[str, Any]:
    return command_line(app)


@pytest.fixture(scope="module")
def current_api() -> dict[str, Any]:
    served = create_app(dv.open_collection(SNAPSHOTS / "collections" / "named"))
    return http_api(ask(served, "GET", "/openapi.json").json)


def test_every_recorded_name_is_public() -> None:
    assert set(recorded("public_names.json")) <= set(dv.__all__)


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_has_every_parameter_that_it_had(
    command: str, current_commands: dict[str, Any]
) -> None:
    assert command in current_commands
    before, now = COMMANDS[command]["parameters"], current_commands[command]["parameters"]
    assert lost(before, now) == []


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_asks_for_no_more_than_it_did(
    command: str, current_commands: dict[str, Any]
) -> None:
    before, now = COMMANDS[command]["parameters"], current_commands[command]["parameters"]
    assert [name for name in now if now[name]["required"] and name not in before] == []


@pytest.mark.parametrize("command", COMMANDS)
def test_help_shows_every_option_that_it_showed(command: str) -> None:
    taken = {opt for one in COMMANDS[command]["parameters"].values() for opt in one["opts"]}
    before = taken & options_in(COMMANDS[command]["help"])
    assert before - options_in(shown_help(app, tuple(command.split()[1:]))) == set()


def test_the_http_api_has_every_path_parameter_and_field_that_it_had(
    current_api: dict[str, Any],
) -> None:
    assert lost(recorded("http_api.json"), current_api) == []


def test_the_http_api_asks_for_no_more_than_it_did(current_api: dict[str, Any]) -> None:
    before, now = demands(recorded("http_api.json")), demands(current_api)
    assert {name: now[name] - before[name] for name in before if now[name] - before[name]} == {}


def test_stored_word_vectors_have_their_words_and_bits() -> None:
    vectors = dv.load_vectors(WORD_VECTORS)
    assert vectors.words == recorded("word-vectors.json")["words"]
    np.testing.assert_array_equal(vectors.matrix, np.load(SNAPSHOTS / "word-vectors.npy"))


def test_word_vectors_are_stored_as_they_were(tmp_path: Path) -> None:
    dv.save_vectors(dv.load_vectors(WORD_VECTORS), tmp_path / "again.safetensors")
    assert_same_arrays(tmp_path / "again.safetensors", WORD_VECTORS)
    assert metadata(tmp_path / "again.safetensors") == metadata(WORD_VECTORS)


@pytest.mark.parametrize("name", MODELS)
def test_a_stored_model_embeds_to_the_same_vectors(name: str) -> None:
    model = dv.load(SNAPSHOTS / "models" / name)
    expected = np.load(SNAPSHOTS / "models" / f"{name}.npy")
    found = model.embed(TEXTS["embedded"])
    assert found.dtype == expected.dtype == np.float32
    np.testing.assert_allclose(found, expected, **TO_A_ROUNDING)


@pytest.mark.parametrize("name", MODELS)
def test_a_stored_model_says_the_same_of_itself(name: str) -> None:
    model = dv.load(SNAPSHOTS / "models" / name)
    assert lost(MODELS[name]["settled"], model.recipe.entries) == []
    assert lost(MODELS[name]["info"], model.info()) == []


@pytest.mark.parametrize("name", MODELS)
def test_a_stored_model_explains_a_pair_in_the_same_way(name: str) -> None:
    found = explanation(dv.load(SNAPSHOTS / "models" / name), *TEXTS["pair"])
    assert lost(MODELS[name]["explanation"], found, FLOAT64) == []


@pytest.mark.parametrize("name", MODELS)
def test_a_model_is_stored_as_it_was(name: str, tmp_path: Path) -> None:
    dv.load(SNAPSHOTS / "models" / name).save(tmp_path / name)
    again = tmp_path / name / "model.safetensors"
    assert_same_arrays(again, SNAPSHOTS / "models" / name / "model.safetensors")


@pytest.mark.parametrize("name", WITH_VECTORS)
def test_a_fresh_fit_with_the_stored_vectors_makes_the_stored_table(
    name: str, tmp_path: Path
) -> None:
    recipe = dv.Recipe(**MODELS[name]["asked"])
    vectors = dv.load_vectors(WORD_VECTORS)
    tokenizer = MODELS[name]["tokenizer"]
    dv.fit(table(DOCUMENTS)["text"], vectors, recipe, tokenizer=tokenizer).save(tmp_path / name)
    # sum and delta are products of single numbers; a centre and components are sums by BLAS.
    room = BY_BLAS if recipe.form == "center" else {}
    assert_same_arrays(
        tmp_path / name / "model.safetensors",
        SNAPSHOTS / "models" / name / "model.safetensors",
        OF_VECTORS if recipe.n_components_removed else room,
    )


def test_a_fresh_spectral_fit_embeds_as_the_stored_one_or_better() -> None:
    recipe = dv.Recipe(**MODELS["spectral"]["asked"])
    found = dv.fit(table(DOCUMENTS)["text"], recipe=recipe).embed(TEXTS["embedded"])
    expected = np.load(SNAPSHOTS / "models" / "spectral.npy")
    known = expected.any(axis=1)
    np.testing.assert_array_equal(found.any(axis=1), known)
    # The stored one was made by power iterations, and is that far from the exact decomposition.
    assert (found * expected).sum(axis=1)[known].min() > 1 - 5e-4
    exact = dv.Recipe(**{**MODELS["spectral"]["asked"], "power_iterations": 60})
    nearest = dv.fit(table(DOCUMENTS)["text"], recipe=exact).embed(TEXTS["embedded"])
    assert (found * nearest).sum(axis=1)[known].min() > COSINE


@pytest.mark.parametrize("name", INDEXES)
def test_a_stored_index_finds_the_same_rows_with_the_same_scores(name: str) -> None:
    index = dv.load_index(SNAPSHOTS / "indexes" / name, threads=1)
    queries = np.load(SNAPSHOTS / "index-queries.npy")
    assert lost(INDEXES[name], index_answers(index, queries)) == []


@pytest.mark.parametrize("name", COLLECTIONS)
def test_a_stored_collection_finds_and_says_the_same(name: str) -> None:
    collection = dv.open_collection(SNAPSHOTS / "collections" / name)
    found = collection_answers(collection, TEXTS["queries"])
    assert lost(COLLECTIONS[name], found, SCORES) == []


def test_documents_added_to_a_stored_collection_make_the_stored_larger_one(tmp_path: Path) -> None:
    folder = copied(SNAPSHOTS / "collections" / "named", tmp_path / "named")
    typed("index", "add", folder, SNAPSHOTS / "more.csv")
    found = dv.open_collection(folder)
    expected = dv.open_collection(SNAPSHOTS / "collections" / "added")
    assert found.ids.to_pylist() == expected.ids.to_pylist()
    np.testing.assert_allclose(found.index.vectors, expected.index.vectors, **TO_A_ROUNDING)


@pytest.mark.parametrize("name", ["embedder-pca", "embedder-sum"])
def test_a_pickled_embedder_transforms_to_the_same_vectors(name: str) -> None:
    found = unpickled(name).transform(TEXTS["embedded"])
    np.testing.assert_allclose(found, np.load(SNAPSHOTS / f"{name}.npy"), **TO_A_ROUNDING)


def test_a_pickled_embedder_learns_on_from_where_it_was() -> None:
    embedder = unpickled("embedder-sum").partial_fit(table(SNAPSHOTS / "more.csv")["text"])
    found = embedder.transform(TEXTS["embedded"])
    expected = np.load(SNAPSHOTS / "embedder-sum-more.npy")
    np.testing.assert_allclose(found, expected, **TO_A_ROUNDING)


@pytest.mark.parametrize("name", ["recipe.json", "recipe-vectors.json"])
def test_a_stored_recipe_is_what_fit_uses(name: str, tmp_path: Path) -> None:
    stored = recorded(name)
    given = ["--vectors", WORD_VECTORS] if stored["vectors"] else []
    typed("fit", DOCUMENTS, "--recipe", SNAPSHOTS / name, *given, "-o", tmp_path / "model")
    assert lost(stored["recipe"], dv.load(tmp_path / "model").recipe.entries) == []


def test_reading_the_snapshots_changes_none_of_them(tmp_path: Path) -> None:
    folder = copied(SNAPSHOTS, tmp_path / "snapshots")
    for name in MODELS:
        dv.load(folder / "models" / name).embed(TEXTS["embedded"])
    for name in COLLECTIONS:
        collection_answers(dv.open_collection(folder / "collections" / name), TEXTS["queries"])
    dv.load_vectors(folder / "word-vectors.safetensors")
    assert contents(folder) == contents(SNAPSHOTS)


def unpickled(name: str) -> dv.DocumentEmbedder:
    embedder = pickle.loads((SNAPSHOTS / f"{name}.pickle").read_bytes())
    assert isinstance(embedder, dv.DocumentEmbedder)
    return embedder


def typed(*arguments: object) -> None:
    done = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert done.exit_code == 0, done.output


def assert_same_arrays(file: Path, stored: Path, room: Mapping[str, float] | None = None) -> None:
    """Equal but for this share of an array's largest entry, by type; none for types not named."""
    found, expected = load_file(file), load_file(stored)
    assert found.keys() == expected.keys()
    for name, array in expected.items():
        assert found[name].dtype == array.dtype, name
        share = (room or {}).get(array.dtype.name, 0.0)
        largest = np.abs(array).max(initial=0)
        np.testing.assert_allclose(found[name], array, rtol=0, atol=share * largest, err_msg=name)


def metadata(file: Path) -> dict[str, str]:
    with safe_open(file, framework="np") as opened:
        return dict(opened.metadata())


def contents(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}
