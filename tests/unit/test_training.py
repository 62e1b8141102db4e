import numpy as np
import pytest

import deltavec as dv

CORPUS = ["the sea and the waves", "the beach by the sea", "a quiet room", "a quiet bed room"] * 8


def test_vectors_repeat_to_the_bit():
    one, two = (dv.train_vectors(CORPUS, threads=threads) for threads in (1, 2))
    assert one.words == two.words
    assert np.array_equal(one.matrix, two.matrix)


def test_counts_beyond_the_memory_give_the_same_vectors():
    within, beyond = dv.train_vectors(CORPUS), dv.train_vectors(CORPUS, max_memory=1)
    assert np.array_equal(within.matrix, beyond.matrix)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
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
