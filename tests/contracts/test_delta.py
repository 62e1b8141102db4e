"""A Delta table, as its own library writes it, is refused: its folder also holds deleted rows."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

import deltavec as dv

deltalake = pytest.importorskip("deltalake")


def test_a_delta_table_is_refused_and_read_by_its_own_library(tmp_path: Path) -> None:
    folder = tmp_path / "table"
    for texts in (["sea", "room"], ["bed"]):
        deltalake.write_deltalake(str(folder), pa.table({"text": texts}), mode="overwrite")
    assert len([*folder.glob("*.parquet")]) == 2  # the rows that were replaced are still there
    with pytest.raises(dv.CorpusError, match="is a Delta table"):
        dv.read_corpus(folder)
    table = pa.table(deltalake.DeltaTable(str(folder)).to_pyarrow_table())
    assert next(iter(dv.read_corpus(table))).to_pylist() == ["bed"]
