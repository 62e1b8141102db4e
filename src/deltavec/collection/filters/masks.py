"""Filters: their language, its parser, and the rows of a table that pass one.

``rating >= 4 and city in ('London', 'Paris')``::

    either     = both {"or" both}
    both       = single {"and" single}
    single     = "not" single | "(" either ")" | comparison
    comparison = column ("==" | "!=" | "<" | "<=" | ">" | ">=") value
               | column ["not"] "in" "(" value {"," value} ")"
               | column "is" ["not"] "null"
    column     = a word, or anything between backquotes: `star rating`
    value      = a number | 'text' | "text" | true | false

``=`` and ``<>`` are read as ``==`` and ``!=``. Keywords may be in any case. A quote inside a text
is doubled. Nothing is ever evaluated as code.

Numbers are compared with numbers, text with text, dates and times with text in ISO form. A column
of text is read as numbers if it is compared with a number and all of it can be read so. As in SQL,
a missing value passes no condition but ``is null``, and its negation neither.

Comparisons are exact. The values of a column lie on a grid: integers, multiples of a power of ten,
ticks of a clock, floating-point numbers. The value of the filter is on the grid or between two of
its points (`Point`), and the column is compared with a point of its own type.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Context, Decimal
from fractions import Fraction
from functools import reduce
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from deltavec.core.arguments import did_you_mean
from deltavec.core.text.batches import is_text
from deltavec.core.threads import stop_if_cancelled
from deltavec.errors import InputError

Value: TypeAlias = int | Decimal | str | bool

LONGEST = 10_000  # characters
DEEPEST = 50  # brackets and nots inside each other
MOST_DIGITS = 400  # before or after the decimal point
EXAMPLE = "rating >= 4 and city == 'London'"


@dataclass(frozen=True)
class Comparison:
    """A column compared with a value."""

    column: str
    operator: str
    value: Value


@dataclass(frozen=True)
class IsIn:
    """A column that has one of some values."""

    column: str
    values: tuple[Value, ...]


@dataclass(frozen=True)
class IsNull:
    """A column without a value."""

    column: str


@dataclass(frozen=True)
class Not:
    """The negation of a condition."""

    of: Condition


@dataclass(frozen=True)
class Joined:
    """All of some conditions (``and``), or at least one of them (``or``)."""

    by: str
    of: tuple[Condition, ...]


Condition: TypeAlias = Comparison | IsIn | IsNull | Not | Joined


class Token(NamedTuple):
    """A piece of a filter: what kind it is, how it reads, and where it begins."""

    kind: str
    text: str
    place: int


TOKEN = re.compile(
    r"""\s*(?:
        (?P<number>[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?(?!\w))
      | (?P<string>'(?:[^']|'')*'|"(?:[^"]|"")*")
      | (?P<quoted>`[^`]+`)
      | (?P<word>[^\W\d]\w*)
      | (?P<operator><=|>=|==|!=|<>|<|>|=)
      | (?P<mark>[(),])
    )""",
    re.VERBOSE,
)
KEYWORDS = frozenset({"and", "or", "not", "in", "is", "null", "true", "false"})
SYNONYMS = {"=": "==", "<>": "!="}


def parse_filter(text: str) -> Condition:
    """The condition that a filter says.

    Raises
    ------
    InputError
        If it is not in the language; the message says where, and what was expected.

    Examples
    --------
    >>> parse_filter("rating >= 4")
    Comparison(column='rating', operator='>=', value=4)
    >>> parse_filter("city in ('London')")
    IsIn(column='city', values=('London',))
    """
    if not isinstance(text, str):
        raise InputError(f"filter must be a string such as {EXAMPLE!r}, got {type(text).__name__}")
    if len(text) > LONGEST:
        raise InputError(f"filter must have at most {LONGEST:,} characters, got {len(text):,}")
    if any("\ud800" <= character <= "\udfff" for character in text):
        raise InputError("filter must be Unicode; it holds half a surrogate pair")
    return Parser(text).whole()


def tokens(text: str) -> list[Token]:
    """The pieces of a filter, and an end."""
    found: list[Token] = []
    place, end = 0, len(text.rstrip())
    while place < end:
        match = TOKEN.match(text, place)
        if match is None:
            begin = end - len(text[place:end].lstrip())
            raise broken(text, begin, unreadable(text[begin]))
        kind = str(match.lastgroup)
        piece, begin = match[kind], match.start(kind)
        if kind == "word" and piece.lower() in KEYWORDS:
            kind, piece = "keyword", piece.lower()
        found.append(Token(kind, piece, begin))
        place = match.end()
    return [*found, Token("end", "", end)]


def unreadable(character: str) -> str:
    """What is wrong where no piece of the language begins."""
    if character in "'\"`":
        return f"the {character} is not closed"
    return f"{character!r} has no meaning here"


def broken(text: str, place: int, why: str) -> InputError:
    """The error for a filter that goes wrong at a place."""
    near = text[place : place + 20]
    where = f"at character {place + 1}, {near!r}" if near else "at its end"
    return InputError(f"filter {where}: {why}; a filter is such as {EXAMPLE}")


class Parser:
    """Reads a filter from left to right, one function for each line of the grammar."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = tokens(text)
        self.at = 0
        self.depth = 0

    def whole(self) -> Condition:
        """The condition that the whole text is."""
        condition = self.either()
        if self.next.kind != "end":
            raise self.expected("'and', 'or' or the end")
        return condition

    def either(self) -> Condition:
        """One condition, or several with ``or`` between them."""
        return self.joined(self.both, "or")

    def both(self) -> Condition:
        """One condition, or several with ``and`` between them."""
        return self.joined(self.single, "and")

    def joined(self, part: Callable[[], Condition], word: str) -> Condition:
        """One part, or several with a word between them."""
        found = [part()]
        while self.took(word):
            found.append(part())
        return found[0] if len(found) == 1 else Joined(word, tuple(found))

    def single(self) -> Condition:
        """A condition without ``and`` and ``or``, unless in brackets."""
        self.depth += 1
        if self.depth > DEEPEST:
            raise broken(
                self.text, self.next.place, f"more than {DEEPEST} levels inside each other"
            )
        if self.took("not"):
            condition: Condition = Not(self.single())
        elif self.took("("):
            condition = self.either()
            self.take(")")
        else:
            condition = self.comparison()
        self.depth -= 1
        return condition

    def comparison(self) -> Condition:
        """What is said of one column."""
        column = self.column()
        if self.next.kind == "operator":
            operator = self.taken().text
            return Comparison(column, SYNONYMS.get(operator, operator), self.value())
        if self.took("is"):
            negated = self.took("not")
            self.take("null")
            return Not(IsNull(column)) if negated else IsNull(column)
        negated = self.took("not")
        if self.took("in"):
            return Not(IsIn(column, self.values())) if negated else IsIn(column, self.values())
        raise self.expected("'in'" if negated else "==, !=, <, <=, >, >=, 'in' or 'is'")

    def column(self) -> str:
        """The name of a column."""
        if self.next.kind == "word":
            return self.taken().text
        if self.next.kind == "quoted":
            return self.taken().text[1:-1]
        raise self.expected("the name of a column (between ` ` if it is not one plain word)")

    def values(self) -> tuple[Value, ...]:
        """Values in brackets."""
        self.take("(")
        found = [self.value()]
        while self.took(","):
            found.append(self.value())
        self.take(")")
        return tuple(found)

    def value(self) -> Value:
        """A number, a text, true or false."""
        kind, text, place = self.next
        if kind == "number":
            self.at += 1
            number = Decimal(text)
            if abs(number.adjusted()) > MOST_DIGITS:
                raise broken(self.text, place, f"a number may have {MOST_DIGITS} digits")
            return int(text) if re.fullmatch(r"[+-]?\d+", text) else number
        if kind == "string":
            self.at += 1
            return text[1:-1].replace(text[0] * 2, text[0])
        if kind == "keyword" and text in ("true", "false"):
            return self.taken().text == "true"
        if text == "null":
            raise self.expected("a value; what is missing is found with 'is null'")
        if kind == "word":
            raise self.expected(f"a value; is {text!r} a text, to be written '{text}'?")
        raise self.expected("a number, a text in quotes, true or false")

    @property
    def next(self) -> Token:
        """The piece that comes next."""
        return self.tokens[self.at]

    def taken(self) -> Token:
        """The piece that came next."""
        self.at += 1
        return self.tokens[self.at - 1]

    def took(self, text: str) -> bool:
        """Whether this word or mark came next, and was taken."""
        found = self.next.kind in ("keyword", "mark") and self.next.text == text
        self.at += found
        return found

    def take(self, text: str) -> None:
        """Take this word or mark, which must come next."""
        if not self.took(text):
            raise self.expected(f"{text!r}")

    def expected(self, what: str) -> InputError:
        """The error for something else than what must come next."""
        return broken(self.text, self.next.place, f"expected {what}")


def column_as_written(name: str) -> str | None:
    """The name of a column as a filter has it; None if there is no way to write it.

    Examples
    --------
    >>> column_as_written("city"), column_as_written("star rating"), column_as_written("not")
    ('city', '`star rating`', '`not`')
    """
    plain = re.fullmatch(r"[^\W\d]\w*", name) and name.lower() not in KEYWORDS
    if plain:
        return name
    return f"`{name}`" if name and "`" not in name else None


def text_value(text: str) -> str:
    """A text as a filter has it.

    Examples
    --------
    >>> text_value("O'Hare")
    "'O''Hare'"
    """
    return "'" + text.replace("'", "''") + "'"


FUNCTIONS = {
    "==": "equal",
    "!=": "not_equal",
    "<": "less",
    "<=": "less_equal",
    ">": "greater",
    ">=": "greater_equal",
}
# Beside a value between two points of the grid: which comparison with the lower one is the same.
BETWEEN = {"<": "less_equal", "<=": "less_equal", ">": "greater", ">=": "greater"}
TICKS = {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}  # nanoseconds
DAY = 86_400 * 10**9
TEXT_AS_NUMBERS = pa.decimal256(76, 38)
TIME = "a date in quotes, such as '2024-05-31' or '2024-05-31 18:00:00'"


class Point(NamedTuple):
    """The point of a column's grid at a value, or the next one below it."""

    value: Any
    is_exact: bool = True


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
    if isinstance(condition, Not):
        return named_columns(condition.of)
    if isinstance(condition, Joined):
        return [name for part in condition.of for name in named_columns(part)]
    return [condition.column]


def evaluate(condition: Condition, table: pa.Table) -> Any:
    """Whether each row passes a condition: true, false, or null where it is unknown."""
    stop_if_cancelled()
    if isinstance(condition, Not):
        return pc.invert(evaluate(condition.of, table))
    if isinstance(condition, Joined):
        join = pc.and_kleene if condition.by == "and" else pc.or_kleene
        return reduce(join, (evaluate(part, table) for part in condition.of))
    column = table.column(condition.column)
    if isinstance(condition, IsNull):
        return pc.is_null(column)
    if isinstance(condition, Comparison):
        column, (point,) = comparable(condition.column, column, [condition.value])
        return compare(column, condition.operator, point)
    return reduce(
        pc.or_kleene,
        (is_in(*comparable(condition.column, column, values)) for values in by_kind(condition)),
    )


def by_kind(condition: IsIn) -> list[list[Value]]:
    """The values of a list: texts and others, which a column is read differently for."""
    kinds: dict[bool, list[Value]] = {}
    for value in condition.values:
        kinds.setdefault(isinstance(value, str), []).append(value)
    return list(kinds.values())


def compare(column: pa.ChunkedArray, operator: str, point: Point) -> Any:
    """Compare a column with a value that is at or right above a point of its grid."""
    side = outside(column.type, point)
    if side or (not point.is_exact and operator in ("==", "!=")):
        true = ("!=", "<", "<=") if side > 0 else ("!=", ">", ">=") if side < 0 else ("!=",)
        return unless_null(column, operator in true)
    function = (FUNCTIONS if point.is_exact else BETWEEN)[operator]
    return pc.call_function(function, [column, scalar(point, column.type)])


def is_in(column: pa.ChunkedArray, points: list[Point]) -> Any:
    """Whether the values of a column are at one of some points."""
    exact = [point for point in points if point.is_exact and not outside(column.type, point)]
    among = pa.array([scalar(point, column.type) for point in exact], column.type)
    return unless_null(column, pc.is_in(column, among))


def unless_null(column: pa.ChunkedArray, answers: Any) -> Any:
    """The answers; null for missing values."""
    return pc.if_else(pc.is_valid(column), answers, pa.scalar(None, pa.bool_()))


def outside(kind: pa.DataType, point: Point) -> int:
    """-1 for a point below all points of the column's type, 1 above all, 0 within."""
    if pa.types.is_integer(kind):
        limits = np.iinfo(kind.to_pandas_dtype())
        low, high = int(limits.min), int(limits.max)
    elif pa.types.is_decimal(kind):
        high = 10**kind.precision - 1
        low = -high
    else:
        return 0
    return int(point.value > high) - int(point.value < low)


def scalar(point: Point, kind: pa.DataType) -> pa.Scalar:
    """A point as a value of the column's type."""
    if pa.types.is_decimal(kind):
        return pa.scalar(Context(prec=100).scaleb(Decimal(point.value), -kind.scale), kind)
    return pa.scalar(point.value, kind)


def comparable(
    name: str, column: pa.ChunkedArray, values: Sequence[Value]
) -> tuple[pa.ChunkedArray, list[Point]]:
    """The column in a type that can be compared, and the points of its grid at some values.

    Raises
    ------
    InputError
        If they are of different kinds; the message says what the column holds.
    """
    kind = column.type
    if is_text(kind) or pa.types.is_null(kind):  # a column of nulls may stand for any
        column = column.cast(pa.large_string())
        if all(isinstance(value, str) for value in values):
            return column, [Point(value) for value in values]
        require(name, kind, values, int | Decimal, "a text, such as 'true'")
        column = text_as_numbers(name, column, values[0])
    elif pa.types.is_integer(kind) or pa.types.is_decimal(kind) or pa.types.is_floating(kind):
        require(name, kind, values, int | Decimal, "a number, such as 4")
    elif pa.types.is_date(kind) or pa.types.is_timestamp(kind):
        return clock_ticks(name, column, values)
    elif pa.types.is_boolean(kind):
        require(name, kind, values, bool, "true or false")
        return column, [Point(value) for value in values]
    else:
        raise InputError(f"filter: column {name!r} holds {kind}, which cannot be compared")
    if pa.types.is_floating(column.type):
        points = [float_point(value, column.type.to_pandas_dtype()) for value in values]
        return column.cast(pa.float64()), points
    digits = column.type.scale if pa.types.is_decimal(column.type) else 0
    return column, [grid_point(Fraction(value) * 10**digits) for value in values]


def require(name: str, kind: pa.DataType, values: Sequence[Value], types: Any, hint: str) -> None:
    """Refuse values of other types than these; booleans are no numbers."""
    for value in values:
        if not isinstance(value, types) or (isinstance(value, bool) and types is not bool):
            raise wrong_kind(name, kind, value, hint)


def wrong_kind(name: str, kind: pa.DataType, value: Value, hint: str) -> InputError:
    """The error for a value that does not suit the column."""
    shown = value if isinstance(value, Decimal) else repr(value)
    return InputError(f"filter: column {name!r} holds {kind}: compare it with {hint}; got {shown}")


def grid_point(value: Fraction) -> Point:
    """The integer at a value or next below it."""
    return Point(math.floor(value), value.denominator == 1)


def float_point(value: Any, kind: Any) -> Point:
    """The floating-point number at a value or next below it.

    A number with a decimal point means the nearest one of the column's type, so that 3.3 is found
    in float32. An integer means itself.
    """
    with np.errstate(over="ignore"):
        if isinstance(value, Decimal):
            return Point(float(kind(float(value))))
        try:
            nearest = kind(float(value))
        except OverflowError:
            nearest = kind(math.inf if value > 0 else -math.inf)
    if nearest == math.inf:
        return Point(float(np.finfo(kind).max), False)
    if nearest == -math.inf:
        return Point(-math.inf, False)
    if int(nearest) <= value:
        return Point(float(nearest), int(nearest) == value)
    return Point(float(np.nextafter(nearest, kind(-math.inf))), False)


def text_as_numbers(name: str, column: pa.ChunkedArray, value: Value) -> pa.ChunkedArray:
    """A column of text as integers or else as decimals, if all of it can be read so exactly."""
    trimmed = pc.utf8_trim_whitespace(column)
    filled = pc.if_else(pc.equal(trimmed, ""), pa.scalar(None, trimmed.type), trimmed)
    for kind in (pa.int64(), TEXT_AS_NUMBERS):
        try:
            return filled.cast(kind)
        except pa.ArrowInvalid:
            continue
    odd = next((text for text in filled.to_pylist() if not is_readable(text)), "")
    raise InputError(
        f"filter: column {name!r} is compared with the number {value}, but holds text, such as "
        f"{odd[:40]!r}; compare it with a text: {name} == '{value}'"
    )


def is_readable(text: str | None) -> bool:
    """Whether a text is missing or can be read as a number."""
    try:
        pa.scalar(text, pa.string()).cast(TEXT_AS_NUMBERS)
    except pa.ArrowInvalid:
        return False
    return True


def clock_ticks(
    name: str, column: pa.ChunkedArray, values: Sequence[Value]
) -> tuple[pa.ChunkedArray, list[Point]]:
    """A column of dates or times as integers in its own resolution, and times in ISO form."""
    kind = column.type
    require(name, kind, values, str, TIME)
    days = pa.types.is_date32(kind)
    tick = DAY if days else TICKS["ms" if pa.types.is_date(kind) else kind.unit]
    zone = None if pa.types.is_date(kind) else kind.tz
    points = []
    for value in values:
        nanoseconds = time_value(str(value), zone)
        if nanoseconds is None:
            raise wrong_kind(name, kind, value, TIME)
        points.append(grid_point(Fraction(nanoseconds, tick)))
    return column.cast(pa.int32() if days else pa.int64()), points


def time_value(text: str, zone: str | None) -> int | None:
    """Nanoseconds since 1970 of a time in ISO form; None if it is none.

    A time without a zone is one in the zone of the column.
    """
    zoned = text.rstrip().endswith("Z") or "+" in text or text.count("-") > 2
    for unit in ("ns", "us"):  # nanoseconds end in the year 2262
        try:
            moment = pa.scalar(text).cast(pa.timestamp(unit, "UTC" if zoned else None))
        except pa.ArrowInvalid:
            continue
        if zone and not zoned:
            moment = pc.assume_timezone(moment, zone, ambiguous="earliest", nonexistent="earliest")
        return int(moment.value) * TICKS[unit]
    return None
