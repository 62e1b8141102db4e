"""Where words stand in a text, and the stretch of it that is shown."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from deltavec.collection.answers import excerpt
from deltavec.core.text.tokenize import spans, words

TEXT = "First comes nothing. Then a quiet sea, and the sea again. At last nothing more is said."


@given(st.text(), st.sampled_from(["words", "whitespace", "words+folded"]))
def test_the_words_are_those_of_the_reference_and_stand_where_they_are_said_to(
    text: str, tokenizer: str
) -> None:
    found = spans(text, tokenizer)
    assert found.words == words(text, tokenizer)
    for word, begin, end in zip(found.words, found.begins, found.ends, strict=True):
        assert word in words(text[begin:end], tokenizer)


@given(st.text("ab .\n", max_size=60), st.integers(0, 40))
def test_pieces_put_together_are_the_excerpt_and_no_longer_than_asked(
    text: str, length: int
) -> None:
    shown = excerpt(text, spans(text, "words"), {"a": 1.0, "ab": -1.0}, length)
    assert "".join(piece for piece, _ in shown.pieces) == shown.text
    assert shown.text == text[shown.begin : shown.begin + len(shown.text)]
    assert len(shown.text) == min(len(text) - shown.begin, length)


def test_known_words_have_their_share_and_others_are_joined() -> None:
    shown = excerpt("A Sea, calm sea!", spans("A Sea, calm sea!", "words"), {"sea": 0.5}, 100)
    assert shown.pieces == [
        ("A ", None),
        ("Sea", 0.5),
        (", calm ", None),
        ("sea", 0.5),
        ("!", None),
    ]


def test_the_excerpt_begins_at_the_sentence_with_most_share() -> None:
    shown = excerpt(TEXT, spans(TEXT, "words"), {"sea": 0.3, "nothing": 0.1}, 40)
    assert shown.text.startswith("Then a quiet sea")


def test_a_text_that_fits_is_shown_whole() -> None:
    shown = excerpt(TEXT, spans(TEXT, "words"), {"said": 1.0}, len(TEXT))
    assert (shown.begin, shown.text) == (0, TEXT)


def test_words_that_push_apart_do_not_draw_the_excerpt() -> None:
    shown = excerpt(TEXT, spans(TEXT, "words"), {"sea": -0.3}, 40)
    assert shown.begin == 0


def test_words_deep_in_a_long_sentence_are_shown_with_some_words_before_them() -> None:
    text = "nothing here " * 50 + "but one quiet sea " + "and nothing there " * 50
    shown = excerpt(text, spans(text, "words"), {"sea": 0.3, "quiet": 0.2}, 80)
    assert "here but one quiet sea and" in shown.text
    assert 0 < shown.text.index("quiet") <= 20 + len("nothing")


def test_words_at_the_beginning_of_a_sentence_do_not_move_the_excerpt() -> None:
    text = "A calm bay. " + "The sea is quiet, " + "and nothing else " * 30
    shown = excerpt(text, spans(text, "words"), {"sea": 0.3, "quiet": 0.2, "calm": 0.1}, 60)
    assert shown.begin == 0
