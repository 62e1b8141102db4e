"""A document that is cut up for many threads has the vector that it has whole."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deltavec.core.batching import GAP_WINDOW, count_batch, embed_batch, gap_after, split_tokens
from deltavec.core.fitting import fit
from deltavec.core.statistics import TextCounts
from deltavec.core.text.batches import as_text_batch
from deltavec.core.vectors import WordVectors

WORDS = ["sea", "été", "море", "room", "quiet", "a_longer_word"]
MODEL = fit(
    ["sea été море", "quiet room", "a_longer_word room sea"],
    WordVectors(WORDS, np.random.default_rng(0).standard_normal((len(WORDS), 5))),
    "idf-delta",
)

documents = st.lists(
    st.lists(st.sampled_from([*WORDS, "unknown", ".", "\u3000", "\n"]), max_size=40).flatmap(
        lambda parts: st.sampled_from([" ", "", "\u3000"]).map(lambda gap: gap.join(parts))
    ),
    max_size=6,
)


@given(documents, st.integers(1, 60), st.sampled_from(["words", "whitespace", str.split]))
def test_cutting_documents_up_changes_nothing_but_rounding(texts, size, tokenizer):
    chunk = as_text_batch(texts, tokenizer)
    whole = embed_batch(chunk, MODEL.vocabulary, MODEL.table)
    cut = embed_batch(chunk, MODEL.vocabulary, MODEL.table, giant_bytes=size)
    assert cut.vectors == pytest.approx(whole.vectors, abs=2e-6)
    assert np.array_equal(cut.vectors.any(axis=1), whole.vectors.any(axis=1))
    again = embed_batch(chunk, MODEL.vocabulary, MODEL.table, 2, giant_bytes=size)
    assert np.array_equal(cut.vectors, again.vectors)


@given(documents, st.integers(1, 60), st.sampled_from(["words", "whitespace", str.split]))
def test_embedding_counts_the_words_that_counting_counts(texts, size, tokenizer):
    chunk = as_text_batch(texts, tokenizer)
    expected = TextCounts.of(count_batch(chunk, MODEL.vocabulary))
    for giant_bytes in (1 << 20, size):
        made = embed_batch(chunk, MODEL.vocabulary, MODEL.table, giant_bytes=giant_bytes)
        assert made.counts == expected


def test_a_giant_document_without_known_words_is_a_zero_row():
    chunk = as_text_batch(["nothing known " * 9, "sea"], "words")
    vectors = embed_batch(chunk, MODEL.vocabulary, MODEL.table, giant_bytes=20).vectors
    assert vectors.any(axis=1).tolist() == [False, True]


@given(documents.filter(len), st.integers(1, 20))
def test_parts_hold_every_byte_in_order(texts, size):
    chunk = as_text_batch(texts[:1], "words")
    ends = split_tokens(chunk, size).ends
    assert (ends[0], ends[-1]) == (chunk.ends[0], chunk.ends[1])
    assert (np.diff(ends) > 0).all()


def test_a_gap_far_away_is_found():
    data = np.full(3 * GAP_WINDOW, ord("x"), np.uint8)
    separates = np.arange(256) == ord(" ")
    assert gap_after(data, 7, len(data), separates) == len(data)
    data[2 * GAP_WINDOW] = ord(" ")
    assert gap_after(data, 7, len(data), separates) == 2 * GAP_WINDOW + 1
