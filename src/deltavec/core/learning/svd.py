r"""The leading singular vectors of a matrix that is known only by its products.

A block Krylov method (Golub and Underwood 1977; Musco and Musco 2015). From a random block
:math:`Q_0` orthonormal blocks follow,

.. math:: Q_{j+1} R_{j+1} = (I - Q Q^\top)\, A A^\top Q_j, \quad Q = [Q_0, \dots, Q_j],

and the vectors are those of :math:`A A^\top` inside all of them: :math:`Q Y` with :math:`Q^\top A
A^\top Q = Y S^2 Y^\top`. A block has fewer columns than there are vectors to find: many narrow
ones get further than few wide ones with as many columns in all (docs/decisions/0018).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import numpy as np

from deltavec.core.arrays import Allocate, Float32s, Float64s, blocks, fix_signs
from deltavec.core.statistics import ROWS_AT_ONCE, SecondMoment
from deltavec.core.threads import one_blas_thread, parallel_map

Product: TypeAlias = Callable[[Float32s], Float32s]

OVERSAMPLING = 10
# Of the vectors to find, and as many columns as a product takes at its best.
BLOCK_SHARE, BLOCK_MULTIPLE = 0.35, 16
FEWEST_BLOCKS = 3  # which have room for all of them
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

    From a seeded random start, in one block more than power iterations are asked for, which is
    nearer to the exact ones than these are. A matrix no larger than all blocks together is
    decomposed as it is. Fewer come back where the matrix has fewer that are not zero. The entry of
    each vector that is largest in absolute value is positive. Any number of threads gives the same
    bits.
    """
    width = block_width(count)
    room = min(size, max(FEWEST_BLOCKS, power_iterations + 1) * width)
    if room == size:
        basis = np.eye(size, dtype=np.float32)
        inside = SecondMoment.of(transposed_times(basis), threads).matrix
    else:
        rng = np.random.default_rng(seed)

        def drawn(some: int) -> Float32s:
            shape = (size if columns is None else columns, some)
            return times(rng.standard_normal(shape, dtype=np.float32))

        basis = allocate(size * room, np.float32).reshape(size, room)
        inside = krylov_space(times, transposed_times, drawn, width, basis, threads)
    known = len(inside)
    squares, turn = np.linalg.eigh(inside, UPLO="L")
    squares, turn = squares[::-1][:count], turn[:, ::-1][:, :count]
    kept = squares > NEGLIGIBLE**2 * squares.max(initial=0.0)
    vectors = rotate(basis[:, :known], turn[:, kept], threads)
    return LeftSingular(fix_signs(vectors, axis=0), np.sqrt(squares[kept]))


def block_width(count: int) -> int:
    """How many columns a block has, to find so many vectors."""
    share = BLOCK_SHARE * (count + OVERSAMPLING)
    return BLOCK_MULTIPLE * math.ceil(share / BLOCK_MULTIPLE)


def krylov_space(
    times: Product,
    transposed_times: Product,
    drawn: Callable[[int], Float32s],
    width: int,
    basis: Float32s,
    threads: int,
) -> Float64s:
    """Write orthonormal columns to the basis, and say what the matrix does inside of them.

    That has as many rows as columns were found; all of it is in its lower half.
    """
    room = basis.shape[1]
    inside = np.zeros((room, room))  # blocks on the diagonal and below it
    block = left_singular(drawn(width), threads).vectors
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
        known = basis[:, :end]
        largest = float(np.linalg.norm(image, axis=0).max())
        # Beyond rounding only the last two blocks have a part in the image; `orthogonalize` takes
        # off what rounding left along the others.
        found = remove(image, basis[:, max(begin - width, 0) : end], threads)
        inside[begin:end, begin:end] = found[begin - end :]
        block = orthogonalize(image, known, NEGLIGIBLE * largest, threads)
        if block.shape[1] < width:  # a space that is used up: directions that it does not know
            more = drawn(width - block.shape[1])
            known = np.concatenate([known, block], axis=1)
            largest = float(np.linalg.norm(more, axis=0).max())
            remove(more, known, threads)
            more = orthogonalize(more, known, NEGLIGIBLE * largest, threads)
            block = np.concatenate([block, more], axis=1)
        block = block[:, : room - end]
        inside[end : end + block.shape[1], begin:end] = project(block, image, threads)
    return inside[:end, :end]


def orthogonalize(rest: Float32s, known: Float32s, least: float, threads: int) -> Float32s:
    """Orthonormal columns for the rest of a matrix beyond a basis, if it is more than rounding.

    What was left of short ones is not yet orthogonal: the basis is taken from them once more.
    """
    columns = left_singular(rest, threads, least).vectors
    remove(columns, known, threads)
    return left_singular(columns, threads, 0.5).vectors


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
    tenth of the time of a QR factorization, and as exact as float32 products need. Threads take
    blocks of rows, the same ones however many there are, so that the bits are the same.
    """
    squares, directions = np.linalg.eigh(SecondMoment.of(matrix, threads).matrix)
    least = max(least, NEGLIGIBLE * float(np.sqrt(max(squares.max(initial=0.0), 0.0))))
    kept = np.flatnonzero(squares > least**2)[::-1]
    values = np.sqrt(squares[kept])
    return LeftSingular(rotate(matrix, directions[:, kept] / values, threads), values)


def rotate(matrix: Float32s, directions: Float64s, threads: int) -> Float32s:
    """A tall matrix times a small one."""
    small = directions.astype(np.float32)
    product = np.empty((len(matrix), small.shape[1]), np.float32)

    def turn(block: slice) -> None:
        np.matmul(matrix[block], small, out=product[block])

    list(parallel_map(turn, [*blocks(len(matrix), ROWS_AT_ONCE)], threads))
    return product


def project(basis: Float32s, matrix: Float32s, threads: int) -> Float64s:
    """What a tall matrix has in common with each column of another."""

    def common(block: slice) -> Float64s:
        return (basis[block].T @ matrix[block]).astype(np.float64)

    parts = parallel_map(common, [*blocks(len(matrix), ROWS_AT_ONCE)], threads)
    return sum(parts, np.zeros((basis.shape[1], matrix.shape[1])))


def remove(matrix: Float32s, basis: Float32s, threads: int) -> Float64s:
    """Take from a tall matrix what it has along an orthonormal basis, and say how much."""
    found = project(basis, matrix, threads)
    small = found.astype(np.float32)

    def subtract(block: slice) -> None:
        matrix[block] -= basis[block] @ small

    list(parallel_map(subtract, [*blocks(len(matrix), ROWS_AT_ONCE)], threads))
    return found
