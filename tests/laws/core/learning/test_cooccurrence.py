"""Pairs of words are counted as the reference counts them, and PPMI vectors follow from that."""

from __future__ import annotations

import math
from functools import partial

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

import reference
from deltavec.core.learning.cooccurrence import (
    Cooccurrence,
    cooccurrence,
    count_blocks,
    list_token_ids,
)
from deltavec.core.learning.ppmi import Ppmi
from deltavec.core.text.batches import as_corpus
from deltavec.core.vocabulary import Vocabulary
from deltavec.errors import CorpusError
from deltavec.training import train_vectors
from support.pair_counts import dense
from support.strategies import Batches, natural_corpora, small_corpora, vocabularies

windows = st.sampled_from([1, 2, 3, 20])


@st.composite
def counting(draw: st.DrawFn) -> tuple[list[str], list[str]]:
    """Texts, and the words to count, which are not all of theirs."""
    vocabulary = draw(vocabularies(min_size=2))
    texts = draw(st.one_of(natural_corpora(vocabulary), small_corpora(vocabulary)))
    return texts, vocabulary[draw(st.integers(0, 1)) :]


def counted(
    texts: object, words: list[str], window: int, threads: int = 1, max_memory: int = 1 << 30
) -> Cooccurrence:
    ids = list_token_ids(as_corpus(texts), Vocabulary.of(words), "words", threads)
    return cooccurrence(ids, len(words), window, threads=threads, max_memory=max_memory)


@given(
    case=counting(),
    window=windows,
    size=st.integers(1, 4),
    threads=st.sampled_from([1, 2]),
    max_memory=st.sampled_from([1, 500, 1 << 30]),
)
def test_counts_are_those_of_the_reference_in_any_blocks_batches_and_threads(
    case: tuple[list[str], list[str]], window: int, size: int, threads: int, max_memory: int
) -> None:
    texts, words = case
    found = counted(Batches(texts, size), words, window, threads, max_memory)
    documents = [reference.words(text) for text in texts]
    expected = reference.cooccurrence(documents, words, window)
    assert dense(found).tolist() == expected.tolist()
    assert found.totals.tolist() == expected.sum(axis=1).tolist()


@given(case=counting(), window=windows, data=st.data())
def test_counts_of_parts_sum_to_those_of_the_whole(
    case: tuple[list[str], list[str]], window: int, data: st.DataObject
) -> None:
    texts, words = case
    cut = data.draw(st.integers(0, len(texts)))
    whole, first, second = (
        counted(part, words, window) for part in (texts, texts[:cut], texts[cut:])
    )
    assert np.array_equal(dense(first) + dense(second), dense(whole))


@given(
    case=counting(),
    window=windows,
    threads=st.sampled_from([1, 2]),
    max_memory=st.sampled_from([1, 500, 1 << 30]),
    data=st.data(),
)
def test_counted_apart_in_one_pass_is_counted_twice(
    case: tuple[list[str], list[str]],
    window: int,
    threads: int,
    max_memory: int,
    data: st.DataObject,
) -> None:
    texts, words = case
    cut = data.draw(st.integers(0, len(texts)))
    first, second = (
        list_token_ids(as_corpus(part), Vocabulary.of(words), "words")
        for part in (texts[:cut], texts[cut:])
    )
    ids = np.concatenate([first, second])
    blocks = count_blocks(ids, len(first), len(words), window, np.empty, threads, max_memory)
    whole, in_front = (Cooccurrence(len(words), rows) for rows in zip(*blocks, strict=True))
    assert np.array_equal(dense(whole), dense(counted(texts, words, window)))
    assert np.array_equal(dense(in_front), dense(counted(texts[:cut], words, window)))
    rest = counted(texts[cut:], words, window)
    assert np.array_equal(dense(whole) - dense(in_front), dense(rest))


@given(
    case=counting(),
    window=windows,
    threads=st.sampled_from([1, 2]),
    max_memory=st.sampled_from([500, 1 << 30]),
)
def test_ppmi_is_that_of_the_reference(
    case: tuple[list[str], list[str]], window: int, threads: int, max_memory: int
) -> None:
    texts, words = case
    counts = counted(texts, words, window, max_memory=max_memory)
    assume(counts.totals.any())
    found = Ppmi(counts, 0.75, threads=threads)
    expected = reference.ppmi(dense(counts).astype(np.float64))
    identity = np.eye(len(words), dtype=np.float32)
    # Logarithms are kept in float32, and are below 16 here: 2**-21 for each of three.
    assert found.times(identity) == pytest.approx(expected, abs=3e-6)
    assert found.transposed_times(identity) == pytest.approx(expected.T, abs=3e-6)


def cosines(vectors: dict[str, reference.Vector], words: list[str]) -> npt.NDArray[np.float64]:
    matrix = np.array([vectors[word] for word in words])
    product: npt.NDArray[np.float64] = matrix @ matrix.T
    return product


@st.composite
def learning(draw: st.DrawFn) -> tuple[list[str], int, int]:
    """Texts of many words, a window, and a number of dimensions, often fewer than there are."""
    vocabulary = draw(vocabularies(min_size=4))
    texts = draw(natural_corpora(vocabulary))
    return texts, draw(windows), draw(st.sampled_from([1, 2, 3, 5, 300]))


@given(case=learning())
@example(case=(["a b c a b c a b c", "x y z"], 20, 1))
def test_ppmi_vectors_are_those_of_the_exact_decomposition(
    case: tuple[list[str], int, int],
) -> None:
    texts, window, dimensions = case
    documents = [reference.words(text) for text in texts]
    vocabulary = sorted({word for document in documents for word in document})
    P = reference.ppmi(reference.cooccurrence(documents, vocabulary, window))
    if len(vocabulary) < 2 or not P.any():
        with pytest.raises(CorpusError):
            train_vectors(texts, min_count=1, window=window, dimensions=dimensions)
        return
    s = [*np.linalg.svd(P)[1], 0.0]
    kept = min(dimensions, sum(value > 1e-5 * s[0] for value in s))
    # A random projection and float32 find a direction as exactly as it stands apart from those
    # that are left out. Where it does not, which direction is kept is a matter of chance.
    assume(s[kept - 1] - s[kept] > 0.02 * s[0])

    found = train_vectors(texts, min_count=1, window=window, dimensions=dimensions)
    assert found.dimensions == kept
    rows = reference.ppmi_rows(documents, vocabulary, window, dimensions)
    length = {word: float(np.linalg.norm(row)) / math.sqrt(s[0]) for word, row in rows.items()}
    # A word that the leading directions know nothing of has no vector: not one of rounding.
    assert [word for word in found.words if length[word] < 1e-7] == []
    strong = [word for word in vocabulary if length[word] > 0.01]
    assert [word for word in strong if word not in found] == []
    actual = cosines({word: found[word].astype(np.float64) for word in strong}, strong)
    expected = cosines(reference.ppmi_vectors(rows), strong)
    assert actual == pytest.approx(expected, abs=2e-3)


@given(case=learning(), threads=st.sampled_from([1, 2]), size=st.integers(1, 4))
def test_ppmi_vectors_repeat_to_the_bit(
    case: tuple[list[str], int, int], threads: int, size: int
) -> None:
    texts, window, dimensions = case
    learn = partial(train_vectors, min_count=1, window=window, dimensions=dimensions)
    try:
        first = learn(texts, threads=1)
    except CorpusError:
        assume(False)
    again = learn(Batches(texts, size), threads=threads, max_memory=500)
    assert again.words == first.words
    assert np.array_equal(again.matrix, first.matrix)
