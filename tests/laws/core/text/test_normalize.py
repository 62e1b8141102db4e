"""Texts in one way of writing: as Unicode's own mappings say, and alike in kernel and reference."""

from __future__ import annotations

import hashlib
import unicodedata

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

import reference
from deltavec.core.text.batches import as_text_batch
from deltavec.core.text.normalize import fold, fold_with_offsets, mappings
from deltavec.core.text.rules import TextBatch, rule
from support.strategies import CURIOUS, texts

RULE = "words+folded"
# Bases, marks of several classes, what composes with what stands before it, what is left out.
CHARACTERS = [
    *"aEiIİıßẞςΣσéÉñơçŀ½ﬁﷺﻼ가각ᄀ\u1161\u11a8\u11a7ｶﾞｦคำकড\u09c7\u09be\u09d7",
    *"\u0301\u0307\u0323\u0327\u0328\u031b\u0345\u0308\u0f71\u0f72\u0f73\u093c\u05b8\u05bc",
    *"\u00ad\u0640\u064e\u0651\u0670\u200c\u200d\u200b\ufe0f\ufeff\u034f .,'’-_9²①\U0001d400",
]

written = st.one_of(
    st.text(st.sampled_from(CHARACTERS), max_size=30),
    st.text(st.one_of(st.sampled_from(CHARACTERS), st.sampled_from(CURIOUS)), max_size=30),
    texts(),
)


def by_kernel(text: str) -> str:
    """What the kernel makes of a text, ASCII in lower case as the rule reads it afterwards."""
    data, ends, _ = as_text_batch([text], RULE)
    found = data[ends[0] : ends[1]].tobytes().decode()
    return "".join(one.lower() if one.isascii() else one for one in found)


@given(written)
@example("e\u00ad\u0301 I\u0307\u0323 i\u031b\u0307\u0307 \u0301a ½\u0301 ﬁ\u0301")
@example("\u1100\u1161\u11a8 가\u11a8 각\u11a8 \u0f71\u0f72 x\u00ad\u00ad ᾳ\u0301")
def test_kernel_and_reference_write_alike(text: str) -> None:
    expected = fold(text)
    assert by_kernel(text) == expected
    assert expected == reference.folded(text)
    assert fold(expected) == expected


@given(written)
def test_texts_that_are_the_same_to_unicode_are_the_same(text: str) -> None:
    expected = fold(unicodedata.normalize("NFD", text))
    assert fold(unicodedata.normalize("NFC", text)) == expected


@given(written)
def test_every_character_says_where_it_came_from(text: str) -> None:
    own = fold_with_offsets(text)
    for character, begin, end in zip(own.text, own.begins, own.ends, strict=True):
        assert character in fold(text[begin:end])


def test_every_character_that_has_an_entry_is_written_alike() -> None:
    apart = " x".join(map(chr, sorted(mappings())))
    assert by_kernel(apart) == fold(apart)


def test_the_tables_are_those_of_every_python() -> None:
    told = ascii(sorted(mappings().items()))
    assert hashlib.sha256(told.encode()).hexdigest()[:16] == "f19bec52b4a8299c"


@given(written)
def test_pieces_that_are_normalized_each_by_itself_make_the_whole(text: str) -> None:
    assert fold_with_offsets(text).text == fold(text)


def test_very_many_marks_are_put_in_order() -> None:
    marks = "\u0301\u0323\u0327" * 400
    assert by_kernel(f"a{marks} b") == fold(f"a{marks} b")


def test_what_is_not_utf_8_still_separates_words() -> None:
    from deltavec.core.text.normalize import fold_batch

    data = b"a\xc3 \xc3\xc2\xad\xa9 \xed\xa0\x80\xf4\x90\x80\x80\xe9\xff \xc3\xa9e\xcc"
    given_texts = TextBatch(
        np.frombuffer(data, np.uint8), np.array([0, len(data)], np.int64), rule(RULE)
    )
    found = fold_batch(given_texts).data.tobytes()
    assert found.split() == [part.encode() for part in ["a�", "��", "���������", "ée�"]]
