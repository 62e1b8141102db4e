import deltavec as dv

VECTORS = dv.WordVectors(["sea", "room", "quiet"], [[1, 0], [0, 1], [0.6, 0.8]])
CORPUS = ["sea sea", "room quiet", "room", "room sea"]


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
    assert "minus the corpus' center" in html
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
