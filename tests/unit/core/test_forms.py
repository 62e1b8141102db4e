import numpy as np
import pytest

from deltavec.core.arrays import FEW_ROWS
from deltavec.core.forms import FORMS, center, delta, sum_
from deltavec.core.statistics import CorpusStatistics
from deltavec.core.vectors import WordVectors

VECTORS = WordVectors(["sea", "room"], [[1, 0], [0, 1]])
STATISTICS = CorpusStatistics(np.array([3, 1]), np.array([2, 1]), 2, 4, 0)
WEIGHTS = np.array([1.0, 2.0])


def test_sum_takes_nothing_off():
    folded = sum_(VECTORS, WEIGHTS, STATISTICS, 0.0)
    assert folded.rows.tolist() == [[1, 0], [0, 2]]
    assert folded.penalties.tolist() == [0, 0]
    assert folded.offset.tolist() == [0, 0]
    assert folded.norms.tolist() == [1, 2]


def test_center_takes_the_weighted_center_of_the_corpus_off():
    folded = center(VECTORS, WEIGHTS, STATISTICS, 0.0)
    assert folded.offset.tolist() == [0.75, 0.5]
    assert folded.offset_norm == pytest.approx(np.hypot(0.75, 0.5))
    assert folded.penalties.tolist() == [0, 0]


def test_center_can_leave_rare_words_out():
    assert center(VECTORS, WEIGHTS, STATISTICS, 0.25).offset.tolist() == [0.75, 0]


def test_delta_takes_the_usual_share_off_each_word():
    folded = delta(VECTORS, WEIGHTS, STATISTICS, 0.0)
    assert folded.penalties.tolist() == [0.75, 0.25]
    assert folded.offset.tolist() == [0, 0]


def test_removal_leaves_nothing_along_the_component():
    component = np.array([[0.6, 0.8]])
    folded = center(VECTORS, WEIGHTS, STATISTICS, 0.0).without(component)
    assert folded.rows @ component[0] == pytest.approx([0, 0], abs=1e-6)
    assert folded.offset @ component[0] == pytest.approx(0)
    assert folded.norms.tolist() == [1, 2]


def test_removal_from_many_rows_is_that_from_all_of_them_at_once():
    random = np.random.default_rng(0)
    words = 2 * FEW_ROWS + 3
    vectors = WordVectors([str(word) for word in range(words)], random.standard_normal((words, 5)))
    components = np.linalg.qr(random.standard_normal((5, 2)))[0].T
    whole = sum_(vectors, np.ones(words), STATISTICS, 0.0)
    removed = whole.without(components)
    rows = whole.rows.astype(np.float64)
    expected = rows - rows @ components.T @ components
    # Sums of float64 in another order, then one rounding to float32: of at most unit length.
    assert np.abs(removed.rows - expected).max() <= 2**-24
    assert np.abs(removed.restored().rows - rows).max() <= 2**-22


def test_what_was_removed_can_be_put_back():
    whole = center(VECTORS, WEIGHTS, STATISTICS, 0.0)
    restored = whole.without(np.array([[0.6, 0.8]])).restored()
    assert restored.rows == pytest.approx(whole.rows, abs=1e-6)
    assert restored.offset == pytest.approx(whole.offset)
    assert len(restored.components) == 0


def test_removing_other_components_puts_the_first_back():
    whole = sum_(VECTORS, WEIGHTS, STATISTICS, 0.0)
    again = whole.without(np.array([[1.0, 0.0]])).without(np.array([[0.0, 1.0]]))
    assert again.rows.tolist() == [[1, 0], [0, 0]]


def test_removing_no_component_changes_nothing():
    whole = sum_(VECTORS, WEIGHTS, STATISTICS, 0.0)
    assert whole.without(np.zeros((0, 2))).rows.tolist() == whole.rows.tolist()


def test_the_table_cannot_be_written_to():
    with pytest.raises(ValueError, match="read-only"):
        sum_(VECTORS, WEIGHTS, STATISTICS, 0.0).rows[0, 0] = 1


def test_the_names_of_the_forms():
    assert list(FORMS) == ["sum", "center", "delta"]
