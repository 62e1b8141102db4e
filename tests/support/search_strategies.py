"""What hypothesis draws for search: rows with many equals, near equals and zeros."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from hypothesis import strategies as st

Matrix = npt.NDArray[np.float32]


def unit_rows(matrix: npt.NDArray[np.floating]) -> Matrix:
    """Each row divided by its length; zeros stay zeros."""
    lengths = np.linalg.norm(matrix, axis=1, keepdims=True)
    return (matrix / np.where(lengths == 0, 1, lengths)).astype(np.float32)


@st.composite
def coarse_rows(draw: st.DrawFn, dimensions: int, least: int = 1, most: int = 40) -> Matrix:
    """Rows of few directions: many are equal, some opposite, some zero."""
    count = draw(st.integers(least, most))
    seed = draw(st.integers(0, 2**32 - 1))
    largest = draw(st.integers(1, 2))
    numbers = np.random.default_rng(seed).integers(-largest, largest + 1, (count, dimensions))
    return unit_rows(numbers.astype(float))


@st.composite
def close_rows(draw: st.DrawFn, dimensions: int, least: int = 1, most: int = 40) -> Matrix:
    """Rows that differ by about as much as a product in float32 is rounded."""
    count = draw(st.integers(least, most))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    spread = draw(st.sampled_from([1e-7, 1e-6, 1e-3]))
    center = rng.standard_normal(dimensions)
    return unit_rows(center + spread * rng.standard_normal((count, dimensions)))


@st.composite
def rows_and_queries(draw: st.DrawFn) -> tuple[Matrix, Matrix]:
    """Rows to search, and queries of the same width; some are rows themselves."""
    dimensions = draw(st.sampled_from([1, 2, 3, 7, 33]))
    kind = draw(st.sampled_from([coarse_rows, close_rows]))
    rows = draw(kind(dimensions))
    queries = np.concatenate([draw(kind(dimensions, 1, 9)), rows[: draw(st.integers(0, 3))]])
    return rows, queries
