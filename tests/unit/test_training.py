import sys

import numpy as np
import pytest

import deltavec as dv

CORPUS = ["the sea and the waves", "the beach by the sea", "a quiet room", "a quiet bed room"] * 8


def test_ppmi_is_the_default_and_repeats_to_the_bit():
    one, two = (dv.train_vectors(CORPUS, threads=threads) for threads in (1, 2))
    assert one.words == two.words
    assert np.array_equal(one.matrix, two.matrix)


def test_counts_beyond_the_memory_give_the_same_vectors():
    within, beyond = dv.train_vectors(CORPUS), dv.train_vectors(CORPUS, max_memory=1)
    assert np.array_equal(within.matrix, beyond.matrix)


@pytest.mark.parametrize("skip_gram", [False, True])
def test_word2vec_repeats_with_one_thread(skip_gram):
    shares = []
    one, two = (
        dv.train_vectors(
            CORPUS, method="word2vec", dimensions=8, threads=1, seed=3, skip_gram=skip_gram,
            on_progress=shares.append,
        )
        for _ in range(2)
    )  # fmt: skip
    assert one.words == two.words
    assert np.array_equal(one.matrix, two.matrix)
    assert one.dimensions == 8
    assert shares == [0.2, 0.4, 0.6, 0.8, 1.0] * 2


def test_word2vec_without_gensim_says_how_to_install_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "gensim.models.callbacks", None)
    with pytest.raises(dv.MissingDependencyError, match=r"pip install 'deltavec\[lab\]'"):
        dv.train_vectors(CORPUS, method="word2vec")


def test_word2vec_learns_words_with_spaces():
    corpus = [["New York", "sea"], ["New York", "bay"]] * 20
    vectors = dv.train_vectors(corpus, method="word2vec", dimensions=4, threads=1)
    assert set(vectors.words) == {"New York", "sea", "bay"}


def test_the_methods_see_the_same_words():
    ppmi = dv.train_vectors(CORPUS)
    word2vec = dv.train_vectors(CORPUS, method="word2vec", threads=1)
    assert ppmi.words == word2vec.words


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"method": "glove"}, "method must be one of ppmi, word2vec, got 'glove'"),
        ({"dimensions": 0}, "dimensions must be a whole number from 1 on, got 0"),
        ({"window": 1.5}, "window must be a whole number from 1 on, got 1.5"),
        ({"min_count": True}, "min_count must be a whole number from 1 on, got True"),
        ({"tokenizer": "bpe"}, "tokenizer must be"),
    ],
)
def test_parameters_out_of_range_are_refused(parameters, message):
    with pytest.raises(dv.InputError, match=message):
        dv.train_vectors(CORPUS, **parameters)


def test_a_generator_is_refused_before_any_work():
    with pytest.raises(dv.CorpusError, match="read only once"):
        dv.train_vectors(text for text in CORPUS)
