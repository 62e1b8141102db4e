"""Which column holds the documents, if the caller does not say.

The one called ``text``; or the only one; or the one that holds prose if all others hold names,
numbers and the like. Anything less clear is an error.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from unicodedata import east_asian_width

import pyarrow as pa

from deltavec.core.text.batches import is_text
from deltavec.errors import CorpusError
from deltavec.io.corpus.columns import show_columns
from deltavec.io.corpus.files import TEXT, CorpusFile
from deltavec.io.corpus.readers import first_rows

PROSE = 20  # Latin letters of a value on average: more than a name or a date has
WIDE = 3  # Latin letters that a Chinese, Japanese or Korean character is worth
TIMES = 4  # how much longer than any other prose it must be: a text beside its title
ROWS = 1000  # to look at


def choose_column(file: CorpusFile, expected: str | None) -> tuple[str, str | None]:
    """The column that holds the documents of a file, and a note if it is a guess.

    Parameters
    ----------
    file
        The file; its schema is known.
    expected
        The column of earlier documents, taken if it is there.

    Raises
    ------
    CorpusError
        If no column stands out.
    """
    schema = file.schema
    for name in (expected, TEXT):
        if name is not None and name in schema.names:
            return name, None
    texts = [
        field.name
        for field in schema
        if is_text(field.type.value_type if pa.types.is_dictionary(field.type) else field.type)
        and schema.names.count(field.name) == 1
    ]
    guess = texts if len(schema) == 1 else _longest(_prose(file, texts))
    if len(guess) != 1:
        several = f" ({', '.join(map(repr, guess))} do)" if guess else ""
        raise CorpusError(
            f"{file.path}: no column {TEXT!r}, and not one that alone holds long text{several}; "
            f"its columns are {show_columns(schema.names)}: name the one with the documents, "
            "column= (--column)"
        )
    note = f"{file.path}: the text is taken from the column {guess[0]!r}; --column names another"
    return guess[0], note


def _longest(lengths: Mapping[str, float]) -> list[str]:
    """The column whose values are far longer than all others; otherwise all columns."""
    names = sorted(lengths, key=lambda name: -lengths[name])
    if len(names) > 1 and lengths[names[0]] >= TIMES * lengths[names[1]]:
        return names[:1]
    return names


def _prose(file: CorpusFile, names: Sequence[str]) -> dict[str, float]:
    """The columns that hold prose, with the mean length of their values."""
    batch = first_rows(file, names) if names else None
    if batch is None:
        return {}
    lengths: dict[str, float] = {}
    for name in names:
        values = [value or "" for value in batch.column(name).slice(0, ROWS).to_pylist()]
        mean = sum(map(_length, values)) / len(values)
        if mean >= PROSE and sum(map(_is_prose, values)) * 2 > sum(map(bool, values)):
            lengths[name] = mean
    return lengths


def _length(value: str) -> int:
    """The length of a text, in Latin letters."""
    if value.isascii():
        return len(value)
    return sum(WIDE if east_asian_width(character) in "WF" else 1 for character in value)


def _is_prose(value: str) -> bool:
    """Whether a value may be a sentence: no URL, no JSON, no long number."""
    one_word = value.isascii() and len(value.split(maxsplit=1)) < 2
    return not one_word and not value.lstrip().startswith(("{", "["))
