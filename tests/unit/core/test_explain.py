import sys

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


def html_and_words():
    model = dv.fit(CORPUS, VECTORS, "idf-center")
    explanation = model.explain("Sea <script>alert(1)</script> quiet", "room room")
    return explanation, explanation._repr_html_()


def test_a_notebook_shows_both_texts_in_their_order_shaded_by_share():
    explanation, html = html_and_words()
    assert explanation.text_a == ("sea", "script", "alert", "1", "script", "quiet")
    assert html.index(">sea<") < html.index(">alert<") < html.index(">quiet<")
    assert html.count(">room<") == 2 + sum(
        (pair.word_a == "room") + (pair.word_b == "room") for pair in explanation.pairs
    )
    assert f"<b>{explanation.cosine:+.3f}</b>" in html
    assert html.count('title="not known"') == 4
    assert "minus the corpus' centre" in html
    largest = max(explanation.words_a + explanation.words_b, key=lambda word: abs(word.share))
    assert "0.60)" in html.split(f">{largest.word}<")[0].rsplit("<span", 1)[1]


def test_what_stands_in_a_text_is_never_markup():
    model = dv.fit(CORPUS, VECTORS, "idf-sum", tokenizer="whitespace")
    html = model.explain("<b>sea</b> \"quiet' &amp;", "sea <b>")._repr_html_()
    assert "<b>sea" not in html
    assert "&lt;b&gt;sea&lt;/b&gt;" in html
    assert "&amp;amp;" in html


def test_a_notebook_shows_empty_and_endless_texts():
    model = dv.fit(CORPUS, VECTORS, "idf-sum")
    html = model.explain("", "sea " * 1000)._repr_html_()
    assert "no words" in html
    assert "and 600 more words" in html
    assert "<table" not in html


def test_a_plot_has_a_bar_for_each_of_the_strongest_words():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("agg")
    from matplotlib import pyplot

    explanation = dv.fit(CORPUS, VECTORS, "idf-center").explain("sea quiet room", "room $x sea")
    left, right = explanation.plot(words=2)
    assert [label.get_text() for label in left.get_yticklabels()] == [
        word.word
        for word in sorted(
            sorted(explanation.words_a, key=lambda word: -abs(word.share))[:2],
            key=lambda word: word.share,
        )
    ]
    assert len(right.patches) == 2
    assert left.figure.get_suptitle() == f"cosine {explanation.cosine:+.3f}"
    pyplot.close(left.figure)


def test_a_plot_without_matplotlib_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    explanation = dv.fit(CORPUS, VECTORS, "idf-sum").explain("sea", "room")
    with pytest.raises(dv.MissingDependencyError, match=r"deltavec\[plots\]"):
        explanation.plot()
    with pytest.raises(dv.InputError, match="words must be a whole number"):
        explanation.plot(words=0)
