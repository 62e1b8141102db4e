"""What learning in batches gives, whatever the batches."""

from itertools import pairwise

import numpy as np
from hypothesis import assume, given
from hypothesis import strategies as st

import deltavec as dv
from deltavec import DocumentEmbedder
from deltavec.io.artifacts.model import arrays_of
from support.strategies import Problem, problems

WEIGHTINGS = ["unit", "idf", "sif", "subsampling"]
FORMS = ["sum", "center", "delta"]


def fitted(problem: Problem, **parameters: object) -> DocumentEmbedder:
    vectors = dv.WordVectors(problem.words, problem.matrix)
    try:
        return DocumentEmbedder(vectors, **parameters).fit(problem.corpus)
    except dv.CorpusError:  # no known words
        assume(False)
        raise


@st.composite
def cut(draw: st.DrawFn, documents: list[str]) -> list[list[str]]:
    """The documents in batches, some of them empty."""
    places = draw(st.lists(st.integers(0, len(documents)), max_size=4).map(sorted))
    borders = [0, *places, len(documents)]
    return [documents[a:b] for a, b in pairwise(borders)]


def in_batches(whole: DocumentEmbedder, batches: list[list[str]]) -> DocumentEmbedder:
    embedder = DocumentEmbedder(**whole.get_params())
    for batch in batches:
        try:
            embedder.partial_fit(batch)
        except dv.CorpusError:  # nothing known so far: the batch is refused
            assume(False)
    return embedder


@given(problems(), st.sampled_from(WEIGHTINGS), st.sampled_from(FORMS), st.data())
def test_without_removal_any_batches_give_the_bits_of_fit(problem, weighting, form, data):
    whole = fitted(problem, weighting=weighting, form=form, n_components_removed=0)
    parts = in_batches(whole, data.draw(cut(problem.corpus)))
    assert parts.model_.info() == whole.model_.info()
    assert parts.transform(problem.texts).tobytes() == whole.transform(problem.texts).tobytes()


@given(problems(), st.sampled_from(WEIGHTINGS), st.sampled_from(FORMS), st.data())
def test_with_removal_all_but_the_components_are_the_bits_of_fit(problem, weighting, form, data):
    whole = fitted(problem, weighting=weighting, form=form)
    parts = in_batches(whole, data.draw(cut(problem.corpus)))
    ours, theirs = arrays_of(parts.model_), arrays_of(whole.model_)
    for name in ("words", "token_counts", "document_counts", "penalties", "norms"):
        assert np.array_equal(ours[name], theirs[name])


@given(problems(), st.integers(1, 3), st.data())
def test_unit_sum_adds_up_the_very_moment_of_fit(problem, removed, data):
    # Its vectors do not depend on counts, so neither do their moments; sums of float64 in another
    # order differ by rounding, of which each of some dozens of unit rows brings 1e-16 or less.
    whole = fitted(problem, weighting="unit", form="sum", n_components_removed=removed)
    parts = in_batches(whole, data.draw(cut(problem.corpus)))
    difference = parts._seen.moment.matrix - whole._seen.moment.matrix
    assert np.abs(difference).max() < 1e-12


@given(problems(), st.sampled_from(WEIGHTINGS), st.sampled_from(FORMS), st.integers(0, 2))
def test_it_gives_the_bits_of_the_function(problem, weighting, form, removed):
    embedder = fitted(problem, weighting=weighting, form=form, n_components_removed=removed)
    recipe = dv.Recipe(weighting, form, removed)
    model = dv.fit(problem.corpus, dv.WordVectors(problem.words, problem.matrix), recipe)
    assert embedder.model_.info() == model.info()
    assert embedder.transform(problem.texts).tobytes() == model.embed(problem.texts).tobytes()
