"""Search without kernels finds the very rows, with the very scores, that kernels find.

Search by words and meaning finds what the slow reference finds, however it was written.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deltavec.core.arrays import read_only
from deltavec.search import kernels, topk
from deltavec.search.lexical.index import HybridQuery, InvertedIndex, add_statistics
from deltavec.search.lexical.writer import map_postings, merge_postings
from deltavec.search.matrix import ChunkedMatrix, in_turn
from deltavec.search.quantized.build import quantize
from deltavec.search.topk import (
    ALL,
    QueryBatch,
    Sizes,
    arrays_of,
    best_documents,
    best_rows,
    no_rows,
    rank,
)
from support import lexical_reference
from support.lexical_index import WORDS, documents, in_pieces, stem, written
from support.search_strategies import rows_and_queries, unit_rows

NONE = np.empty(0, np.int64)


def without_kernels(pieces, batch, k, index, ranks, allowed):
    best = no_rows(batch.size, k)
    for one in arrays_of(pieces, batch, index, ranks, allowed):
        topk.search_rows(one.rows, batch.queries, one.terms, best)
    return rank(best)


@given(rows_and_queries(), st.integers(1, 50), st.data())
def test_the_best_rows_are_those_of_the_kernels(drawn, k, data):
    rows, queries = drawn
    cuts = sorted(data.draw(st.sets(st.integers(1, len(rows)), max_size=3)))
    gone = np.array(data.draw(st.lists(st.booleans(), min_size=len(rows), max_size=len(rows))))
    gone &= data.draw(st.booleans())
    deleted = tuple(map(np.flatnonzero, np.split(gone, cuts)))
    pieces = ChunkedMatrix(tuple(map(read_only, np.split(rows, cuts))), 1e-6, (), deleted)
    ranks = data.draw(st.sampled_from([NONE, np.random.default_rng(k).permutation(len(rows))]))
    mask = np.array(data.draw(st.lists(st.booleans(), min_size=len(rows), max_size=len(rows))))
    allowed = data.draw(st.sampled_from([ALL, (mask & ~gone).astype(np.uint8)]))
    batch = QueryBatch.of_vectors(queries, 1e-6, pieces)
    expected = best_rows(pieces, batch, k, ranks=read_only(ranks), allowed=allowed, threads=1)
    found = without_kernels(pieces, batch, k, None, ranks, allowed)
    assert found.ranks.tolist() == expected.ranks.tolist()
    assert found.scores.tobytes() == expected.scores.tobytes()


@given(rows_and_queries())
def test_squares_are_those_of_the_kernels(drawn):
    rows, _ = drawn
    squares = np.empty(len(rows))
    kernels.squared_lengths(read_only(rows), squares)
    assert in_turn(rows, rows).tobytes() == squares.tobytes()


@settings(max_examples=30)
@given(
    st.lists(documents, min_size=1, max_size=2),
    st.lists(st.sampled_from([*WORDS, "unheard"]), max_size=8),
    st.integers(0, 2**32 - 1),
    st.integers(1, 20),
    st.booleans(),
)
def test_the_best_documents_are_those_of_the_kernels(parts, query, seed, k, filtered):
    rng = np.random.default_rng(seed)
    count = sum(map(len, parts))
    vectors = unit_rows(rng.standard_normal((count, 33)))
    vector = unit_rows(rng.standard_normal((1, 33)))[0]
    deleted = rng.random(count) < rng.choice([0, 0.4])
    mask = (rng.random(count) < 0.6) & ~deleted
    allowed = mask.astype(np.uint8) if filtered else ALL
    with tempfile.TemporaryDirectory() as folder:
        index = written(parts, vectors, Path(folder), 40, deleted).words
        words = index.query(query)
        for term in words.terms.tolist():
            sums = np.zeros(7)
            for segment, norms in index.parts:
                place = int(segment.locate(np.array([term]))[0])
                add_statistics(*segment.postings_at(place), segment.lengths, norms, sums)
            assert sums.tobytes() == index.statistics(np.array([term]))[0].tobytes()
        pieces = in_pieces(parts, vectors, deleted)
        for scale in (0.0, 0.7):
            batch = QueryBatch.of([words._replace(vector=vector, scale=scale)] * 2, pieces)
            expected = best_rows(pieces, batch, k, index=index, allowed=allowed, threads=1)
            found = without_kernels(pieces, batch, k, index, NONE, allowed)
            assert found.ranks.tolist() == expected.ranks.tolist()
            assert found.scores.tobytes() == expected.scores.tobytes()


@pytest.mark.nojit
@settings(max_examples=100)
@given(
    st.lists(documents, min_size=1, max_size=3),
    st.lists(st.sampled_from([*WORDS, "unheard"]), max_size=8),
    st.integers(0, 2**32 - 1),
    st.integers(1, 20),
    st.sampled_from(["keyword", "hybrid", "semantic"]),
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
    deleted = rng.random(len(every)) < rng.choice([0, 0.4])
    live = np.flatnonzero(~deleted)
    chosen = live[rng.random(len(live)) < rng.choice([0.1, 0.6])] if filtered else None
    mask = ALL
    if chosen is not None:
        mask = np.isin(np.arange(len(every)), chosen).astype(np.uint8)
    with tempfile.TemporaryDirectory() as folder:
        stored = written(parts, vectors, Path(folder), int(rng.integers(1, 40)), deleted)
        words = stored.words.query(query)
        direction = vector.astype(np.float64)
        wide = vectors[live].astype(np.float64)
        scale = lexical_reference.scale(wide, direction) * (by != "keyword")
        if by == "semantic":
            words = HybridQuery()
        elif scale:
            assert np.isclose(0.7 / stored.spread.cosine_std(direction), scale, rtol=1e-5)
        pieces = in_pieces(parts, vectors, deleted)
        if sieved:
            for array, quantizer in zip(pieces.arrays, pieces.quantized, strict=True):
                quantizer.made = quantize(array)
        nothing = HybridQuery()
        together = best_documents(
            pieces,
            stored.words,
            [nothing, *[words._replace(vector=vector, scale=scale)] * times],
            k,
            allowed=mask,
            threads=2,
            sizes=Sizes(
                few_queries=int(rng.choice([0, 64])),
                queries=int(rng.choice([3, 256])),
                rows=int(rng.integers(1, 99)),
                lexical_scores=int(rng.integers(1, 99)),
                candidate_rows=int(rng.integers(1, 30)),
                first_rows=int(rng.integers(0, 9)),
                worth_a_thread=int(rng.choice([1, 1000])),
                scan_worth_a_thread=int(rng.choice([1, 1000])),
                narrow=int(rng.choice([1, 4])),
                narrow_lexical=int(rng.choice([1, 4])),
            ),
        )
    assert len(together[0].numbers) == 0
    found = together[1]
    for other in together[2:]:
        assert np.array_equal(other.numbers, found.numbers)
        assert np.array_equal(other.scores, found.scores)
    left = [every[document] for document in live.tolist()]
    shares = lexical_reference.word_shares(left, stem, [w for w in query if w in words.words])
    for place, document in enumerate(live.tolist()):
        ours = stored.words.shares(words, document)
        expected = [shares[place].get(word, 0.0) for word in words.words]
        # Norms are float32 numbers; weights are divided by a spread that may be small.
        assert np.allclose(ours, expected, rtol=1e-5, atol=1e-6)
    scores = np.full(len(every), -np.inf)
    scores[live] = [sum(each.values(), 0.0) for each in shares]
    scores[live] += scale * (wide @ direction)
    allowed = live if chosen is None else chosen
    if not scale:
        allowed = allowed[scores[allowed] > 0]
    best = np.sort(scores[allowed])[::-1][:k]
    assert np.allclose(found.scores, best, rtol=1e-5, atol=1e-5)
    assert np.allclose(scores[found.numbers], found.scores, rtol=1e-5, atol=1e-5)
    assert set(found.numbers) <= set(allowed.tolist())


@pytest.mark.nojit
@settings(max_examples=30)
@given(st.lists(documents, min_size=1, max_size=4), st.integers(0, 2**32 - 1), st.booleans())
def test_segments_and_what_is_merged_of_them_have_the_statistics_of_a_fresh_build(
    parts, seed, merged
) -> None:
    rng = np.random.default_rng(seed)
    every = [words for part in parts for words in part]
    vectors = unit_rows(rng.standard_normal((len(every), 3)))
    deleted = rng.random(len(every)) < rng.choice([0, 0.4])
    left = [words for words, gone in zip(every, deleted, strict=True) if not gone]
    with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as other:
        grown = written(parts, vectors, Path(one), int(rng.integers(1, 40)), deleted).words
        if merged:
            numbers = np.where(deleted, -1, np.cumsum(~deleted) - 1).astype(np.int32)
            own = [*map(read_only, np.split(numbers, grown.begins[1:-1]))]
            path = Path(one, "merged")
            both = [*zip(grown.segments, own, strict=True)]
            sizes = merge_postings(path, both, whole=True, at_once=int(rng.integers(1, 40)))
            with path.open("rb") as file:
                whole = map_postings(file, sizes, verify=True)
            grown = InvertedIndex((whole,), (np.zeros(0, np.int64),))
        fresh = written([left], vectors[~deleted], Path(other), 1 << 20).words
        assert grown.documents == fresh.documents
        assert grown.length_sums == fresh.length_sums
        assert grown.query(["unheard"]).unknown == ["unheard"]
        for word in fresh.words.words:
            [ours], [theirs] = grown.terms_of([word]), fresh.terms_of([word])
            ours, theirs = (
                index.statistics(np.array([term]))
                for index, term in ((grown, ours), (fresh, theirs))
            )
            assert np.array_equal(ours, theirs)  # to the last bit
            assert len(grown.query([word, word]).terms) == len(fresh.query([word]).terms)
            held = grown.holding([word])[slice(None) if merged else ~deleted]
            assert np.array_equal(held, fresh.holding([word]))
