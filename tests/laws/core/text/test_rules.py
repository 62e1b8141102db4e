"""The fused tokenizer parts text as the slow ones do: the library's own, and the reference's."""

from __future__ import annotations

import sys
from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import reference
from deltavec.core.batching import count_batch
from deltavec.core.model import EmbeddingModel
from deltavec.core.text import tokenize
from deltavec.core.text.batches import as_text_batch
from deltavec.core.vocabulary import Vocabulary
from support.strategies import BROKEN, CURIOUS, UNICODE_14, texts, utf8_and_not


def strings(documents: list[bytes]) -> pa.Array:
    """An Arrow array of strings that holds these bytes, be they UTF-8 or not."""
    offsets = np.cumsum([0, *map(len, documents)], dtype=np.int64)
    buffers = [None, pa.py_buffer(offsets.tobytes()), pa.py_buffer(b"".join(documents))]
    return pa.Array.from_buffers(pa.large_string(), len(documents), buffers)


def assert_counts(documents: list[bytes], expected: list[list[str]], tokenizer: str) -> None:
    """The fused loop finds exactly these words.

    The vocabulary holds all of them, in order of length for good measure, words that differ from
    them late or in case only, and what stands between blanks as it is written, which must not be
    found unless it is a word.
    """
    counts = Counter(word for words in expected for word in words)
    decoys = {word[:-1] + "ж" for word in counts} | {word + "x" for word in counts}
    decoys |= {word.upper() for word in counts} | {word[:-1] for word in counts} - {""}
    decoys |= {run for data in documents for run in data.decode("utf-8", "ignore").split()}
    vocabulary = Vocabulary.of(sorted({*counts, *decoys}, key=len))
    statistics = count_batch(as_text_batch(strings(documents), tokenizer), vocabulary)
    found = dict(zip(vocabulary.words, statistics.token_counts.tolist(), strict=True))
    assert {word: n for word, n in found.items() if n} == dict(counts)
    assert statistics.tokens == sum(counts.values())
    assert statistics.documents == len(documents)
    assert statistics.unknown_documents == sum(not words for words in expected)


@given(st.text(st.characters(max_codepoint=200)), st.sampled_from(["words", "whitespace"]))
@example("Don't PANIC\0 42_a\x7f", "words")
def test_a_model_parts_a_query_as_the_slow_rule_does(text: str, name: str) -> None:
    own = EmbeddingModel._tokenize_by(None, name, text)  # type: ignore[arg-type]
    assert own == tokenize.tokenize(text, name)


@given(documents=st.lists(texts(), max_size=4))
@example(documents=["".join(CURIOUS)])
@example(documents=[" ".join(CURIOUS)])
@example(documents=["exactly8", "exactly8 exactly9x", "", "seventeen_letters"])
@example(documents=["Straße STRASSE ẞ", "ȺȾȺȾ", "300K", "İİİİ"])
@example(documents=["“élan” d’été", "Été été—été", "a slow—very slow—émigré"])
def test_the_fused_tokenizer_equals_both_slow_ones_on_any_text(documents: list[str]) -> None:
    expected = [reference.words(text) for text in documents]
    assert [tokenize.tokenize(text, "words").units for text in documents] == expected
    assert_counts([text.encode() for text in documents], expected, "words")


PARTS_OF_LONG_STRETCHES = ["a", "été", "Élan", "жук", "日本", "—", "…", "“", "\u0301", " "]


@given(
    documents=st.lists(
        st.lists(st.sampled_from(PARTS_OF_LONG_STRETCHES), min_size=30, max_size=150).map("".join),
        max_size=3,
    )
)
@example(documents=["—" * 100, "—a" * 100, "日本。" * 40])
def test_long_stretches_without_a_blank_are_parted_alike(documents: list[str]) -> None:
    expected = [reference.words(text) for text in documents]
    assert_counts([text.encode() for text in documents], expected, "words")


@given(documents=st.lists(utf8_and_not(), max_size=4))
@example(documents=[b"Tea" + broken + b"pot " + broken for broken in BROKEN])
@example(documents=[b"\xc3", b"\xa9t\xc3\xa9"])
def test_broken_bytes_separate_words_and_stay_in_their_document(documents: list[bytes]) -> None:
    expected = [reference.words_of_bytes(data) for data in documents]
    decoded = [data.decode("utf-8", errors="replace") for data in documents]
    assert [tokenize.tokenize(text, "words").units for text in decoded] == expected
    assert_counts(documents, expected, "words")


@given(documents=st.lists(texts(), max_size=4))
def test_whitespace_keeps_what_str_split_keeps(documents: list[str]) -> None:
    # U+0000 is no part of any word; str.split knows no such exception.
    expected = [text.replace("\0", " ").replace("\ufffd", " ").split() for text in documents]
    assert [tokenize.tokenize(text, "whitespace").units for text in documents] == expected
    assert_counts([text.encode() for text in documents], expected, "whitespace")


EVERY_CHARACTER = [chr(c) for c in range(sys.maxunicode + 1) if not 0xD800 <= c < 0xE000]
# From U+32000 on there is next to nothing: every hundredth will do where time is short.
MOST_CHARACTERS = [c for c in EVERY_CHARACTER if c < "\U00032000" or ord(c) % 100 == 0]


@pytest.mark.skipif(not UNICODE_14, reason="the table is frozen at Unicode 14")
def test_the_table_is_right_about_every_character() -> None:
    for begin in range(0, len(EVERY_CHARACTER), 256):
        text = "\n".join(EVERY_CHARACTER[begin : begin + 256])
        assert tokenize.tokenize(text, "words").units == reference.words(text)


@pytest.mark.compiled
@pytest.mark.skipif(not UNICODE_14, reason="the table is frozen at Unicode 14")
def test_the_fused_tokenizer_is_right_about_every_character() -> None:
    # Each in a word of its own length, so that it falls on every place of an eight-byte block.
    documents = [
        f"{'x' * (place % 9)}{character}y" for place, character in enumerate(MOST_CHARACTERS)
    ]
    expected = [reference.words(text) for text in documents]
    vocabulary = Vocabulary.of(sorted({word for words in expected for word in words}))
    statistics = count_batch(as_text_batch(documents, "words"), vocabulary)
    counts = Counter(word for words in expected for word in words)
    assert statistics.token_counts.tolist() == [counts[word] for word in vocabulary.words]
    assert statistics.tokens == sum(counts.values())
