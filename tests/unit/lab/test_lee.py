import numpy as np
import pytest

from deltavec.core.fitting import fit
from deltavec.core.recipes import RECIPES
from deltavec.core.vectors import WordVectors
from deltavec.errors import InputError, SmallModelWarning
from deltavec.lab.baselines import Embedder
from deltavec.lab.lee import FROM_CORPUS, FROM_JUDGED, lee_benchmark
from deltavec.lab.results import Lengths, Results
from deltavec.lab.stories import LeeDocuments, agreement

WORDS = ("sea", "ship", "storm", "vote", "party", "law", "the", "of")


def stories(seed, count):
    rng = np.random.default_rng(seed)
    topics = (WORDS[:3], WORDS[3:6])
    return [
        " ".join([*rng.choice(topics[place % 2], 6), *rng.choice(WORDS[6:], 4)])
        for place in range(count)
    ]


@pytest.fixture(scope="module")
def documents():
    alike = np.equal.outer(np.arange(8) % 2, np.arange(8) % 2).astype(float)
    return LeeDocuments(stories(1, 20), stories(2, 8), np.triu(alike, 1))


@pytest.fixture(scope="module")
def vectors():
    return WordVectors(WORDS, np.random.default_rng(3).standard_normal((8, 4)))


@pytest.fixture(scope="module")
def results(documents, vectors):
    return lee_benchmark(documents, vectors=vectors, skip=["doc2vec"])


def test_every_method_is_there_twice(results):
    assert [problem.name for problem in results.problems] == [FROM_CORPUS, FROM_JUDGED]
    for problem in results.problems:
        assert list(problem.scores) == [*RECIPES, "spectral", "tf-idf", "tf-idf2", "lsa"]
    assert results.measure == "Pearson correlation"
    assert results.problems[0].lengths == Lengths(10, 10.0, 10)


@pytest.mark.parametrize("recipe", RECIPES)
def test_from_the_corpus_a_score_is_that_of_a_fitted_model(recipe, results, documents, vectors):
    model = fit(documents.stories, vectors, recipe)
    expected = agreement(model.embed(documents.judged), documents.judgements)
    assert results.problems[0].scores[recipe] == pytest.approx(expected, abs=1e-5)


def test_only_the_center_and_the_component_make_a_difference(results):
    corpus, judged = (problem.scores for problem in results.problems)
    for recipe in RECIPES:
        depends = "center" in recipe or recipe.endswith("-pca")
        assert (corpus[recipe] != judged[recipe]) is depends
    for baseline in ("tf-idf", "lsa"):
        assert corpus[baseline] == judged[baseline]


def test_the_judged_stories_center_is_their_weighted_mean(documents, vectors, results):
    model = fit(documents.stories, vectors, "idf-center")
    shares = np.zeros(8)
    for story in documents.judged:
        for word in story.split():
            shares[model.vocabulary.words.index(word)] += 1
    offset = (shares / shares.sum()) @ model.table.rows
    rows = []
    for story in documents.judged:
        counts = np.array([story.split().count(word) for word in model.vocabulary.words])
        row = (counts / counts.sum()) @ model.table.rows - offset
        rows.append(row / np.linalg.norm(row))
    expected = agreement(np.array(rows, np.float32), documents.judgements)
    assert results.problems[1].scores["idf-center"] == pytest.approx(expected, abs=1e-5)


def test_doc2vec_has_the_paper_s_two_columns(documents, vectors):
    found = lee_benchmark(documents, vectors=vectors, skip=["tf-idf", "lsa"], threads=1)
    assert found.methods == [*RECIPES, "spectral", "d2v-mc1", "d2v-mc5"]


def test_an_embedder_of_one_s_own_is_one_more_column(documents, vectors):
    def topics(texts):
        return [[text.count(word) for word in WORDS[:6]] for text in texts]

    found = lee_benchmark(
        documents,
        vectors=vectors,
        skip=["doc2vec", "tf-idf", "lsa"],
        embedder=Embedder("topics", topics),
    )
    assert found.problems[1].scores["topics"] > 0.8


def test_the_default_recipe_is_beside_the_paper_s(results, documents):
    with pytest.warns(SmallModelWarning):
        model = fit(documents.stories)
    models = (model, model.for_collection(documents.judged))
    for problem, own in zip(results.problems, models, strict=True):
        expected = agreement(own.embed(documents.judged), documents.judgements)
        assert problem.scores["spectral"] == pytest.approx(expected, abs=1e-6)


def test_results_survive_json(results):
    assert Results.from_json(results.as_json()).problems[0].scores == results.problems[0].scores


@pytest.mark.parametrize(
    "options", [{"skip": ["bert"]}, {"vectors_method": "glove"}, {"seed": -1}, {"embedder": "x"}]
)
def test_wrong_options_are_refused(options):
    with pytest.raises(InputError):
        lee_benchmark(**options)
