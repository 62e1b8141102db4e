"""What a pass over documents counts."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from deltavec.core.batching import count_batch, embed_batch
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


@given(documents, st.sampled_from(["words", "whitespace", str.split]))
def test_embedding_counts_the_words_that_counting_counts(texts, tokenizer):
    chunk = as_text_batch(texts, tokenizer)
    made = embed_batch(chunk, MODEL.vocabulary, MODEL.table)
    assert made.counts == TextCounts.of(count_batch(chunk, MODEL.vocabulary))
