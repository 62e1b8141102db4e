"""Models as static tables: what is written, what it costs, and what is refused."""

import json
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from safetensors.numpy import load_file

import deltavec as dv
from deltavec.io.export.export import FILES, static_rows, stored_rows

CORPUS = ["sea view, sea", "quiet room", "room", "the room and the sea"]
VECTORS = dv.WordVectors(["sea", "room", "quiet"], [[1, 0], [0, 1], [0.5, 1]])


def model_of(recipe: str) -> dv.EmbeddingModel:
    return dv.fit(CORPUS, VECTORS, recipe)


def means(rows: dict[str, np.ndarray], texts: list[list[str]]) -> np.ndarray:
    """What another program does with a table."""
    sums = np.array([np.mean([rows[word] for word in text], axis=0) for text in texts])
    return sums / np.linalg.norm(sums, axis=1, keepdims=True)


@pytest.mark.parametrize("recipe", ["idf-sum", "sif-center", "idf-center-pca", "unit-sum"])
@pytest.mark.parametrize("format", ["word2vec", "safetensors"])
def test_the_mean_of_the_rows_is_the_documents_vector(tmp_path, recipe, format):
    model = model_of(recipe)
    written = model.export(tmp_path / "out", format)
    assert (written.words, written.dimensions, written.largest_error) == (3, 2, 0.0)
    rows = {"safetensors": safetensors_rows, "word2vec": text_rows}[format](tmp_path / "out")
    theirs = means(rows, [["sea", "room", "sea"], ["quiet"]])
    assert theirs == pytest.approx(model.embed(["sea, room; unknown sea", "quiet"]), abs=1e-6)


def safetensors_rows(folder):
    arrays = load_file(folder / "vectors.safetensors")
    ends, data = arrays["offsets"], arrays["words"].tobytes()
    words = [data[a:b].decode() for a, b in pairwise(ends)]
    return dict(zip(words, arrays["matrix"], strict=True))


def text_rows(folder):
    from gensim.models import KeyedVectors

    vectors = KeyedVectors.load_word2vec_format(folder / "vectors.txt")
    return {word: vectors[word] for word in vectors.index_to_key}


@pytest.mark.parametrize("format", ["word2vec", "safetensors"])
def test_load_vectors_reads_every_table(tmp_path, format):
    model = model_of("sif-center")
    model.export(tmp_path / "out", format)
    file = next((tmp_path / "out").glob("vectors.*"))
    loaded = dv.load_vectors(file)
    assert loaded.words == model.vocabulary.words
    rows = static_rows(model)
    unit = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    assert loaded.matrix == pytest.approx(unit, abs=1e-6)


def test_float16_tables_say_what_they_cost(tmp_path):
    model = model_of("sif-center")
    written = model.export(tmp_path / "out", "safetensors", dtype="float16")
    assert 0 < written.largest_error < 2**-10
    loaded = dv.load_vectors(tmp_path / "out" / "vectors.safetensors")
    rows = static_rows(model)
    unit = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    assert loaded.matrix == pytest.approx(unit, abs=2 * written.largest_error)


@pytest.mark.parametrize("largest", [1e-30, 1e-6, 1.0, 70_000.0, 1e30])
def test_float16_is_scaled_into_its_range(largest):
    rows = np.array([[largest, 0], [largest / 1024, -largest]], np.float32)
    stored, error = stored_rows(rows, "float16")
    assert error < 2**-11
    assert 16 <= np.abs(stored).max() <= 32


def test_a_table_of_zeros_stays_one():
    assert not stored_rows(np.zeros((2, 2), np.float32), "float16")[0].any()


def test_a_model2vec_folder_holds_what_its_readers_look_for(tmp_path):
    model = model_of("idf-center-pca")
    written = model.export(tmp_path / "out")
    assert written.format == "model2vec"
    config = json.loads((tmp_path / "out" / "config.json").read_text("utf-8"))
    assert (config["normalize"], config["max_length"]) == (True, None)
    rows = load_file(tmp_path / "out" / "model.safetensors")["embeddings"]
    vocabulary = json.loads((tmp_path / "out" / "tokenizer.json").read_text("utf-8"))["model"][
        "vocab"
    ]
    assert len(rows) == len(vocabulary) == 4
    assert not rows[vocabulary["[UNK]"]].any()
    modules = json.loads((tmp_path / "out" / "modules.json").read_text("utf-8"))
    assert [one["type"].rpartition(".")[2] for one in modules] == ["StaticEmbedding", "Normalize"]
    assert "out" in (tmp_path / "out" / "README.md").read_text("utf-8")
    assert {path.name for path in (tmp_path / "out").iterdir()} <= set(FILES)


def test_another_export_takes_the_place_of_the_first(tmp_path):
    model_of("idf-sum").export(tmp_path / "out")
    model_of("idf-sum").export(tmp_path / "out", "safetensors")
    assert not (tmp_path / "out" / "tokenizer.json").exists()
    assert len(list(tmp_path.iterdir())) == 1


def test_a_folder_of_somebody_else_is_left_alone(tmp_path):
    (tmp_path / "config.json").write_text('{"model_type": "bert"}')
    with pytest.raises(dv.ModelError, match="is not a deltavec export, and is left alone"):
        model_of("idf-sum").export(tmp_path)


def test_a_delta_model_is_refused_with_the_reason(tmp_path):
    for format in ("model2vec", "safetensors"):
        with pytest.raises(dv.ModelError, match=r"form delta.*no average of rows does"):
            model_of("idf-delta").export(tmp_path / "out", format)
    assert not list(tmp_path.iterdir())


def test_units_that_overlap_have_a_table_but_no_tokenizer(tmp_path):
    corpus = [f"{a} {b}" for a in CORPUS for b in CORPUS] * 3
    recipe = dv.Recipe(form="spectral", n_components_removed=0, dimensions=2)
    model = dv.fit(corpus, recipe=recipe, units="grams")
    with pytest.raises(dv.ModelError, match="grams-4, runs of characters that overlap"):
        model.export(tmp_path / "out")
    model.export(tmp_path / "out", "safetensors")


def test_a_model_of_a_script_without_spaces_is_refused(tmp_path):
    vectors = dv.WordVectors(["漢", "字", "漢字"], np.eye(3))
    model = dv.fit(["漢字", "漢"], vectors, "unit-sum")
    with pytest.raises(dv.ModelError, match=r"25\.0% of what this model counts are pairs"):
        model.export(tmp_path / "out")
    few = dv.fit(["漢字", "漢 " * 200], vectors, "unit-sum")
    assert 0 < few.export(tmp_path / "out").not_found < 0.01
    assert "pairs of neighbors" in (tmp_path / "out" / "README.md").read_text("utf-8")


def test_texts_that_are_written_in_one_way_first_have_a_table_but_no_tokenizer(tmp_path):
    model = replace(model_of("idf-sum"), tokenizer="words+folded")
    with pytest.raises(dv.ModelError, match="normalization 'folded'"):
        model.export(tmp_path / "out")
    model.export(tmp_path / "out", "safetensors")


def test_code_of_others_is_not_exported(tmp_path):
    model = replace(model_of("idf-sum"), tokenizer=str.split)
    with pytest.raises(dv.ModelError, match="found by code"):
        model.export(tmp_path / "out")


def test_wrong_names_are_refused_before_anything_is_written(tmp_path):
    model = model_of("idf-sum")
    with pytest.raises(dv.InputError, match="format must be one of model2vec, word2vec"):
        model.export(tmp_path / "out", "onnx")
    with pytest.raises(dv.InputError, match="dtype must be one of float32, float16"):
        model.export(tmp_path / "out", dtype="int8")
    with pytest.raises(dv.InputError, match="float32 only"):
        model.export(tmp_path / "out", "word2vec", dtype="float16")
    assert not list(tmp_path.iterdir())
