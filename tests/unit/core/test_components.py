import numpy as np
import pytest

from deltavec.core.components import SecondMoment, leading_components
from deltavec.errors import InputError

ROWS = np.array([[1, 0, 0], [1, 0, 0], [0, -1, 0]], np.float32)


def test_the_moment_is_the_sum_of_outer_products():
    moment = SecondMoment.of(ROWS)
    assert moment.matrix.tolist() == [[2, 0, 0], [0, 1, 0], [0, 0, 0]]
    assert moment.documents == 3


def test_moments_add():
    total = SecondMoment.of(ROWS[:1]) + SecondMoment.of(ROWS[1:]) + SecondMoment.empty(3)
    assert total.matrix.tolist() == SecondMoment.of(ROWS).matrix.tolist()
    assert total.documents == 3


def test_moments_of_other_dimensions_do_not_add():
    with pytest.raises(InputError, match="got 3 and 2"):
        SecondMoment.empty(3) + SecondMoment.empty(2)


def test_components_come_longest_first_with_their_largest_entry_positive():
    components = leading_components(SecondMoment.of(-ROWS), 2)
    assert components == pytest.approx(np.array([[1, 0, 0], [0, 1, 0]]))


def test_documents_that_span_less_give_fewer_components():
    assert len(leading_components(SecondMoment.of(ROWS), 3)) == 2
    assert len(leading_components(SecondMoment.empty(3), 3)) == 0
    assert len(leading_components(SecondMoment.of(ROWS), 0)) == 0
