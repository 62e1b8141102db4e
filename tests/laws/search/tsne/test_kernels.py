"""What must hold for every pair of rows: fast products stay within the margin of the score."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from deltavec.search import kernels
from support.search_reference import cosines


@given(st.integers(0, 2**32 - 1), st.sampled_from([1, 2, 10, 100, 500]), st.floats(0, 1e-3))
def test_a_fast_product_is_within_the_margin_of_the_score(seed, dimensions, error):
    rng = np.random.default_rng(seed)
    rows = rng.standard_normal((8, dimensions)) * rng.choice([1e-6, 1.0, 1e3], dimensions)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    lengths = 1 + error * rng.choice([-1, 1], (8, 1))
    vectors = (rows * lengths).astype(np.float32)
    scores = cosines(vectors, vectors)
    measured = np.abs(np.linalg.norm(vectors.astype(float), axis=1) - 1).max()
    margin = kernels.margin(dimensions, measured, measured)
    assert np.abs((vectors @ vectors.T).astype(float) - scores).max() <= margin
    for a in range(8):
        for b in range(8):
            assert abs(float(kernels.fast_dot(vectors[a], vectors[b])) - scores[a, b]) <= margin


@given(st.integers(0, 2**32 - 1), st.sampled_from([1, 2, 10, 100]))
def test_a_score_is_that_of_the_reference_to_the_last_bit(seed, dimensions):
    vectors = np.random.default_rng(seed).standard_normal((6, dimensions)).astype(np.float32)
    expected = cosines(vectors, vectors)
    for a in range(6):
        for b in range(6):
            assert kernels.cosine(vectors[a], vectors[b]) == expected[a, b]
