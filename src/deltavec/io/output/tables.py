"""Rows written to a csv, tsv, jsonl or parquet file as they come; it is there when all are."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeAlias

import pyarrow as pa

from deltavec.errors import InputError
from deltavec.io.artifacts.atomic import replacing

Write: TypeAlias = Callable[[pa.Table], object]


@contextmanager
def writing_table(path: Path, schema: pa.Schema) -> Iterator[Write]:
    """What writes rows of this schema behind those before; the file is there when all are.

    What csv cannot hold, lists for example, is written as JSON there.
    """
    writer = WRITERS[path.suffix.lower()]
    with replacing(path) as temporary, writer(temporary, schema) as write:
        yield write


def require_table_name(path: Path, name: str = "output") -> None:
    """Refuse a file whose ending says none of the formats there are."""
    if path.suffix.lower() not in WRITERS:
        *most, last = WRITERS
        raise InputError(f"{name} must end in {', '.join(most)} or {last}, got {str(path)!r}")


@contextmanager
def parquet_writer(path: Path, schema: pa.Schema) -> Iterator[Write]:
    """Writes a parquet file."""
    from pyarrow import parquet

    with parquet.ParquetWriter(path, schema) as writer:
        yield writer.write_table


@contextmanager
def csv_writer(path: Path, schema: pa.Schema, delimiter: str = ",") -> Iterator[Write]:
    """Writes a csv file."""
    from pyarrow import csv

    flat = pa.schema([(field.name, flat_type(field.type)) for field in schema])
    options = csv.WriteOptions(delimiter=delimiter)
    with csv.CSVWriter(path, flat, write_options=options) as writer:
        yield lambda table: writer.write_table(flattened(table, flat))


@contextmanager
def tsv_writer(path: Path, schema: pa.Schema) -> Iterator[Write]:
    """Writes a tsv file."""
    with csv_writer(path, schema, "\t") as write:
        yield write


@contextmanager
def jsonl_writer(path: Path, schema: pa.Schema) -> Iterator[Write]:
    """Writes a file of JSON objects, one a line."""
    with path.open("w", encoding="utf-8", newline="\n") as file:

        def write(table: pa.Table) -> None:
            for row in table.to_pylist():
                file.write(json_text(row) + "\n")

        yield write


WRITERS = {
    ".csv": csv_writer,
    ".tsv": tsv_writer,
    ".jsonl": jsonl_writer,
    ".parquet": parquet_writer,
}


def flat_type(kind: pa.DataType) -> pa.DataType:
    """The type of a column in a csv file: its own, or text."""
    return pa.string() if pa.types.is_nested(kind) else kind


def flattened(table: pa.Table, flat: pa.Schema) -> pa.Table:
    """The table with what csv cannot hold as JSON."""
    columns = [
        pa.array([None if value is None else json_text(value) for value in column.to_pylist()])
        if pa.types.is_nested(column.type)
        else column
        for column in table.columns
    ]
    return pa.table(columns, schema=flat)


def json_text(value: object) -> str:
    """A value as JSON; dates and the like as they are written in ISO form."""
    return json.dumps(value, ensure_ascii=False, default=str)
