"""The estimator is the function."""

from hypothesis import assume, given
from hypothesis import strategies as st

import deltavec as dv
from deltavec import DocumentEmbedder
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


@given(problems(), st.sampled_from(WEIGHTINGS), st.sampled_from(FORMS), st.integers(0, 2))
def test_it_gives_the_bits_of_the_function(problem, weighting, form, removed):
    embedder = fitted(problem, weighting=weighting, form=form, n_components_removed=removed)
    recipe = dv.Recipe(weighting, form, removed)
    model = dv.fit(problem.corpus, dv.WordVectors(problem.words, problem.matrix), recipe)
    assert embedder.model_.info() == model.info()
    assert embedder.transform(problem.texts).tobytes() == model.embed(problem.texts).tobytes()
