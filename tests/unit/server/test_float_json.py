"""Vectors as JSON numbers: whoever reads them has the same float32 numbers."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deltavec.server.float_json import LONGEST, rows_as_json

EDGES = [
    0.0, 1.0, -1.0, 1e-45, 3.4028235e38, 1.1754944e-38, 0.99999994, 1.0000001, 9.9999994, 1e-5,
    9.999999e-6, 0.1, 1 / 3, 123456.79, 1e9, 1e10, 16777216.0, 8.5e-7, 1.2345678e-5,
]  # fmt: skip


@pytest.mark.compiled
@given(
    st.lists(
        st.lists(st.floats(width=32, allow_nan=False, allow_infinity=False), min_size=3, max_size=3)
    )
)
def test_numbers_that_are_read_again_are_the_same(rows: list[list[float]]) -> None:
    vectors = np.array(rows, np.float32).reshape(-1, 3)
    written = rows_as_json(vectors)
    assert len(written) == len(vectors)
    for row, text in zip(vectors, written, strict=True):
        assert (np.array(json.loads(text)).astype(np.float32) == row).all()
        assert (np.array(json.loads(text, parse_float=np.float32), np.float32) == row).all()


@pytest.mark.compiled
def test_every_kind_of_number_has_nine_digits_at_most_and_fits() -> None:
    numbers = np.array([*EDGES, *(-number for number in EDGES)], np.float32)
    bits = np.random.default_rng(0).integers(0, 2**32, 100_000, np.uint32).view(np.float32)
    for vector in (numbers, bits[np.isfinite(bits)]):
        text = rows_as_json(vector[None])[0].decode()
        assert (np.array(json.loads(text)).astype(np.float32) == vector).all()
        lengths = [len(number) for number in text.strip("[]").split(",")]
        assert max(lengths) < LONGEST  # and a comma


def test_rows_without_numbers_are_empty() -> None:
    assert rows_as_json(np.empty((2, 0), np.float32)) == [b"[]", b"[]"]
    assert rows_as_json(np.empty((0, 3), np.float32)) == []
