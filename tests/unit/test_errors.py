"""Warnings point at the code that called deltavec."""

from __future__ import annotations

import pytest

import deltavec as dv


def test_a_warning_is_about_the_line_that_called() -> None:
    with pytest.warns(dv.SmallModelWarning) as caught:
        dv.fit(["a room by the sea", "a quiet room"] * 3)
    assert [one.filename for one in caught] == [__file__]


def test_what_deltavec_offers_is_what_dir_lists() -> None:
    assert dir(dv) == sorted(dv.__all__)
