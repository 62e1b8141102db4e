"""What holds for the map of any rows."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deltavec.search.tsne import layout

pytestmark = pytest.mark.compiled


@st.composite
def rows_with_repeats(draw: st.DrawFn) -> np.ndarray:
    count = draw(st.integers(0, 60))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    rows = rng.standard_normal((count, draw(st.integers(1, 6))))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    if count:
        rows[rng.random(count) < 0.1] = 0
        rows = rows[rng.integers(0, count, count)]  # some come several times
    return rows.astype(np.float32)


@given(rows_with_repeats())
@settings(max_examples=5)
def test_a_map_is_the_same_again_with_any_threads_and_has_no_nan_but_for_zeros(
    rows: np.ndarray,
) -> None:
    shortened = pytest.MonkeyPatch()
    with shortened.context() as patch:
        patch.setattr(layout, "WORTH_THREADS", 1)
        found = layout.neighbor_layout(rows, threads=1)
        again = layout.neighbor_layout(rows, threads=3)
    np.testing.assert_array_equal(found, again)
    assert (np.isnan(found).all(axis=1) == ~rows.any(axis=1)).all()
    assert (np.isfinite(found).all(axis=1) == rows.any(axis=1)).all()


@given(rows_with_repeats())
@settings(max_examples=5)
def test_equal_rows_stand_together_so_that_exchanging_them_changes_nothing(
    rows: np.ndarray,
) -> None:
    found = layout.neighbor_layout(rows)
    _, members = np.unique(rows, axis=0, return_inverse=True)
    for one in range(int(members.max(initial=-1)) + 1):
        same = found[members.reshape(-1) == one]
        np.testing.assert_array_equal(same, np.repeat(same[:1], len(same), axis=0))
