"""Types for columns of text: numbers, dates and booleans, where every value is one.

A text file has no types, and a guess from its first rows may be wrong a million rows later. So a
first pass reads every value of a column: a type remains possible while every value fits it. One
value that fits none leaves the column text. A column is numeric only if no value changes: ``007``
is no number, as its zeros would be lost; nor is ``1.10``, unless all values have two decimals; nor
is one with more digits than its type holds.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import pyarrow as pa

# How missing values are written.
MISSING = ("", "NA", "N/A", "NaN", "nan", "null", "NULL", "None")

DAY = "[12][0-9]{3}-[01][0-9]-[0-3][0-9]"
CLOCK = r"[T ][0-2][0-9]:[0-5][0-9](:[0-5][0-9](\.[0-9]{1,6})?)?"
ZONE = "(Z|[+-][0-2][0-9]:?[0-5][0-9])"
DATE_PARTS = "([0-9]+)[./]([0-9]+)[./]([0-9]+)"


WHOLE = "-?(0|[1-9][0-9]*)"
MOST_DIGITS = 15  # that a float keeps, whatever they are


class Kind(NamedTuple):
    """How the values of a type are written.

    Attributes
    ----------
    pattern : str
        A regular expression that every value matches.
    type : pyarrow.DataType
        Their type.
    order : str
        For dates in another order: the replacement that puts year, month and day in order.
    """

    pattern: str
    type: pa.DataType
    order: str = ""

    def values(self, texts: Any) -> Any | None:
        """The texts as values, nulls left as they are; None if one of them is no such value."""
        import pyarrow.compute as pc

        if pc.all(pc.match_substring_regex(texts, f"^({self.pattern})$")).as_py() is False:
            return None
        if self.order:
            texts = pc.replace_substring_regex(texts, r"\b([0-9])\b", r"0\1")
            texts = pc.replace_substring_regex(texts, DATE_PARTS, self.order)
        if self.type == pa.float64():
            digits = pc.replace_substring_regex(texts, r"^-?0?\.?0*|\.|e.*$", "")
            if (pc.max(pc.utf8_length(digits)).as_py() or 0) > MOST_DIGITS:
                return None
        try:
            return texts.cast(self.type)
        except pa.ArrowInvalid:  # the 30th of February
            return None


# The first that fits all values is the type; if days could be months, the column stays text.
KINDS = {
    "boolean": Kind("(?i:true|false)", pa.bool_()),
    "integer": Kind("0|-?[1-9][0-9]{0,17}", pa.int64()),
    "number": Kind(f"{WHOLE}(\\.0|(\\.[0-9]*[1-9])?(e[+-][0-9]{{2}})?)", pa.float64()),
    **{
        f"{places} decimals": Kind(f"{WHOLE}\\.[0-9]{{{places}}}", pa.float64())
        for places in range(1, 7)
    },
    "date": Kind(DAY, pa.date32()),
    "time": Kind(f"{DAY}({CLOCK})?", pa.timestamp("us")),
    "time with zone": Kind(DAY + CLOCK + ZONE, pa.timestamp("us", "UTC")),
    "31.12.2024": Kind(r"[0-3]?[0-9]\.[01]?[0-9]\.[12][0-9]{3}", pa.date32(), r"\3-\2-\1"),
    "2024/12/31": Kind("[12][0-9]{3}/[01]?[0-9]/[0-3]?[0-9]", pa.date32(), r"\1-\2-\3"),
    "31/12/2024": Kind("[0-3]?[0-9]/[01]?[0-9]/[12][0-9]{3}", pa.date32(), r"\3-\2-\1"),
    "12/31/2024": Kind("[01]?[0-9]/[0-3]?[0-9]/[12][0-9]{3}", pa.date32(), r"\3-\1-\2"),
}
EITHER = {"31/12/2024", "12/31/2024"}


class Seen:
    """The types that fit all values of a column so far."""

    def __init__(self) -> None:
        self.kinds = list(KINDS)
        self.empty = True

    def look_at(self, column: Any) -> None:
        """Add more values."""
        texts = without_missing(column)
        if texts.null_count == len(texts):
            return
        self.empty = False
        self.kinds = [name for name in self.kinds if KINDS[name].values(texts) is not None]

    @property
    def kind(self) -> Kind | None:
        """The type of the column; None for text."""
        if self.empty or not self.kinds or {*self.kinds} >= EITHER:
            return None
        return KINDS[self.kinds[0]]


def without_missing(column: Any) -> Any:
    """Texts without surrounding space, with nulls for missing values."""
    import pyarrow.compute as pc

    texts = pc.utf8_trim_whitespace(column)
    nothing = pc.is_in(texts, pa.array(MISSING, texts.type))
    return pc.if_else(nothing, pa.scalar(None, texts.type), texts)
