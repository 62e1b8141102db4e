import pytest

from deltavec.core.model import corpus_statistics
from deltavec.core.statistics import CorpusStatistics
from deltavec.core.texts import as_chunked
from deltavec.core.vocabulary import Vocabulary
from deltavec.errors import InputError

VOCABULARY = Vocabulary.of(["sea", "room", "pool"])


def counted(documents):
    return corpus_statistics(as_chunked(documents), VOCABULARY, "words", None)


def test_counts_of_a_small_corpus():
    statistics = counted(["Sea, sea view", "room with sea", "?", "nothing known"])
    assert statistics.token_counts.tolist() == [3, 1, 0]
    assert statistics.document_counts.tolist() == [2, 1, 0]
    assert statistics.documents == 4
    assert statistics.tokens == 8
    assert statistics.unknown_documents == 2


def test_shares_and_lengths():
    statistics = counted(["sea sea room", "sea and more"])
    assert statistics.known_tokens == 4
    assert statistics.term_frequencies.tolist() == [0.75, 0.25, 0]
    assert statistics.mean_length == 2
    assert statistics.coverage == 4 / 6


def test_statistics_add():
    total = counted(["sea room"]) + counted(["sea sea"])
    assert total.token_counts.tolist() == [3, 1, 0]
    assert total.document_counts.tolist() == [2, 1, 0]
    assert (total.documents, total.tokens, total.unknown_documents) == (2, 4, 0)


def test_statistics_of_other_vocabularies_do_not_add():
    with pytest.raises(InputError, match="one vocabulary, got 3 and 2 words"):
        counted(["sea"]) + CorpusStatistics.empty(2)


def test_nothing_counted_gives_zeros_and_no_division_by_zero():
    empty = CorpusStatistics.empty(2)
    assert empty.term_frequencies.tolist() == [0, 0]
    assert (empty.mean_length, empty.coverage) == (0, 0)
