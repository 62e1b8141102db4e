import math

import numpy as np
import pytest

from deltavec.core.statistics import CorpusStatistics
from deltavec.core.weights import WEIGHTINGS, idf, sif, subsampling, unit

STATISTICS = CorpusStatistics(
    token_counts=np.array([90, 10, 0]),
    document_counts=np.array([8, 2, 0]),
    documents=8,
    tokens=120,
    unknown_documents=0,
)


def test_unit_is_one_for_every_word():
    assert unit(STATISTICS).tolist() == [1, 1, 1]


def test_idf_is_the_logarithm_of_documents_over_those_that_hold_the_word():
    assert idf(STATISTICS).tolist() == pytest.approx([0, math.log(4), math.log(8)])


def test_sif_falls_with_the_share_of_the_corpus():
    assert sif(STATISTICS, a=0.1).tolist() == pytest.approx([0.1, 0.5, 1])


def test_subsampling_falls_with_the_root_of_the_share_and_stops_at_one():
    assert subsampling(STATISTICS, t=0.1).tolist() == pytest.approx([1 / 3, 1, 1])


def test_the_names_of_the_weightings():
    assert list(WEIGHTINGS) == ["unit", "idf", "sif", "subsampling"]
