"""What must hold for every row and query: no row is passed over at its own score."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from deltavec.search import kernels, sieve_kernels
from deltavec.search.sieve import coded_queries, made_sieve
from search_reference import cosines


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
    made = made_sieve(vectors, 1)
    coded = coded_queries(queries, measured, measured, made.farthest, margin)
    scores = cosines(queries, vectors)
    places = np.empty(2 * sieve_kernels.ROWS, np.int64)
    added = rng.standard_normal(count)
    blocks = len(made.sieve.slacks)
    for query in range(len(queries)):
        for row in rng.permutation(count)[:5].tolist():
            score = scores[query, row]
            found = sieve_kernels.high_rows(made.sieve, 0, blocks, coded, query, score, places)
            assert row in places[:found]
            total = scale * np.float64(score) + added[row]
            found = sieve_kernels.high_sums(
                made.sieve, 0, blocks, coded, query, total, scale, added, places
            )
            assert row in places[:found]
