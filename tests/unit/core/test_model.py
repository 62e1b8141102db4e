import pickle

import numpy as np
import pyarrow as pa
import pytest

import deltavec as dv
from deltavec.core.statistics import TextCounts

VECTORS = dv.WordVectors(["sea", "room", "quiet", "unseen"], [[1, 0], [0, 1], [0.6, 0.8], [1, 1]])
CORPUS = ["Sea sea", "room quiet", "room", "room sea"]


def test_rows_are_of_unit_length_or_zero():
    model = dv.fit(CORPUS, VECTORS, "sif-delta-pca")
    matrix = model.embed(["sea quiet", "", None, "unknown words", "room sea sea"])
    assert matrix.dtype == np.float32
    assert np.linalg.norm(matrix, axis=1) == pytest.approx([1, 0, 0, 0, 1])


def test_embedding_no_documents_gives_no_rows():
    assert dv.fit(CORPUS, VECTORS, "idf-sum").embed([]).shape == (0, 2)


def test_many_documents_come_back_in_order():
    model = dv.fit(CORPUS, VECTORS, "unit-sum")
    matrix = model.embed(["sea", "room"] * 10_000)
    assert (matrix[::2] == [1, 0]).all()
    assert (matrix[1::2] == [0, 1]).all()


def test_unknown_words_are_told_once():
    model = dv.fit(CORPUS, VECTORS, "unit-sum")
    assert model.unknown_words("A loud sea, a quiet loud room") == ["a", "loud"]


def test_one_document_alone():
    for recipe in dv.RECIPES:
        matrix = dv.fit(["sea quiet sea"], VECTORS, recipe).embed(["sea quiet sea", "room"])
        assert np.isfinite(matrix).all()
    assert not dv.fit(["sea quiet"], VECTORS, "sif-center").embed(["sea quiet"]).any()
    assert not dv.fit(["sea quiet"], VECTORS, "sif-delta").embed(["sea quiet"]).any()


def test_info_counts_what_was_seen():
    info = dv.fit([*CORPUS, "", "other words"], VECTORS, "idf-sum").info()
    assert info["documents"] == 6
    assert info["documents_without_known_words"] == 2
    assert (info["words"], info["words_seen"]) == (4, 3)
    assert info["coverage"] == 7 / 9
    assert info["tokenizer"] == "words"
    assert info["components_removed"] == 0
    assert dv.fit(CORPUS, VECTORS, "idf-sum", tokenizer=str.split).info()["tokenizer"] == (
        "a callable"
    )


def test_a_model_prints_as_one_line():
    model = dv.fit(CORPUS, VECTORS, "idf-sum")
    assert repr(model) == "EmbeddingModel(idf-sum, 4 words, 2 dimensions, fitted on 4 documents)"


def test_a_record_batch_gets_a_column_of_vectors():
    model = dv.fit(CORPUS, VECTORS, "idf-sum")
    batch = pa.record_batch({"id": [7, 8], "text": ["sea", None]})
    found = model.embed_batch(batch, "text", output="vector")
    assert found.schema.names == ["id", "text", "vector"]
    assert found.column("vector").to_pylist() == [[1, 0], [0, 0]]
    with pytest.raises(dv.InputError, match="no column 'body'; the columns are"):
        model.embed_batch(batch, "body")
    with pytest.raises(dv.InputError, match="has a column 'id' already"):
        model.embed_batch(batch, "text", output="id")


def test_the_fingerprint_tells_models_apart():
    one = dv.fit(CORPUS, VECTORS, "idf-sum")
    assert one.fingerprint == dv.fit(CORPUS, VECTORS, "idf-sum").fingerprint
    assert one.fingerprint != dv.fit(CORPUS, VECTORS, "idf-delta").fingerprint


def test_a_callable_tokenizer_and_lists_of_words_give_the_same_vectors():
    fused = dv.fit(CORPUS, VECTORS, "idf-delta-pca")
    called = dv.fit(CORPUS, VECTORS, "idf-delta-pca", tokenizer=lambda text: text.lower().split())
    lists = dv.fit([text.lower().split() for text in CORPUS], VECTORS, "idf-delta-pca")
    expected = fused.embed(["quiet sea"]).tolist()
    assert called.embed(["Quiet SEA"]).tolist() == expected
    assert lists.embed([["quiet", "sea"]]).tolist() == expected
    assert lists.embed(["Quiet, sea"]).tolist() == expected


def test_whitespace_keeps_words_as_they_stand():
    vectors = dv.WordVectors(["New-York", "sea"], [[1, 0], [0, 1]])
    model = dv.fit(["New-York sea", "sea"], vectors, "idf-sum", tokenizer="whitespace")
    assert model.embed(["New-York", "new-york"]).tolist() == [[1, 0], [0, 0]]


def test_a_collection_has_components_of_its_own():
    model = dv.fit(CORPUS, VECTORS, "unit-sum-pca")
    other = ["room", "room", "quiet"]
    again = model.for_collection(other)
    fitted_there = dv.fit(other, VECTORS, "unit-sum-pca")
    assert np.abs(again.table.components) == pytest.approx(
        np.abs(fitted_there.table.components), abs=1e-6
    )
    assert again.statistics is model.statistics
    assert again.for_collection(CORPUS).embed(CORPUS) == pytest.approx(
        model.embed(CORPUS), abs=1e-5
    )


def test_a_collection_changes_nothing_where_nothing_is_removed():
    model = dv.fit(CORPUS, VECTORS, "idf-center")
    assert model.for_collection(["room"]) is model


def test_a_model_survives_pickling_between_processes():
    model = dv.fit(CORPUS, VECTORS, "idf-delta-pca")
    copy = pickle.loads(pickle.dumps(model))
    assert copy.embed(CORPUS).tolist() == model.embed(CORPUS).tolist()
    assert not copy.table.rows.flags.writeable
    assert pickle.loads(pickle.dumps(VECTORS)).words == VECTORS.words


def test_a_saved_model_comes_back(tmp_path):
    model = dv.fit(CORPUS, VECTORS, "idf-delta-pca")
    model.save(tmp_path / "model.dv")
    assert dv.load(tmp_path / "model.dv").embed(CORPUS).tolist() == model.embed(CORPUS).tolist()


def test_broken_utf8_separates_words():
    import pyarrow as pa

    raw = b"sea\xff\xferoom"
    offsets = pa.py_buffer(np.array([0, len(raw)], np.int32))
    broken = pa.StringArray.from_buffers(1, offsets, pa.py_buffer(raw))
    model = dv.fit(CORPUS, VECTORS, "unit-sum")
    assert model.embed(broken).tolist() == model.embed(["sea room"]).tolist()


def test_a_document_of_many_words_keeps_its_precision():
    rng = np.random.default_rng(0)
    words = [f"w{i}" for i in range(2_000)]
    vectors = dv.WordVectors(words, rng.standard_normal((2_000, 5)))
    model = dv.fit([" ".join(words)], vectors, "unit-sum")
    mean = vectors.matrix.astype(float).mean(axis=0)
    assert model.embed([" ".join(words)])[0] == pytest.approx(mean / np.linalg.norm(mean), abs=1e-6)


@pytest.mark.parametrize("as_given", [list, iter], ids=["a list", "a generator"])
def test_words_are_counted_while_documents_are_embedded(as_given):
    model = dv.fit(CORPUS, VECTORS, "idf-sum")
    documents = ["sea sea unknown", "room", "nothing known", ""]
    vectors, counts = model.embed_and_count(as_given(documents))
    assert np.array_equal(vectors, model.embed(documents))
    assert counts == TextCounts(documents=4, tokens=6, known_tokens=3, unknown_documents=2)


def test_encode_is_embed_under_the_name_that_others_call():
    model = dv.fit(CORPUS, VECTORS, "idf-sum")
    texts = ["sea quiet", "", "room sea"]
    vectors = model.encode(
        texts,
        batch_size=32,
        show_progress_bar=True,
        convert_to_numpy=True,
        normalize_embeddings=False,
        device="cuda",
    )
    assert np.array_equal(vectors, model.embed(texts))
    assert np.array_equal(model.encode("sea quiet"), vectors[0])


def test_encode_refuses_what_it_cannot_give():
    model = dv.fit(CORPUS, VECTORS, "idf-sum")
    for asked in ({"convert_to_tensor": True}, {"convert_to_numpy": False}):
        with pytest.raises(dv.InputError, match=r"use torch\.from_numpy"):
            model.encode(["sea"], **asked)
    with pytest.raises(TypeError, match="truncate_dim"):
        model.encode(["sea"], truncate_dim=1)


def test_a_model_is_exported_to_a_folder(tmp_path):
    model = dv.fit(CORPUS, VECTORS, "idf-sum")
    assert model.export(tmp_path / "out", "safetensors").folder == tmp_path / "out"
    assert dv.load_vectors(tmp_path / "out" / "vectors.safetensors").matrix.shape == (4, 2)


def test_a_batch_of_arrow_gets_a_column_of_vectors() -> None:
    vectors = dv.WordVectors(["sea", "room"], [[1, 0], [0, 1]])
    model = dv.fit(["sea view", "room"], vectors, recipe="idf-sum")
    batch = pa.record_batch({"id": [1, 2, 3], "text": ["the sea", None, "a room by the sea"]})
    found = model.embed_batch(batch, "text")
    assert found.schema.names == ["id", "text", "embedding"]
    assert found.schema.field("embedding").type == pa.list_(pa.float32(), 2)
    expected = model.embed(batch["text"].to_pylist())
    assert np.array_equal(np.array(found["embedding"].to_pylist(), np.float32), expected)
    table = model.embed_batch(pa.Table.from_batches([batch]), "text", output="v")
    assert table["v"].combine_chunks().equals(found["embedding"])
    with pytest.raises(dv.InputError, match="no column 'body'"):
        model.embed_batch(batch, "body")
    with pytest.raises(dv.InputError, match="has a column 'id' already"):
        model.embed_batch(batch, "text", output="id")
