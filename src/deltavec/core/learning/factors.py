r"""The leading singular vectors of a matrix that is known only by its products.

A block Krylov method (Golub and Underwood 1977; Musco and Musco 2015). From a random block
:math:`Q_0` of as many columns as there are vectors to find, and some more, orthonormal blocks
follow,

.. math:: Q_{j+1} R_{j+1} = (I - Q Q^\top)\, A A^\top Q_j, \quad Q = [Q_0, \dots, Q_j],

and the vectors are those of :math:`A A^\top` inside all of them: :math:`Q Y` with :math:`Q^\top A
A^\top Q = Y S^2 Y^\top`. Power iteration keeps the last block alone, and needs twice the products
to get as far (docs/decisions/0018).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import numpy as np

from deltavec.core.arrays import blocks, signs_fixed
from deltavec.core.components import ROWS_AT_ONCE, SecondMoment
from deltavec.core.kernels import Float32s, Float64s
from deltavec.core.learning.spill import Allocate
from deltavec.core.threads import on_threads, one_blas_thread

Product: TypeAlias = Callable[[Float32s], Float32s]

OVERSAMPLING = 10
# Singular values below this share of the first are rounding of the float32 products.
NEGLIGIBLE = 1e-5


class LeftSingular(NamedTuple):
    """The left singular vectors, one a column, and their values, largest first."""

    vectors: Float32s
    values: Float64s


@one_blas_thread()
def leading_left_singular(
    times: Product,
    transposed_times: Product,
    size: int,
    count: int,
    *,
    power_iterations: int,
    seed: int,
    columns: int | None = None,
    threads: int = 1,
    allocate: Allocate = np.empty,
) -> LeftSingular:
    """The ``count`` leading left singular vectors of a matrix, square unless its columns are told.

    From a seeded random start; half as many steps are taken as power iterations are asked for,
    which is as good. Fewer come back where the matrix has fewer that are not zero. The entry of
    each vector that is largest in absolute value is positive. Any number of threads gives the same
    bits.
    """
    width = min(size, count + OVERSAMPLING)
    shape = (size if columns is None else columns, width)
    start = np.random.default_rng(seed).standard_normal(shape, dtype=np.float32)
    block = left_singular(times(start), threads).vectors
    del start
    room = min(size, (power_iterations // 2 + 1) * block.shape[1])
    basis = allocate(size * room, np.float32).reshape(size, room)
    inside = np.zeros((room, room))  # its lower half: blocks on the diagonal and below it
    begin = end = 0
    while block.shape[1]:
        begin, end = end, end + block.shape[1]
        basis[:, begin:end] = block
        across = transposed_times(block)
        if end == room:
            inside[begin:end, begin:end] = SecondMoment.of(across, threads).matrix
            break
        image = times(across)
        del across
        largest = float(np.linalg.norm(image, axis=0).max())
        found = without(image, basis[:, :end], threads)
        inside[begin:end, begin:end] = found[begin:end]
        block = left_singular(image, threads, NEGLIGIBLE * largest).vectors
        # Once more: what was left of short ones is not yet orthogonal, if it is more than rounding.
        without(block, basis[:, :end], threads)
        block = left_singular(block, threads, 0.5).vectors[:, : room - end]
        inside[end : end + block.shape[1], begin:end] = projected(block, image, threads)
    squares, turn = np.linalg.eigh(inside[:end, :end], UPLO="L")
    squares, turn = squares[::-1][:count], turn[:, ::-1][:, :count]
    kept = squares > NEGLIGIBLE**2 * squares.max(initial=0.0)
    vectors = turned(basis[:, :end], turn[:, kept], threads)
    return LeftSingular(signs_fixed(vectors, axis=0), np.sqrt(squares[kept]))


def with_columns(
    times: Product, transposed_times: Product, beside: Float32s
) -> tuple[Product, Product]:
    """The products of a square matrix that has more columns on its right."""
    size, more = beside.shape
    if more == 0:
        return times, transposed_times

    def wider(matrix: Float32s) -> Float32s:
        product = times(matrix[:size])
        product += beside @ matrix[size:]
        return product

    def taller(matrix: Float32s) -> Float32s:
        return np.concatenate([transposed_times(matrix), beside.T @ matrix])

    return wider, taller


def left_singular(matrix: Float32s, threads: int = 1, least: float = 0.0) -> LeftSingular:
    r"""All left singular vectors of a tall matrix whose values are not negligible.

    From the eigenvectors W of :math:`Y^\top Y` in float64, as :math:`Y W \Lambda^{-1/2}`: a
    tenth of the time of a QR factorisation, and as exact as float32 products need. Threads take
    blocks of rows, the same ones however many there are, so that the bits are the same.
    """
    squares, directions = np.linalg.eigh(SecondMoment.of(matrix, threads).matrix)
    least = max(least, NEGLIGIBLE * float(np.sqrt(max(squares.max(initial=0.0), 0.0))))
    kept = np.flatnonzero(squares > least**2)[::-1]
    values = np.sqrt(squares[kept])
    return LeftSingular(turned(matrix, directions[:, kept] / values, threads), values)


def turned(matrix: Float32s, directions: Float64s, threads: int) -> Float32s:
    """A tall matrix times a small one."""
    small = directions.astype(np.float32)
    product = np.empty((len(matrix), small.shape[1]), np.float32)

    def turn(block: slice) -> None:
        np.matmul(matrix[block], small, out=product[block])

    list(on_threads(turn, [*blocks(len(matrix), ROWS_AT_ONCE)], threads))
    return product


def projected(basis: Float32s, matrix: Float32s, threads: int) -> Float64s:
    """What a tall matrix has in common with each column of another."""

    def common(block: slice) -> Float64s:
        return (basis[block].T @ matrix[block]).astype(np.float64)

    parts = on_threads(common, [*blocks(len(matrix), ROWS_AT_ONCE)], threads)
    return sum(parts, np.zeros((basis.shape[1], matrix.shape[1])))


def without(matrix: Float32s, basis: Float32s, threads: int) -> Float64s:
    """Take from a tall matrix what it has along an orthonormal basis, and say how much."""
    found = projected(basis, matrix, threads)
    small = found.astype(np.float32)

    def subtract(block: slice) -> None:
        matrix[block] -= basis[block] @ small

    list(on_threads(subtract, [*blocks(len(matrix), ROWS_AT_ONCE)], threads))
    return found
