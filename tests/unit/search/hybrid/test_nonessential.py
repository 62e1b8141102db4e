"""The lightest words of queries."""

import numpy as np
import pytest

from deltavec.search.hybrid.nonessential import NonEssentialTerms


def test_the_lightest_words_of_each_query_add_a_tenth_at_most():
    weights = np.array([0.5, 9.0, 0.4, 1.0, 1.0, 1.0])
    light = NonEssentialTerms.of(np.array([0, 4, 6, 6]), weights)
    assert light.terms.tolist() == [1, 0, 1, 0, 0, 0]
    assert light.most.tolist() == [pytest.approx(0.9), 0, 0]
    assert light.most[0] > 0.9
