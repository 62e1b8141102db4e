"""Values of columns as JSON has them."""

from __future__ import annotations

import datetime
import decimal
import json

import pyarrow as pa
import pytest

from deltavec.io.output.tables import json_value, rows_of


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (True, True),
        (2**60, 2**60),
        (float("-inf"), None),
        (b"\x00\xff", "00ff"),
        (datetime.date(2024, 2, 29), "2024-02-29"),
        (decimal.Decimal("1.50"), "1.50"),
        ([1, (None, {"a": float("nan")})], [1, [None, {"a": None}]]),
        ("x" * 5000, "x" * 5000),
    ],
)
def test_every_value_of_a_column_is_json(value: object, expected: object) -> None:
    assert json_value(value) == expected
    json.dumps(json_value(value), allow_nan=False)


def test_long_texts_are_cut_and_large_numbers_text_if_asked_at_any_depth() -> None:
    found = json_value({"a": ["xxxx", 1000, -1000]}, longest=3, largest=1000)
    assert found == {"a": ["xx…", "1000", "-1000"]}


def test_dates_that_python_has_not_are_text():
    table = pa.table(
        {
            "when": pa.array([0, 10**17], pa.timestamp("s")),
            "days": pa.array([-(2**31), 0], pa.date32()),
            "number": [1, 2],
        }
    )
    first, second = rows_of(table)
    assert first["when"].year == 1970
    assert "100000000000000000" in second["when"]
    assert "-2147483648" in first["days"]
    assert (first["number"], second["number"]) == (1, 2)
    assert rows_of(table.slice(0, 0)) == []
