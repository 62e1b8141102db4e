import numpy as np
import pytest

from deltavec.core.learning.svd import (
    block_width,
    leading_left_singular,
    left_singular,
    with_columns,
)


def leading(matrix, count, power_iterations=4, threads=1):
    return leading_left_singular(
        lambda block: matrix @ block,
        lambda block: matrix.T @ block,
        len(matrix),
        count,
        power_iterations=power_iterations,
        seed=0,
        threads=threads,
    )


def falling(size, by):
    rng = np.random.default_rng(0)
    steps = by ** np.arange(size, dtype=np.float32)
    return rng.standard_normal((size, size)).astype(np.float32) * steps


def test_singular_vectors_are_those_of_the_dense_matrix():
    matrix = falling(30, 0.5)
    vectors, values = leading(matrix, 5)
    exact, exact_values, _ = np.linalg.svd(matrix)
    assert values == pytest.approx(exact_values[:5], rel=1e-4)
    assert np.abs(np.diag(vectors.T @ exact[:, :5])) == pytest.approx(np.ones(5), abs=1e-3)
    assert (np.abs(vectors).max(axis=0) == vectors.max(axis=0)).all()


def test_directions_that_are_not_there_are_left_out():
    flat = np.zeros((5, 3), np.float32)
    assert left_singular(flat).vectors.shape == (5, 0)
    flat[:, 0] = 2
    assert left_singular(flat).values == pytest.approx([2 * 5**0.5])


def test_all_blocks_together_get_further_than_the_last_alone():
    matrix = falling(400, 0.99)
    exact = np.linalg.svd(matrix, compute_uv=False)[:20]
    steps = [np.square(leading(matrix, 20, q).values).sum() for q in (3, 4, 6)]
    best = np.square(exact).sum()
    assert steps[0] < steps[1] < steps[2] < best * (1 + 1e-5)
    assert steps[2] > 0.999 * best

    start = np.random.default_rng(0).standard_normal((400, 30), dtype=np.float32)
    for _ in range(4):  # as many products with the matrix, the last block alone
        start = np.linalg.qr(matrix @ (matrix.T @ start))[0]
    alone = np.square(np.linalg.svd(matrix.T @ start, compute_uv=False)[:20]).sum()
    assert steps[2] > alone


def test_a_space_that_is_used_up_is_no_harm():
    matrix = falling(12, 0.8)
    vectors, values = leading(matrix, 12, power_iterations=18)
    assert values == pytest.approx(np.linalg.svd(matrix, compute_uv=False), rel=1e-4)
    # Float32 products of the weakest direction, a hundredth of the first, are so exact.
    assert vectors.T @ vectors == pytest.approx(np.eye(12), abs=1e-4)


def test_few_directions_are_found_with_many_steps():
    matrix = np.zeros((50, 50), np.float32)
    matrix[:3, :3] = falling(3, 0.5)
    vectors, values = leading(matrix, 10, power_iterations=8)
    assert vectors.shape == (50, 3)
    assert values == pytest.approx(np.linalg.svd(matrix[:3, :3], compute_uv=False), rel=1e-4)


def test_nothing_has_no_directions():
    vectors, values = leading(np.zeros((5, 5), np.float32), 3)
    assert vectors.shape == (5, 0)
    assert len(values) == 0


def test_any_number_of_threads_gives_the_same_bits():
    rng = np.random.default_rng(1)
    matrix = rng.standard_normal((9_000, 1)).astype(np.float32)
    others = rng.standard_normal((9_000, 40)).astype(np.float32)

    def times(block):  # of low rank, so that it is quick
        return matrix * (matrix.T @ block) + 0.1 * others @ (others.T @ block)

    found = [
        leading_left_singular(times, times, 9_000, 8, power_iterations=4, seed=0, threads=threads)
        for threads in (1, 3)
    ]
    assert np.array_equal(found[0].vectors, found[1].vectors)
    assert np.array_equal(found[0].values, found[1].values)


def test_a_value_that_many_directions_have_is_found_as_often_as_it_is_there():
    vectors, values = leading(np.eye(400, dtype=np.float32), 100, power_iterations=7)
    assert block_width(100) * 8 < 400  # so that blocks are used, the first of which knows all
    assert values == pytest.approx(np.ones(100), rel=1e-5)
    assert vectors.T @ vectors == pytest.approx(np.eye(100), abs=1e-5)


def test_a_matrix_no_larger_than_its_blocks_is_decomposed_as_it_is():
    matrix = falling(100, 0.999)  # a spectrum so flat that no start finds it in a few steps
    vectors, values = leading(matrix, 40, power_iterations=4)
    exact, exact_values, _ = np.linalg.svd(matrix)
    assert values == pytest.approx(exact_values[:40], rel=1e-5)
    assert np.abs(np.diag(vectors.T @ exact[:, :40])) == pytest.approx(np.ones(40), abs=1e-3)


def test_a_matrix_with_more_columns_on_its_right_multiplies_as_one():
    rng = np.random.default_rng(0)
    square, beside = (rng.standard_normal(shape).astype(np.float32) for shape in ((5, 5), (5, 2)))
    whole = np.concatenate([square, beside], axis=1)
    times, transposed_times = with_columns(square.__matmul__, square.T.__matmul__, beside)
    for product, matrix in ((times, whole), (transposed_times, whole.T)):
        other = rng.standard_normal((matrix.shape[1], 3)).astype(np.float32)
        np.testing.assert_allclose(product(other), matrix @ other, rtol=1e-5, atol=1e-6)
