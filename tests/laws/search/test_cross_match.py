"""What stays of duplicates, and the best match of each row, are what all scores say."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import deltavec as dv
from deltavec.search import cross_match
from deltavec.search.cross_match import best_matches, product_length, shorten
from deltavec.search.matrix import ChunkedMatrix
from support import search_reference
from support.search_strategies import close_rows, coarse_rows

THRESHOLDS = st.sampled_from([0.05, 0.5, 0.8, 0.999, 1.0])


@given(rows=close_rows(3) | coarse_rows(2), threshold=THRESHOLDS)
def test_no_two_that_stay_are_duplicates_and_each_that_goes_has_one(rows, threshold):
    found = dv.duplicates(rows, threshold)
    staying = search_reference.kept(rows, threshold)
    assert found.removed.tolist() == sorted(set(range(len(rows))) - set(staying))
    scores = search_reference.cosines(rows, rows)
    for row in found.table.to_pylist():
        assert row["keep"] == (row["id"] in staying)
        assert row["representative"] in staying
        if not row["keep"]:
            assert row["score"] == scores[row["id"], row["representative"]]
            assert row["score"] >= np.float32(threshold)
            assert row["representative"] < row["id"]


@given(
    rows=close_rows(3) | coarse_rows(3),
    others=close_rows(3) | coarse_rows(3),
    threshold=THRESHOLDS,
    cut=st.integers(1, 7),
    length=st.integers(1, 3),
)
def test_the_best_match_is_that_of_all_scores(rows, others, threshold, cut, length):
    blocks = (
        ChunkedMatrix.of(others[first : first + cut], "others")
        for first in range(0, len(others), cut)
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cross_match, "STRIP", 4)
        patch.setattr(cross_match, "BLOCK", 3)
        patch.setattr(cross_match, "product_length", lambda *_: length)
        found = best_matches(ChunkedMatrix.of(rows, "rows"), blocks, threshold, threads=2)
    expected = search_reference.matches(rows, others, threshold)
    assert list(zip(found.rows.tolist(), found.scores.tolist(), strict=True)) == expected


@given(rows=close_rows(5), others=close_rows(5), length=st.integers(1, 4))
def test_a_shorter_product_is_never_below_the_whole_one(rows, others, length):
    short = shorten(rows, length).astype(np.float64) @ shorten(others, length).T
    whole = rows.astype(np.float64) @ others.T.astype(np.float64)
    assert (short >= whole - 1e-12).all()


def test_the_product_is_short_where_the_first_numbers_tell():
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((500, 200)) * np.where(np.arange(200) < 30, 1, 0.01)
    rows = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
    assert product_length(rows, rows[::-1], 0.95) == 32
    flat = rng.standard_normal((500, 200)).astype(np.float32)
    flat /= np.linalg.norm(flat, axis=1, keepdims=True)
    assert product_length(flat, flat[250:], 0.3) == 200
    assert product_length(rows[:, :40], rows[:, :40], 0.95) == 40


def test_no_others_match_nothing():
    found = best_matches(ChunkedMatrix.of(np.eye(3), "rows"), [], 0.5)
    assert found.rows.tolist() == [-1, -1, -1]
    assert found.scores.tolist() == [0, 0, 0]
