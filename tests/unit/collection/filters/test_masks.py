"""The filter language: what it says, of which types, and what it refuses."""

from __future__ import annotations

import datetime
import decimal

import pyarrow as pa
import pytest

from deltavec.collection.filters.masks import (
    Comparison,
    Filter,
    IsIn,
    IsNull,
    Joined,
    Not,
    parse_filter,
)
from deltavec.errors import InputError

NOON = datetime.datetime(2024, 1, 1, 12)
TABLE = pa.table(
    {
        "rating": [3, 5, None, 1],
        "city": ["Rome", "Oslo", "Rome", None],
        "csv": ["1", " 2.5", "", "-3e2"],
        "day": pa.array([*map(datetime.date, (2024, 2024, 2023), (1, 6, 1), (1, 1, 1)), None]),
        "time": pa.array([NOON] * 4, pa.timestamp("ns")),
        "paris": pa.array([NOON] * 4, pa.timestamp("ms", "Europe/Paris")),
        "open": [True, False, None, True],
        "price": [decimal.Decimal("1.50")] * 4,
        "star rating": [1, 2, 3, 4],
        "kind": pa.array(["a", "b", "a", None]),
        "small": pa.array([3.3, 1.0, 2.0, None], pa.float32()),
        "unsigned": pa.array([1, 2, 2**64 - 1, 4], pa.uint64()),
        "nothing": pa.nulls(4),
        "list": [[1]] * 4,
    }
)


def passed(text: str) -> list[int]:
    """The rows that a filter lets through."""
    return Filter.of(text, TABLE.column_names).mask(TABLE).nonzero()[0].tolist()


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("rating >= 4", [1]),
        ("rating > 2.5", [0, 1]),
        ("rating = 3", [0]),
        ("rating <> 3", [1, 3]),
        ("rating < 99999999999999999999", [0, 1, 3]),
        ("not rating >= 4", [0, 3]),  # a missing value fulfils neither
        ("rating is null", [2]),
        ("rating IS NOT NULL AND city = 'Rome'", [0]),
        ("city in ('Oslo', \"Rome\")", [0, 1, 2]),
        ("city not in ('Oslo')", [0, 2]),
        ("rating in (1, 5)", [1, 3]),
        ("rating < 2 or rating > 4 and city == 'Rome'", [3]),
        ("(rating < 2 or rating > 4) and not city is null", [1]),
        ("csv > 1.5", [1]),
        ("csv < -1", [3]),
        ("csv == '1'", [0]),
        ("day >= '2024-01-02'", [1]),
        ("day < '2024-01-01T00:00:01'", [0, 2]),
        ("time > '2024-01-01'", [0, 1, 2, 3]),
        ("paris == '2024-01-01 13:00:00'", [0, 1, 2, 3]),  # without a zone: the column's
        ("paris == '2024-01-01T12:00:00Z'", [0, 1, 2, 3]),
        ("open == true", [0, 3]),
        ("not open = TRUE", [1]),
        ("price < 1.51", [0, 1, 2, 3]),
        ("`star rating` != 2", [0, 2, 3]),
        ("kind == 'a'", [0, 2]),
        ("small == 3.3", [0]),
        ("unsigned > 5", [2]),
        ("nothing == 'a' or nothing > 3", []),
        ("nothing in ('a', 3)", []),
        ("csv in (1, 2.50, '-3e2')", [0, 1, 3]),
        ("unsigned == 18446744073709551615", [2]),
        ("unsigned == 18446744073709551616", []),
        ("unsigned < 18446744073709551616", [0, 1, 2, 3]),
        ("unsigned > -1", [0, 1, 2, 3]),
        ("rating in (3, 5.5, 99999999999999999999)", [0]),
        ("small > 16777216", []),
        ("small < 1e39", [0, 1, 2]),
        ("time == '2024-01-01 12:00:00.000000001'", []),
        ("time < '2024-01-01 12:00:00.000000001'", [0, 1, 2, 3]),
        ("time < '9999-01-01'", [0, 1, 2, 3]),
        ("day in ('2024-01-01', '2024-06-01 12:00')", [0]),
        ("open in (false)", [1]),
    ],
)
def test_a_filter_lets_the_right_rows_through(text: str, rows: list[int]) -> None:
    assert passed(text) == rows


def test_and_binds_tighter_than_or_and_not_tightest() -> None:
    one, two = Comparison("a", "==", 1), Comparison("b", "==", 2)
    assert parse_filter("a == 1 or b == 2 and not a == 1") == Joined(
        "or", (one, Joined("and", (two, Not(one))))
    )


def test_quotes_inside_a_text_are_doubled() -> None:
    assert parse_filter("a == 'it''s'") == Comparison("a", "==", "it's")
    assert parse_filter('a in ("say ""no""", -1.5e3, true)') == IsIn(
        "a", ('say "no"', decimal.Decimal("-1500"), True)
    )
    assert parse_filter("größe is null") == IsNull("größe")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "at its end: expected the name of a column"),
        ("rating", "at its end: expected ==, !="),
        ("rating >=", "at its end: expected a number"),
        ("rating >= four", "character 11, 'four': expected a value; is 'four' a text"),
        ("rating == null", "'is null'"),
        ("rating >= 4 and", "at its end"),
        ("(rating > 3", "expected ')'"),
        ("rating > 3)", "character 11"),
        ("rating > 3 rating", "expected 'and', 'or' or the end"),
        ("rating ! 3", "character 8, '! 3': '!' has no meaning"),
        ("rating >= 4; drop", "';' has no meaning"),
        ("city == 'Rom", "the ' is not closed"),
        ("rating not 4", "expected 'in'"),
        ("rating in ()", "expected a number"),
        ("3 < rating", "expected the name of a column"),
        ("__import__('os')", "character 11"),
        ("(" * 100 + "rating > 1" + ")" * 100, "more than 50 levels"),
        ("not " * 100 + "rating > 1", "more than 50 levels"),
        ("r" * 20_000, "at most 10,000 characters"),
        ("city == '\ud800'", "Unicode"),
        ("nope == 1", "no column 'nope'; the columns are 'rating'"),
        ("stars == 1", "; index build --keep stars keeps it"),
        ("ratin == 1", "did you mean 'rating'?"),
        ("rating >= '4'", "holds int64: compare it with a number"),
        ("rating == true", "compare it with a number"),
        ("city > 4", "'Rome'; compare it with a text: city == '4'"),
        ("city == true", "such as 'true'"),
        ("day > 3", "a date in quotes"),
        ("day > 'yesterday'", "a date in quotes"),
        ("open == 1", "true or false"),
        ("list == 1", "cannot be compared"),
        ("rating == 1e999", "a number may have 400 digits"),
        ("rating == " + "9" * 5000, "a number may have 400 digits"),
        ("rating in (1, 'x')", "compare it with a number"),
        ("city in ('Rome', 1)", "compare it with a text"),
    ],
)
def test_what_cannot_be_understood_says_where_and_what_was_expected(text: str, said: str) -> None:
    with pytest.raises(InputError) as refused:
        passed(text)
    assert said in str(refused.value)


def test_a_filter_is_a_string() -> None:
    with pytest.raises(InputError, match="must be a string such as"):
        parse_filter(["rating >= 4"])  # type: ignore[arg-type]


def test_many_conditions_in_a_row_are_no_depth() -> None:
    assert passed(" or ".join(["rating == 3"] * 500)) == [0]


FIRST = 1234567890123456789


@pytest.mark.parametrize(
    "column",
    [
        pa.array([FIRST + i for i in range(300)]),
        pa.array([2**63 + FIRST + i for i in range(300)], pa.uint64()),
        pa.array([decimal.Decimal(10**30 + i) for i in range(300)], pa.decimal128(38, 2)),
        pa.array([str(FIRST + i) for i in range(300)]),
        pa.array([f"{FIRST + i}.5" for i in range(300)]),
    ],
    ids=lambda column: str(column.type),
)
def test_numbers_of_many_digits_are_told_apart(column: pa.Array) -> None:
    table = pa.table({"x": column})
    one = str(column[7].as_py())
    for text, count in ((f"x == {one}", 1), (f"x > {one}", 292), (f"x in ({one})", 1)):
        assert Filter.of(text, ["x"]).mask(table).sum() == count


def test_nanoseconds_are_told_apart() -> None:
    table = pa.table({"x": pa.array(range(10**18, 10**18 + 300), pa.timestamp("ns"))})
    assert Filter.of("x == '2001-09-09 01:46:40'", ["x"]).mask(table).sum() == 1
    assert Filter.of("x <= '2001-09-09 01:46:40.000000007'", ["x"]).mask(table).sum() == 8
