import numpy as np
import pytest

from deltavec.core.learning.corpora import corpus_statistics
from deltavec.core.statistics import (
    CorpusStatistics,
    SecondMoment,
    TextCounts,
    leading_components,
    warn_low_coverage,
)
from deltavec.core.text.batches import as_corpus
from deltavec.core.vocabulary import Vocabulary
from deltavec.errors import InputError, LowCoverageWarning

VOCABULARY = Vocabulary.of(["sea", "room", "pool"])


def counted(documents):
    return corpus_statistics(as_corpus(documents), VOCABULARY, "words", None)


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


def test_text_counts_add_and_know_their_coverage():
    first, second = TextCounts(2, 10, 8, 0), TextCounts(1, 5, 1, 1)
    assert first + second == TextCounts(3, 15, 9, 1)
    assert first + TextCounts() == first
    assert first + second - second == first
    assert (first + second).coverage == 0.6
    assert TextCounts().coverage is None


def known(documents: int, words: int, known_words: int, unknown: int) -> TextCounts:
    return TextCounts(documents, words, known_words, unknown)


@pytest.mark.parametrize(
    ("counts", "seen_once", "said"),
    [
        (known(100, 2_000, 999, 0), 0, "50% of 2,000 words are known"),
        (known(100, 2_000, 2_000, 0), 1_200, "60% of 2,000 words stand nowhere else"),
        (known(1_000, 999, 999, 950), 0, "950 of 1,000 documents hold no known word"),
    ],
)
def test_a_text_of_which_little_is_known_is_warned_of(
    counts: TextCounts, seen_once: int, said: str
) -> None:
    with pytest.warns(LowCoverageWarning, match=said) as caught:
        warn_low_coverage(counts, "read on", seen_once=seen_once)
    assert len(caught) == 1
    assert str(caught[0].message).endswith("; read on")


def test_all_that_was_seen_is_said_in_one_warning() -> None:
    said = "are known, .* nowhere else, .* known word"
    with pytest.warns(LowCoverageWarning, match=said) as caught:
        warn_low_coverage(known(100, 2_000, 200, 95), seen_once=1_500)
    assert len(caught) == 1


@pytest.mark.parametrize(
    "counts", [known(100, 2_000, 1_000, 89), known(9, 999, 0, 9), TextCounts()]
)
def test_a_text_that_is_known_or_too_small_to_tell_is_not_warned_of(counts: TextCounts) -> None:
    warn_low_coverage(counts, seen_once=counts.tokens // 2)


ROWS = np.array([[1, 0, 0], [1, 0, 0], [0, -1, 0]], np.float32)


def test_the_moment_is_the_sum_of_outer_products():
    moment = SecondMoment.of(ROWS)
    assert moment.matrix.tolist() == [[2, 0, 0], [0, 1, 0], [0, 0, 0]]
    assert moment.documents == 3


def test_moments_add():
    total = SecondMoment.of(ROWS[:1]) + SecondMoment.of(ROWS[1:]) + SecondMoment.empty(3)
    assert total.matrix.tolist() == SecondMoment.of(ROWS).matrix.tolist()
    assert total.documents == 3


def test_moments_of_other_dimensions_do_not_add():
    with pytest.raises(InputError, match="got 3 and 2"):
        SecondMoment.empty(3) + SecondMoment.empty(2)


def test_components_come_longest_first_with_their_largest_entry_positive():
    components = leading_components(SecondMoment.of(-ROWS), 2)
    assert components == pytest.approx(np.array([[1, 0, 0], [0, 1, 0]]))


def test_documents_that_span_less_give_fewer_components():
    assert len(leading_components(SecondMoment.of(ROWS), 3)) == 2
    assert len(leading_components(SecondMoment.empty(3), 3)) == 0
    assert len(leading_components(SecondMoment.of(ROWS), 0)) == 0
