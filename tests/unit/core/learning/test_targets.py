"""Learning from a teacher's vectors: the closed form against the dense one, and bad input."""

from __future__ import annotations

import numpy as np
import pytest

import deltavec as dv
from deltavec.core.learning import targets as taught
from deltavec.errors import InputError, RecipeError

THINGS = ["sea bay tide wave", "bed lamp room door", "train rail track station"]
RNG = np.random.default_rng(0)
TEXTS = [
    " ".join(RNG.choice(THINGS[n % 3].split(), 5)) + f" the day{n % 7} of word{n % 11}"
    for n in range(150)
]
DIRECTIONS = RNG.standard_normal((40, 6))


def teacher(texts: list[str]) -> np.ndarray:
    """Vectors by the letters of a text."""
    counts = np.array([[text.count(chr(97 + k)) for k in range(26)] for text in texts], float)
    return counts @ DIRECTIONS[:26] + 0.1


@pytest.fixture(scope="module")
def model() -> dv.EmbeddingModel:
    return dv.fit(TEXTS, units="words").for_collection(TEXTS)


def test_the_student_is_the_mean_of_the_posterior(model: dv.EmbeddingModel) -> None:
    sample = TEXTS[:60]
    means = taught.token_means(sample, model)
    m = np.asarray(taught.token_means(TEXTS, model).mean(axis=0)).ravel()
    Y = taught.as_targets(teacher(sample), 60)
    words = taught.word_vectors(model, teacher, 6)
    rows, note = taught.student(means, Y, m, model, words)
    ridge = float(note.split()[1].rstrip(","))
    # One dense equation, with the covariance of all rows.
    X, R = means.toarray() - m, Y - Y.mean(axis=0)
    D = np.log((150 + 1) / (model.statistics.document_counts + 0.5))
    S = model.table.rows.astype(np.float64)
    parts = [np.diag(D**2), S @ S.T]
    sigma = sum(0.5 * part / np.diag(X @ part @ X.T).mean() for part in parts)
    s = np.diag(1 / np.sqrt(np.diag(X @ sigma @ X.T)))
    P = D[:, None] * words
    kappa = np.sum(s @ X @ P * R) / np.sum(np.square(s @ X @ P))
    solved = np.linalg.solve(s @ X @ sigma @ X.T @ s + ridge * np.eye(60), R - kappa * s @ X @ P)
    assert np.allclose(rows, kappa * P + sigma @ X.T @ s @ solved, atol=1e-8)
    assert ridge in taught.RIDGES


def test_a_text_left_out_is_predicted_without_it(model: dv.EmbeddingModel) -> None:
    kernel = np.eye(70) + 0.3 * np.cov(RNG.standard_normal((70, 70)))
    goal = RNG.standard_normal((70, 4))
    ridge, agreement = taught.best_ridge(kernel, goal, goal)
    left = np.empty_like(goal)
    for out in range(70):
        kept = np.arange(70) != out
        inner = kernel[np.ix_(kept, kept)] + ridge * np.eye(69)
        left[out] = kernel[out, kept] @ np.linalg.solve(inner, goal[kept])
    pairs = np.random.default_rng(0).integers(0, 70, (2, taught.PAIRS))
    pairs = pairs[:, pairs[0] != pairs[1]]
    wanted = np.corrcoef(taught.cosines(left, pairs), taught.cosines(goal, pairs))[0, 1]
    assert agreement == pytest.approx(wanted)


@pytest.mark.parametrize("units", ["words", "words+grams-4"])
def test_one_table_of_as_many_dimensions_whose_words_add_up(units: str) -> None:
    alone = dv.fit(TEXTS, units=units, recipe=dv.Recipe(form="spectral", dimensions=12))
    recipe = dv.Recipe(form="spectral", dimensions=12)
    model = dv.fit(TEXTS, recipe=recipe, units=units, teacher=teacher, weight=0.9)
    assert model.table.rows.shape == alone.table.rows.shape
    assert "150 documents, weight 0.9" in model.info()["targets"]
    why = model.explain(TEXTS[0], TEXTS[3])
    assert sum(word.share for word in why.words_a) + why.offset_a == pytest.approx(why.cosine)
    agreement = [
        np.corrcoef((m.embed(TEXTS) @ m.embed(TEXTS).T).ravel(), target.ravel())[0, 1]
        for target in [centered_cosines(teacher(TEXTS))]
        for m in (alone, model)
    ]
    assert agreement[1] > agreement[0]
    assert model.for_collection(TEXTS[:40]).embed(TEXTS[:2]).shape == (2, 12)


def centered_cosines(vectors: np.ndarray) -> np.ndarray:
    rows = taught.unit(taught.unit(vectors) - taught.unit(vectors).mean(axis=0))
    return rows @ rows.T


def test_numbers_of_documents_are_as_good_as_texts() -> None:
    rows = np.arange(0, 150, 2)
    vectors = teacher([TEXTS[row] for row in rows])
    by_row = dv.fit(TEXTS, targets=(rows, vectors))
    by_text = dv.fit(TEXTS, targets=([TEXTS[row] for row in rows], vectors))
    assert by_row.fingerprint == by_text.fingerprint


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"targets": TEXTS}, "targets must be a pair"),
        ({"targets": (TEXTS[:9], np.ones((9, 2)))}, "50 to 10,000 documents, got 9"),
        ({"targets": (TEXTS, np.ones((9, 2)))}, "a finite vector for each of 150 texts"),
        ({"targets": (TEXTS, np.full((150, 2), np.nan))}, "a finite vector for each of 150"),
        ({"targets": ([*range(99, 199)], np.ones((100, 2)))}, "numbered from 0 to 149"),
        ({"targets": ([None, *TEXTS[1:]], np.ones((150, 2)))}, "of texts, or of numbers"),
        ({"teacher": teacher, "weight": 2}, "weight must be from 0 to 1"),
        ({"targets": (TEXTS, np.ones((150, 3))), "teacher": teacher}, "the teacher gave 6"),
    ],
)
def test_bad_targets_are_one_clear_line(given: dict, message: str) -> None:
    with pytest.raises(InputError, match=message):
        dv.fit(TEXTS, **given)


def test_a_teacher_takes_texts_and_spectral_learns_from_it() -> None:
    with pytest.raises(InputError, match="a teacher takes texts"):
        dv.fit([text.split() for text in TEXTS], teacher=teacher)
    with pytest.raises(RecipeError, match="targets are for spectral"):
        dv.fit(TEXTS, recipe="idf-sum", teacher=teacher)


def test_kinds_of_texts_are_presets() -> None:
    titles = dv.fit(TEXTS, texts="titles")
    assert titles.info()["units"].startswith("words+grams-4")
    assert titles.recipe.parameters["steepness"] == 0.5
    assert dv.fit(TEXTS, texts="articles").info()["units"].startswith("words: as asked")
    with pytest.raises(InputError, match="texts must be"):
        dv.fit(TEXTS, texts="books")
    with pytest.raises(RecipeError, match="is for spectral"):
        dv.fit(TEXTS, texts="titles", recipe="idf-sum")
    with pytest.raises(RecipeError, match="counts words, got units='grams'"):
        dv.fit(TEXTS, texts="articles", units="grams")


def test_of_a_large_corpus_the_first_documents_are_measured(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(taught, "MEASURED", 3)
    assert taught.corpus_part([["a", "b"], ["c", "d"], ["e"]]) == [["a", "b"], ["c"]]
