"""The lists of an approximate index, however it came by its rows."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import deltavec as dv
from deltavec.search.approximately.lists import LEAST_EXPANSION, lists_for
from deltavec.search.approximately.searching import best_in_lists
from deltavec.search.matrix import Pieces
from deltavec.search.topk import NONE, Search, best_rows
from support.search_strategies import unit_rows

SIZES = st.lists(st.integers(1, 900), min_size=1, max_size=5)


def filled(sizes, seed, zeros=0.0, **options):
    """An index that was filled by and by, and its rows."""
    rng = np.random.default_rng(seed)
    rows = unit_rows(rng.standard_normal((sum(sizes), 6)))
    rows[rng.random(len(rows)) < zeros] = 0
    parts = np.split(rows, np.cumsum(sizes)[:-1])
    index = dv.Index(parts[0], approximate=True, threads=1, **options)
    for part in parts[1:]:
        index.add(part)
    return index, rows


@given(SIZES, st.integers(0, 2**32 - 1), st.sampled_from([None, 1, 70]))
def test_there_are_never_far_fewer_lists_than_suit_the_rows(sizes, seed, expansion):
    index, rows = filled(sizes, seed, expansion=expansion)
    lists = index._state.lists
    suitable = min(lists_for(len(rows)), len(rows))
    assert suitable / 2 < len(lists.centres) <= suitable
    assert index.expansion == (expansion or LEAST_EXPANSION)
    products = rows.astype(float) @ lists.centres.T.astype(float)
    assert (products[np.arange(len(rows)), lists.homes] >= products.max(axis=1) - 1e-6).all()


@given(SIZES, st.integers(0, 2**32 - 1), st.floats(0, 1), st.integers(1, 12))
def test_looked_through_all_lists_hold_what_an_exact_search_finds(sizes, seed, zeros, k):
    index, rows = filled(sizes, seed, zeros)
    lists = index._state.lists
    assert len(lists.homes) == len(rows)
    assert (lists.homes[~rows.any(axis=1)] == len(lists.centres)).all()
    queries = unit_rows(np.random.default_rng(seed + 1).standard_normal((3, 6)))
    search = Search(index.pieces, NONE, Pieces.of(queries, "queries"), min(k, len(rows)), None, 1)
    found = best_in_lists(search, lists, np.arange(3), len(lists.centres))
    exact = best_rows(search)
    assert found.ranks.tobytes() == exact.ranks.tobytes()
    assert found.scores.tobytes() == exact.scores.tobytes()
