"""What colors the points of the map."""

from __future__ import annotations

import datetime
from decimal import Decimal

import pyarrow as pa
import pytest

from deltavec.server.map_view import MOST_LABELS, column_colors


def column(values: list[object]) -> pa.ChunkedArray:
    return pa.chunked_array([pa.array(values)])


def test_the_most_frequent_names_have_a_color_and_the_others_none() -> None:
    names = ["a"] * 3 + ["b"] * 2 + [f"c{n}" for n in range(20)]
    found = column_colors("city", column([*names, None]))
    assert found.kind == "category"
    assert found.labels[:2] == ["a", "b"]
    assert found.counts[:2] == [3, 2]
    assert len(found.labels) == MOST_LABELS
    assert (found.other, found.missing) == (20 - (MOST_LABELS - 2), 1)
    assert found.values[:5] == [0, 0, 0, 1, 1]
    assert found.values[-2:] == [None, None]


def test_two_numbers_are_categories_and_more_a_scale() -> None:
    assert column_colors("stars", column([1, 2, 2, None])).labels == ["2", "1"]
    assert column_colors("stars", column([1, 2, 3])).kind == "number"
    assert column_colors("price", column([Decimal("1.5"), Decimal(2), Decimal(3)])).values[0] == 1.5
    found = column_colors("price", column([*map(float, range(101)), float("nan"), None]))
    assert found.kind == "number"
    assert found.range == pytest.approx([1, 99])
    assert found.values[-2:] == [None, None]
    assert found.missing == 2


def test_dates_and_times_are_a_scale_in_seconds() -> None:
    days = [datetime.date(1970, 1, 1 + day) for day in range(3)]
    found = column_colors("day", column([*days, None]))
    assert (found.kind, found.missing) == ("date", 1)
    assert found.values == [0, 86_400, 172_800, None]
    zone = datetime.timezone(datetime.timedelta(hours=2))
    moments = [datetime.datetime(1970, 1, 1, 2 + hour, tzinfo=zone) for hour in range(3)]
    assert column_colors("at", column(moments)).values == [0, 3600, 7200]


def test_truth_values_and_a_single_date_are_categories() -> None:
    assert column_colors("open", column([True, False, True])).labels == ["True", "False"]
    day = datetime.date(2020, 1, 2)
    assert column_colors("day", column([day])).labels == ["2020-01-02"]
