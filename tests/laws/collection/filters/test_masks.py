"""Filters agree with the slow, obvious way: one row after the other, with None for unknown."""

from __future__ import annotations

import operator
from contextlib import suppress
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deltavec.collection.filters.masks import (
    Comparison,
    Condition,
    Filter,
    IsIn,
    IsNull,
    Joined,
    Not,
    parse_filter,
    text_value,
)
from deltavec.errors import InputError

OPERATORS = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
VALUES = {
    "n": st.integers(-3, 3),
    "x": st.sampled_from([*map(Decimal, ("-1.5", "0.0", "2.5"))]),
    "s": st.text(max_size=2),
}


def written(value: object) -> str:
    """A value as it is typed."""
    return text_value(value) if isinstance(value, str) else str(value)


def typed(condition: Condition) -> str:
    """A condition as it is typed."""
    if isinstance(condition, Not):
        return f"not ({typed(condition.of)})"
    if isinstance(condition, IsIn):
        return f"{condition.column} in ({', '.join(map(written, condition.values))})"
    if isinstance(condition, Joined):
        word = " and " if condition.by == "and" else " or "
        return word.join(f"({typed(part)})" for part in condition.of)
    if isinstance(condition, IsNull):
        return f"`{condition.column}` is null"
    return f"{condition.column} {condition.operator} {written(condition.value)}"


def told(condition: Condition, row: dict[str, object]) -> bool | None:
    """Whether a row fulfils a condition; None if nobody can say."""
    if isinstance(condition, Not):
        answer = told(condition.of, row)
        return None if answer is None else not answer
    if isinstance(condition, Joined):
        answers = [told(part, row) for part in condition.of]
        decisive = condition.by == "or"
        if decisive in answers:
            return decisive
        return None if None in answers else not decisive
    value = row[condition.column]
    if isinstance(condition, IsNull):
        return value is None
    if value is None:
        return None
    if isinstance(condition, IsIn):
        return value in condition.values
    return bool(OPERATORS[condition.operator](value, condition.value))


def simple(column: str) -> st.SearchStrategy[Condition]:
    values = VALUES[column]
    return st.one_of(
        st.builds(Comparison, st.just(column), st.sampled_from([*OPERATORS]), values),
        st.lists(values, min_size=1, max_size=3).map(lambda few: IsIn(column, tuple(few))),
        st.builds(IsNull, st.just(column)),
    )


def combined(parts: st.SearchStrategy[Condition]) -> st.SearchStrategy[Condition]:
    several = st.lists(parts, min_size=2, max_size=3).map(tuple)
    return st.one_of(
        st.builds(Not, parts), st.builds(Joined, st.sampled_from(["and", "or"]), several)
    )


conditions = st.recursive(st.sampled_from([*VALUES]).flatmap(simple), combined, max_leaves=6)
rows = st.lists(
    st.fixed_dictionaries({name: st.none() | values for name, values in VALUES.items()}), max_size=6
)
SCHEMA = pa.schema([("n", pa.int64()), ("x", pa.float64()), ("s", pa.string())])


def table_of(rows: list[dict[str, object]]) -> pa.Table:
    """The rows, decimals as floats."""
    plain = [{n: float(v) if isinstance(v, Decimal) else v for n, v in row.items()} for row in rows]
    return pa.Table.from_pylist(plain, SCHEMA)


@given(conditions)
def test_what_is_typed_is_what_is_read(condition: Condition) -> None:
    assert parse_filter(typed(condition)) == condition


@given(conditions, rows)
def test_a_mask_is_what_each_row_tells(condition: Condition, rows: list[dict[str, object]]) -> None:
    table = table_of(rows)
    mask = Filter.of(typed(condition), table.column_names).mask(table)
    assert mask.tolist() == [told(condition, row) is True for row in rows]


@given(st.text(alphabet="nxs =<>!'\"`()andornotisull,.0123456789e+-", max_size=40))
def test_any_text_is_a_filter_or_an_input_error(text: str) -> None:
    table = pa.Table.from_pylist([{"n": 1, "x": 0.5, "s": "a"}], SCHEMA)
    with suppress(InputError):
        assert len(Filter.of(text, table.column_names).mask(table)) == 1


# The law of exactness: any type, any stored values, any literal, as Python compares them.


def integers(bits: int, low: int) -> st.SearchStrategy[int]:
    """Integers of a type, often near its limits and near what float64 can hold."""
    high = low + 2**bits - 1
    edges = [low, high, 0, 2**53, -(2**53), 2**24, 1234567890123456789]
    near = st.builds(operator.add, st.sampled_from(edges), st.integers(-2, 2))
    return (near | st.integers(low, high)).filter(lambda number: low <= number <= high)


def digits(number: int, scale: int) -> str:
    """A number of units of a power of ten as it is written."""
    return f"{Decimal(number).scaleb(-scale):f}"


INTEGERS = {
    kind: integers(
        kind.bit_width, 0 if pa.types.is_unsigned_integer(kind) else -(2 ** (kind.bit_width - 1))
    )
    for kind in (
        pa.int8(),
        pa.int16(),
        pa.int32(),
        pa.int64(),
        pa.uint8(),
        pa.uint32(),
        pa.uint64(),
    )
}
ANY_INTEGER = integers(70, -(2**69))
LITERALS = st.one_of(
    ANY_INTEGER.map(str),
    st.integers(-(10**6), 10**6).map(lambda number: digits(number, 3)),
    ANY_INTEGER.map(lambda number: f"{number}.5"),
    ANY_INTEGER.map(lambda number: f"{number}.0"),
    st.sampled_from(["1e3", "-2.5e-3", "1e39", "1e309", "-1e309", "0.1", "3.3"]),
)


def check(column: pa.Array, values: list[object], literal: str, meant: object) -> None:
    """Every operator gives what Python gives for these values, None for missing ones."""
    table = pa.table({"x": column})
    for name, compare in OPERATORS.items():
        mask = Filter.of(f"x {name} {literal}", ["x"]).mask(table).tolist()
        assert mask == [value is not None and bool(compare(value, meant)) for value in values]
    negated = Filter.of(f"not x in ({literal}, {literal})", ["x"]).mask(table).tolist()
    assert negated == [value is not None and value != meant for value in values]


UNITS_OF_DECIMALS = st.integers(1 - 10**38, 10**38 - 1)


@pytest.mark.parametrize("kind", INTEGERS, ids=str)
@given(st.data())
def test_integers_are_compared_as_integers(kind: pa.DataType, data: st.DataObject) -> None:
    values = data.draw(st.lists(st.none() | INTEGERS[kind], max_size=6))
    literal = data.draw(
        LITERALS | st.sampled_from([str(v) for v in values if v is not None] or ["0"])
    )
    check(pa.array(values, kind), values, literal, Fraction(literal))


@given(
    st.lists(st.none() | st.integers(-(10**38) + 1, 10**38 - 1), max_size=6), LITERALS, st.data()
)
def test_decimals_are_compared_as_decimals(
    units: list[int | None], literal: str, data: st.DataObject
) -> None:
    scale = data.draw(st.integers(0, 38))
    near = [digits(unit + more, scale) for unit in units if unit is not None for more in (-1, 0, 1)]
    literal = data.draw(st.sampled_from([literal, *near]))
    texts = [None if unit is None else digits(unit, scale) for unit in units]
    column = pa.array([text and Decimal(text) for text in texts], pa.decimal128(38, scale))
    values = [None if text is None else Fraction(text) for text in texts]
    check(column, values, literal, Fraction(literal))


NEAR = st.integers(-2, 2)


@given(ANY_INTEGER, st.lists(st.none() | NEAR, max_size=6), NEAR, st.sampled_from([0, 3]))
def test_text_of_digits_is_compared_as_numbers(
    number: int, offsets: list[int | None], offset: int, scale: int
) -> None:
    texts = [None if more is None else f" {digits(number + more, scale)}" for more in offsets]
    values = [None if text is None else Fraction(text.strip()) for text in texts]
    for literal in (digits(number + offset, scale), str(offset), f"{number}.5"):
        check(pa.array(texts, pa.string()), values, literal, Fraction(literal))


@pytest.mark.parametrize("kind", [pa.float16(), pa.float32(), pa.float64()], ids=str)
@given(st.data())
def test_floats_are_compared_with_integers_exactly_and_with_decimals_in_their_precision(
    kind: pa.DataType, data: st.DataObject
) -> None:
    number = kind.to_pandas_dtype()
    width = kind.bit_width
    edges = [2048.0, float(number(3.3)), float("inf"), *([2.0**24, 2.0**53] if width > 16 else [])]
    values = data.draw(
        st.lists(st.none() | st.floats(width=width) | st.sampled_from(edges), max_size=6)
    )
    near = [str(int(v) + 1) for v in values if v is not None and np.isfinite(v)]
    literal = data.draw(st.sampled_from([data.draw(LITERALS), *near]))
    with np.errstate(over="ignore"):
        meant = int(literal) if literal.lstrip("-").isdigit() else float(number(float(literal)))
        stored = [None if value is None else float(number(value)) for value in values]
    column = pa.array([None if v is None else number(v) for v in values], kind)
    check(column, stored, literal, meant)
    for beyond in (10**400, -(10**400)):  # every finite number, and neither infinity
        check(column, stored, str(beyond), beyond)


UNITS = {"s": 0, "ms": 3, "us": 6, "ns": 9}


@pytest.mark.parametrize("unit", UNITS)
@given(st.data())
def test_times_are_compared_in_their_own_resolution(unit: str, data: st.DataObject) -> None:
    # Up to the year 2106, which all units can hold.
    moments = st.integers(0, 2**32 * 10**9) | st.integers(10**18, 10**18 + 5)
    asked = data.draw(moments)
    ticks = 10 ** (9 - UNITS[unit])
    near = st.integers(-2, 2).map(lambda more: asked // ticks + more)
    stored = data.draw(
        st.lists(st.none() | near | moments.map(lambda moment: moment // ticks), max_size=6)
    )
    literal = f"'{np.datetime64(asked, 'ns')}'"
    values = [None if tick is None else tick * ticks for tick in stored]
    check(pa.array(stored, pa.timestamp(unit)), values, literal, asked)
    days = [None if value is None else value // (86_400 * 10**9) for value in values]
    midnights = [None if day is None else day * 86_400 * 10**9 for day in days]
    check(pa.array(days, pa.date32()), midnights, literal, asked)
