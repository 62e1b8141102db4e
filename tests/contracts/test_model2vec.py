"""An exported model loads in model2vec, without deltavec, and gives the same vectors."""

import numpy as np
import pytest

import deltavec as dv

model2vec = pytest.importorskip("model2vec", reason="of the group test")

CORPUS = [
    "The sea view was lovely, and so was the sea",
    "A quiet room, quiet as the sea at night",
    "İstanbul: rooms with a view of the sea",
    "Staff and room were fine; the breakfast was not",
    "Breakfast at night, with a lovely view",
]
STRANGE = [
    "",
    "no_word_of_it xyz",
    "ΣΕΑ sea漢字view",
    "sea\0view\ufffd room",
    "room " * 1000 + "sea",
]
# Rows are rounded once more than ours, and added up in float32: a thousand of them here.
ROUNDING = 1e-5


def models() -> dict[str, dv.EmbeddingModel]:
    words = sorted({word for text in CORPUS for word in text.split()})
    cased = dv.WordVectors(words, np.random.default_rng(1).standard_normal((len(words), 5)))
    lower = dv.WordVectors(
        ["the", "sea", "room", "view", "quiet", "İstanbul"],
        np.random.default_rng(2).standard_normal((6, 4)),
    )
    spectral = dv.Recipe(form="spectral", n_components_removed=0, dimensions=3)
    return {
        "spectral": dv.fit(CORPUS * 3, recipe=spectral, units="words"),
        "sum": dv.fit(CORPUS, lower, "idf-sum"),
        "center, component removed": dv.fit(CORPUS, lower, "sif-center-pca"),
        "whitespace": dv.fit(CORPUS, cased, "idf-sum", tokenizer="whitespace"),
    }


MODELS = models()


@pytest.mark.parametrize("name", MODELS)
def test_model2vec_gives_the_vectors_of_embed(tmp_path, name):
    model = MODELS[name]
    model.export(tmp_path / "out")
    static = model2vec.StaticModel.from_pretrained(tmp_path / "out")
    texts = [*CORPUS, *STRANGE]
    assert static.encode(texts) == pytest.approx(model.embed(texts), abs=ROUNDING)


def test_float16_is_as_near_as_was_said(tmp_path):
    model = MODELS["spectral"]
    written = model.export(tmp_path / "out", dtype="float16")
    static = model2vec.StaticModel.from_pretrained(tmp_path / "out")
    vectors = static.encode(CORPUS)
    assert vectors.dtype == np.float16
    assert 0 < written.largest_error < 1e-3
    assert vectors == pytest.approx(model.embed(CORPUS), abs=5e-3)


def test_a_document_of_unknown_words_is_a_row_of_zeros(tmp_path):
    MODELS["sum"].export(tmp_path / "out")
    static = model2vec.StaticModel.from_pretrained(tmp_path / "out")
    assert not static.encode(["nothing known here", ""]).any()


def test_the_words_of_a_folder_are_prior_knowledge_of_a_fit(tmp_path):
    MODELS["spectral"].export(tmp_path / "static")
    static = model2vec.StaticModel.from_pretrained(tmp_path / "static")
    words = [word for word in static.tokens if word.isalnum()]
    prior = dv.WordVectors(words, static.encode(words))
    small = dv.Recipe(form="spectral", n_components_removed=0, dimensions=3)
    model = dv.fit(CORPUS * 3, recipe=small, units="words", prior=prior)
    assert f"{len(prior)} of {len(model.vocabulary)} words have one" in model.info()["prior"]
