from dataclasses import replace

import numpy as np
import pytest

import deltavec as dv
from deltavec.core.explain import (
    QueryWeights,
    query_sum,
    removal,
    shares,
    top_pairs,
)

VECTORS = dv.WordVectors(["sea", "room", "quiet"], [[1, 0], [0, 1], [0.6, 0.8]])
CORPUS = ["sea sea", "room quiet", "room", "room sea"]


def total(words, offset):
    return sum(word.share for word in words) + offset


@pytest.mark.parametrize("recipe", dv.RECIPES)
def test_shares_add_up_to_the_cosine(recipe):
    model = dv.fit(CORPUS, VECTORS, recipe)
    a, b = model.embed(["quiet sea sea", "room and sea"]).astype(float)
    explanation = model.explain("quiet sea sea", "room and sea")
    assert explanation.cosine == pytest.approx(a @ b, abs=1e-6)
    assert total(explanation.words_a, explanation.offset_a) == pytest.approx(a @ b, abs=1e-6)
    assert total(explanation.words_b, explanation.offset_b) == pytest.approx(a @ b, abs=1e-6)


def test_shares_by_hand():
    model = dv.fit(CORPUS, VECTORS, "unit-sum")
    explanation = model.explain("sea sea quiet", "room")
    # u_a is proportional to 2 (1, 0) + (.6, .8); only quiet reaches towards room.
    length = (2.6**2 + 0.8**2) ** 0.5
    assert [word.word for word in explanation.words_a] == ["quiet", "sea"]
    assert [word.occurrences for word in explanation.words_a] == [1, 2]
    assert explanation.words_a[0].share == pytest.approx(0.8 / length)
    assert explanation.words_a[1].share == pytest.approx(0)


def test_a_query_with_weights_by_hand():
    model = dv.fit(CORPUS, VECTORS, "unit-sum")
    weights = QueryWeights(np.array([3.0, 3.0, 1.0]), np.array([1.0, 0.5]))
    found = query_sum(model.tokenize("sea sea quiet"), model.vocabulary, model.table, weights)
    # Of 7 parts 6 are sea; the second dimension counts half.
    expected = np.array([6 + 0.6, 0.8 / 2])
    np.testing.assert_allclose(found.vector, expected / np.linalg.norm(expected), rtol=1e-6)


def test_pairs_are_the_words_that_pull_together():
    model = dv.fit(CORPUS, VECTORS, "unit-sum")
    explanation = model.explain("sea quiet", "quiet room", pairs=2)
    assert [(pair.word_a, pair.word_b) for pair in explanation.pairs] == [
        ("quiet", "quiet"),
        ("quiet", "room"),
    ]
    everything = model.explain("sea quiet", "quiet room", pairs=100)
    assert sum(pair.share for pair in everything.pairs) == pytest.approx(everything.cosine)


def test_words_without_a_vector_are_named_once():
    explanation = dv.fit(CORPUS, VECTORS, "unit-sum").explain("Lovely lovely sea", "room")
    assert explanation.unknown_a == ("lovely",)
    assert explanation.unknown_b == ()


def test_a_document_without_known_words_explains_nothing():
    explanation = dv.fit(CORPUS, VECTORS, "idf-center").explain("nothing", "sea")
    assert explanation.cosine == 0
    assert explanation.words_a == ()
    assert explanation.offset_a == 0


def test_lists_of_words_are_explained_too():
    model = dv.fit(CORPUS, VECTORS, "idf-sum")
    assert model.explain(["sea"], ["room", "sea"]) == model.explain("sea", "room sea")


def test_two_texts_are_expected():
    with pytest.raises(dv.CorpusError, match="every document must be a string"):
        dv.fit(CORPUS, VECTORS, "idf-sum").explain("sea", 7)


def test_an_explanation_shows_itself_in_a_notebook():
    explanation = dv.fit(CORPUS, VECTORS, "idf-sum").explain("sea", "room")
    assert "pulls together" in explanation._repr_html_()
    assert repr(explanation).startswith("Explanation(cosine ")
    assert len(repr(explanation)) < 200


def test_all_pairs_together_and_apart_add_up_to_the_cosine():
    model = dv.fit(CORPUS, VECTORS, "idf-delta-pca")
    a, b = model.decompose("quiet sea sea"), model.decompose("room quiet and sea")
    pairs = (*top_pairs(a, b, 100), *top_pairs(a, b, 100, -1))
    assert {pair.share < 0 for pair in pairs} == {True, False}
    assert sum(pair.share for pair in pairs) == pytest.approx(float(a.vector @ b.vector))
    assert top_pairs(a, b, 2) == model.explain("quiet sea sea", "room quiet sea", pairs=2).pairs
    assert top_pairs(a, b, 0) == top_pairs(a, model.decompose("?"), 5, -1) == ()


def test_of_a_document_that_leaves_only_rounding_nothing_is_shared():
    model = dv.fit(["sea"] * 4, VECTORS, "unit-sum-pca")
    apart = model.decompose("sea")
    assert not apart.vector.any()
    found = shares(apart, VECTORS.matrix[1].astype(float))
    assert (found.words, found.by_word) == ((("sea", 1, 0.0),), {"sea": 0.0})


@pytest.mark.parametrize("recipe", ["idf-delta-pca", "idf-center-pca", "idf-sum-pca"])
def test_before_the_removal_the_cosine_was_that_of_the_model_without_it(recipe):
    texts = ("quiet sea sea", "room quiet and sea")
    model = dv.fit(CORPUS, VECTORS, recipe)
    found = removal(*map(model.decompose, texts), model.table)
    whole = replace(model, table=model.table.restored())
    # The table is float32: what was removed and put back differs in the seventh digit.
    assert found.before == pytest.approx(whole.explain(*texts).cosine, abs=1e-5)
    assert found.before == pytest.approx(found.left + found.taken)
    assert found.components == 1
    assert {word for word, _ in found.words_a} == {"quiet", "sea"}
    if recipe != "idf-center-pca":  # else the offset has a part too
        assert sum(share for _, share in found.words_b) == pytest.approx(found.taken)


def test_nothing_is_taken_where_nothing_is_removed_or_known():
    model = dv.fit(CORPUS, VECTORS, "idf-sum")
    assert removal(model.decompose("sea"), model.decompose("room"), model.table) is None
    model = dv.fit(CORPUS, VECTORS, "idf-center-pca")
    assert removal(model.decompose("xyzzy"), model.decompose("sea"), model.table) == (
        (1, 0.0, 0.0, 0.0, (), ())
    )
