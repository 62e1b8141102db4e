"""What groups are called: words that many of their documents hold, and others do not."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import deltavec as dv
from deltavec.collection.topics import names as term_counts
from deltavec.collection.topics.names import are_forms, function_words, group_names, word_lists

TEXTS = [
    "She said that her boat was on the sea, and she was in the bay",
    "She saw her ship on the sea and in the bay 12 12",
    "They said that their lamp was by the bed in the room",
    "They saw their lamp in the room and on the bed 12 12",
    "It is a market of shares, and the bank is in the market",
    "It is a bank of shares, and the shares are in the market",
] * 3
LABELS = np.array([0, 0, 1, 1, 2, 2] * 3, np.int32)


@pytest.fixture(scope="module")
def collection(tmp_path_factory: pytest.TempPathFactory) -> dv.Collection:
    folder = tmp_path_factory.mktemp("names") / "c.idx"
    model = dv.fit(TEXTS, recipe=dv.Recipe(form="spectral", n_components_removed=0, dimensions=6))
    return dv.build_collection(model, TEXTS, folder)


def test_a_group_is_named_by_what_tells_it_from_the_others(collection: dv.Collection) -> None:
    names = group_names(collection, LABELS, words=3)
    assert {"sea", "bay"} <= set(names[0])
    assert {"lamp", "bed", "room"} == set(names[1])
    assert {"market", "bank", "shares"} == set(names[2])


def test_function_words_and_numbers_name_nothing(collection: dv.Collection) -> None:
    names = {word for words in group_names(collection, LABELS, words=50) for word in words}
    assert not names & word_lists()["english"]
    assert "12" not in names


def test_character_ngrams_name_nothing(tmp_path: Path) -> None:
    recipe = dv.Recipe(form="spectral", n_components_removed=0, dimensions=6)
    model = dv.fit(TEXTS, recipe=recipe, units="words+grams")
    built = dv.build_collection(model, TEXTS, tmp_path / "c.idx")
    names = group_names(built, LABELS, words=3)
    assert all(names)
    assert {word for words in names for word in words} <= set(" ".join(TEXTS).lower().split())


def test_documents_in_no_group_do_not_matter(collection: dv.Collection) -> None:
    some = np.where(LABELS == 1, -1, LABELS // 2).astype(np.int32)
    names = group_names(collection, some, words=3)
    assert [len(words) for words in names] == [3, 3]
    assert not {"lamp", "bed", "room"} & {word for words in names for word in words}


def test_one_group_and_none_have_names_too(collection: dv.Collection) -> None:
    (only,) = group_names(collection, np.zeros(18, np.int32), words=4)
    assert len(only) == 4
    assert group_names(collection, np.full(18, -1, np.int32)) == []


def test_a_group_without_members_has_no_name(collection: dv.Collection) -> None:
    names = group_names(collection, np.where(LABELS == 1, -1, LABELS).astype(np.int32))
    assert names[1] == []
    assert names[0]
    assert names[2]


def test_words_are_counted_in_blocks_of_terms_alike(
    collection: dv.Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = term_counts.count_terms(collection, LABELS, 3)
    monkeypatch.setattr(term_counts, "POSTINGS_AT_ONCE", 5)
    monkeypatch.setattr(term_counts, "CELLS_AT_ONCE", 7)
    parts = term_counts.count_terms(collection, LABELS, 3)
    assert parts.words == whole.words
    assert (parts.counts != whole.counts).nnz == 0
    sea = whole.words.index("sea")
    assert whole.counts[sea].toarray().tolist() == [[6, 0, 0]]
    assert whole.sizes.tolist() == [6, 6, 6]


def test_two_characters_side_by_side_name_a_script_without_spaces(tmp_path: Path) -> None:
    texts = ["北京 大学", "北京 市", "上海 港口", "上海 大港"] * 4
    model = dv.fit(texts, recipe=dv.Recipe(form="spectral", n_components_removed=0, dimensions=4))
    built = dv.build_collection(model, texts, tmp_path / "c.idx")
    names = group_names(built, np.array([0, 0, 1, 1] * 4, np.int32), words=1)
    assert names == [["北京"], ["上海"]]


def test_a_list_counts_only_where_its_language_is_written() -> None:
    english = {"the": 10, "war": 2, "of": 9, "in": 10, "and": 9, "to": 9, "peace": 5, "tank": 5}
    german = {"der": 9, "war": 8, "die": 9, "und": 9, "es": 9, "frieden": 5, "panzer": 5}
    assert "war" not in function_words(english)
    assert "the" in function_words(english)
    assert "war" in function_words(german)
    assert function_words({}) == frozenset()
    assert function_words({"tank": 3}) == frozenset()


@pytest.mark.parametrize(
    ("a", "b", "same"),
    [
        ("fire", "fires", True),
        ("fires", "fire", True),
        ("car", "cars", True),
        ("car", "career", False),
        ("is", "iso", False),
        ("sea", "bay", False),
    ],
)
def test_forms_of_a_word_name_a_group_once(a: str, b: str, same: bool) -> None:
    assert are_forms(a, b) is same
