"""What must hold for every document: the same words get the same vector, however they come."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import reference
from deltavec.core import batching
from deltavec.core.fitting import fit
from deltavec.core.forms import FORMS
from deltavec.core.model import EmbeddingModel
from deltavec.core.recipes import Recipe
from deltavec.core.vectors import WordVectors
from reference import Method
from support.agreement import disagreements
from support.strategies import Batches, Problem, learnable_problems

Matrix = npt.NDArray[np.float32]

names = st.sampled_from(reference.NAMES)


def fitted(problem: Problem, name: str) -> EmbeddingModel:
    return fit(problem.corpus, WordVectors(problem.words, problem.matrix), name)


def same_bits(a: Matrix, b: Matrix) -> bool:
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


@given(problem=learnable_problems(), name=names)
def test_rows_are_of_unit_length_or_zero(problem: Problem, name: str) -> None:
    matrix = fitted(problem, name).embed(problem.texts)
    assert matrix.dtype == np.float32
    lengths = np.linalg.norm(matrix.astype(np.float64), axis=1)
    # Each entry is rounded to float32 once: 2**-24 of a unit vector.
    assert lengths[lengths > 0] == pytest.approx(1, abs=1e-7)


@given(problem=learnable_problems(), name=names, size=st.integers(1, 3))
def test_any_batching_gives_the_same_bits(problem: Problem, name: str, size: int) -> None:
    model = fitted(problem, name)
    whole = model.embed(problem.texts)
    matrices = list(model.embed_batches(Batches(problem.texts, size)))
    assert [len(matrix) for matrix in matrices[:-1]] == [size] * (len(matrices) - 1)
    assert same_bits(np.concatenate(matrices), whole)
    assert same_bits(model.embed(text for text in problem.texts), whole)


@given(problem=learnable_problems(), name=names, threads=st.integers(1, 4))
def test_any_number_of_threads_gives_the_same_bits(
    problem: Problem, name: str, threads: int
) -> None:
    vectors = WordVectors(problem.words, problem.matrix)
    expected = fit(problem.corpus, vectors, name, threads=1).embed(problem.texts, threads=1)
    with pytest.MonkeyPatch.context() as patch:
        # Texts this short would all go to one thread.
        patch.setattr(batching, "BYTES_WORTH_A_THREAD", 1)
        model = fit(problem.corpus, vectors, name, threads=threads)
        assert same_bits(model.embed(problem.texts, threads=threads), expected)


@pytest.mark.compiled  # much text, one Python step a byte
def test_two_threads_give_the_same_bits_on_much_text() -> None:
    random = np.random.default_rng(5)
    words = [f"word{number}" for number in range(500)]
    texts = [" ".join(random.choice(words, size=n)) for n in random.integers(0, 400, 400)]
    vectors = WordVectors(words, random.standard_normal((500, 16)))
    one, two = (fit(texts, vectors, "idf-delta-pca", threads=threads) for threads in (1, 2))
    assert one.fingerprint == two.fingerprint
    assert same_bits(one.embed(texts, threads=1), two.embed(texts, threads=2))


@given(problem=learnable_problems(), name=names)
def test_a_callable_and_lists_of_words_give_the_same_bits_as_the_fused_tokenizer(
    problem: Problem, name: str
) -> None:
    vectors = WordVectors(problem.words, problem.matrix)
    fused = fit(problem.corpus, vectors, name)
    called = fit(problem.corpus, vectors, name, tokenizer=reference.words)
    listed = fit([reference.words(text) for text in problem.corpus], vectors, name)
    expected = fused.embed(problem.texts)
    documents = [reference.words(text) for text in problem.texts]
    assert same_bits(called.embed(problem.texts), expected)
    for model in (fused, called, listed):
        assert same_bits(model.embed(documents), expected)


@given(problem=learnable_problems(), name=names)
def test_arrow_columns_slices_and_nulls_give_the_same_bits(problem: Problem, name: str) -> None:
    model = fitted(problem, name)
    expected = model.embed(problem.texts)
    for kind in (pa.string(), pa.large_string()):
        column = pa.array(["not this", *problem.texts, None], kind)
        assert same_bits(model.embed(column[1:-1]), expected)
        assert not model.embed(column[-1:]).any()
    halves = [problem.texts[:1], problem.texts[1:]]
    assert same_bits(model.embed(pa.chunked_array(halves, pa.string())), expected)


@given(problem=learnable_problems(), name=names, data=st.data())
def test_word_order_changes_nothing(problem: Problem, name: str, data: st.DataObject) -> None:
    model = fitted(problem, name)
    shuffled = [
        " ".join(data.draw(st.permutations(reference.words(text)))) for text in problem.texts[:3]
    ]
    # Sums in another order round another way: both orders agree with one reference.
    other = problem._replace(texts=shuffled)
    same = problem._replace(texts=problem.texts[:3])
    for one in (other, same):
        assert disagreements(model.embed(one.texts), same, Method.named(name)) == []


@given(problem=learnable_problems(), name=names, data=st.data())
def test_equal_documents_get_equal_bits_wherever_they_stand(
    problem: Problem, name: str, data: st.DataObject
) -> None:
    model = fitted(problem, name)
    expected = model.embed(problem.texts)
    order = data.draw(st.lists(st.sampled_from(range(len(problem.texts))), max_size=20))
    assert same_bits(model.embed([problem.texts[i] for i in order]), expected[order])


@given(problem=learnable_problems(), name=names, repeats=st.integers(2, 5))
def test_a_text_twice_over_has_the_vector_of_the_text(
    problem: Problem, name: str, repeats: int
) -> None:
    model = fitted(problem, name)
    repeated = [" ".join([text] * repeats) for text in problem.texts]
    assert disagreements(model.embed(repeated), problem, Method.named(name)) == []


@given(
    problem=learnable_problems(),
    weighting=st.sampled_from(list(reference.WEIGHTS)),
    form=st.sampled_from(list(reference.FORMS)),
    exponent=st.integers(-20, 20),
)
def test_scaling_all_weights_changes_nothing(
    problem: Problem, weighting: str, form: str, exponent: int
) -> None:
    recipe = Recipe(weighting, form, n_components_removed=0)
    vectors = WordVectors(problem.words, problem.matrix)
    model = fit(problem.corpus, vectors, recipe)
    ordered = WordVectors(model.vocabulary.words, [vectors[w] for w in model.vocabulary.words])
    weights = model.recipe.weights(model.statistics)

    def scaled(factor: float) -> Matrix:
        folded = FORMS[form](ordered, weights * factor, model.statistics, 0.0)
        return replace(model, table=folded).embed(problem.texts)

    # A power of two scales exactly, so not a bit changes; any other number rounds another way.
    assert same_bits(scaled(2.0**exponent), scaled(1.0))
    method = Method(reference.WEIGHTS[weighting], reference.FORMS[form])
    assert disagreements(scaled(0.3 * 2.0**exponent), problem, method) == []


@given(problem=learnable_problems(), name=names, data=st.data())
def test_order_of_the_word_vectors_changes_nothing(
    problem: Problem, name: str, data: st.DataObject
) -> None:
    order = data.draw(st.permutations(range(len(problem.words))))
    words = [problem.words[i] for i in order]
    model = fit(problem.corpus, WordVectors(words, problem.matrix[order]), name)
    assert disagreements(model.embed(problem.texts), problem, Method.named(name)) == []


@given(problem=learnable_problems(), name=names)
def test_unknown_words_change_nothing(problem: Problem, name: str) -> None:
    model = fitted(problem, name)
    strange = "unheard_of"
    padded = [f"{strange} {text} {strange} " for text in problem.texts]
    assert same_bits(model.embed(padded), model.embed(problem.texts))
