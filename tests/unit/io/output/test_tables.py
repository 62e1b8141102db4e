"""Rows written to a file as they come."""

from __future__ import annotations

import csv
import json
from datetime import date
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet

import deltavec as dv
from deltavec.io.output.tables import WRITERS, require_table_name, writing_table

TABLE = pa.table(
    {
        "id": ['a/b "c"', "é,\n2"],
        "tags": [["x", 'y"'], None],
        "day": [date(2024, 5, 31), None],
        "score": pa.array([0.5, 1.0], pa.float32()),
    }
)


@pytest.mark.parametrize("suffix", WRITERS)
def test_rows_come_back_from_every_format(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"rows{suffix}"
    with writing_table(path, TABLE.schema) as write:
        write(TABLE.slice(0, 1))
        write(TABLE.slice(1))
        assert not path.exists()
    if suffix == ".parquet":
        assert parquet.read_table(path) == TABLE
        return
    if suffix == ".jsonl":
        rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
        assert rows[0]["tags"] == ["x", 'y"']
    else:
        with path.open(newline="", encoding="utf-8") as file:
            rows = [*csv.DictReader(file, delimiter="\t" if suffix == ".tsv" else ",")]
        assert json.loads(rows[0]["tags"]) == ["x", 'y"']
    assert [row["id"] for row in rows] == ['a/b "c"', "é,\n2"]
    assert str(rows[0]["day"]) == "2024-05-31"
    assert [float(row["score"]) for row in rows] == [0.5, 1.0]


@pytest.mark.parametrize("suffix", WRITERS)
def test_whoever_is_stopped_leaves_what_was_there(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"rows{suffix}"
    path.write_text("before")

    def stopped() -> None:
        with writing_table(path, TABLE.schema) as write:
            write(TABLE)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        stopped()
    assert path.read_text() == "before"
    assert [*tmp_path.iterdir()] == [path]


def test_an_unknown_ending_is_refused() -> None:
    with pytest.raises(dv.InputError, match=r"output must end in .csv, .tsv, .jsonl or .parquet"):
        require_table_name(Path("rows.xlsx"))
    require_table_name(Path("ROWS.CSV"))
