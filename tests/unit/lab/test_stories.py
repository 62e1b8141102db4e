import numpy as np
import pytest

from deltavec.lab.stories import agreement, lee_documents


def test_gensim_carries_the_stories():
    found = lee_documents()
    assert (len(found.background), len(found.judged), found.pairs) == (300, 50, 1225)
    assert found.judgements.shape == (50, 50)
    assert found.judgement(3, 1) == found.judgement(1, 3)
    assert found.stories[-1] == found.judged[-1]


def test_agreement_is_the_correlation_over_all_pairs():
    vectors = np.array([[1, 0], [0.6, 0.8], [0, 1]], np.float32)
    judgements = np.array([[0, 0.6, 0], [0, 0, 0.8], [0, 0, 0]])
    assert agreement(vectors, judgements) == pytest.approx(1)
    assert agreement(vectors, -judgements) == pytest.approx(-1)


def test_vectors_that_say_nothing_agree_with_nobody():
    assert agreement(np.zeros((3, 2), np.float32), np.triu(np.ones((3, 3)))) == 0
