"""

A few documents without kernels: hand-worked numbers.
"""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from deltavec.core import batching
from deltavec.core.batching import embed_ids, embed_small_batch, weighted_sum, work_for
from deltavec.core.fitting import fit
from deltavec.core.forms import weighted
from deltavec.core.statistics import TextCounts
from deltavec.core.text.batches import as_text_batch
from deltavec.core.vectors import WordVectors
from deltavec.core.vocabulary import Vocabulary

MANY_WORDS = [f"word{number}" for number in range(3_000)]


def test_threads_count_what_one_thread_counts():
    vocabulary = Vocabulary.of(["sea", "room"])
    texts = as_text_batch(["sea room " * 2_000, "sea"] * 10, "words")
    one, two = (batching.count_batch(texts, vocabulary, threads) for threads in (1, 2))
    assert one.token_counts.tolist() == two.token_counts.tolist() == [20_010, 20_000]
    assert one.document_counts.tolist() == two.document_counts.tolist() == [20, 10]


@pytest.mark.compiled
def test_separators_beyond_ascii_take_no_longer_beside_a_long_word():
    texts = as_text_batch(["—" * 1_000_000], "words")

    def seconds(longest):
        vocabulary, taken = Vocabulary.of(["a", "b" * longest]), []
        for _ in range(4):
            begin = time.process_time()
            batching.count_batch(texts, vocabulary, 1)
            taken.append(time.process_time() - begin)
        return min(taken)

    # It was fifty times as long when each dash led to reading on as far as the longest word.
    assert seconds(1000) < 8 * seconds(8)


@pytest.mark.compiled
@pytest.mark.parametrize(
    "documents",
    [
        ["word1 word7 word1", "", "word5 unknown"] * 30_000,
        [" ".join(MANY_WORDS), "word3"] * 400,
    ],
    ids=["documents", "words"],
)
def test_more_than_is_listed_at_once_gives_the_bits_of_its_parts(documents):
    matrix = np.random.default_rng(0).standard_normal((len(MANY_WORDS), 3))
    model = fit(documents[:5], WordVectors(MANY_WORDS, matrix), "idf-delta")
    parts = [
        model.embed(documents[begin : begin + 100], threads=1)
        for begin in range(0, len(documents), 100)
    ]
    whole = model.embed(pa.array(documents), threads=1)
    assert whole.any()
    assert (whole == np.concatenate(parts)).all()


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
