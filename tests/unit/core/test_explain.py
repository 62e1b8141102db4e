import pytest

import deltavec as dv

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
