"""Which documents a filter lets through, by the types of their columns.

Numbers are compared with numbers, text with text, dates with text in ISO form. Columns of csv files
are text: beside a number such a column is read as numbers, if all of it can be. As in SQL a
missing value fulfils no condition but ``is null``, and its negation neither.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from deltavec.collection.filter_language import (
    Comparison,
    Condition,
    Every,
    Membership,
    Missing,
    Negation,
    Some,
    Value,
    parsed_filter,
)
from deltavec.errors import InputError

FUNCTIONS = {
    "==": "equal",
    "!=": "not_equal",
    "<": "less",
    "<=": "less_equal",
    ">": "greater",
    ">=": "greater_equal",
}


@dataclass(frozen=True)
class Filter:
    """A condition on the columns of documents.

    Examples
    --------
    >>> table = pa.table({"rating": [3, 5, None], "city": ["Rome", "Oslo", "Rome"]})
    >>> Filter.of("rating >= 4 or city == 'Rome'", table.column_names).mask(table)
    array([ True,  True,  True])
    """

    text: str
    condition: Condition

    @classmethod
    def of(cls, text: str, columns: Sequence[str]) -> Filter:
        """The filter that a text says, if all the columns it names are there."""
        found = cls(text, parsed_filter(text))
        for name in found.columns:
            if name not in columns:
                raise unknown_column(name, columns)
        return found

    @property
    def columns(self) -> list[str]:
        """The columns it names, each once."""
        return list(dict.fromkeys(named_columns(self.condition)))

    def mask(self, table: pa.Table) -> npt.NDArray[np.bool_]:
        """Which rows of a table it lets through.

        Raises
        ------
        InputError
            If a column and a value cannot be compared.
        """
        try:
            answers = answered(self.condition, table)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
            raise InputError(f"filter {self.text!r} does not suit the columns: {error}") from error
        if isinstance(answers, pa.ChunkedArray):
            answers = answers.combine_chunks()
        return np.asarray(answers.fill_null(False).to_numpy(zero_copy_only=False), np.bool_)


def unknown_column(name: str, columns: Sequence[str]) -> InputError:
    """The error for a column that the documents do not have."""
    close = difflib.get_close_matches(name, columns, n=1, cutoff=0.5)
    advice = f"; did you mean {close[0]!r}?" if close else ""
    return InputError(
        f"filter: no column {name!r}; the columns are {', '.join(map(repr, columns))}{advice}"
    )


def named_columns(condition: Condition) -> list[str]:
    """The columns of a condition, in their order."""
    if isinstance(condition, Negation):
        return named_columns(condition.of)
    if isinstance(condition, Every | Some):
        return [name for part in condition.of for name in named_columns(part)]
    return [condition.column]


def answered(condition: Condition, table: pa.Table) -> Any:
    """Whether each row fulfils a condition: true, false, or null where nobody can say."""
    import pyarrow.compute as pc

    if isinstance(condition, Negation):
        return pc.invert(answered(condition.of, table))
    if isinstance(condition, Every | Some):
        join = pc.and_kleene if isinstance(condition, Every) else pc.or_kleene
        found = answered(condition.of[0], table)
        for part in condition.of[1:]:
            found = join(found, answered(part, table))
        return found
    column = plain_column(table, condition.column)
    if isinstance(condition, Missing):
        return pc.is_null(column)
    if isinstance(condition, Comparison):
        left, right = comparable(condition.column, column, condition.value)
        return pc.call_function(FUNCTIONS[condition.operator], [left, right])
    return among(condition, column)


def among(condition: Membership, column: pa.ChunkedArray) -> Any:
    """Whether each value is one of some values."""
    import pyarrow.compute as pc

    found: Any = None
    for value in condition.values:
        left, right = comparable(condition.column, column, value)
        equal = pc.equal(left, right)
        found = equal if found is None else pc.or_kleene(found, equal)
    return found


def plain_column(table: pa.Table, name: str) -> pa.ChunkedArray:
    """A column, its dictionary undone."""
    column = table.column(name)
    if pa.types.is_dictionary(column.type):
        return column.cast(column.type.value_type)
    return column


def comparable(
    name: str, column: pa.ChunkedArray, value: Value
) -> tuple[pa.ChunkedArray, pa.Scalar]:
    """The column and the value as things that can be compared.

    Raises
    ------
    InputError
        If they are of different kinds; the message says what the column holds.
    """
    for fits, compare in KINDS:
        if fits(column.type):
            return compare(name, column, value)
    raise InputError(f"filter: column {name!r} holds {column.type}, which cannot be compared")


def numbers(name: str, column: pa.ChunkedArray, value: Value) -> tuple[pa.ChunkedArray, pa.Scalar]:
    """A column of numbers beside a number."""
    if isinstance(value, bool | str):
        raise wrong_kind(name, column, value, "a number, such as 4")
    if pa.types.is_floating(column.type):  # in its own precision: 3.3 is found in float32
        return column, pa.scalar(float(value)).cast(column.type)
    if isinstance(value, float) or not pa.types.is_signed_integer(column.type):
        return column.cast(pa.float64(), safe=False), pa.scalar(float(value))
    return column.cast(pa.int64()), pa.scalar(value, pa.int64())


def texts(name: str, column: pa.ChunkedArray, value: Value) -> tuple[pa.ChunkedArray, pa.Scalar]:
    """A column of text beside a text; beside a number, read as numbers if all of it can be."""
    import pyarrow.compute as pc

    if isinstance(value, bool):
        raise wrong_kind(name, column, value, f"a text, such as '{str(value).lower()}'")
    column = column.cast(pa.large_string())
    if isinstance(value, str):
        return column, pa.scalar(value, column.type)
    trimmed = pc.utf8_trim_whitespace(column)
    filled = pc.if_else(pc.equal(trimmed, ""), pa.scalar(None, trimmed.type), trimmed)
    try:
        return filled.cast(pa.float64()), pa.scalar(float(value))
    except pa.ArrowInvalid:
        text = first_that_is_no_number(filled)
        raise InputError(
            f"filter: column {name!r} is compared with the number {value}, but holds text, such as "
            f"{text[:40]!r}; compare it with a text: {name} == '{value}'"
        ) from None


def first_that_is_no_number(column: pa.ChunkedArray) -> str:
    """The first text of a column that cannot be read as a number."""
    for text in column.to_pylist():
        if text is not None:
            try:
                pa.array([text]).cast(pa.float64())
            except pa.ArrowInvalid:
                return str(text)
    return ""


def times(name: str, column: pa.ChunkedArray, value: Value) -> tuple[pa.ChunkedArray, pa.Scalar]:
    """A column of dates or times beside one in ISO form."""
    import pyarrow.compute as pc

    wanted = "a date in quotes, such as '2024-05-31' or '2024-05-31 18:00:00'"
    if not isinstance(value, str):
        raise wrong_kind(name, column, value, wanted)
    zone = getattr(column.type, "tz", None)
    kind = pa.timestamp("us", zone)
    try:
        moment = pa.scalar(value).cast(pa.timestamp("us", "UTC" if zoned(value) else None))
    except pa.ArrowInvalid:
        raise wrong_kind(name, column, value, wanted) from None
    if zone and not zoned(value):  # a time without a zone is one in the column's
        moment = pc.assume_timezone(moment, zone, ambiguous="earliest", nonexistent="earliest")
    return column.cast(kind, safe=False), moment.cast(kind)


def zoned(moment: str) -> bool:
    """Whether a time in ISO form says its zone."""
    return moment.rstrip().endswith("Z") or "+" in moment or moment.count("-") > 2


def truths(name: str, column: pa.ChunkedArray, value: Value) -> tuple[pa.ChunkedArray, pa.Scalar]:
    """A column of true and false beside one of them."""
    if not isinstance(value, bool):
        raise wrong_kind(name, column, value, "true or false")
    return column, pa.scalar(value)


def wrong_kind(name: str, column: pa.ChunkedArray, value: Value, expected: str) -> InputError:
    """The error for a value of another kind than its column."""
    return InputError(
        f"filter: column {name!r} holds {column.type}: compare it with {expected}; got {value!r}"
    )


def is_number(kind: pa.DataType) -> bool:
    """Whether a type is of numbers."""
    types = pa.types
    return bool(types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind))


def is_text(kind: pa.DataType) -> bool:
    """Whether a type is of text; a column of nothing but nulls may stand for any."""
    types = pa.types
    return bool(
        types.is_string(kind)
        or types.is_large_string(kind)
        or types.is_string_view(kind)
        or types.is_null(kind)
    )


def is_time(kind: pa.DataType) -> bool:
    """Whether a type is of dates, or of dates with times."""
    return bool(pa.types.is_date(kind) or pa.types.is_timestamp(kind))


Compare = Callable[[str, pa.ChunkedArray, Value], tuple[pa.ChunkedArray, pa.Scalar]]
KINDS: tuple[tuple[Callable[[pa.DataType], bool], Compare], ...] = (
    (is_number, numbers),
    (is_text, texts),
    (is_time, times),
    (pa.types.is_boolean, truths),
)
