"""Columns as one who writes a filter needs them."""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet

import deltavec as dv
from deltavec.server.map_view import MOST_VALUES, describe_column


def one(values: list[Any], name: str = "it") -> dict[str, Any]:
    return describe_column(name, pa.chunked_array([pa.array(values)]))


def test_a_text_is_compared_with_what_it_is_most_often() -> None:
    found = one(["Rome", "O'Hare", "O'Hare", "", None, "x" * 80])
    assert (found["kind"], found["values"]) == ("text", ["'O''Hare'", "'Rome'"])
    assert found["example"] == "it == 'O''Hare'"
    assert len(one([f"{n:03}" for n in range(200)])["values"]) == MOST_VALUES


def test_numbers_and_dates_are_compared_with_one_in_their_middle() -> None:
    assert one([5, 1, 3])["example"] == "it >= 3"
    assert one([0.123456789, 0.1, 9.0])["example"] == "it >= 0.123457"
    days = [datetime.date(2020, 1, day) for day in (3, 1, 2)]
    assert one([*days, None])["example"] == "it >= '2020-01-02'"
    assert one([True, False])["example"] == "it == true"


def test_what_cannot_be_compared_has_no_example() -> None:
    assert one([None, None])["example"] is None
    assert one([[1], [2]])["kind"] == "other"
    assert one([float("nan")])["example"] is None


def test_odd_names_are_written_between_backquotes_if_they_can_be() -> None:
    assert one([1, 2], "star rating")["example"] == "`star rating` >= 1"
    assert one([1, 2], "a`b")["example"] is None


@pytest.fixture
def collection(tmp_path: Path) -> dv.Collection:
    texts = ["a quiet room", "a loud street", "fresh bread", "strong coffee"] * 3
    table = pa.table(
        {
            "text": texts,
            "star rating": [1, 2, 3, 4] * 3,
            "price": pa.array([1.25, 2.5, None, 3.75] * 3),
            "day": pa.array([datetime.date(2020, 1, 1 + n) for n in range(12)]),
            "at": pa.array([datetime.datetime(2020, 1, 1 + n, 12) for n in range(12)]),
            "city": pa.array(["Rome", "O'Hare", None, "Rome"] * 3).dictionary_encode(),
            "open": [True, False, True, True] * 3,
        }
    )
    parquet.write_table(table, tmp_path / "all.parquet")
    corpus = dv.read_corpus(tmp_path / "all.parquet", column="text")
    kept = table.column_names[1:]
    return dv.build_collection(dv.fit(texts), corpus, tmp_path / "all.idx", keep=kept)


def test_every_example_leaves_some_documents(collection: dv.Collection) -> None:
    for name in collection.columns:
        found = describe_column(name, collection.column(name))
        assert 0 < collection.mask(found["example"]).sum() < len(collection), found
        for value in found["values"]:
            assert collection.mask(f"{found['written']} == {value}").any()
