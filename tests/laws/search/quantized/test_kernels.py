"""What must hold for every row and query: no row is passed over at its own score."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from deltavec.search import kernels
from deltavec.search.hybrid import bounds
from deltavec.search.quantized.build import quantize, quantize_queries
from deltavec.search.quantized.kernels import ROWS
from support.quantized_rows import rows_of
from support.search_reference import cosines


@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from([1, 2, 5, 30]),
    st.sampled_from([1, 3, 130]),
    st.floats(0, 1e-3),
    st.floats(0.1, 10),
)
def test_no_row_is_passed_over_at_its_own_score(seed, dimensions, count, error, scale):
    rng = np.random.default_rng(seed)
    # Rows of all shapes: flat ones, and such that one number is nearly all of the length.
    rows = rng.standard_normal((count, dimensions)) ** rng.choice([1, 3, 9])
    rows *= rng.choice([1e-6, 1.0, 1e3], dimensions)
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    rows /= np.where(lengths == 0, 1, lengths)
    rows *= 1 + error * rng.choice([-1, 1], (count, 1))
    rows[rng.random(count) < 0.1] = 0
    vectors = rows.astype(np.float32)
    queries = vectors[:2] if rng.random() < 0.5 else -vectors[-2:]
    measured = np.abs(np.linalg.norm(vectors.astype(float), axis=1) - 1)
    measured = measured[vectors.any(axis=1)].max(initial=0)
    margin = kernels.margin(dimensions, measured, measured)
    # Heads in any directions: all, some or none of what rows are is seen.
    turned = np.linalg.qr(rng.standard_normal((dimensions, dimensions)))[0]
    seen = rng.integers(0, dimensions + 1)
    made = quantize(vectors, 1, directions=np.ascontiguousarray(turned[:, :seen]))
    codes = quantize_queries(queries, measured, measured, made, margin)
    scores = cosines(queries, vectors)
    high = bounds.Candidates(np.empty(2 * ROWS, np.int64), *np.empty((2, 2 * ROWS)))
    added = rng.standard_normal(count)
    blocks = len(codes.rows.slacks)
    for query in range(len(queries)):
        for row in rng.permutation(count)[:5].tolist():
            score = np.float64(scores[query, row])
            for factor, own in ((1.0, np.empty(0)), (scale, added)):
                total = factor * score + (own[row] if len(own) else 0.0)
                found = bounds.candidate_rows(
                    rows_of(vectors), codes, 0, blocks, query, total, factor, own, high, 0
                )
                assert total <= high.bounds[high.places[:found].tolist().index(row)]
