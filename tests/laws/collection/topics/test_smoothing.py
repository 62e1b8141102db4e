"""Moving documents towards their neighbors, whatever the documents."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import reference
from deltavec.collection.topics.clusters import smooth_rows


@given(st.integers(0, 30), st.integers(0, 5), st.integers(0, 9))
def test_each_document_gets_half_the_mean_of_the_ten_most_like_it(
    count: int, zeros: int, seed: int
) -> None:
    rows = np.random.default_rng(seed).standard_normal((count, 6))
    rows = np.concatenate(
        [rows / np.linalg.norm(rows, axis=1, keepdims=True), np.zeros((zeros, 6))]
    )
    vectors = rows.astype(np.float32)
    found = smooth_rows(vectors, vectors.any(axis=1))
    slowly = np.reshape(reference.smoothed(list(vectors)), vectors.shape)
    assert found == pytest.approx(slowly, abs=1e-6)  # float32 at the end
    assert found.dtype == np.float32
