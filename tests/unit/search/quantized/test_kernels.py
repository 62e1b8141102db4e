"""Codes of rows and queries, on rows that can be checked by hand."""

import numpy as np
import pytest

from deltavec.search.quantized.build import quantize, quantize_as
from deltavec.search.quantized.kernels import ROWS
from support.quantized_rows import VECTORS


def test_codes_are_the_numbers_in_steps_of_the_largest():
    sieve = quantize(VECTORS, 1).rows
    assert sieve.codes.shape == (1, 4, ROWS)
    assert sieve.codes[0, :, :4].T.tolist() == [
        [127, 0, 0, 0], [0, 127, 0, 0], [95, 127, 0, 0], [0, 0, 0, 0],
    ]  # fmt: skip
    steps = np.array([1, 1, 0.8, 0], np.float32) / 127
    assert sieve.steps[0, :4].tolist() == pytest.approx(steps.tolist())
    # .6 is 95.25 steps: a quarter of a step is lost, and nothing else
    assert sieve.slacks[0] == pytest.approx(0.25, abs=1e-3)


def test_a_query_of_zeros_has_codes_of_zeros():
    coded = quantize_as(np.zeros((1, 2), np.float32), 0, 0, 0.01, 1e-5)
    assert not coded.codes.any()
    assert coded.steps[0] == 0
    assert coded.slacks[0] > 1e-5
