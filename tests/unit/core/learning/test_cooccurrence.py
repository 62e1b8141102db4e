import mmap

import numpy as np

from deltavec.core.learning.cooccurrence import cooccurrence, list_token_ids, ranges
from deltavec.core.text.batches import as_corpus
from deltavec.core.vocabulary import Vocabulary
from support.pair_counts import dense

IDS = np.array([0, 1, 2, -1, 0, 0, -1], np.int32)


def test_ids_of_known_words_with_documents_closed():
    vocabulary = Vocabulary.of(["a", "b"])
    ids = list_token_ids(as_corpus(["a x b", "", "b"]), vocabulary, "words")
    assert ids.tolist() == [0, 1, -1, -1, 1, -1]
    assert list_token_ids(as_corpus([]), vocabulary, "words").tolist() == []


def test_neighbors_within_the_window_are_counted_in_both_directions():
    counts = dense(cooccurrence(IDS, 3, 1))
    assert counts.tolist() == [[2, 1, 0], [1, 0, 1], [0, 1, 0]]


def test_a_wider_window_reaches_further_but_not_into_the_next_document():
    counts = dense(cooccurrence(IDS, 3, 10))
    assert counts.tolist() == [[2, 1, 1], [1, 0, 1], [1, 1, 0]]


def test_totals_are_row_sums():
    counts = cooccurrence(IDS, 4, 10)
    assert counts.totals.tolist() == [4, 2, 2, 0]


def test_any_memory_and_any_threads_give_the_same_counts():
    rng = np.random.default_rng(0)
    ids = rng.integers(-1, 20, 5_000).astype(np.int32)
    whole = cooccurrence(ids, 20, 5, threads=1)
    pieces = cooccurrence(ids, 20, 5, threads=2, max_memory=1)
    assert len(whole.blocks) == 1
    assert len(pieces.blocks) == 20
    assert np.array_equal(dense(whole), dense(pieces))
    assert np.array_equal(whole.totals, pieces.totals)


def test_ranges_stay_within_a_size_or_hold_one_alone():
    assert list(ranges(np.array([1_000, 100, 10, 1]), 500)) == [(0, 1), (1, 4)]
    assert list(ranges(np.array([3, 3, 3]), 6)) == [(0, 2), (2, 3)]
    assert list(ranges(np.zeros(0, np.int64), 6)) == []


def test_only_rows_that_can_be_large_have_large_counts(monkeypatch):
    monkeypatch.setattr("deltavec.core.learning.cooccurrence.MOST_SMALL", 20)
    ids = np.array([0, 0, 0, 0, 1, 0, -1], np.int32)
    counts = cooccurrence(ids, 2, 3, max_memory=1)
    assert [block.values.dtype for block in counts.blocks] == [np.int64, np.int32]
    assert dense(counts).tolist() == [[16, 4], [4, 0]]


def test_ids_of_a_large_corpus_lie_in_a_file():
    vocabulary = Vocabulary.of(["a", "b"])
    ids = list_token_ids(as_corpus(["a x b", "", "b"] * 3), vocabulary, "words", max_memory=8)
    assert isinstance(ids.base.base, mmap.mmap)
    assert ids.tolist() == [0, 1, -1, -1, 1, -1] * 3


def test_no_text_has_no_counts():
    assert cooccurrence(np.zeros(0, np.int32), 2, 5).totals.tolist() == [0, 0]
