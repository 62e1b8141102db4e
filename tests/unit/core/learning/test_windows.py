import numpy as np
import pytest

from deltavec.core.learning.windows import Cooccurrence, cooccurrence, listed_ids, row_blocks
from deltavec.core.texts import as_chunked
from deltavec.core.vocabulary import Vocabulary
from deltavec.errors import InputError

IDS = np.array([0, 1, 2, -1, 0, 0, -1], np.int32)


def test_ids_of_known_words_with_documents_closed():
    vocabulary = Vocabulary.of(["a", "b"])
    ids = listed_ids(as_chunked(["a x b", "", "b"]), vocabulary, "words")
    assert ids.tolist() == [0, 1, -1, -1, 1, -1]
    assert listed_ids(as_chunked([]), vocabulary, "words").tolist() == []


def test_neighbours_within_the_window_are_counted_in_both_directions():
    counts = cooccurrence(IDS, 3, 1).matrix().toarray()
    assert counts.tolist() == [[2, 1, 0], [1, 0, 1], [0, 1, 0]]


def test_a_wider_window_reaches_further_but_not_into_the_next_document():
    counts = cooccurrence(IDS, 3, 10).matrix().toarray()
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
    assert np.array_equal(whole.matrix().toarray(), pieces.matrix().toarray())
    assert np.array_equal(whole.totals, pieces.totals)


def test_blocks_stay_within_half_the_memory():
    occurrences = np.array([1_000, 100, 10, 1])
    # A row needs 12 bytes a neighbour, at most 4 of them, and 8 bytes an occurrence.
    assert list(row_blocks(occurrences, 5, 2 * 2_000)) == [(0, 1), (1, 4)]


def test_counts_add():
    total = cooccurrence(IDS, 3, 1) + cooccurrence(IDS, 3, 1) + Cooccurrence.empty(3)
    assert total.matrix().toarray().tolist() == [[4, 2, 0], [2, 0, 2], [0, 2, 0]]


def test_counts_of_other_vocabularies_do_not_add():
    with pytest.raises(InputError, match="got 3 and 2 words"):
        Cooccurrence.empty(3) + Cooccurrence.empty(2)


def test_no_text_has_no_counts():
    assert cooccurrence(np.zeros(0, np.int32), 2, 5).totals.tolist() == [0, 0]
