"""Counts are those of the reference, and add: the statistics of parts sum to those of the whole.

What documents have in common: moments add, components are the reference's, removal is final.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

import reference
from deltavec.core.batching import embed_batch
from deltavec.core.forms import FORMS, EmbeddingTable
from deltavec.core.learning.corpora import corpus_statistics
from deltavec.core.statistics import CorpusStatistics, SecondMoment, leading_components
from deltavec.core.text.batches import as_corpus, as_text_batch
from deltavec.core.vectors import WordVectors
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


Matrix = npt.NDArray[np.float32]


@st.composite
def unit_rows(draw: st.DrawFn) -> Matrix:
    """Document vectors: random, few directions only, all the same, some zero."""
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    K = draw(st.integers(1, 8))
    documents = draw(st.integers(1, 40))
    rank = draw(st.integers(1, K))
    rows = random.standard_normal((documents, rank)) @ random.standard_normal((rank, K))
    rows += draw(st.sampled_from([0.0, 1.0, 10.0])) * rows[0]
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    rows[random.random(documents) < draw(st.sampled_from([0.0, 0.3]))] = 0
    return rows.astype(np.float32)


@given(rows=unit_rows(), data=st.data())
def test_moments_of_parts_add_up_to_that_of_the_whole(rows: Matrix, data: st.DataObject) -> None:
    cut = data.draw(st.integers(0, len(rows)))
    whole, first, second = map(SecondMoment.of, (rows, rows[:cut], rows[cut:]))
    sum_ = first + second
    assert sum_.documents == whole.documents == len(rows)
    # float64 sums in another order: 2**-53 for each of at most 40 products, all of at most 1.
    assert sum_.matrix == pytest.approx(whole.matrix, abs=1e-13)
    empty = SecondMoment.empty(rows.shape[1])
    assert np.array_equal((whole + empty).matrix, whole.matrix)
    assert np.array_equal((first + second).matrix, (second + first).matrix)


@given(rows=unit_rows(), count=st.integers(0, 9))
def test_components_are_the_first_singular_vectors(rows: Matrix, count: int) -> None:
    found = leading_components(SecondMoment.of(rows), count)
    expected, s = reference.leading_components(list(rows.astype(np.float64)), count)
    assert len(found) == len(expected)
    assert found @ found.T == pytest.approx(np.eye(len(found)), abs=1e-12)
    for k, (p, q) in enumerate(zip(found, expected, strict=True)):
        assert p[np.abs(p).argmax()] > 0
        neighbors = [*s[max(k - 1, 0) : k], *s[k + 1 : k + 2], 0.0]
        gap = min(abs(s[k] ** 2 - value**2) for value in neighbors)
        # An eigenvector is as exact as its eigenvalue is apart from the next ones; float64
        # rounding in the moment is 1e-15 of its size. Up to sign: two entries may tie for largest.
        assert abs(float(p @ q)) == pytest.approx(1, abs=1e-12 + (1e-13 * s[0] ** 2 / gap) ** 2)


@given(rows=unit_rows())
def test_documents_of_zeros_add_nothing(rows: Matrix) -> None:
    with_zeros = np.concatenate([rows, np.zeros_like(rows)])
    expected = SecondMoment.of(rows).matrix
    assert SecondMoment.of(with_zeros).matrix == pytest.approx(expected, abs=1e-13)


@st.composite
def embedding_tables(draw: st.DrawFn) -> EmbeddingTable:
    """A table of any form, with random directions."""
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    V, K = draw(st.integers(2, 20)), draw(st.integers(2, 8))
    vectors = WordVectors([f"w{i}" for i in range(V)], random.standard_normal((V, K)))
    statistics = CorpusStatistics(random.integers(0, 99, V), np.ones(V, np.int64), 99, 9999, 0)
    form = draw(st.sampled_from(list(FORMS)))
    return FORMS[form](vectors, random.random(V) + 0.1, statistics, 0.0)


def orthonormal(count: int, dimensions: int, seed: int) -> npt.NDArray[np.float64]:
    """Some orthonormal rows."""
    random = np.random.default_rng(seed)
    return np.linalg.qr(random.standard_normal((dimensions, count)))[0].T


@given(table=embedding_tables(), count=st.integers(0, 2), seed=st.integers(0, 99))
def test_removal_leaves_nothing_along_the_components_and_is_idempotent(
    table: EmbeddingTable, count: int, seed: int
) -> None:
    components = orthonormal(count, table.rows.shape[1], seed)
    once = table.without(components)
    twice = once.without(components)
    # Rows are float32 and of at most unit length: 2**-24 to an entry, a few roundings.
    assert once.rows @ components.T == pytest.approx(0, abs=1e-6)
    assert once.offset @ components.T == pytest.approx(0, abs=1e-12)
    assert twice.rows == pytest.approx(once.rows, abs=1e-6)
    assert twice.offset == pytest.approx(once.offset, abs=1e-12)


@given(table=embedding_tables(), count=st.integers(0, 2), seed=st.integers(0, 99))
def test_what_was_removed_can_be_put_back(table: EmbeddingTable, count: int, seed: int) -> None:
    restored = table.without(orthonormal(count, table.rows.shape[1], seed)).restored()
    assert restored.rows == pytest.approx(table.rows, abs=1e-6)
    assert restored.offset == pytest.approx(table.offset, abs=1e-12)
    assert len(restored.components) == 0
    for name in ["penalties", "norms", "offset_norm"]:
        assert np.array_equal(getattr(restored, name), getattr(table, name))


@given(table=embedding_tables(), seed=st.integers(0, 99), data=st.data())
def test_removal_from_the_table_is_removal_from_the_documents(
    table: EmbeddingTable, seed: int, data: st.DataObject
) -> None:
    components = orthonormal(1, table.rows.shape[1], seed)
    words = [f"w{i}" for i in range(len(table.rows))]
    documents = data.draw(st.lists(st.lists(st.sampled_from(words), max_size=9), max_size=5))
    texts = as_text_batch(documents, "words") if documents else as_text_batch([[]], "words")
    vocabulary = Vocabulary.of(words)
    before = embed_batch(texts, vocabulary, table).vectors.astype(np.float64)
    after = embed_batch(texts, vocabulary, table.without(components)).vectors
    projected = before - before @ components.T @ components
    for row, expected in zip(after, projected, strict=True):
        length = np.linalg.norm(expected)
        # Random directions: a document is seldom along the component or cancelled out. Where it
        # is, its direction is rounding, and the reference's agreement is the law to look at.
        if length > 1e-2 and np.linalg.norm(row) > 0:
            assert row == pytest.approx(expected / length, abs=1e-3)
