"""Collections whose model names a tokenizer of others: used where it is trusted."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import deltavec as dv
from deltavec.collection.answers import AnalyzedText
from deltavec.core.text.tokenize import find_spans

CODE = 'def cut(text):\n    return (part.lower() for part in text.replace("-", " ").split())\n'
TEXTS = ["Sea-room sea", "room-lamp", "lamp-Sea room", "sea"] * 3
LEAST = dv.Recipe(form="spectral", dimensions=2)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder on the path of Python, with a module that parts text at dashes."""
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "by_dashes.py").write_text(CODE)
    yield tmp_path
    sys.modules.pop("by_dashes", None)


@pytest.fixture
def collection(folder: Path) -> dv.Collection:
    model = dv.fit(TEXTS, recipe=LEAST, tokenizer="by_dashes:cut")
    return dv.build_collection(model, TEXTS, folder / "c.idx")


def test_a_collection_is_searched_and_changed_by_a_named_tokenizer(
    collection: dv.Collection,
) -> None:
    for opened in (collection, dv.open_collection(collection.path, trust=True)):
        assert opened.search("room-lamp", 1, by="keyword")[0].text == "room-lamp"
        why = opened.why("room-lamp", "1")
        assert why.matched == ("room", "lamp")
        assert sum(word.share for word in why.words) + why.center == pytest.approx(why.score)
    added = opened.add(["lamp-lamp-room"])
    assert added.search("lamp-room", 20)[-1].score is not None
    assert len(added.remove(["0"])) == len(TEXTS)


def test_words_are_marked_where_they_stand(collection: dv.Collection) -> None:
    found = AnalyzedText(collection.model, "A Sea-room").spans
    assert (found.words, found.begins.tolist(), found.ends.tolist()) == (
        ["a", "sea", "room"],
        [0, 2, 6],
        [1, 5, 10],
    )


def test_a_word_that_does_not_stand_there_has_no_place() -> None:
    found = find_spans("İt went on", ["it", "", "go", "ON"])
    assert (found.words, found.begins.tolist()) == (["ON"], [8])


def test_without_trust_nothing_is_imported_and_words_are_still_found(
    collection: dv.Collection, folder: Path
) -> None:
    (folder / "by_dashes.py").write_text("raise SystemExit('imported')")
    sys.modules.pop("by_dashes")
    opened = dv.open_collection(collection.path)
    assert opened.info()["documents"] == len(TEXTS)
    assert opened.search([["room", "lamp"]], 1)[0][0].text == "room-lamp"
    assert opened.similar("1", 1)[0].text == "room-lamp"
    for refused in (
        lambda: opened.search("room-lamp"),
        lambda: opened.add(["lamp"]),
        lambda: opened.remove(["0"]),
        lambda: dv.build_collection(opened.model, TEXTS, folder / "d.idx"),
    ):
        with pytest.raises(dv.ModelError, match=r"is by_dashes:cut, .* trust=True \(--trust\)"):
            refused()
    assert not (folder / "d.idx").exists()
    assert len(dv.open_collection(collection.path)) == len(TEXTS)


def test_what_takes_the_place_of_a_trusted_collection_is_not_trusted(
    collection: dv.Collection, folder: Path
) -> None:
    from deltavec.collection.open import refresh

    (folder / "others.py").write_text(CODE)
    other = dv.fit(TEXTS, recipe=LEAST, tokenizer="others:cut")
    dv.build_collection(other, TEXTS, collection.path)
    with pytest.raises(dv.ModelError, match="is others:cut"):
        refresh(collection).search("lamp")
    same = dv.fit(TEXTS[1:], recipe=LEAST, tokenizer="by_dashes:cut")
    dv.build_collection(same, TEXTS[1:], collection.path)
    assert refresh(collection).search("room-lamp", 1)[0].text == "room-lamp"
