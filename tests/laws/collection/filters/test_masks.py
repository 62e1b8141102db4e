"""Filters agree with the slow, obvious way: one row after the other, with None for unknown."""

from __future__ import annotations

import operator
from contextlib import suppress

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from deltavec.collection.filters.language import (
    Comparison,
    Condition,
    Every,
    Missing,
    Negation,
    Some,
    parse_filter,
    text_value,
)
from deltavec.collection.filters.masks import Filter
from deltavec.errors import InputError

OPERATORS = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
VALUES = {"n": st.integers(-3, 3), "x": st.sampled_from([-1.5, 0.0, 2.5]), "s": st.text(max_size=2)}


def written(value: object) -> str:
    """A value as it is typed."""
    return text_value(value) if isinstance(value, str) else repr(value)


def among(column: str, values: list[object]) -> Some:
    """The condition that a column has one of some values."""
    return Some(tuple(Comparison(column, "==", value) for value in values))


def is_among(condition: Condition) -> bool:
    """Whether a condition can be typed with ``in``."""
    return isinstance(condition, Some) and all(
        isinstance(part, Comparison)
        and part.operator == "=="
        and part.column == getattr(condition.of[0], "column", None)
        for part in condition.of
    )


def typed(condition: Condition) -> str:
    """A condition as it is typed."""
    if isinstance(condition, Negation):
        return f"not ({typed(condition.of)})"
    if is_among(condition):
        values = ", ".join(written(part.value) for part in condition.of)
        return f"{condition.of[0].column} in ({values})"
    if isinstance(condition, Every | Some):
        word = " and " if isinstance(condition, Every) else " or "
        return word.join(f"({typed(part)})" for part in condition.of)
    if isinstance(condition, Missing):
        return f"`{condition.column}` is null"
    return f"{condition.column} {condition.operator} {written(condition.value)}"


def told(condition: Condition, row: dict[str, object]) -> bool | None:
    """Whether a row fulfils a condition; None if nobody can say."""
    if isinstance(condition, Negation):
        answer = told(condition.of, row)
        return None if answer is None else not answer
    if isinstance(condition, Every | Some):
        answers = [told(part, row) for part in condition.of]
        decisive = isinstance(condition, Some)
        if decisive in answers:
            return decisive
        return None if None in answers else not decisive
    value = row[condition.column]
    if isinstance(condition, Missing):
        return value is None
    if value is None:
        return None
    return bool(OPERATORS[condition.operator](value, condition.value))


def simple(column: str) -> st.SearchStrategy[Condition]:
    values = VALUES[column]
    return st.one_of(
        st.builds(Comparison, st.just(column), st.sampled_from([*OPERATORS]), values),
        st.lists(values, min_size=1, max_size=3).map(lambda few: among(column, few)),
        st.builds(Missing, st.just(column)),
    )


def combined(parts: st.SearchStrategy[Condition]) -> st.SearchStrategy[Condition]:
    several = st.lists(parts, min_size=2, max_size=3).map(tuple)
    return st.one_of(
        st.builds(Negation, parts), st.builds(Every, several), st.builds(Some, several)
    )


conditions = st.recursive(st.sampled_from([*VALUES]).flatmap(simple), combined, max_leaves=6)
rows = st.lists(
    st.fixed_dictionaries({name: st.none() | values for name, values in VALUES.items()}), max_size=6
)
SCHEMA = pa.schema([("n", pa.int64()), ("x", pa.float64()), ("s", pa.string())])


@given(conditions)
def test_what_is_typed_is_what_is_read(condition: Condition) -> None:
    assert parse_filter(typed(condition)) == condition


@given(conditions, rows)
def test_a_mask_is_what_each_row_tells(condition: Condition, rows: list[dict[str, object]]) -> None:
    table = pa.Table.from_pylist(rows, SCHEMA)
    mask = Filter.of(typed(condition), table.column_names).mask(table)
    assert mask.tolist() == [told(condition, row) is True for row in rows]


@given(st.text(alphabet="nxs =<>!'\"`()andornotisull,.0123456789e+-", max_size=40))
def test_any_text_is_a_filter_or_an_input_error(text: str) -> None:
    table = pa.Table.from_pylist([{"n": 1, "x": 0.5, "s": "a"}], SCHEMA)
    with suppress(InputError):
        assert len(Filter.of(text, table.column_names).mask(table)) == 1
