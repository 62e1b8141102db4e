"""Where the tokens of a text stand in it."""

from __future__ import annotations

from deltavec.core.text.normalize import fold_with_offsets
from deltavec.core.text.tokenize import find_spans, spans


def test_words_of_any_tokenizer_are_found_in_their_order() -> None:
    spans = find_spans("The İ sea: the SEA", ["the", "İ", "sea", "lemma", "", "sea"])
    assert spans.words == ["the", "İ", "sea", "sea"]
    assert spans.begins.tolist() == [0, 4, 6, 15]
    assert spans.ends.tolist() == [3, 5, 9, 18]


def test_a_word_that_the_text_does_not_hold_is_left_out() -> None:
    assert find_spans("sea", ["room"]).words == []


def test_invisible_characters_belong_to_the_character_before_them() -> None:
    folded = fold_with_offsets("e\u00ad\u0301x")
    assert folded.text == "éx"
    assert folded.begins.tolist() == [0, 3]
    assert folded.ends.tolist() == [3, 4]


def test_words_are_lowered_and_offsets_are_those_of_the_text_as_written():
    found = spans("Don't PANIC", "words")
    assert (found.words, found.begins.tolist(), found.ends.tolist()) == (
        ["don", "t", "panic"], [0, 4, 6], [3, 5, 11],
    )  # fmt: skip
    folded = spans("ﬁne Ｃafé", "words+folded")
    assert folded.begins.tolist() == [0, 4]
    assert folded.ends.tolist() == [3, 8]
