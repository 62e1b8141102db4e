"""The filter language and its parser: ``rating >= 4 and city in ('London', 'Paris')``.

::

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
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import NamedTuple, TypeAlias

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
class And:
    """All of some conditions."""

    of: tuple[Condition, ...]


@dataclass(frozen=True)
class Or:
    """At least one of some conditions."""

    of: tuple[Condition, ...]


Condition: TypeAlias = Comparison | IsIn | IsNull | Not | And | Or


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
        return self.joined(self.both, "or", Or)

    def both(self) -> Condition:
        """One condition, or several with ``and`` between them."""
        return self.joined(self.single, "and", And)

    def joined(self, part: Callable[[], Condition], word: str, kind: type[Or | And]) -> Condition:
        """One part, or several with a word between them."""
        found = [part()]
        while self.took(word):
            found.append(part())
        return found[0] if len(found) == 1 else kind(tuple(found))

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
