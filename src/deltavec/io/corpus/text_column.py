"""Which column holds the documents, where nobody says so.

The one called ``text``; or the only one; or the one that holds prose where all the others hold
names, numbers and the like. What is not that plain is left to the user.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple
from unicodedata import east_asian_width

import pyarrow as pa

from deltavec.core.text.batches import is_text
from deltavec.errors import CorpusError
from deltavec.io.corpus.columns import shown_columns
from deltavec.io.corpus.formats import TEXT

PROSE = 20  # Latin letters of a value on average: more than a name or a date has
WIDE = 3  # Latin letters that a Chinese, Japanese or Korean character is worth
TIMES = 4  # how much longer than any other prose it must be: a text beside its title
ROWS = 1000  # to look at

FirstRows = Callable[[list[str]], "pa.RecordBatch | None"]


class Chosen(NamedTuple):
    """A column, and a sentence about the choice if it was a guess."""

    column: str
    note: str | None = None


def chosen_column(
    where: str, schema: pa.Schema, expected: str | None, first_rows: FirstRows
) -> Chosen:
    """The column that holds the documents of a table, as nobody has named it.

    Parameters
    ----------
    where
        What errors call the table.
    schema
        Its columns.
    expected
        The column of earlier documents, taken if it is there.
    first_rows
        Gives some columns of the first rows.

    Raises
    ------
    CorpusError
        If no column stands out.
    """
    for name in (expected, TEXT):
        if name is not None and name in schema.names:
            return Chosen(name)
    texts = [
        field.name
        for field in schema
        if is_text(_values(field.type)) and schema.names.count(field.name) == 1
    ]
    guess = texts if len(schema) == 1 else _standing_out(_prose(first_rows(texts), texts))
    if len(guess) != 1:
        several = f" ({', '.join(map(repr, guess))} do)" if guess else ""
        raise CorpusError(
            f"{where}: no column {TEXT!r}, and not one that alone holds long text{several}; its "
            f"columns are {shown_columns(schema.names)}: name the one with the documents, "
            "column= (--column)"
        )
    told = f"{where}: the text is taken from the column {guess[0]!r}; --column names another"
    return Chosen(guess[0], told)


def _standing_out(lengths: Mapping[str, float]) -> list[str]:
    """The column that is far longer than all others, if there is one; otherwise all of them."""
    names = sorted(lengths, key=lambda name: -lengths[name])
    if len(names) > 1 and lengths[names[0]] >= TIMES * lengths[names[1]]:
        return names[:1]
    return names


def _values(kind: pa.DataType) -> pa.DataType:
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def _prose(batch: pa.RecordBatch | None, names: Sequence[str]) -> dict[str, float]:
    """The columns that hold prose, with the mean length of their values."""
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
    """How long a text is, in Latin letters."""
    if value.isascii():
        return len(value)
    return sum(WIDE if east_asian_width(character) in "WF" else 1 for character in value)


def _is_prose(value: str) -> bool:
    """Whether a value may be a sentence: no address on the web, no JSON, no long number."""
    one_word = value.isascii() and len(value.split(maxsplit=1)) < 2
    return not one_word and not value.lstrip().startswith(("{", "["))
