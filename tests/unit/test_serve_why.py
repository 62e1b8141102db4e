"""Word pairs and what removal took away, against the plain way of computing them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import deltavec as dv
from deltavec.serve.why import (
    WORDS_AT_ONCE,
    extreme_products,
    read,
    removal,
    strongest_pairs,
    word_shares,
)
from served import TEXTS, small_collection

A, B = TEXTS["sea"], TEXTS[".."]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> dv.EmbeddingModel:
    return small_collection(tmp_path_factory.mktemp("why")).model


@given(
    rows=st.sampled_from([0, 1, 5, WORDS_AT_ONCE, WORDS_AT_ONCE + 3]),
    columns=st.integers(0, 6),
    count=st.integers(0, 30),
    seed=st.integers(0, 5),
)
def test_the_largest_products_are_found_some_rows_at_a_time(
    rows: int, columns: int, count: int, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    a, b = rng.standard_normal((rows, 3)), rng.standard_normal((columns, 3))
    expected = sorted(
        (-float(a[i] @ b[j]), i, j) for i in range(rows) for j in range(columns) if a[i] @ b[j] > 0
    )[:count]
    found = extreme_products(a, b, count)
    assert [(i, j) for i, j, _ in found] == [(i, j) for _, i, j in expected]
    np.testing.assert_allclose([s for *_, s in found], [-s for s, *_ in expected], rtol=1e-12)


def test_pairs_are_those_of_the_model_s_own_explanation(model: dv.EmbeddingModel) -> None:
    pairs = strongest_pairs(read(model, A).document, read(model, B).document, 5)
    expected = model.explain(A, B, pairs=5).pairs
    assert [p.share for p in pairs.together] == pytest.approx([p.share for p in expected])
    assert all(pair.share < 0 for pair in pairs.apart)


def test_all_pairs_add_up_to_the_cosine(model: dv.EmbeddingModel) -> None:
    a, b = read(model, A).document, read(model, B).document
    pairs = strongest_pairs(a, b, 10_000)
    total = sum(pair.share for pair in (*pairs.together, *pairs.apart))
    assert total == pytest.approx(float(a.vector @ b.vector))


def test_shares_are_those_of_the_model_s_own_explanation(model: dv.EmbeddingModel) -> None:
    expected = {word.word: word.share for word in model.explain(A, B).words_a}
    other = read(model, B).document.vector
    assert word_shares(model, model.words(A), other) == pytest.approx(expected)
    assert word_shares(model, ["xyzzy"], other) == {}
    assert word_shares(model, [], other) == {}


@pytest.mark.parametrize("recipe", ["idf-delta-pca", "idf-center-pca", "idf-sum-pca"])
def test_before_the_removal_the_cosine_was_that_of_the_model_without_it(
    recipe: str, tmp_path: Path
) -> None:
    model = small_collection(tmp_path, recipe).model
    found = removal(model, read(model, A).document, read(model, B).document)
    assert found is not None
    whole = replace(model, folded=model.folded.restored())
    # The table is float32: what was removed and put back differs in the seventh digit.
    assert found.before == pytest.approx(whole.explain(A, B).cosine, abs=1e-5)
    assert found.before == pytest.approx(found.left + found.taken)
    assert found.components == 1
    assert found.words_a


def test_a_model_that_removes_nothing_has_nothing_taken_away(tmp_path: Path) -> None:
    model = small_collection(tmp_path, "idf-sum").model
    assert removal(model, read(model, A).document, read(model, B).document) is None


def test_a_text_without_known_words_has_nothing_taken_away(model: dv.EmbeddingModel) -> None:
    found = removal(model, read(model, "xyzzy").document, read(model, A).document)
    assert found is not None
    assert (found.before, found.words_a, found.words_b) == (0.0, [], [])
