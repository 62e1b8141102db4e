"""For every corpus: the mean of an exported table's rows points where the document does."""

import numpy as np
from hypothesis import assume, given
from hypothesis import strategies as st

import deltavec as dv
from deltavec.core.text.tokenize import words
from deltavec.io.export.export import static_rows
from support.strategies import Problem, problems

# Of float32: the rows are rounded once more, and both sums some times.
ROUNDING = 2.0**-20


@given(recipe=st.sampled_from(["idf-sum", "sif-center", "unit-center-pca"]), problem=problems())
def test_the_mean_of_the_rows_has_the_direction_of_the_document(
    recipe: str, problem: Problem
) -> None:
    assume(problem.is_learnable)
    model = dv.fit(problem.corpus, dv.WordVectors(problem.words, problem.matrix), recipe)
    rows = static_rows(model).astype(np.float64)
    for text, vector in zip(problem.texts, model.embed(problem.texts), strict=True):
        ids = model.vocabulary.ids(words(text, "words"))
        known = ids[ids >= 0]
        if not len(known):
            assert not vector.any()
        elif vector.any():  # else nothing is left of it but rounding
            mean = rows[known].mean(axis=0)
            length = np.linalg.norm(mean)
            inputs = model.table.norms[known].mean() + model.table.offset_norm
            assert np.linalg.norm(mean / length - vector) <= ROUNDING * inputs / length
