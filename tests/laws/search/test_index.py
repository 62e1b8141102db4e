"""Exact search finds what a sort of all scores finds: ties, zeros, filters and blocks included."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import deltavec as dv
from deltavec.core.arrays import read_only
from deltavec.search.matrix import ChunkedMatrix, length_error
from deltavec.search.pairs import Strips, row_pairs
from deltavec.search.quantized.build import quantize
from deltavec.search.topk import Sizes, nearest_rows
from support import search_reference
from support.search_strategies import close_rows, coarse_rows, rows_and_queries, unit_rows

CUTS = st.builds(
    Sizes,
    few_queries=st.sampled_from([0, 1, 100]),
    queries=st.integers(1, 5),
    rows=st.integers(1, 70),
    first_rows=st.integers(0, 9),
    most_rows=st.sampled_from([1, 300, 1000]),
    worth_a_thread=st.just(1),
    scan_worth_a_thread=st.just(1),
    narrow=st.sampled_from([1, 2, 16]),
    narrow_lexical=st.just(64),
    lexical_scores=st.just(16_384),
    candidate_rows=st.sampled_from([1, 7, 1000]),
)


@st.composite
def ids_for(draw, count):
    kind = draw(st.sampled_from([None, "numbers", "strings"]))
    if kind is None:
        return None
    numbers = draw(st.permutations(range(-3, count - 3)))
    return numbers if kind == "numbers" else [f"é{number}" for number in numbers]


def check(hits, expected):
    ids, scores = expected
    assert hits.ids.tolist() == ids
    assert hits.scores.tolist() == scores
    assert hits.scores.dtype == np.float32


@given(rows_and_queries(), st.integers(1, 50), st.data())
def test_a_search_finds_what_sorting_all_scores_finds(drawn, k, data):
    rows, queries = drawn
    ids = data.draw(ids_for(len(rows)))
    index = dv.Index(rows, ids)
    check(index.search(queries, k), search_reference.best(rows, queries, k, ids))


@given(rows_and_queries(), st.integers(1, 9), CUTS, st.sampled_from([1, 2]), st.data())
def test_blocks_threads_and_filters_change_nothing(drawn, k, sizes, threads, data):
    rows, queries = drawn
    cuts = sorted(data.draw(st.sets(st.integers(1, len(rows)), max_size=3)))
    arrays = tuple(map(read_only, np.split(rows, cuts)))
    pieces = ChunkedMatrix(arrays, length_error(rows, "rows"))
    mask = np.array(data.draw(st.lists(st.booleans(), min_size=len(rows), max_size=len(rows))))
    where = data.draw(st.sampled_from([None, mask]))
    expected = search_reference.best(rows, queries, k, None, where)
    k = min(k, len(rows) if where is None else int(where.sum()))
    if data.draw(st.booleans()):
        for lazy, array in zip(pieces.quantized, arrays, strict=True):
            seen = np.eye(rows.shape[1])[:, : data.draw(st.integers(0, rows.shape[1]))]
            lazy.made = quantize(array, threads, directions=np.ascontiguousarray(seen))
    asked, allowed = ChunkedMatrix.of(queries, "queries"), pieces.physical_mask(where)
    found = nearest_rows(pieces, asked, k, allowed=allowed, threads=threads, sizes=sizes)
    assert found.ranks.tolist() == expected[0]
    assert found.scores.tolist() == expected[1]


@given(st.data(), st.integers(1, 4), st.integers(1, 12), st.integers(0, 2**32 - 1))
def test_a_sieve_of_many_blocks_finds_what_is_found_without(data, asked, k, seed):
    # Of few different rows, more are as good as the best than a search leaves for later.
    count, different = data.draw(st.integers(k, 6000)), data.draw(st.sampled_from([3, 300, 6000]))
    rng = np.random.default_rng(seed)
    rows = unit_rows(rng.standard_normal((different, 8)))[rng.integers(0, different, count)]
    queries = ChunkedMatrix.of(rows[rng.integers(0, count, asked)], "queries")
    whole = ChunkedMatrix((read_only(rows),), length_error(rows, "rows"))
    seen = np.eye(8)[:, : data.draw(st.integers(0, 8))]
    sifting = ChunkedMatrix((read_only(rows),), whole.length_error)
    sifting.quantized[0].made = quantize(rows, 1, directions=np.ascontiguousarray(seen))
    ranks = rng.permutation(count)
    expected = nearest_rows(whole, queries, k, ranks=ranks, threads=1)
    for threads in (1, 2):
        cut = Sizes(most_rows=data.draw(st.sampled_from([128, 1024])), scan_worth_a_thread=1)
        found = nearest_rows(sifting, queries, k, ranks=ranks, threads=threads, sizes=cut)
        assert found.ranks.tobytes() == expected.ranks.tobytes()
        assert found.scores.tobytes() == expected.scores.tobytes()


@given(rows_and_queries(), st.integers(1, 9), st.data())
def test_a_filter_leaves_what_it_allows(drawn, k, data):
    rows, queries = drawn
    ids = data.draw(ids_for(len(rows)))
    index = dv.Index(rows, ids)
    mask = np.array(data.draw(st.lists(st.booleans(), min_size=len(rows), max_size=len(rows))))
    expected = search_reference.best(rows, queries, k, ids, mask)
    check(index.search(queries, k, where=mask), expected)
    check(index.search(queries, k, where=index.ids[mask][::-1]), expected)


@given(rows_and_queries(), st.integers(1, 9))
def test_a_query_alone_finds_the_same_bits_as_in_a_batch(drawn, k):
    rows, queries = drawn
    index = dv.Index(rows)
    together = index.search(np.tile(queries, (5, 1)), k)
    for place, query in enumerate(queries):
        alone = index.search(query, k)
        assert alone.ids[0].tolist() == together.ids[place].tolist()
        assert alone.scores[0].tobytes() == together.scores[place].tobytes()


@given(coarse_rows(3, 2), st.data())
def test_adding_and_removing_is_the_same_as_making_an_index_of_what_is_left(rows, data):
    count = len(rows)
    first, *others = np.split(rows, sorted(data.draw(st.sets(st.integers(0, count), max_size=3))))
    index = dv.Index(first)
    for more in others:
        index.add(more)
    gone = data.draw(st.sets(st.integers(0, count - 1)))
    index.remove(sorted(gone))
    kept = [row for row in range(count) if row not in gone]
    assert index.ids.tolist() == kept
    assert len(index) == len(kept)
    expected = search_reference.best(rows[kept], rows[:4], 5, kept)
    check(index.search(rows[:4], 5), expected)
    assert index.vectors.tobytes() == rows[kept].tobytes()
    check(index.search(rows[:4], 5), expected)


@given(
    st.one_of(coarse_rows(1), coarse_rows(3), close_rows(20)),
    st.one_of(st.floats(0.001, 1), st.sampled_from([1.0, 0.5, 1e-60])),
    st.builds(Strips, st.integers(1, 9), st.integers(1, 80), st.integers(1, 50)),
    st.sampled_from([1, 2]),
)
def test_similar_pairs_are_all_pairs_above_the_threshold(rows, threshold, strips, threads):
    expected = search_reference.pairs(rows, threshold)
    parts = row_pairs(ChunkedMatrix.of(rows, "U"), threshold, threads=threads, strips=strips)
    assert [
        (int(a), int(b), score) for part in parts for a, b, score in zip(*part, strict=True)
    ] == expected
    found = dv.similar_pairs(rows, threshold, threads=threads)
    assert list(zip(*map(np.ndarray.tolist, found), strict=True)) == expected


@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from([0.8, 0.9, 0.95, 0.99, 0.999]),
    st.sampled_from([2, 30, 100]),
)
def test_planted_duplicates_are_found(seed, threshold, dimensions):
    rng = np.random.default_rng(seed)
    rows = rng.standard_normal((60, dimensions))
    # Copies whose cosines lie close about the threshold.
    angle = np.sqrt(1 - threshold**2) / threshold
    noise = rng.standard_normal((60, dimensions)) * np.linalg.norm(rows, axis=1, keepdims=True)
    near = rows + rng.uniform(0, 2 * angle, (60, 1)) * noise / np.sqrt(dimensions)
    both = np.concatenate([rows, near, rows[:5]])
    unit = (both / np.linalg.norm(both, axis=1, keepdims=True)).astype(np.float32)
    found = dv.similar_pairs(unit, threshold)
    expected = search_reference.pairs(unit, threshold)
    assert list(zip(*map(np.ndarray.tolist, found), strict=True)) == expected
    assert len(expected) >= 5


@given(st.one_of(coarse_rows(1), coarse_rows(3), close_rows(20)), st.integers(1, 50), st.data())
def test_neighbors_are_the_best_of_the_others(rows, k, data):
    ids = data.draw(ids_for(len(rows)))
    found = dv.neighbors(rows, k, ids=ids)
    for row in range(len(rows)):
        others = np.arange(len(rows)) != row
        expected = search_reference.best(rows, rows[row : row + 1], k, ids, others)
        assert found.ids[row].tolist() == expected[0][0]
        assert found.scores[row].tolist() == expected[1][0]
