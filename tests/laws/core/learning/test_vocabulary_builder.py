"""Laws of the words that are learned from a corpus."""

from unittest import mock

from hypothesis import given
from hypothesis import strategies as st

from deltavec.core.learning import vocabulary_builder
from deltavec.core.learning.vocabulary_builder import WordCounts, word_counts
from deltavec.core.text.batches import as_text_batch
from support.strategies import Batches

WORD = st.text("abß語ก_1'", min_size=1, max_size=12)
DOCUMENT = st.lists(WORD, max_size=12).map(" ".join)


def content(counts):
    vocabulary, occurrences = counts.frequent(1)
    return vocabulary.words, occurrences.tolist(), counts.tokens, counts.distinct, counts.unspaced


@given(
    st.lists(DOCUMENT, min_size=1, max_size=12),
    st.integers(1, 4),
    st.integers(2, 3),
    st.integers(0, 6),
)
def test_any_threads_and_any_tables_apart_count_the_same(documents, size, threads, most_apart):
    corpus = Batches(documents, size)
    with (
        mock.patch.object(vocabulary_builder, "MOST_APART", most_apart),
        mock.patch.object(vocabulary_builder, "FIRST_ROOM", 2),
    ):
        parted = word_counts(corpus, "words", threads)
    assert content(parted) == content(word_counts(corpus, "words", 1))


@given(st.lists(DOCUMENT, max_size=6), st.lists(DOCUMENT, max_size=6), st.lists(DOCUMENT))
def test_a_table_that_took_in_another_goes_on_as_one(first, second, third):
    whole, other, at_once = WordCounts(), WordCounts(), WordCounts()
    whole.add(as_text_batch(first, "words"))
    other.add(as_text_batch(second, "words"))
    whole.absorb(other)
    whole.add(as_text_batch(third, "words"))
    at_once.add(as_text_batch([*first, *second, *third], "words"))
    assert content(whole) == content(at_once)
