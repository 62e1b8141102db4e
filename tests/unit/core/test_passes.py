import numpy as np
import pyarrow as pa
import pytest

from deltavec.core import packing, passes
from deltavec.core.model import fit
from deltavec.core.texts import as_texts
from deltavec.core.vectors import WordVectors
from deltavec.core.vocabulary import Vocabulary
from deltavec.errors import InputError

MANY_WORDS = [f"word{number}" for number in range(3_000)]


def test_threads_default_to_the_cores_at_hand(monkeypatch):
    assert passes.thread_count(None) >= 1
    monkeypatch.delattr("os.sched_getaffinity", raising=False)
    assert passes.thread_count(None) == passes.cores()


@pytest.mark.parametrize("threads", [0, -1, 1.5, "2", True])
def test_threads_are_a_whole_number_from_one(threads):
    with pytest.raises(InputError, match="threads must be a whole number from 1 on"):
        passes.thread_count(threads)


def test_shares_are_of_about_the_same_size():
    begins = packing.begins_of([10, 10, 10, 100, 10, 10])
    assert packing.equal_shares(begins, 3) == [(0, 4), (4, 6)]
    assert packing.equal_shares(packing.begins_of([1, 1, 1, 1]), 2) == [(0, 2), (2, 4)]


def test_every_document_is_in_one_share():
    rng = np.random.default_rng(0)
    for size in range(1, 30):
        begins = packing.begins_of(rng.integers(0, 50, size))
        shares = packing.equal_shares(begins, 4)
        assert [document for share in shares for document in range(*share)] == list(range(size))


def test_threads_count_what_one_thread_counts():
    vocabulary = Vocabulary.of(["sea", "room"])
    texts = as_texts(["sea room " * 2_000, "sea"] * 10, "words")
    one, two = (passes.counted(texts, vocabulary, threads) for threads in (1, 2))
    assert one.token_counts.tolist() == two.token_counts.tolist() == [20_010, 20_000]
    assert one.document_counts.tolist() == two.document_counts.tolist() == [20, 10]


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
