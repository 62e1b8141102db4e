"""Texts as nobody expects them, counted in every kind of unit."""

from __future__ import annotations

import numpy as np
import pytest

import deltavec as dv
from deltavec.core.batching import count_batch
from deltavec.core.text.batches import as_text_batch
from deltavec.core.text.tokenize import tokenize

FAMILY = "👨\u200d👩\u200d👧\u200d👦"
ODD = {
    "scripts mixed in one word": "iPhone手机абвกำαβγ漢字abc日9",
    "emoji sequences": f"{FAMILY} 🇫🇮🇯🇵 👍🏽 1️⃣ a{FAMILY}b ❤️‍🔥",
    "letters of four bytes": "𐐀𐐁𐐂 by 𝒳𝓎𝓏 the 𠮷野家 sea 😀𐐀 𐐀😀 a😀",
    "unpaired surrogates": "a\ud800b 漢\udc00字 \udfff",
    "marks without a letter": "\u0301\u0302 \u0e31\u0e34 a\u0301\u0301",
    "nothing but separators": " \u3000,.。、\0\x1b",
    "soft hyphens and joiners": "co\u00adoperate می\u200cروم a\u2060b",
}
UNITS = ["words", "words+grams", "grams", "grams-2", "grams-8"]
CORPUS = ["the quiet room", "漢字の部屋 quiet", "тихая комната", "ห้องเงียบ the room"] * 4


def model_of(units: str) -> dv.EmbeddingModel:
    return dv.fit(CORPUS, recipe=dv.Recipe(form="spectral", dimensions=4), units=units)


@pytest.mark.parametrize("units", UNITS)
def test_odd_texts_have_the_units_of_the_reference_and_a_vector(units: str) -> None:
    model = model_of(units)
    texts = [*ODD.values()]
    rows = model.embed(texts + [f"{text} quiet room" for text in texts])
    lengths = np.linalg.norm(rows, axis=1)
    assert np.all((np.abs(lengths - 1) < 1e-6) | (lengths == 0))
    assert np.all(lengths[len(texts) :] > 0)  # what is known is found beside what is odd
    for text in texts:
        mended = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        expected = tokenize(mended, str(model.tokenizer)).units
        assert count_batch(as_text_batch([text], model.tokenizer), model.vocabulary).tokens == len(
            expected
        )


@pytest.mark.parametrize("units", UNITS)
def test_odd_texts_are_explained(units: str) -> None:
    model = model_of(units)
    for text in ODD.values():
        explanation = model.explain(f"{text} quiet room", f"room {text}")
        shares = sum(word.share for word in explanation.words_a) + explanation.offset_a
        assert shares == pytest.approx(explanation.cosine, abs=1e-6)


@pytest.mark.compiled
@pytest.mark.parametrize("units", ["words", "words+grams"])
def test_a_document_of_a_million_characters_without_a_space_is_one_document(units: str) -> None:
    model = model_of(units)
    long = "漢字の部屋" * 200_000
    rows = model.embed([long, "漢字の部屋"])
    assert rows[0] @ rows[1] > 0.9
    assert count_batch(as_text_batch([long], model.tokenizer), model.vocabulary).tokens == 1_999_999
