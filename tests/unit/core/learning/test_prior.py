import numpy as np
import pytest

import deltavec as dv
import reference
from deltavec.core.learning.spectral import Prior, recovery
from deltavec.core.learning.split_half import HalfSample
from deltavec.core.vocabulary import Vocabulary
from deltavec.errors import RecipeError, VectorsError

TOPICS = ["sea wave beach sand sun", "room bed lamp quiet night", "coffee bread jam egg tea"]
WORDS = " ".join(TOPICS).split()


def corpus(documents=60, words=12, seed=0):
    rng = np.random.default_rng(seed)
    return [
        " ".join(
            [*rng.choice(TOPICS[number % 3].split(), words // 2), *rng.choice(["the", "a"], words)]
        )
        for number in range(documents)
    ]


def topical(noise=0.1):
    """Vectors in which words of one topic are alike; the last word has none."""
    rng = np.random.default_rng(1)
    rows = np.repeat(np.eye(3), 5, axis=0) + noise * rng.standard_normal((15, 3))
    return dv.WordVectors(WORDS[:-1], rows[:-1])


def test_rows_are_centered_and_of_unit_length():
    vectors = dv.WordVectors(["b", "a", "x"], [[1, 0], [0, 2], [5, 5]])
    rows, known = Prior.of(vectors, Vocabulary.of(["a", "new", "b"]))
    half = 0.5**0.5
    assert rows == pytest.approx(np.array([[-half, half], [0, 0], [half, -half]]))
    assert known == 2


def test_vectors_of_other_words_are_refused():
    with pytest.raises(RecipeError, match="none of the corpus' words has a prior vector"):
        dv.fit(corpus(), prior=dv.WordVectors(["Sea"], [[1.0]]))


def test_halves_that_are_nearest_to_each_other_are_found():
    first = np.eye(4, 3, dtype=np.float32)
    halves = HalfSample(first, first, np.ones(4), np.zeros(4, np.uint64))
    assert recovery(halves, np.ones(3)) == 1
    turned = halves._replace(second=np.roll(first, 1, axis=0))
    assert recovery(turned, np.ones(3)) < 0.5


def test_vectors_are_those_of_the_reference():
    documents = corpus(words=8)  # too short to be halved: prior vectors are taken as they are
    recipe = dv.Recipe(form="spectral", window=3, dimensions=6, power_iterations=30)
    model = dv.fit(documents, recipe=recipe, prior=topical())
    vectors = topical()
    table = reference.spectral(
        [text.split() for text in documents],
        model.vocabulary.words,
        6,
        3,
        {word: vectors[word].astype(np.float64) for word in vectors.words},
    )
    asked = ["sea sun the", "lamp", "tea a", "unknown", "sea room coffee a"]
    expected = np.array(reference.spectral_embed(table, [text.split() for text in asked], None))
    actual = model.embed(asked)
    assert actual @ actual.T == pytest.approx(expected @ expected.T, abs=1e-4)
    assert model.info()["prior"].startswith("used: too few documents have 20 words")


def test_halves_decide_whether_vectors_help():
    documents = corpus(200, words=24)
    rng = np.random.default_rng(0)
    misleading = dv.WordVectors(WORDS, rng.standard_normal((15, 3))[rng.permutation(15)])
    notes = [
        dv.fit(documents, prior=vectors, recipe=dv.Recipe(form="spectral", dimensions=4)).notes
        for vectors in (topical(0), misleading)
    ]
    assert "14 of 17 words have one" in notes[0]["prior"]
    assert notes[1]["prior"].startswith("not used: split-half recovery of 200 documents is")
    assert "spectrum" in notes[0]


def test_vectors_that_are_not_used_change_nothing():
    documents = corpus(200, words=24)
    recipe = dv.Recipe(form="spectral", dimensions=4)
    rng = np.random.default_rng(0)
    misleading = dv.WordVectors(WORDS, rng.standard_normal((15, 3))[rng.permutation(15)])
    plain, asked = (dv.fit(documents, recipe=recipe, prior=each) for each in (None, misleading))
    assert np.array_equal(plain.table.rows, asked.table.rows)


def test_the_same_bits_for_any_number_of_threads():
    one, two = (dv.fit(corpus(), prior=topical(), threads=threads) for threads in (1, 2))
    assert np.array_equal(one.table.rows, two.table.rows)


def test_what_the_paper_s_recipes_need_is_not_prior():
    with pytest.raises(RecipeError, match="prior vectors are for spectral, got the recipe idf-sum"):
        dv.fit(corpus(), topical(), "idf-sum", prior=topical())
    nothing = dv.Recipe(form="spectral", measured_documents=0)
    with pytest.raises(RecipeError, match="need measured_documents above 0"):
        dv.fit(corpus(), recipe=nothing, prior=topical())


def test_prior_vectors_are_loaded_before_they_are_handed_over():
    with pytest.raises(
        VectorsError, match=r"got str: load them first, with deltavec\.load_vectors"
    ):
        dv.fit(corpus(), prior="glove.txt")
