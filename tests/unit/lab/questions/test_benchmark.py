"""The benchmark on two small forums whose duplicates share their topic."""

import json
import random

import numpy as np
import pytest

from deltavec.core.fitting import fit
from deltavec.core.recipes import RECIPES
from deltavec.core.vectors import WordVectors
from deltavec.errors import CorpusError, InputError
from deltavec.evaluation.auc import pairs_auc
from deltavec.io.corpus.corpus import read_corpus
from deltavec.lab.baselines import Embedder
from deltavec.lab.experiment import Progress
from deltavec.lab.questions.benchmark import duplicate_questions_benchmark
from deltavec.lab.questions.forums import Forum, sort_pairs
from deltavec.lab.results import Lengths, Results
from deltavec.lab.words import read_words

TOPICS = (
    ("disk", "mount", "partition", "drive"),
    ("sound", "audio", "speaker", "volume"),
    ("wifi", "network", "router", "signal"),
)
FILLERS = ("the", "a", "is", "to", "my", "how")
WORDS = (*(word for topic in TOPICS for word in topic), *FILLERS)


def forum(name, seed, questions=18):
    rng = random.Random(seed)
    texts = tuple(
        " ".join(rng.choices(TOPICS[place % 3], k=4) + rng.choices(FILLERS, k=4))
        for place in range(questions)
    )
    return Forum(name, texts, sort_pairs((place, place + 3) for place in range(0, 12, 2)))


@pytest.fixture(scope="module")
def forums():
    return [forum("android", 1), forum("unix", 2)]


@pytest.fixture(scope="module")
def vectors():
    return WordVectors(WORDS, np.random.default_rng(0).standard_normal((len(WORDS), 5)))


@pytest.fixture(scope="module")
def results(forums, vectors):
    return duplicate_questions_benchmark(forums, vectors=vectors, skip=["doc2vec"], threads=1)


def test_there_is_a_score_for_every_method_on_every_forum(results):
    assert [problem.name for problem in results.problems] == ["android", "unix"]
    assert results.methods == [*RECIPES, "spectral", "tf-idf", "tf-idf2", "lsa"]
    assert all(0 <= score <= 1 for p in results.problems for score in p.scores.values())
    assert results.complete


def test_what_was_compared_is_told(results):
    details = results.problems[0].details
    assert details["questions"] == 18
    assert details["pairs"] == details["pairs_possible"] == 18 * 17 // 2
    assert details["duplicates"] == 6
    assert results.problems[0].lengths == Lengths(8, 8.0, 8)
    assert results.data["forums"] == 2
    assert results.data["questions"] == 36


def test_results_survive_json(results):
    again = Results.from_json(results.as_json())
    assert again.problems[1].scores == results.problems[1].scores


@pytest.mark.parametrize("recipe", RECIPES)
def test_scores_are_those_of_a_model_fitted_on_the_forum(recipe, results, forums, vectors):
    android = forums[0]
    embedded = fit(list(android.questions), vectors, recipe).embed(list(android.questions))
    pairs = android.pairs(1000, 0)
    cosines = np.einsum("ij,ij->i", embedded[pairs.first], embedded[pairs.second])
    # two roads to the same vectors: equal cosines may round to either side of each other
    assert results.problems[0].scores[recipe] == pytest.approx(
        pairs_auc(cosines.round(5), pairs.positive), abs=0.01
    )


def test_a_forum_s_scores_do_not_depend_on_the_other_forums(results, forums, vectors):
    alone = duplicate_questions_benchmark(
        forums[1:], vectors=vectors, skip=["doc2vec", "lsa"], threads=1
    )
    for method, score in alone.problems[0].scores.items():
        if method == "spectral":  # learned from the questions of all forums
            continue
        assert score == pytest.approx(results.problems[1].scores[method], abs=1e-9)


@pytest.mark.compiled
@pytest.mark.parametrize("method", ["ppmi", "word2vec"])
def test_vectors_are_trained_on_the_questions(method, forums):
    found = duplicate_questions_benchmark(
        forums, vectors_method=method, skip=["doc2vec", "tf-idf", "lsa"], threads=1
    )
    assert found.settings["vectors"] == f"{method}, trained on the questions"
    assert found.methods == [*RECIPES, "spectral"]


def test_doc2vec_is_a_column_of_the_paper_s_table(forums, vectors):
    found = duplicate_questions_benchmark(
        forums[:1], vectors=vectors, skip=["tf-idf", "lsa"], threads=1
    )
    assert found.methods == [*RECIPES, "spectral", "doc2vec"]


def test_doc2vec_reads_words_in_their_order_whatever_was_counted_before(forums):
    questions = list(forums[0].questions)
    words = read_words(read_corpus(questions), np.arange(len(questions)), "words")
    assert words.counts.sum() == 8 * len(questions)
    names = words.vocabulary.words
    for place, question in enumerate(questions):
        listed = [names[number] for number in words.words.of_document(place)]
        assert listed == question.split()


def test_an_embedder_of_one_s_own_is_one_more_column(forums, vectors):
    def topics(texts):
        return [[sum(word in text for word in topic) for topic in TOPICS] for text in texts]

    found = duplicate_questions_benchmark(
        forums,
        vectors=vectors,
        skip=["doc2vec", "tf-idf", "lsa"],
        embedder=Embedder("topics", topics),
    )
    assert found.problems[0].scores["topics"] > 0.6
    assert found.settings["embedder"] == "topics"


def test_a_sample_of_pairs_keeps_the_duplicates(forums, vectors):
    found = duplicate_questions_benchmark(
        forums, vectors=vectors, most_pairs=40, skip=["doc2vec", "tf-idf", "lsa"]
    )
    details = found.problems[0].details
    assert (details["pairs"], details["duplicates"], details["pairs_possible"]) == (40, 6, 153)


class StopError(Exception):
    """What interrupts a run."""


def test_a_run_that_was_stopped_goes_on_where_it_was(forums, vectors, tmp_path, results):
    reports, stages = [], []

    def stop(found):
        reports.append(found)
        raise StopError

    options = {"vectors": vectors, "skip": ["doc2vec"], "threads": 1, "folder": tmp_path}
    with pytest.raises(StopError):
        duplicate_questions_benchmark(forums, progress=Progress(results=stop), **options)
    assert not reports[0].complete
    assert [problem.name for problem in reports[0].problems] == ["android"]
    found = duplicate_questions_benchmark(forums, progress=Progress(stages.append), **options)
    assert found.complete
    assert found.problems[0] == reports[0].problems[0]  # with the times of the first run
    assert [problem.scores for problem in found.problems] == [
        problem.scores for problem in results.problems
    ]
    assert stages[-1] == "evaluating"


def test_other_data_or_settings_are_computed_afresh(forums, vectors, tmp_path):
    notices = []
    options = {
        "vectors": vectors,
        "skip": ["doc2vec", "tf-idf", "lsa"],
        "folder": tmp_path,
        "progress": Progress(notice=notices.append),
    }
    duplicate_questions_benchmark(forums[:1], **options)
    duplicate_questions_benchmark(forums[:1], seed=1, **options)
    duplicate_questions_benchmark([forum("android", 9)], **options)
    assert notices == []
    duplicate_questions_benchmark([forum("android", 9)], **options)
    assert notices == ["1 of 1 problems are there from an earlier run"]


def test_what_was_left_out_is_noticed(tmp_path, vectors):
    questions = {
        str(place): {"title": text, "body": "", "dups": ["0", "77"] if place == 4 else []}
        for place, text in enumerate(forum("x", 1).questions)
    }
    (tmp_path / "gis_questions.json").write_text(json.dumps(questions))
    notices = []
    found = duplicate_questions_benchmark(
        tmp_path,
        vectors=vectors,
        skip=["doc2vec", "tf-idf", "lsa"],
        progress=Progress(notice=notices.append),
    )
    assert notices == [
        "gis: 18 questions without a body",
        "gis: 1 duplicates outside the forum left out",
    ]
    assert found.data["name"] == tmp_path.name
    assert found.problems[0].details["notes"]["questions without a body"] == 18


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"skip": ["bert"]}, "skip must be one of doc2vec, tf-idf, lsa, got 'bert'"),
        ({"vectors_method": "glove"}, "vectors_method must be one of ppmi, word2vec"),
        ({"most_pairs": 1}, "most_pairs must be a whole number from 2 on"),
        ({"seed": -1}, "seed must be a whole number from 0 on"),
        ({"embedder": "nothing"}, "an embedder is named module:function"),
    ],
)
def test_wrong_options_are_refused_before_any_reading(options, message, tmp_path):
    with pytest.raises(InputError, match=message):
        duplicate_questions_benchmark(tmp_path / "not there", **options)


def test_questions_without_words_are_refused(vectors):
    silent = Forum("silent", ("...", "!", "?"), sort_pairs([(0, 1)]))
    with pytest.raises(CorpusError, match="forum 'silent': its questions hold no words"):
        duplicate_questions_benchmark([forum("android", 1), silent], vectors=vectors)


def test_vectors_that_know_no_word_are_refused(forums):
    with pytest.raises(CorpusError, match="has a vector"):
        duplicate_questions_benchmark(forums, vectors=WordVectors(["zebra"], [[1.0]]))
