"""Search without kernels finds the very rows, with the very scores, that kernels find."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from deltavec.core.arrays import read_only
from deltavec.search import fallback, kernels
from deltavec.search.lexical.index import add_statistics
from deltavec.search.matrix import ChunkedMatrix, in_turn
from deltavec.search.topk import ALL, QueryBatch, arrays_of, best_rows, no_rows, rank
from support.lexical_index import WORDS, documents, in_pieces, written
from support.search_strategies import rows_and_queries, unit_rows

NONE = np.empty(0, np.int64)


def without_kernels(pieces, batch, k, index, ranks, allowed):
    best = no_rows(batch.size, k)
    for one in arrays_of(pieces, batch, index, ranks, allowed):
        fallback.search_rows(one.rows, batch.queries, one.terms, best)
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
