"""The fused path computes what the reference computes, word by word, for every recipe."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import reference
from deltavec.core.fitting import fit
from deltavec.core.recipes import RECIPES, Recipe
from deltavec.core.vectors import WordVectors
from deltavec.errors import CorpusError
from reference import Method
from support.agreement import TOLERANCE, disagreements
from support.strategies import Batches, Problem, learnable_problems, problems


def test_the_recipes_are_the_eighteen_of_the_paper_and_its_baseline() -> None:
    assert sorted(RECIPES) == sorted(reference.NAMES)
    assert len(set(RECIPES)) == 19


@pytest.mark.parametrize("name", reference.NAMES)
@given(problem=problems())
def test_every_recipe_computes_what_the_reference_computes(name: str, problem: Problem) -> None:
    vectors = WordVectors(problem.words, problem.matrix)
    if not problem.is_learnable:
        with pytest.raises(CorpusError):
            fit(problem.corpus, vectors, name)
        return
    model = fit(problem.corpus, vectors, name)
    assert disagreements(model.embed(problem.texts), problem, Method.named(name)) == []


@given(
    problem=learnable_problems(),
    name=st.sampled_from(reference.NAMES),
    size=st.sampled_from([1, 2, 3]),
    threads=st.sampled_from([1, 2]),
)
def test_fitting_in_any_batches_computes_what_the_reference_computes(
    problem: Problem, name: str, size: int, threads: int
) -> None:
    corpus = Batches(problem.corpus, size)
    model = fit(corpus, WordVectors(problem.words, problem.matrix), name, threads=threads)
    assert disagreements(model.embed(problem.texts), problem, Method.named(name)) == []


@given(
    problem=learnable_problems(),
    weighting=st.sampled_from(list(reference.WEIGHTS)),
    form=st.sampled_from(list(reference.FORMS)),
    removed=st.integers(0, 12),
    a=st.sampled_from([1e-6, 1e-3, 0.5]),
    t=st.sampled_from([1e-6, 1e-2, 0.2]),
    min_frequency=st.sampled_from([0.0, 0.05, 0.2, 1.0]),
)
def test_every_parameter_does_what_the_reference_does(
    problem: Problem,
    weighting: str,
    form: str,
    removed: int,
    a: float,
    t: float,
    min_frequency: float,
) -> None:
    recipe = Recipe(weighting, form, removed, a, t, min_frequency)
    weights = {
        "sif": partial(reference.sif, a=a),
        "subsampling": partial(reference.subsampling, t=t),
    }
    forms = {"center": partial(reference.center, min_frequency=min_frequency)}
    method = Method(
        weights.get(weighting, reference.WEIGHTS[weighting]),
        forms.get(form, reference.FORMS[form]),
        removed,
    )
    model = fit(problem.corpus, WordVectors(problem.words, problem.matrix), recipe)
    assert disagreements(model.embed(problem.texts), problem, method) == []


def natural_problem(seed: int, words: int = 300, documents: int = 60) -> Problem:
    """Documents of some dozens of words, as well conditioned as real ones."""
    random = np.random.default_rng(seed)
    vocabulary = [f"word{number}" for number in range(words)]
    p = 1.0 / np.arange(1, words + 1)
    p /= p.sum()
    # Word vectors with a direction in common, as real ones have: it is what is removed.
    matrix = random.standard_normal((words, 20)) + 0.5 * random.standard_normal(20)
    texts = [
        " ".join(random.choice(vocabulary, size=length, p=p))
        for length in random.integers(5, 80, size=documents)
    ]
    known = vocabulary[::-1][: words - 20]  # the most frequent words of all have no vector
    return Problem(texts[: documents // 2], texts, known, matrix[: words - 20].astype(np.float32))


@pytest.mark.parametrize("name", reference.NAMES)
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_natural_documents_agree_to_1e_5_without_any_allowance(name: str, seed: int) -> None:
    problem = natural_problem(seed)
    model = fit(problem.corpus, WordVectors(problem.words, problem.matrix), name)
    corpus = [reference.words(text) for text in problem.corpus]
    fitted = reference.fit(corpus, problem.vectors, Method.named(name))
    for text, u in zip(problem.texts, model.embed(problem.texts), strict=True):
        assert u == pytest.approx(
            reference.embed(fitted, reference.words(text)).u, abs=TOLERANCE, rel=0
        )


@pytest.mark.parametrize("name", ["unit-sum", "idf-center", "sif-delta", "idf-delta-pca"])
def test_documents_longer_than_any_buffer_agree(name: str) -> None:
    random = np.random.default_rng(3)
    words = [f"word{number}" for number in range(700)]
    # Around 4096 known words, where the kernel empties its buffer of ids.
    lengths = [1, 255, 256, 257, 4095, 4096, 4097, 8192, 12000]
    texts = [" ".join(random.choice(words, size=length)) for length in lengths]
    matrix = random.standard_normal((len(words), 12)).astype(np.float32)
    problem = Problem(texts, texts, words, matrix)
    model = fit(texts, WordVectors(words, matrix), name)
    assert model.statistics.known_tokens == sum(lengths)
    assert disagreements(model.embed(texts), problem, Method.named(name)) == []


@given(lengths=st.lists(st.integers(0, 900), min_size=1, max_size=4), removal=st.booleans())
def test_auto_chooses_what_the_reference_chooses(lengths: list[int], removal: bool) -> None:
    documents = [["word"] * length for length in [*lengths, 1]]
    recipe = "auto" if removal else Recipe(form="auto", n_components_removed=0)
    model = fit(documents, WordVectors(["word"], [[1.0, 2.0]]), recipe)
    assert model.recipe.name == reference.auto(reference.count(documents, ["word"]), removal)
