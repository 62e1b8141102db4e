"""A table that is written is read back equal, whatever its columns hold."""

from __future__ import annotations

import base64
import csv
import datetime
import decimal
import io
import json
import math
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

from deltavec.errors import InputError
from deltavec.io.output.tables import writing_table

TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0\r"), max_size=5)
COLUMNS: dict[pa.DataType, st.SearchStrategy[Any]] = {
    pa.int64(): st.integers(-(2**63), 2**63 - 1),
    pa.uint64(): st.integers(0, 2**64 - 1),
    pa.float64(): st.floats(),
    pa.float32(): st.floats(width=32),
    pa.bool_(): st.booleans(),
    pa.string(): TEXT,
    pa.binary(): st.binary(max_size=4),
    pa.binary(2): st.binary(min_size=2, max_size=2),
    pa.date32(): st.dates(datetime.date(1, 1, 1)),
    pa.timestamp("us"): st.datetimes(),
    pa.time64("us"): st.times(),
    pa.decimal128(20, 3): st.decimals(-(10**9), 10**9, places=3),
    pa.list_(pa.string()): st.lists(TEXT, max_size=2),
    pa.struct([("a", pa.int32()), ("b", pa.float64())]): st.fixed_dictionaries(
        {"a": st.integers(-9, 9), "b": st.floats()}
    ),
    pa.large_string(): TEXT,
}


def expected(value: Any) -> Any:
    """A value as JSON can say it."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, bytes):
        return base64.b16encode(value).decode().lower()
    if isinstance(value, list):
        return [expected(one) for one in value]
    if isinstance(value, dict):
        return {name: expected(one) for name, one in value.items()}
    if isinstance(value, decimal.Decimal):
        return str(value)
    return value


def as_read(kind: pa.DataType, text: Any) -> Any:
    """What stands in a text file as a value of the column again."""
    if isinstance(text, str) and pa.types.is_temporal(kind):
        return pa.array([ticks(kind, text)]).cast(storage(kind)).view(kind)[0].as_py()
    return text


def storage(kind: pa.DataType) -> pa.DataType:
    """The integers behind dates and times."""
    return pa.int32() if kind.bit_width == 32 else pa.int64()


def ticks(kind: pa.DataType, text: str) -> int:
    """A date or time in ISO form in units of its type."""
    unit = "D" if kind == pa.date32() else kind.unit
    if pa.types.is_time(kind):
        text = f"1970-01-01T{text}"
    return int(np.datetime64(text.replace(" ", "T"), unit).astype(np.int64))


def write(table: pa.Table, suffix: str) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"rows{suffix}"
        with writing_table(path, table.schema) as append:
            append(table.schema.empty_table())
            append(table.slice(0, 1))
            append(table.slice(1))
        return path.read_bytes()


@st.composite
def tables(draw: st.DrawFn) -> pa.Table:
    kinds = draw(st.lists(st.sampled_from([*COLUMNS]), min_size=1, max_size=4))
    rows = draw(st.integers(0, 4))
    columns = [
        pa.array(draw(st.lists(st.none() | COLUMNS[kind], min_size=rows, max_size=rows)), kind)
        for kind in kinds
    ]
    return pa.table(columns, names=[f"c{n}" for n in range(len(kinds))])


@given(tables())
def test_json_lines_are_valid_and_come_back(table: pa.Table) -> None:
    def refuse(constant: str) -> None:
        raise AssertionError(constant)

    lines = write(table, ".jsonl").decode().split("\n")[:-1]
    rows = [json.loads(line, parse_constant=refuse) for line in lines]
    for field in table.schema:
        found = [as_read(field.type, row[field.name]) for row in rows]
        assert found == [expected(value) for value in table[field.name].to_pylist()]


@given(tables())
def test_parquet_comes_back(table: pa.Table) -> None:
    read = parquet.read_table(io.BytesIO(write(table, ".parquet")))
    assert [repr(row) for row in read.to_pylist()] == [repr(row) for row in table.to_pylist()]


@pytest.mark.parametrize("suffix", [".csv", ".tsv"])
@given(table=tables())
def test_csv_comes_back(suffix: str, table: pa.Table) -> None:
    text = write(table, suffix).decode()
    read = csv.reader(io.StringIO(text, newline=""), delimiter="\t" if suffix == ".tsv" else ",")
    header, *rows = read
    assert header == table.column_names
    assert len(rows) == len(table)
    for place, field in enumerate(table.schema):
        for row, value in zip(rows, table[field.name].to_pylist(), strict=True):
            cell = row[place] if row else ""  # a line of one empty cell
            if value is None:
                assert cell == ""
            elif pa.types.is_nested(field.type):
                assert json.loads(cell) == expected(value)
            elif isinstance(value, bool):
                assert cell == str(value).lower()
            elif isinstance(value, float):
                number = np.float32 if field.type == pa.float32() else np.float64
                assert number(cell) == number(value) or math.isnan(value)
            elif isinstance(value, int):
                assert int(cell) == value
            else:
                assert as_read(field.type, cell) == expected(value)


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".jsonl", ".parquet"])
@given(
    st.sampled_from([pa.date32(), pa.timestamp("s"), pa.timestamp("ns"), pa.time64("ns")]),
    st.integers(-(2**63), 2**63 - 1),
)
def test_odd_times_are_written_whole_or_refused(
    suffix: str, kind: pa.DataType, number: int
) -> None:
    if pa.types.is_time(kind):
        number %= 86_400 * 10**9
    number = number % 2**31 if kind == pa.date32() else number
    table = pa.table({"t": pa.array([number], storage(kind)).view(kind)})
    try:
        data = write(table, suffix)
    except InputError:
        return
    if suffix == ".parquet":
        assert parquet.read_table(io.BytesIO(data))["t"].cast(kind) == table["t"]
    else:
        text = data.decode().splitlines()[-1]
        text = json.loads(text)["t"] if suffix == ".jsonl" else text.strip('"')
        assert ticks(kind, text) == number
