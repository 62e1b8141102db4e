"""What a pass over documents counts.

Documents without kernels have the very bits that kernels give them.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import reference
from deltavec.core.batching import count_batch, embed_batch, embed_small_batch
from deltavec.core.fitting import fit
from deltavec.core.forms import EmbeddingTable, no_components
from deltavec.core.kernels.count import DocumentTerms
from deltavec.core.kernels.embed import TableView, sum_rows
from deltavec.core.statistics import TextCounts
from deltavec.core.text.batches import as_text_batch
from deltavec.core.text.tokenize import tokenize
from deltavec.core.vectors import WordVectors
from deltavec.core.vocabulary import Vocabulary
from support.strategies import Problem, learnable_problems, texts

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


RULES = ["words", "whitespace", "words:grams-4", "words:words+grams-3"]


def table(words: int, dimensions: int, seed: int) -> EmbeddingTable:
    """A table of everything that can be in one."""
    random = np.random.default_rng(seed)
    rows = random.standard_normal((words, dimensions)).astype(np.float32)
    offset = random.standard_normal(dimensions) * random.integers(0, 2)
    return EmbeddingTable(
        rows=rows,
        penalties=random.random(words) * random.integers(0, 2),
        offset=offset,
        norms=np.linalg.norm(rows, axis=1),
        offset_norm=float(np.linalg.norm(offset)),
        spectrum=np.ones(dimensions),
        length_ratio=1.0,
        **no_components(words, dimensions),
    )


def require_same_bits(documents: list, rule: str, vocabulary: Vocabulary, folded) -> None:
    given_texts = as_text_batch(documents, rule)
    by_kernels = embed_batch(given_texts, vocabulary, folded, 1)
    vectors = np.empty_like(by_kernels.vectors)
    counts = embed_small_batch(given_texts, vocabulary, folded, vectors)
    assert counts == by_kernels.counts
    assert vectors.tobytes() == by_kernels.vectors.tobytes()


@pytest.mark.parametrize("rule", RULES)
@given(
    documents=st.lists(texts(), max_size=4),
    dimensions=st.sampled_from([1, 7, 8, 19]),
    seed=st.integers(0, 2**32 - 1),
)
def test_any_text_has_the_same_bits(rule, documents, dimensions, seed) -> None:
    units = list(dict.fromkeys(unit for text in documents for unit in tokenize(text, rule).units))
    known = Vocabulary.of([unit for place, unit in enumerate(units) if (place + seed) % 4])
    require_same_bits(documents, rule, known, table(len(known), dimensions, seed))


@given(
    ids=st.lists(st.integers(0, 400), max_size=40),
    seed=st.integers(0, 2**32 - 1),
    more=st.sampled_from([0, 250, 600]),
)
def test_a_document_of_any_length_has_the_same_bits(ids, seed, more) -> None:
    vocabulary = Vocabulary.of([f"w{number}" for number in range(401)])
    ids = ids + np.random.default_rng(seed).integers(0, 401, more).tolist()
    words = [f"w{number}" for number in ids]
    require_same_bits([words], "words", vocabulary, table(401, 13, seed))


@given(problem=learnable_problems(), name=st.sampled_from(reference.NAMES))
def test_a_fitted_model_gives_the_same_bits(problem: Problem, name: str) -> None:
    model = fit(problem.corpus, WordVectors(problem.words, problem.matrix), name)
    require_same_bits(problem.texts, str(model.tokenizer), model.vocabulary, model.table)


@given(words=st.lists(texts(), max_size=6), asked=st.lists(texts(), max_size=6))
def test_the_dictionary_knows_the_words_of_the_table(words: list[str], asked: list[str]) -> None:
    vocabulary = Vocabulary.of(dict.fromkeys(words))
    by_kernels = vocabulary.ids([*asked, *words]).tolist()
    del vocabulary.__dict__["table"]
    assert vocabulary.ids([*asked, *words]).tolist() == by_kernels


@given(st.lists(st.floats(-1e3, 1e3, width=32), min_size=1, max_size=40))
def test_unit_length_is_right_to_a_rounding_of_float32(numbers: list[float]) -> None:
    total = np.array(numbers)
    length = math.sqrt(math.fsum(number * number for number in numbers))
    one = np.ones(1, np.float32)
    terms = TableView(np.zeros((1, len(total)), np.float32), np.zeros(0), one, 1e-30, -total, 0.0)
    found = np.empty((1, len(total)), np.float32)
    ones = np.ones(1, np.int64)
    document = DocumentTerms(np.zeros(1, np.int32), ones, np.array([0, 1]), ones)
    sum_rows(document, terms, np.empty(1, np.float32), found, 0)
    # Each is rounded once to float32; the length is right to a few units of float64.
    assert np.all(np.abs(found[0] * length - total) <= 2.0**-23 * np.abs(total) + 1e-35)
