"""A few documents without kernels: hand-worked numbers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from deltavec.core.fallback import embed_ids, embed_small_batch, weighted_sum, work_for
from deltavec.core.fitting import fit
from deltavec.core.forms import weighted
from deltavec.core.statistics import TextCounts
from deltavec.core.text.batches import as_text_batch
from deltavec.core.vectors import WordVectors

VECTORS = WordVectors(["sea", "room"], [[1.0, 0.0], [0.0, 1.0]])
FOLDED = weighted(VECTORS, np.array([3.0, 4.0]))


def test_a_document_is_the_sum_of_its_words_at_unit_length() -> None:
    vectors = np.full((3, 2), 9, np.float32)
    texts = as_text_batch(["Sea, room! a pool", "", "sea sea"], "words")
    counts = embed_small_batch(texts, VECTORS.vocabulary, FOLDED, vectors)
    assert np.allclose(vectors, [[0.6, 0.8], [0, 0], [1, 0]])
    assert counts == TextCounts(3, 6, 4, 1)


def test_a_document_of_which_rounding_is_left_is_zero() -> None:
    folded = replace(FOLDED, offset=np.array([3.0, 0.0]), offset_norm=3.0)
    assert embed_ids([0], folded).tolist() == [0, 0]


def test_many_words_are_carried_over_to_float64() -> None:
    rows = np.array([[1.0], [2.0**-24]], np.float32)
    terms = np.array([0] + [1] * 599)
    # float32 alone would drop every one of the small ones that follows the large one
    total = weighted_sum(terms, np.ones(600, np.float32), rows)
    assert total[0] > 1 + 300 * 2.0**-24


def test_work_is_counted_in_numbers() -> None:
    assert work_for(as_text_batch(["sea", "a"], "words"), 300) == 4 * 50 + 2 * 300


def test_a_model_embeds_a_list_of_words_as_kernels_do() -> None:
    model = fit(["sea room", "room"], VECTORS, "idf-sum")
    vectors = np.empty((1, 2), np.float32)
    texts = as_text_batch([["sea", "room"]], model.tokenizer)
    embed_small_batch(texts, model.vocabulary, model.table, vectors)
    assert np.array_equal(vectors, model.embed([["sea", "room"]]))
