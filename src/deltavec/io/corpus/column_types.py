"""Types for columns of text: numbers, dates and booleans, where every value is one.

A text file has no types, and a guess from its first rows may be wrong a million rows later. So all
of a column is looked at, chunk by chunk, before it is read: a kind stays possible while every value
is of it, and what is left at the end is the type. A value that does not fit, however late it
comes, leaves the column text. Only what is written as a number is one: ``007`` keeps its zeros,
and so do all the values beside it; a number of more digits than its type can hold stays text.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import pyarrow as pa

# What people and programs write where there is nothing, beside nothing at all.
MISSING = ("", "NA", "N/A", "NaN", "nan", "null", "NULL", "None")

DAY = "[12][0-9]{3}-[01][0-9]-[0-3][0-9]"
CLOCK = r"[T ][0-2][0-9]:[0-5][0-9](:[0-5][0-9](\.[0-9]{1,6})?)?"
ZONE = "(Z|[+-][0-2][0-9]:?[0-5][0-9])"


class Kind(NamedTuple):
    """How the values of a type are written.

    Attributes
    ----------
    pattern : str
        What every value looks like.
    type : pyarrow.DataType
        What they become.
    parsed : callable
        The values of texts that look like it; an ArrowInvalid for the 30th of February.
    """

    pattern: str
    type: pa.DataType
    parsed: Callable[[Any], Any]

    def values(self, texts: Any) -> Any | None:
        """The texts as values, nulls left as they are; None if one of them is no such value."""
        import pyarrow.compute as pc

        if pc.all(pc.match_substring_regex(texts, f"^({self.pattern})$")).as_py() is False:
            return None
        try:
            return self.parsed(texts).cast(self.type)
        except pa.ArrowInvalid:
            return None


def _cast(kind: pa.DataType) -> Callable[[Any], Any]:
    return lambda texts: texts.cast(kind)


def _is_true(texts: Any) -> Any:
    import pyarrow.compute as pc

    return pc.equal(pc.utf8_lower(texts), "true")


def _day(order: str) -> Callable[[Any], Any]:
    """Days whose parts stand in another order than year, month, day."""

    def parsed(texts: Any) -> Any:
        import pyarrow.compute as pc

        padded = pc.replace_substring_regex(texts, r"\b([0-9])\b", r"0\1")
        parts = "([0-9]+)[./]([0-9]+)[./]([0-9]+)"
        return pc.replace_substring_regex(padded, parts, order).cast(pa.date32())

    return parsed


# The first that is left is the type. Where days could be months, nobody knows.
KINDS = {
    "boolean": Kind("(?i:true|false)", pa.bool_(), _is_true),
    "whole": Kind("0|-?[1-9][0-9]{0,17}", pa.int64(), _cast(pa.int64())),
    "number": Kind(
        r"-?((0|[1-9][0-9]{0,14})(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,2})?",
        pa.float64(),
        _cast(pa.float64()),
    ),
    "day": Kind(DAY, pa.date32(), _cast(pa.date32())),
    "moment": Kind(f"{DAY}({CLOCK})?", pa.timestamp("us"), _cast(pa.timestamp("us"))),
    "moment in a zone": Kind(
        DAY + CLOCK + ZONE, pa.timestamp("us", "UTC"), _cast(pa.timestamp("us", "UTC"))
    ),
    "31.12.2024": Kind(r"[0-3]?[0-9]\.[01]?[0-9]\.[12][0-9]{3}", pa.date32(), _day(r"\3-\2-\1")),
    "2024/12/31": Kind("[12][0-9]{3}/[01]?[0-9]/[0-3]?[0-9]", pa.date32(), _day(r"\1-\2-\3")),
    "31/12/2024": Kind("[0-3]?[0-9]/[01]?[0-9]/[12][0-9]{3}", pa.date32(), _day(r"\3-\2-\1")),
    "12/31/2024": Kind("[01]?[0-9]/[0-3]?[0-9]/[12][0-9]{3}", pa.date32(), _day(r"\3-\1-\2")),
}
EITHER = {"31/12/2024", "12/31/2024"}


class Seen:
    """Which kinds a column may be of, by the values that were looked at."""

    def __init__(self) -> None:
        self.kinds = list(KINDS)
        self.empty = True

    def look_at(self, column: Any) -> None:
        """Take in some more values."""
        texts = without_missing(column)
        if texts.null_count == len(texts):
            return
        self.empty = False
        self.kinds = [name for name in self.kinds if KINDS[name].values(texts) is not None]

    @property
    def kind(self) -> Kind | None:
        """What the column is; None for text."""
        if self.empty or not self.kinds or {*self.kinds} >= EITHER:
            return None
        return KINDS[self.kinds[0]]


def without_missing(column: Any) -> Any:
    """Texts without the space around them, null where they say that there is nothing."""
    import pyarrow.compute as pc

    texts = pc.utf8_trim_whitespace(column)
    nothing = pc.is_in(texts, pa.array(MISSING, texts.type))
    return pc.if_else(nothing, pa.scalar(None, texts.type), texts)
