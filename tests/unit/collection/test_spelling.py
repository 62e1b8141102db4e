"""Known words that are spelled nearly as an unknown one is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deltavec.collection.query import suggest
from deltavec.core.vocabulary import Vocabulary

KNOWN = Vocabulary.of(
    ["the", "room", "quiet", "restaurant", "boom", "öffnung", "bed", "accommodation", "roam"]
)


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("qiuet", ["quiet"]),  # two letters changed places
        ("quieet", ["quiet"]),  # one too many
        ("quit", ["quiet"]),  # one missing
        ("öffmung", ["öffnung"]),  # another one
        ("rooom", ["room"]),
        ("roem", ["room", "roam"]),  # the more frequent first
        ("restaraunt", ["restaurant"]),  # two slips in a long word
        ("acomodation", ["accommodation"]),
        ("bad", []),  # too short to tell
        ("xyzzy", []),
        ("completely", []),
        ("", []),
    ],
)
def test_only_what_is_near_is_suggested(typed: str, expected: list[str]) -> None:
    assert suggest(typed, KNOWN) == expected


def test_no_more_are_suggested_than_asked_for() -> None:
    many = Vocabulary.of([f"room{letter}" for letter in "abcdef"])
    assert suggest("roomx", many, most=2) == ["rooma", "roomb"]


def test_no_words_suggest_nothing() -> None:
    assert suggest("quietly", Vocabulary.of([])) == []


@given(st.text(st.characters(categories=["L"]), min_size=5, max_size=12), st.data())
def test_any_word_that_lost_or_doubled_a_letter_is_found(word: str, data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(word) - 1))
    lost, doubled = word[:place] + word[place + 1 :], word[: place + 1] + word[place:]
    for slipped in (lost, doubled):
        assert suggest(slipped, Vocabulary.of([word])) == [word]
