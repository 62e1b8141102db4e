import numpy as np
import pytest

import deltavec as dv

VECTORS = dv.WordVectors(["sea", "room", "quiet", "unseen"], [[1, 0], [0, 1], [0.6, 0.8], [1, 1]])
CORPUS = ["Sea sea", "room quiet", "room", "room sea"]


def test_idf_sum_by_hand():
    # D = 4; D_sea = 2, D_room = 3, D_quiet = 1: idf ln 2, ln 4/3, ln 4.
    model = dv.fit(CORPUS, VECTORS, "idf-sum")
    c = np.log(2) * np.array([1, 0]) + np.log(4) * np.array([0.6, 0.8])
    assert model.embed(["A quiet sea!"])[0] == pytest.approx(c / np.linalg.norm(c), abs=1e-6)


def test_idf_center_by_hand():
    # N_c = 7: sea 3, room 3, quiet 1.
    model = dv.fit(CORPUS, VECTORS, "idf-center")
    sea, room, quiet = np.log(2), np.log(4 / 3), np.log(4)
    center = np.array([sea * 3 / 7 + 0.6 * quiet / 7, room * 3 / 7 + 0.8 * quiet / 7])
    c = np.array([sea, 0]) - center
    assert model.embed(["sea"])[0] == pytest.approx(c / np.linalg.norm(c), abs=1e-6)


def test_idf_delta_by_hand():
    model = dv.fit(CORPUS, VECTORS, "idf-delta")
    sea, room = np.log(2), np.log(4 / 3)
    c = np.array([sea * (2 / 3 - 3 / 7), room * (1 / 3 - 3 / 7)])
    assert model.embed(["sea sea room"])[0] == pytest.approx(c / np.linalg.norm(c), abs=1e-6)


def test_words_that_the_corpus_never_shows_still_count():
    # idf of a word of no document: ln(4 / 1).
    model = dv.fit(CORPUS, VECTORS, "idf-sum")
    assert model.embed(["unseen"])[0] == pytest.approx([0.5**0.5, 0.5**0.5])


def test_removal_takes_the_first_uncentered_direction_off():
    model = dv.fit(CORPUS, VECTORS, "unit-sum")
    documents = model.embed(CORPUS).astype(float)
    first = np.linalg.svd(documents)[2][0]
    removed = dv.fit(CORPUS, VECTORS, dv.Recipe("unit", "sum", 1))
    assert removed.embed(CORPUS) @ first == pytest.approx(np.zeros(4), abs=1e-6)
    left = documents[0] - first * (first @ documents[0])
    assert removed.embed(CORPUS)[0] == pytest.approx(left / np.linalg.norm(left), abs=1e-5)


def test_all_components_removed_leave_zero_rows():
    model = dv.fit(CORPUS, VECTORS, dv.Recipe("unit", "sum", 2))
    assert not model.embed(CORPUS).any()


def test_frequent_words_come_first():
    assert dv.fit(CORPUS, VECTORS, "idf-sum").vocabulary.words == ["sea", "room", "quiet", "unseen"]
    assert dv.fit(["quiet"], VECTORS, "unit-sum").vocabulary.words[0] == "quiet"


def test_all_documents_equal_leave_nothing_to_tell_apart():
    equal = ["sea quiet"] * 7
    for recipe in ("idf-sum", "sif-center", "sif-delta", "sif-sum-pca", "subsampling-center-pca"):
        assert not dv.fit(equal, VECTORS, recipe).embed(equal).any()


def test_auto_says_what_it_chose_and_why():
    info = dv.fit(CORPUS, VECTORS).info()
    assert info["recipe"] == "idf-sum-pca"
    assert info["reason"] == "idf-sum-pca: documents hold 1.8 known words on average, below 300"


def test_a_generator_is_enough_where_one_pass_is():
    model = dv.fit((text for text in CORPUS), VECTORS, "idf-delta")
    assert model.statistics.documents == 4


@pytest.mark.parametrize("arguments", [(VECTORS, "idf-delta-pca"), (None, "idf-sum")])
def test_a_generator_is_refused_before_any_work_where_two_passes_are_needed(arguments):
    untouched = (text for text in CORPUS)
    with pytest.raises(dv.CorpusError, match="read only once"):
        dv.fit(untouched, *arguments)
    assert next(untouched) == CORPUS[0]


@pytest.mark.parametrize(
    ("corpus", "message"),
    [
        ([], "the corpus holds no documents"),
        (["", "?!", None], "none of the 3 documents holds a word"),
        (["nothing here", "either"], "none of the 3 words of the corpus has a vector"),
    ],
)
def test_a_corpus_that_teaches_nothing_is_refused(corpus, message):
    with pytest.raises(dv.CorpusError, match=message):
        dv.fit(corpus, VECTORS, "idf-sum")


def test_without_vectors_they_are_learned_from_the_corpus():
    stages = []
    corpus = ["the sea is blue", "the sky is blue", "a quiet room", "a quiet night"] * 5
    model = dv.fit(corpus, recipe="idf-sum", on_stage=stages.append)
    assert model.info()["vectors"].startswith("trained on the corpus: ppmi")
    a, b, c = model.embed(["blue sea", "blue sky", "quiet room"])
    assert a @ b > a @ c
    assert stages[-1] == "counting words"


def test_stages_are_announced():
    stages = []
    dv.fit(CORPUS, VECTORS, "idf-sum-pca", on_stage=stages.append)
    assert stages == ["counting words", "finding common components"]


def test_the_recipe_follows_from_what_is_given():
    assert dv.fit(CORPUS).recipe.name == "spectral"
    assert dv.fit(CORPUS, VECTORS).recipe.name == "idf-sum-pca"
    assert dv.fit(CORPUS, recipe="auto").notes["vectors"].startswith("trained on the corpus")


@pytest.mark.parametrize("bound", [0, -1, 2.5, True, "2 GB"])
def test_a_bound_on_memory_is_a_number_of_bytes(bound):
    with pytest.raises(dv.InputError, match="max_memory must be a whole number from 1 on"):
        dv.fit(CORPUS, max_memory=bound)


def test_counts_in_files_give_the_same_model():
    assert dv.fit(CORPUS * 9, max_memory=1).fingerprint == dv.fit(CORPUS * 9).fingerprint


def test_fewer_dimensions_than_asked_for_are_told():
    with pytest.warns(dv.SmallModelWarning, match="300 were asked for"):
        dv.fit(CORPUS * 9)


def test_vectors_of_another_language_are_told():
    vectors = dv.WordVectors(["sea", "room"], [[1, 0], [0, 1]])
    texts = ["sea"] * 5 + ["miten voit tänään"] * 500
    with pytest.warns(dv.LowCoverageWarning, match="0% of 1,505 words are known, 500 of 505 docu"):
        dv.fit(texts, vectors, "idf-sum")


def test_a_corpus_of_words_seen_once_is_told():
    texts = ["the quick one"] * 50 + [f"word{number} other{number}" for number in range(600)]
    with pytest.warns(dv.LowCoverageWarning, match="words stand nowhere else; is it the right"):
        dv.fit(texts, recipe=dv.Recipe(form="spectral", dimensions=2), units="words")
