"""Counts are those of the reference, and add: the statistics of parts sum to those of the whole."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import reference
from deltavec.core.learning.corpora import corpus_statistics
from deltavec.core.statistics import CorpusStatistics
from deltavec.core.text.batches import as_corpus
from deltavec.core.vocabulary import Vocabulary
from deltavec.core.weights import WEIGHTINGS
from support.strategies import Batches, Problem, problems


def statistics_of(documents: object, words: list[str], threads: int = 1) -> CorpusStatistics:
    return corpus_statistics(as_corpus(documents), Vocabulary.of(words), "words", threads)


def equal(a: CorpusStatistics, b: CorpusStatistics) -> bool:
    """Whether the two hold the very same numbers."""
    return (
        np.array_equal(a.token_counts, b.token_counts)
        and np.array_equal(a.document_counts, b.document_counts)
        and (a.documents, a.tokens, a.unknown_documents)
        == (b.documents, b.tokens, b.unknown_documents)
    )


@st.composite
def any_statistics(draw: st.DrawFn, words: int = 3) -> CorpusStatistics:
    """Any counts at all, up to those of very large corpora."""
    counts = st.lists(st.integers(0, 2**40), min_size=words, max_size=words)
    number = st.integers(0, 2**40)
    return CorpusStatistics(
        np.array(draw(counts)), np.array(draw(counts)), draw(number), draw(number), draw(number)
    )


@given(problem=problems())
def test_counts_are_those_of_the_reference(problem: Problem) -> None:
    found = statistics_of(problem.texts, problem.words)
    expected = reference.count([reference.words(text) for text in problem.texts], problem.words)
    assert found.token_counts.tolist() == [expected.n_c[word] for word in problem.words]
    assert found.document_counts.tolist() == [expected.D_i[word] for word in problem.words]
    assert found.documents == expected.D
    assert found.tokens == expected.tokens
    assert found.known_tokens == expected.N_c
    assert found.unknown_documents == expected.unknown_documents
    assert found.mean_length == expected.mean_length
    assert found.term_frequencies.tolist() == [expected.tf_c(word) for word in problem.words]
    assert found.coverage == (expected.N_c / expected.tokens if expected.tokens else 0)


@given(problem=problems())
def test_weights_are_those_of_the_reference(problem: Problem) -> None:
    statistics = statistics_of(problem.texts, problem.words)
    counts = reference.count([reference.words(text) for text in problem.texts], problem.words)
    for name, weight in reference.WEIGHTS.items():
        expected = [weight(counts, word) for word in problem.words]
        # Both are float64; numpy's logarithm and Python's may differ in the last place.
        assert WEIGHTINGS[name](statistics) == pytest.approx(expected, rel=1e-14, abs=1e-14)


@given(problem=problems(), size=st.integers(1, 5))
def test_any_batches_give_the_same_counts(problem: Problem, size: int) -> None:
    whole = statistics_of(problem.texts, problem.words)
    assert equal(statistics_of(Batches(problem.texts, size), problem.words), whole)


@given(problem=problems(), data=st.data())
def test_counts_of_parts_sum_to_those_of_the_whole(problem: Problem, data: st.DataObject) -> None:
    cut = data.draw(st.integers(0, len(problem.texts)))
    parts = problem.texts[:cut], problem.texts[cut:]
    first, second = (statistics_of(part, problem.words) for part in parts)
    assert equal(first + second, statistics_of(problem.texts, problem.words))


@given(a=any_statistics(), b=any_statistics(), c=any_statistics())
def test_addition_is_associative_and_commutative_and_empty_is_neutral(
    a: CorpusStatistics, b: CorpusStatistics, c: CorpusStatistics
) -> None:
    assert equal((a + b) + c, a + (b + c))
    assert equal(a + b, b + a)
    assert equal(a + CorpusStatistics.empty(3), a)


@given(problem=problems(), data=st.data())
def test_order_of_documents_and_of_words_changes_no_count(
    problem: Problem, data: st.DataObject
) -> None:
    shuffled = data.draw(st.permutations(problem.texts))
    whole = statistics_of(problem.texts, problem.words)
    assert equal(statistics_of(shuffled, problem.words), whole)
    order = data.draw(st.permutations(range(len(problem.words))))
    reordered = statistics_of(problem.texts, [problem.words[i] for i in order])
    assert equal(reordered, whole.taken(np.array(order)))
