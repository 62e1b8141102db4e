import time

import numpy as np
import pyarrow as pa
import pytest

from deltavec.core import batching
from deltavec.core.fitting import fit
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
