"""Token ids come a buffer at a time, and documents as they are complete."""

from __future__ import annotations

import numpy as np
import pytest

from deltavec.core import tokens
from deltavec.core.text.batches import as_text_batch
from deltavec.core.tokens import TermBuffers, TokenStream
from deltavec.core.vocabulary import Vocabulary

VOCABULARY = Vocabulary.of(["sea", "room", "漢"])


def test_every_document_is_closed_and_unknown_tokens_are_only_counted() -> None:
    texts = as_text_batch(["The sea", "", "漢字 room"], "words")
    stream = TokenStream(texts, 0, 3, TermBuffers(3, 8).tokens)
    ids = np.concatenate([some.copy() for some in stream.ids(VOCABULARY.table)])
    assert ids.tolist() == [0, -1, -1, 2, 1, -1]
    assert stream.tokens == 6
    assert stream.unspaced == (True,)


def test_terms_are_given_out_when_there_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokens, "TERMS_AT_ONCE", 2)
    buffers = TermBuffers(3, 8)
    chunks = [np.array(ids, np.int32) for ids in ([0, 0, -1, 1], [1, 2, -1], [-1, 0], [-1])]
    found = [
        [array.tolist() for array in (terms.ids, terms.counts, terms.ends, terms.lengths)]
        for terms in buffers.documents(chunks)
    ]
    assert found == [
        [[0], [2], [0, 1], [2]],
        [[1, 2], [2, 1], [0, 2], [3]],
        [[0], [1], [0, 0, 1], [0, 1]],
    ]
    assert not buffers.occurrences.any()
