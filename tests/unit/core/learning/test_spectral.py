from dataclasses import replace

import numpy as np
import pytest

import deltavec as dv
import reference
from deltavec.core.forms import length_weights
from deltavec.core.learning.cooccurrence import cooccurrence
from deltavec.core.learning.ppmi import Ppmi
from deltavec.core.learning.spectral import is_large_corpus, reason_for_window, usual_window
from deltavec.core.statistics import CorpusStatistics

TOPICS = ["sea wave beach sand sun", "room bed lamp quiet night", "coffee bread jam egg tea"]


def corpus(documents=60, seed=0):
    rng = np.random.default_rng(seed)
    words = [*zip(*[topic.split() for topic in TOPICS], strict=True)]
    everyday = ["the", "a", "and", "was", "very"]
    made = []
    for number in range(documents):
        topic = [row[number % 3] for row in words]
        drawn = [*rng.choice(topic, rng.integers(2, 7)), *rng.choice(everyday, rng.integers(1, 6))]
        rng.shuffle(drawn)
        made.append(" ".join(drawn))
    return made


def learned(**parameters):
    return dv.Recipe(form="spectral", n_components_removed=0, **parameters)


@pytest.mark.parametrize("collection", [None, ["sea wave the", "quiet", "", "nothing known here"]])
@pytest.mark.parametrize("window", [None, 2])
def test_vectors_are_those_of_the_reference(window, collection):
    documents = corpus()
    model = dv.fit(documents, recipe=learned(window=window, dimensions=6, power_iterations=30))
    table = reference.spectral(
        [text.split() for text in documents], model.vocabulary.words, 6, window
    )
    asked = ["sea sun the", "lamp", "tea and very", "unknown", "sea room coffee a"]
    expected = np.array(
        reference.spectral_embed(
            table,
            [text.split() for text in asked],
            collection and [text.split() for text in collection],
        )
    )
    actual = (model if collection is None else model.for_collection(collection)).embed(asked)
    # Singular vectors have no sign of their own, so cosines are compared; a float32 random
    # projection reaches 1e-4 with thirty power iterations.
    assert actual @ actual.T == pytest.approx(expected @ expected.T, abs=1e-4)


def test_topics_are_told_apart():
    model = dv.fit(corpus(), recipe="spectral")
    a, b, c = model.embed(["wave and sand", "the beach", "a very quiet lamp"])
    assert a @ b > 0 > a @ c


def test_shares_add_up_to_the_cosine():
    model = dv.fit(corpus(), recipe="spectral").for_collection(corpus(9, seed=1))
    a, b = model.embed(["sea and sand", "the beach was quiet"]).astype(float)
    why = model.explain("sea and sand", "the beach was quiet")
    assert why.cosine == pytest.approx(a @ b, abs=1e-6)
    assert sum(word.share for word in why.words_a) + why.offset_a == pytest.approx(a @ b, abs=1e-6)


def test_the_same_bits_for_any_number_of_threads():
    one, two = (dv.fit(corpus(), recipe="spectral", threads=threads) for threads in (1, 2))
    assert np.array_equal(one.table.rows, two.table.rows)


def test_statistics_are_those_of_the_corpus():
    documents = [*corpus(), "", "unheard"]
    model = dv.fit(documents, recipe="spectral")
    vectors = dv.WordVectors(model.vocabulary.words, np.ones((len(model.vocabulary), 1)))
    counted = dv.fit(documents, vectors, "unit-sum").statistics
    assert model.statistics.token_counts.tolist() == counted.token_counts.tolist()
    assert model.statistics.document_counts.tolist() == counted.document_counts.tolist()
    for name in ("documents", "tokens", "unknown_documents"):
        assert getattr(model.statistics, name) == getattr(counted, name)


def test_saving_keeps_what_a_collection_needs(tmp_path):
    model = dv.fit(corpus(), recipe=learned(dimensions=5))
    model.save(tmp_path / "model.dv")
    loaded = dv.load(tmp_path / "model.dv")
    assert loaded.recipe == model.recipe
    collection = corpus(9, seed=1)
    assert np.array_equal(
        loaded.for_collection(collection).embed(collection),
        model.for_collection(collection).embed(collection),
    )


def test_a_collection_can_be_left_again():
    model = dv.fit(corpus(), recipe="spectral")
    longer = model.for_collection([text * 3 for text in corpus(9, seed=1)])
    assert longer.table.length_ratio > 2
    assert longer.table.reweight_for_length(1.0).rows == pytest.approx(model.table.rows, rel=1e-4)


def test_derived_values_are_shown_with_their_reason():
    info = dv.fit(corpus(), recipe="spectral").info()
    assert info["window"].startswith("5 words to either side, a quarter of ")
    assert "times the mean length" in info["alpha"]
    info = dv.fit(corpus(), recipe=learned(window=3)).info()
    assert info["window"] == "3 words to either side, as asked for"


@pytest.mark.parametrize(
    ("words", "windows"), [(999_999, [5, 10, 25, 100]), (1_000_000, [5, 20, 50, 100])]
)
def test_a_window_is_a_quarter_of_a_document_or_half_in_a_large_corpus(words, windows):
    found = []
    for length in (4, 40, 100, 1000):
        known = np.array([length * 5, length * 5])
        statistics = CorpusStatistics(known, known, 10, words, 0)
        is_large = is_large_corpus(statistics, "words")
        assert is_large == is_large_corpus(
            replace(statistics, tokens=5 * words), "words:words+grams-4"
        )
        found.append(usual_window(statistics.mean_length, is_large))
    assert found == windows


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (10, ", a quarter of the mean document of 5.0 known words (below 1,000,000 words in all)"),
        (1_000_000, ", half the mean document of 5.0 known words (from 1,000,000 words in all)"),
    ],
)
def test_the_reason_for_a_window_says_which_part_it_is(words, reason):
    known = np.array([5, 5])
    statistics = CorpusStatistics(known, known, 2, words, 0)
    is_large = is_large_corpus(statistics, "words")
    assert reason_for_window(learned(), statistics, is_large) == f"{reason}, from 5 to 100"


def test_long_documents_use_all_directions_alike():
    strengths = np.array([1.0, 0.5, 0.1])
    assert length_weights(strengths, 1.0) == pytest.approx(strengths)
    assert length_weights(strengths, 1e9) == pytest.approx(np.ones(3))
    assert length_weights(np.ones(3), 0.3) == pytest.approx(np.ones(3))


def test_row_norms_are_those_of_the_dense_matrix():
    ids = np.array([0, 1, 0, 1, -1, 2, 3, 2, 3, -1, 0, 2, -1], np.int32)
    ppmi = Ppmi(cooccurrence(ids, 4, 2, max_memory=1), 0.75)
    dense = ppmi.times(np.eye(4, dtype=np.float32))
    assert ppmi.row_norms() == pytest.approx(np.linalg.norm(dense, axis=1), rel=1e-5)


def test_a_document_longer_than_the_buffer_keeps_its_shares():
    model = dv.fit(corpus(), recipe="spectral")
    long = "sea wave " * 5_000
    assert model.for_collection([long, "lamp"]).table.offset == pytest.approx(
        model.for_collection(["sea wave " * 4_999 + "sea wave", "lamp"]).table.offset
    )


@pytest.mark.parametrize(
    ("documents", "message"),
    [
        (["one", "one"], "vectors need at least 2 words"),
        (["the same words"] * 9, "they hold the same words"),
        ([], "no words to learn"),
    ],
)
def test_a_corpus_that_tells_nothing_apart_is_refused(documents, message):
    with pytest.raises(dv.CorpusError, match=message):
        dv.fit(documents, recipe="spectral")


def test_three_documents_are_enough():
    documents = ["sea wave sand", "room bed lamp", "sea room"]
    model = dv.fit(documents, recipe="spectral")
    assert model.dimensions <= 6
    assert np.linalg.norm(model.embed(documents), axis=1) == pytest.approx(np.ones(3))


def test_vectors_of_another_make_are_refused():
    with pytest.raises(dv.RecipeError, match="spectral learns its own word vectors"):
        dv.fit(["a b"], dv.WordVectors(["a"], [[1.0]]), "spectral")


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"weighting": "sif"}, "spectral has its own weights"),
        ({"dimensions": 0}, "dimensions must be a whole number from 1 on"),
        ({"window": 0}, "window must be a whole number from 1 on"),
        ({"power_iterations": -1}, "power_iterations must be a whole number from 0 on"),
        ({"identity_share": -1}, "identity_share must be a number from 0 on"),
        ({"spectrum_exponent": float("inf")}, "spectrum_exponent must be a number from 0 on"),
        ({"context_smoothing": 2}, "context_smoothing must be a number from 0 to 1"),
    ],
)
def test_parameters_out_of_range_are_refused(parameters, message):
    with pytest.raises(dv.RecipeError, match=message):
        learned(**parameters)


def test_spectral_removes_nothing():
    with pytest.raises(dv.RecipeError, match="removes nothing"):
        dv.Recipe(form="spectral", n_components_removed=1)
