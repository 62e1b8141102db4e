"""Values of columns, as a browser can show them."""

from __future__ import annotations

import datetime
import json

import pytest

from deltavec.server.errors import plain


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, None),
        (True, True),
        (3, 3),
        (2**60, str(2**60)),
        (0.5, 0.5),
        (float("inf"), None),
        (b"\xff", "ff"),
        ({"a": [1, float("nan")]}, {"a": [1, None]}),
        (datetime.timedelta(1), "1 day, 0:00:00"),
        ("x" * 5000, "x" * 999 + "…"),
    ],
)
def test_values_of_columns_become_json(value: object, expected: object) -> None:
    assert plain(value) == expected
    json.dumps(plain(value), allow_nan=False)
