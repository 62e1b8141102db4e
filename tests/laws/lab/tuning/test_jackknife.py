"""Leaving out a unit is the same as never having had its pairs."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from deltavec.evaluation.auc import pairs_auc
from deltavec.lab.tuning.jackknife import LabeledPairs, jackknife_auc


@st.composite
def scored_pairs(draw):
    """Pairs of both labels with scores that often tie, and units that some of them join."""
    documents = draw(st.integers(4, 12))
    units = draw(st.lists(st.integers(0, 4), min_size=documents, max_size=documents))
    document = st.integers(0, documents - 1)
    rows = draw(
        st.lists(st.tuples(document, document, st.booleans(), st.integers(0, 5)), min_size=2)
    )
    rows += [(0, 1, True, 2), (1, 2, False, 3)]
    first, second, positive, scores = map(np.array, zip(*rows, strict=True))
    pairs = LabeledPairs(
        first.astype(np.int32),
        second.astype(np.int32),
        positive.astype(bool),
        np.array(units, np.int32),
    )
    return pairs, scores.astype(np.float32)


@given(scored_pairs())
def test_areas_without_a_unit_are_those_of_the_other_pairs(drawn):
    pairs, scores = drawn
    found = jackknife_auc(scores, pairs)
    assert found.whole == pairs_auc(scores, pairs.positive)
    assert len(found.without) == pairs.units
    ends = np.stack([pairs.unit_of[pairs.first], pairs.unit_of[pairs.second]])
    for unit, area in enumerate(found.without):
        left = ~(ends == unit).any(axis=0)
        positives = pairs.positive[left]
        if positives.any() and not positives.all():
            assert area == pairs_auc(scores[left], positives)
        else:
            assert np.isnan(area)
