"""Parquet files that are not what they should be: read, or refused by an error of ours."""

from __future__ import annotations

import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from deltavec.errors import CorpusError
from deltavec.io.corpus.corpus import read_corpus
from deltavec.io.corpus.parquet import row_groups

FOUND = Path(__file__).parents[3] / "campaigns" / "found"


def test_a_footer_that_ends_the_process_elsewhere_is_read_or_refused() -> None:
    # In a process of its own: asking pyarrow for the description of a column chunk ends it.
    program = (
        "import sys\n"
        "from deltavec.errors import CorpusError\n"
        "from deltavec.io.corpus.corpus import read_corpus\n"
        "try:\n"
        "    list(read_corpus(sys.argv[1], column='text'))\n"
        "except CorpusError as error:\n"
        "    print(error)\n"
    )
    ran = subprocess.run([sys.executable, "-c", program, str(FOUND / "levels.parquet")])
    assert ran.returncode == 0


def broken(count: int) -> pa.Array:
    ends = np.arange(0, 2 * count + 1, 2, dtype=np.int32)
    buffers = [None, pa.py_buffer(ends.tobytes()), pa.py_buffer(b"\xc3\x28" * count)]
    return pa.Array.from_buffers(pa.string(), count, buffers)


def test_text_that_is_not_utf8_is_repaired_in_every_column(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"text": broken(2), "note": broken(2)}), path)
    (batch,) = read_corpus(path, column="text").batches(["note"])
    assert batch.to_pydict() == {"text": ["\ufffd("] * 2, "note": ["\ufffd("] * 2}


def test_codes_of_text_that_is_not_utf8_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    codes = pa.DictionaryArray.from_arrays(pa.array([0, 0], pa.int32()), broken(1))
    pq.write_table(pa.table({"text": ["a", "b"], "note": codes}), path)
    with pytest.raises(CorpusError, match="damaged after row 0"):
        list(read_corpus(path, column="text").pieces(["note"]))


def test_the_name_of_a_column_that_is_not_utf8_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"text": ["a"], "notenote": ["b"]}), path)
    path.write_bytes(path.read_bytes().replace(b"notenote", b"not\xff\xfeote"))
    with pytest.raises(CorpusError, match="write it again"):
        list(read_corpus(path, column="text"))


def test_a_footer_says_what_pyarrow_says(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    table = pa.table({"text": ["a", "bb"] * 50, "list": [[1], None] * 50, "n": range(100)})
    pq.write_table(table, path, row_group_size=30, compression="zstd", write_page_index=True)
    about = pq.ParquetFile(path).metadata
    found = row_groups(path)
    assert len(found) == about.num_row_groups == 4
    for group, chunks in zip(map(about.row_group, range(4)), found, strict=True):
        for chunk, ours in zip(map(group.column, range(group.num_columns)), chunks, strict=True):
            begin = min(chunk.data_page_offset, chunk.dictionary_page_offset or 1 << 60)
            name = chunk.path_in_schema.split(".")[0]
            assert ours == (name, chunk.total_uncompressed_size, group.num_rows, begin)


def test_a_footer_with_any_byte_changed_is_read_or_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"text": ["a"], "n": [1]}), path)
    whole = path.read_bytes()
    length = int.from_bytes(whole[-8:-4], "little")
    for place in range(len(whole) - 8 - length, len(whole) - 4):
        for byte in (0x00, 0x1C, 0x7F, 0xFF):
            path.write_bytes(whole[:place] + bytes([byte]) + whole[place + 1 :])
            with suppress(CorpusError):
                row_groups(path)
