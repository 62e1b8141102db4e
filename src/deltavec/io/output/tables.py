"""Tables written to csv, tsv, jsonl and parquet files, batch by batch."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

import pyarrow as pa

from deltavec.errors import InputError
from deltavec.io.artifacts.atomic import replacing


def json_value(value: Any, *, longest: int | None = None, largest: int | None = None) -> Any:
    """The value as a string, a number, a truth value or null; lists and objects of them too.

    Parameters
    ----------
    value
        What a column holds. A number that is not finite becomes null, a date or time text in ISO
        form, bytes hexadecimal digits, and what JSON has no kind for text as Python writes it.
    longest
        Characters up to which a text is kept whole.
    largest
        Whole numbers from this size on become text, for readers that would round them.

    Examples
    --------
    >>> json_value({"stars": float("nan"), "note": "a quiet room"}, longest=8)
    {'stars': None, 'note': 'a quiet…'}
    """
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        return value if largest is None or abs(value) < largest else str(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        values = json_value([*value.values()], longest=longest, largest=largest)
        return dict(zip(map(str, value), values, strict=True))
    if isinstance(value, list | tuple):
        return [json_value(inner, longest=longest, largest=largest) for inner in value]
    text = text_of(value)
    return text if longest is None or len(text) <= longest else text[: longest - 1] + "…"


def rows_of(table: pa.Table) -> list[dict[str, Any]]:
    """The rows of a table as dicts of Python values."""
    columns = dict(zip(table.column_names, table.columns, strict=True))
    return [
        {name: value_of(column, row) for name, column in columns.items()}
        for row in range(len(table))
    ]


def value_of(column: pa.Array | pa.ChunkedArray, row: int) -> Any:
    """A value as Python has it; one that Python does not have, such as a late date, as text."""
    try:
        return column[row].as_py()
    except (OverflowError, ValueError):
        return " ".join(column.slice(row, 1).to_string().strip("[] \n").split())


def text_of(value: Any) -> str:
    """Text as it is, bytes as digits, a date or time in ISO form, else what Python writes."""
    if isinstance(value, str):
        return value
    if isinstance(value, bytes):
        return value.hex()
    return str(value.isoformat()) if hasattr(value, "isoformat") else str(value)


Write: TypeAlias = Callable[[pa.Table], object]


@contextmanager
def writing_table(path: Path, schema: pa.Schema) -> Iterator[Write]:
    """A function that appends rows of this schema; the file appears when all rows are written.

    Text formats have dates and times in ISO form and bytes as hexadecimal digits. CSV has lists and
    objects as JSON.

    Raises
    ------
    InputError
        If the format cannot hold a value, such as a date beyond the year 32,767.
    """
    writer = WRITERS[path.suffix.lower()]
    try:
        with replacing(path) as temporary, writer(temporary, schema) as write:
            yield write
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise InputError(f"{path}: {path.suffix} cannot hold these columns: {error}") from error


def require_table_name(path: Path, name: str = "output") -> None:
    """Refuse a file with another suffix."""
    if path.suffix.lower() not in WRITERS:
        *most, last = WRITERS
        raise InputError(f"{name} must end in {', '.join(most)} or {last}, got {str(path)!r}")


@contextmanager
def parquet_writer(path: Path, schema: pa.Schema) -> Iterator[Write]:
    """Write a Parquet file."""
    from pyarrow import parquet

    with parquet.ParquetWriter(path, schema) as writer:
        yield writer.write_table


@contextmanager
def csv_writer(path: Path, schema: pa.Schema, delimiter: str = ",") -> Iterator[Write]:
    """Write a CSV file."""
    from pyarrow import csv

    flat = pa.schema([(field.name, flat_type(field.type)) for field in schema])
    options = csv.WriteOptions(delimiter=delimiter)
    with csv.CSVWriter(path, flat, write_options=options) as writer:

        def write(table: pa.Table) -> None:
            columns = table.columns
            for place, column in enumerate(columns):
                if flat_type(column.type) != column.type:
                    texts = (
                        one if one is None or isinstance(one, str) else json_text(one)
                        for one in text_values(column)
                    )
                    columns[place] = pa.array(texts, pa.string())
            writer.write_table(pa.table(columns, schema=flat))

        yield write


@contextmanager
def jsonl_writer(path: Path, schema: pa.Schema) -> Iterator[Write]:
    """Write JSON lines."""
    with path.open("w", encoding="utf-8", newline="\n") as file:

        def write(table: pa.Table) -> None:
            for row in zip(*map(text_values, table.columns), strict=True):
                file.write(json_text(dict(zip(schema.names, row, strict=True))) + "\n")

        yield write


WRITERS: dict[str, Callable[[Path, pa.Schema], AbstractContextManager[Write]]] = {
    ".csv": csv_writer,
    ".tsv": partial(csv_writer, delimiter="\t"),
    ".jsonl": jsonl_writer,
    ".parquet": parquet_writer,
}


def flat_type(kind: pa.DataType) -> pa.DataType:
    """The type of a column in a CSV file: its own, or text that is made here."""
    return (
        pa.string() if pa.types.is_nested(kind) or "binary" in str(kind) or is_time(kind) else kind
    )


def is_time(kind: pa.DataType) -> bool:
    """Whether a column holds dates or times."""
    return bool(pa.types.is_date(kind) or pa.types.is_time(kind) or pa.types.is_timestamp(kind))


def text_values(column: pa.ChunkedArray) -> list[Any]:
    """The values of a column as JSON has them."""
    if not is_time(column.type):
        return [json_value(value_of(column, row)) for row in range(len(column))]
    texts: list[Any] = column.cast(pa.string()).to_pylist()
    odd = next((text for text in texts if text and text.startswith("<")), None)
    if odd is not None:
        raise pa.ArrowInvalid(f"a date has no ISO form, {odd.strip('<>')}")
    return texts


def json_text(value: object) -> str:
    """A value as JSON."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False)
