"""Search by words and meaning finds what the slow reference finds, however it was written."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from deltavec.search.hybrid.search import best_documents
from deltavec.search.lexical.index import HybridQuery
from deltavec.search.matrix import ChunkedMatrix
from deltavec.search.quantized.build import quantize
from support import lexical_reference
from support.lexical_index import WORDS, documents, stem, written
from support.search_strategies import unit_rows


@settings(max_examples=40)
@given(
    st.lists(documents, min_size=1, max_size=3),
    st.lists(st.sampled_from([*WORDS, "unheard"]), max_size=8),
    st.integers(0, 2**32 - 1),
    st.integers(1, 20),
    st.sampled_from(["keyword", "hybrid"]),
    st.booleans(),
    st.booleans(),
    st.sampled_from([1, 2, 9]),
)
def test_the_best_documents_are_those_of_the_reference(
    parts, query, seed, k, by, filtered, sieved, times
) -> None:
    rng = np.random.default_rng(seed)
    every = [words for part in parts for words in part]
    vectors = unit_rows(rng.integers(-1, 2, (len(every), 3)).astype(float))
    vector = unit_rows(rng.integers(-2, 3, (1, 3)).astype(float))[0]
    chosen = np.flatnonzero(rng.random(len(every)) < 0.6) if filtered else None
    with tempfile.TemporaryDirectory() as folder:
        stored = written(parts, vectors, Path(folder), int(rng.integers(1, 40)))
        words = stored.words.query(query)
        direction = vector.astype(np.float64)
        scale = lexical_reference.scale(vectors.astype(np.float64), direction) * (by == "hybrid")
        if scale:
            assert np.isclose(0.7 / stored.spread.cosine_std(direction), scale, rtol=1e-5)
        pieces = ChunkedMatrix.of(vectors, "vectors")
        if sieved:
            pieces.quantized[0].made = quantize(vectors)
        nothing = HybridQuery()
        together = best_documents(
            pieces,
            stored.words,
            [nothing, *[words._replace(vector=vector, scale=scale)] * times],
            k,
            chosen=chosen,
            threads=2,
            at_once=int(rng.integers(1, 99)),
        )
    assert len(together[0].numbers) == 0
    found = together[1]
    for other in together[2:]:
        assert np.array_equal(other.numbers, found.numbers)
        assert np.array_equal(other.scores, found.scores)
    shares = lexical_reference.word_shares(every, stem, query)
    for document in range(len(every)):
        ours = stored.words.shares(words, document)
        expected = [shares[document][word] for word in words.words]
        # Norms are float32 numbers; weights are divided by a spread that may be small.
        assert np.allclose(ours, expected, rtol=1e-5, atol=1e-6)
    scores = np.array([sum(each.values(), 0.0) for each in shares])
    scores += scale * (vectors.astype(np.float64) @ direction)
    allowed = np.arange(len(every)) if chosen is None else chosen
    if not scale:
        allowed = allowed[scores[allowed] > 0]
    best = np.sort(scores[allowed])[::-1][:k]
    assert np.allclose(found.scores, best, rtol=1e-5, atol=1e-5)
    assert np.allclose(scores[found.numbers], found.scores, rtol=1e-5, atol=1e-5)
    assert set(found.numbers) <= set(allowed.tolist())


@settings(max_examples=20)
@given(st.lists(documents, min_size=2, max_size=4), st.integers(0, 2**32 - 1))
def test_documents_added_give_the_words_of_documents_at_once(parts, seed) -> None:
    rng = np.random.default_rng(seed)
    every = [words for part in parts for words in part]
    vectors = unit_rows(rng.standard_normal((len(every), 3)))
    with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as other:
        grown = written(parts, vectors, Path(one), int(rng.integers(1, 40)))
        whole = written([every], vectors, Path(other), 1 << 20)
        assert grown.words.words.words == whole.words.words.words
        for a, b in zip(grown.words.postings, whole.words.postings, strict=True):
            assert np.array_equal(a, b)
        assert np.array_equal(grown.words.burstiness, whole.words.burstiness)
        assert np.array_equal(grown.words.variances, whole.words.variances)
        assert np.array_equal(grown.spread.covariance, whole.spread.covariance)
