"""The same word as people write it: what is made one, what stays apart, and who may ask for it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import deltavec as dv
from deltavec.core.text.normalize import fold, fold_batch
from deltavec.core.text.tokenize import words

RULE = "words+folded"
LEAST = dv.Recipe(form="spectral", dimensions=2)
TEXTS = ["Das Café in der Straße", "Ein Fuß, ein Café", "Die Straße, der Fuß"] * 3


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("café", "cafe\u0301"),  # composed and decomposed
        ("Việt", "Vie\u0323\u0302t"),
        ("각", "\u1100\u1161\u11a8"),
        ("Ｄｅｌｔａ９", "delta9"),  # full width
        ("ｶﾞｿﾘﾝ", "ガソリン"),  # half width
        ("كِتَاب", "كتاب"),  # vowel marks
        ("كتـــاب", "كتاب"),  # tatweel
        ("ﻛﺘﺎﺏ", "كتاب"),  # presentation forms
        ("Straße", "STRASSE"),
        ("ΣΟΦΟΣ", "σοφος"),
        ("co\u00adoperation", "cooperation"),
        ("ﬁnal ﬄ", "final ffl"),
        ("İzmir", "izmir"),
        ("葛\U000e0100", "葛"),  # a variant of a character
        ("m²", "m2"),
    ],
)
def test_these_are_written_alike(one: str, other: str) -> None:
    assert words(one, RULE) == words(other, RULE)
    assert words(one, "words") != words(other, "words")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("l'eau l’eau", ["l", "eau", "l", "eau"]),
        ("don't O'Brien", ["don", "t", "o", "brien"]),
        ("state-of-the-art", ["state", "of", "the", "art"]),
        ("می\u200cخواهم", ["می", "خواهم"]),  # the half-space of Persian
        ("ශ්\u200dරී", ["ශ්", "රී"]),
        ("ısı ISI", ["ısı", "isi"]),  # Turkish, whose capital I is another letter
        ("hoà hòa", ["hoà", "hòa"]),  # two ways of Vietnamese to place a tone
        ("Google™ 5½ œuvre", ["google", "5½", "œuvre"]),
        ("أحمد احمد", ["أحمد", "احمد"]),
        ("résumé resume", ["résumé", "resume"]),
    ],
)
def test_these_stay_as_they_are(text: str, expected: list[str]) -> None:
    assert words(text, RULE) == expected


def test_text_in_ascii_is_not_copied() -> None:
    from deltavec.core.text.batches import as_text_batch

    plain = as_text_batch(["Plain text", ""], "words")
    assert fold_batch(plain) is plain
    assert fold("PLAIN") == "plain"


def test_a_model_reads_every_way_of_writing_alike(tmp_path: Path) -> None:
    model = dv.fit(TEXTS, recipe=LEAST, normalization="folded")
    assert "strasse" in model.vocabulary.words
    assert model.info()["normalization"] == "folded"
    assert model.info()["tokenizer"] == "words"
    one, other = model.embed(["Café Straße", "CAFE\u0301 STRASSE"])
    assert one.any()
    assert np.array_equal(one, other)
    why = model.explain("Cafe\u0301", "ﬁn CAFÉ")
    assert why.cosine == pytest.approx(1)
    assert [word.word for word in why.words_a] == ["café"]
    model.save(tmp_path / "m.dv")
    assert np.array_equal(dv.load(tmp_path / "m.dv").embed(TEXTS), model.embed(TEXTS))
    assert dv.fit(TEXTS, recipe=LEAST).info()["normalization"] == "none"


def test_units_are_chosen_of_what_was_folded() -> None:
    texts = [f"wörd{number} Straße{number % 7}" for number in range(600)]
    model = dv.fit(texts, recipe=LEAST, normalization="folded")
    assert model.tokenizer == "words+folded:grams-4"
    asked = dv.fit(texts, recipe=LEAST, normalization="folded", units="words+grams")
    assert asked.tokenizer == "words+folded:words+grams-4"
    assert dv.DocumentEmbedder(normalization="folded", dimensions=2).fit(
        texts
    ).model_.tokenizer == (model.tokenizer)


def test_a_collection_marks_words_as_they_are_written(tmp_path: Path) -> None:
    from deltavec.collection.answers import AnalyzedText

    model = dv.fit(TEXTS, recipe=LEAST, normalization="folded")
    built = dv.build_collection(model, ["Die STRASSE", "Cafe\u0301!"], tmp_path / "c.idx")
    assert built.search("straße", 1, by="keyword")[0].text == "Die STRASSE"
    assert built.search("CAFÉ", 1, by="keyword")[0].id == "1"
    spans = AnalyzedText(built.model, "Im Cafe\u0301!").spans
    assert (spans.words, spans.begins.tolist(), spans.ends.tolist()) == (
        ["im", "café"],
        [0, 3],
        [2, 8],
    )


def test_what_has_no_normalization_refuses_it() -> None:
    vectors = dv.WordVectors(["sea"], [[1.0]])
    for arguments, message in (
        ({"normalization": "nfc"}, "normalization must be one of none, folded, got 'nfc'"),
        ({"normalization": "folded", "tokenizer": "whitespace"}, "is of the tokenizer 'words'"),
        ({"normalization": "folded", "tokenizer": str.split}, "is of the tokenizer 'words'"),
        ({"normalization": "folded", "vectors": vectors}, "leave the vectors or the normaliz"),
    ):
        with pytest.raises(dv.InputError, match=message):
            dv.fit(TEXTS, **arguments)
