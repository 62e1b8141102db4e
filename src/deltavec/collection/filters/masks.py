"""Which documents a filter lets through, by the types of their columns.

Numbers are compared with numbers, text with text, dates with text in ISO form. A column of text is
read as numbers beside a number, if all of it can be. As in SQL a missing value fulfils no condition
but ``is null``, and its negation neither.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from deltavec.collection.filters.language import (
    Condition,
    Every,
    Missing,
    Negation,
    Some,
    Value,
    parse_filter,
)
from deltavec.core.arguments import did_you_mean
from deltavec.core.text.batches import is_text
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
        found = cls(text, parse_filter(text))
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
            answers = evaluate(self.condition, table)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
            raise InputError(f"filter {self.text!r} does not suit the columns: {error}") from error
        if isinstance(answers, pa.ChunkedArray):
            answers = answers.combine_chunks()
        return np.asarray(answers.fill_null(False).to_numpy(zero_copy_only=False), np.bool_)


def unknown_column(name: str, columns: Sequence[str]) -> InputError:
    """The error for a column that the documents do not have."""
    listed = ", ".join(map(repr, columns))
    advice = did_you_mean(name, columns) or f"; index build --keep {name} keeps it"
    return InputError(f"filter: no column {name!r}; the columns are {listed}{advice}")


def named_columns(condition: Condition) -> list[str]:
    """The columns of a condition, in their order."""
    if isinstance(condition, Negation):
        return named_columns(condition.of)
    if isinstance(condition, Every | Some):
        return [name for part in condition.of for name in named_columns(part)]
    return [condition.column]


def evaluate(condition: Condition, table: pa.Table) -> Any:
    """Whether each row fulfils a condition: true, false, or null where nobody can say."""
    import pyarrow.compute as pc

    if isinstance(condition, Negation):
        return pc.invert(evaluate(condition.of, table))
    if isinstance(condition, Every | Some):
        join = pc.and_kleene if isinstance(condition, Every) else pc.or_kleene
        return reduce(join, (evaluate(part, table) for part in condition.of))
    column = plain_column(table.column(condition.column))
    if isinstance(condition, Missing):
        return pc.is_null(column)
    both = comparable(condition.column, column, condition.value)
    return pc.call_function(FUNCTIONS[condition.operator], list(both))


def plain_column(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """A column, its dictionary undone."""
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
    for compare, types in KINDS:
        if any(holds(column.type) for holds in types):
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


Compare = Callable[[str, pa.ChunkedArray, Value], tuple[pa.ChunkedArray, pa.Scalar]]
# How a column of any of these types is compared. One of nothing but nulls may stand for any.
KINDS: tuple[tuple[Compare, tuple[Callable[[pa.DataType], bool], ...]], ...] = (
    (numbers, (pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal)),
    (texts, (is_text, pa.types.is_null)),
    (times, (pa.types.is_date, pa.types.is_timestamp)),
    (truths, (pa.types.is_boolean,)),
)
