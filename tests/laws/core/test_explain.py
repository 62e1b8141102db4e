"""Shares add up to the cosine, and are the reference's: nothing is left unexplained."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import reference
from deltavec.core.explain import WORDS_AT_ONCE, Explanation, largest_products
from deltavec.core.fitting import fit
from deltavec.core.vectors import WordVectors
from reference import OFFSET, Method
from support.agreement import component_error, direction_error
from support.strategies import Problem, learnable_problems

names = st.sampled_from(reference.NAMES)


def explanation(problem: Problem, name: str, a: str, b: str) -> Explanation:
    model = fit(problem.corpus, WordVectors(problem.words, problem.matrix), name)
    return model.explain(a, b, pairs=10_000)


@st.composite
def comparisons(draw: st.DrawFn) -> tuple[Problem, str, str]:
    """A problem and two of its texts."""
    problem = draw(learnable_problems())
    text = st.sampled_from(problem.texts)
    return problem, draw(text), draw(text)


@given(comparison=comparisons(), name=names)
def test_shares_of_either_document_sum_to_the_cosine(
    comparison: tuple[Problem, str, str], name: str
) -> None:
    found = explanation(comparison[0], name, *comparison[1:])
    assert -1 - 1e-6 <= found.cosine <= 1 + 1e-6
    for words, offset in [(found.words_a, found.offset_a), (found.words_b, found.offset_b)]:
        total = math.fsum([word.share for word in words]) + offset
        assert total == pytest.approx(found.cosine, abs=1e-6)


@given(comparison=comparisons(), name=names)
def test_words_and_their_counts_are_those_of_the_documents(
    comparison: tuple[Problem, str, str], name: str
) -> None:
    problem, *texts = comparison
    found = explanation(problem, name, *texts)
    sides = [(found.words_a, found.unknown_a), (found.words_b, found.unknown_b)]
    for text, (shares, unknown) in zip(texts, sides, strict=True):
        counts = Counter(reference.words(text))
        known = {word: n for word, n in counts.items() if word in problem.words}
        assert {word.word: word.occurrences for word in shares} == known
        assert list(unknown) == [word for word in counts if word not in known]
        values = [word.share for word in shares]
        assert values == sorted(values, reverse=True)


@given(comparison=comparisons(), name=names)
def test_shares_pairs_and_cosine_are_those_of_the_reference(
    comparison: tuple[Problem, str, str], name: str
) -> None:
    problem, *texts = comparison
    found = explanation(problem, name, *texts)
    corpus = [reference.words(text) for text in problem.corpus]
    fitted = reference.fit(corpus, problem.vectors, Method.named(name))
    a, b = (reference.words(text) for text in texts)
    embedded = [reference.embed(fitted, document) for document in (a, b)]
    if not all(document.u.any() for document in embedded):
        # A document at the line between rounding and meaning may have a vector here: the law of
        # agreement looks at that line.
        return
    turn = component_error(fitted)
    error = sum(direction_error(document, turn) for document in embedded)
    # A share is a part of c over |c|: as large as the words cancel, and its error with it.
    largest = max(document.inputs / float(np.linalg.norm(document.c)) for document in embedded)
    allowed = 1e-5 + 2 * error * (1 + largest)
    pairs_allowed = allowed * (1 + largest)
    if pairs_allowed > 0.1:
        return  # rounding is all there is to see

    assert found.cosine == pytest.approx(float(embedded[0].u @ embedded[1].u), abs=allowed)
    shares = reference.shares(fitted, a, b)
    assert found.offset_a == pytest.approx(shares.pop(OFFSET, 0.0), abs=allowed)
    assert {word.word: word.share for word in found.words_a} == pytest.approx(shares, abs=allowed)
    pairs = reference.pair_shares(fitted, a, b)
    listed = {(pair.word_a, pair.word_b): pair.share for pair in found.pairs}
    for both, share in pairs.items():
        if OFFSET not in both:
            # Pairs that pull apart are not listed.
            assert max(share, 0) == pytest.approx(listed.get(both, 0.0), abs=pairs_allowed)
    assert sum(pairs.values()) == pytest.approx(found.cosine, abs=pairs_allowed)
    values = [pair.share for pair in found.pairs]
    assert values == sorted(values, reverse=True)
    assert all(value > 0 for value in values)


@given(comparison=comparisons(), name=names)
def test_the_cosine_is_that_of_the_vectors(comparison: tuple[Problem, str, str], name: str) -> None:
    problem, *texts = comparison
    model = fit(problem.corpus, WordVectors(problem.words, problem.matrix), name)
    found = model.explain(*texts)
    a, b = model.embed(texts).astype(np.float64)
    corpus = [reference.words(text) for text in problem.corpus]
    fitted = reference.fit(corpus, problem.vectors, Method.named(name))
    documents = [reference.embed(fitted, reference.words(text)) for text in texts]
    # One table, so only adding its rows in float32 or in float64 tells the two apart.
    allowed = 1e-5 + sum(
        direction_error(document, 0.0) for document in documents if document.u.any()
    )
    assert found.cosine == pytest.approx(float(a @ b), abs=allowed)


@given(comparison=comparisons(), name=names)
def test_explaining_the_other_way_round_exchanges_the_sides(
    comparison: tuple[Problem, str, str], name: str
) -> None:
    problem, a, b = comparison
    model = fit(problem.corpus, WordVectors(problem.words, problem.matrix), name)
    there, back = model.explain(a, b), model.explain(b, a)
    assert there.cosine == pytest.approx(back.cosine, abs=1e-12)
    assert (there.words_a, there.offset_a, there.unknown_a) == (
        back.words_b,
        back.offset_b,
        back.unknown_b,
    )


@given(
    a=st.lists(st.sampled_from(["tea", "pot", "tea\0pot", "pot\0", "", "x y"]), max_size=5),
    b=st.lists(st.sampled_from(["tea", "pot"]), min_size=1, max_size=3),
)
@example(a=["tea\0pot"], b=["tea"])
def test_lists_of_odd_words_are_explained_as_they_are_embedded(a: list[str], b: list[str]) -> None:
    vectors = WordVectors(["tea", "pot", "tea\0pot", "x y"], np.eye(4))
    model = fit([["tea", "pot", "x y"]], vectors, "unit-sum")
    u_a, u_b = model.embed([a, b])
    assert model.explain(a, b).cosine == pytest.approx(float(u_a @ u_b), abs=1e-6)


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
    # Small whole numbers: many products are equal, and of those the first ones count.
    a, b = rng.integers(-2, 3, (rows, 3)).astype(float), rng.integers(-2, 3, (columns, 3))
    expected = sorted(
        (-float(a[i] @ b[j]), i, j) for i in range(rows) for j in range(columns) if a[i] @ b[j] > 0
    )
    found = largest_products(a, b.astype(float), count)
    assert found == [(i, j, -share) for share, i, j in expected[:count]]
