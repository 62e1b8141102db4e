"""Files of documents in Arrow's format: what is read is what was written, or an error."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest

from deltavec.collection.manifest import StoredFile
from deltavec.collection.segment import TEXT, Documents, Segment
from deltavec.collection.segment_writer import SegmentWriter, plain_type
from deltavec.errors import InputError

TABLE = pa.table(
    {
        "id": ["a", "b", "c", "d"],
        "text": ["sea room", "", "quiet", "été à la mer"],
        "stars": [1, None, 3, 4],
        "tags": [["x"], [], None, ["y", "z"]],
    }
)


def write(path: Path, table: pa.Table = TABLE) -> StoredFile:
    with SegmentWriter(path, table.schema) as writer:
        first, second = table.slice(1, 2).to_batches(), table.slice(3).to_batches()
        writer.write(table.slice(0, 1).to_batches())
        writer.write(first)
        writer.write(second)
        stored = writer.finish()
    assert stored.documents == len(table)
    return stored


def opened(folder: Path, stored: Sequence[StoredFile], columns: Sequence[str]) -> Documents:
    return Documents([Segment(folder, one, columns) for one in stored])


def written(path: Path, table: pa.Table = TABLE) -> Documents:
    return opened(path.parent, [write(path, table)], table.column_names[2:])


def test_documents_come_back_as_they_were(tmp_path: Path) -> None:
    store = written(tmp_path / "documents-000001.arrow")
    assert store.columns(TABLE.column_names).to_pydict() == TABLE.to_pydict()
    assert store.columns(["stars"]).to_pydict() == {"stars": [1, None, 3, 4]}
    texts = [text for batch in store.batches() for text in batch.column(TEXT).to_pylist()]
    assert texts == TABLE["text"].to_pylist()


def test_the_file_is_one_that_arrow_reads(tmp_path: Path) -> None:
    written(tmp_path / "documents-000001.arrow")
    read = pa.ipc.open_file(tmp_path / "documents-000001.arrow").read_all()
    assert read.to_pydict() == TABLE.to_pydict()


def test_a_group_that_was_cut_out_of_a_larger_one_has_its_own_checksum(tmp_path: Path) -> None:
    many = pa.concat_tables([TABLE.slice(2, 1)] * 500).combine_chunks()
    store = written(tmp_path / "documents-000001.arrow", many)
    assert store.columns(["text"])["text"].to_pylist() == ["quiet"] * 500


def test_no_changed_byte_is_read_as_if_it_were_right(tmp_path: Path) -> None:
    """Whichever it is: an error, or the documents as they were (a byte that nobody reads)."""
    path = tmp_path / "documents-000001.arrow"
    stored = write(path)
    whole, noticed = path.read_bytes(), 0
    for place in range(len(whole)):
        for bit in (1, 128):
            path.write_bytes(whole[:place] + bytes([whole[place] ^ bit]) + whole[place + 1 :])
            try:
                store = opened(tmp_path, [stored], ["stars", "tags"])
                read = store.columns(TABLE.column_names)
            except InputError:
                noticed += 1
            else:
                assert read.to_pydict() == TABLE.to_pydict(), place
    assert noticed > 100


def test_other_columns_of_a_damaged_group_can_still_be_read(tmp_path: Path) -> None:
    path = tmp_path / "documents-000001.arrow"
    stored = write(path)
    path.write_bytes(path.read_bytes().replace(b"quiet", b"quite"))
    store = opened(tmp_path, [stored], ["stars", "tags"])
    assert store.columns(["id"])["id"].to_pylist() == ["a", "b", "c", "d"]
    with pytest.raises(InputError, match="does not have its checksum"):
        store.columns(["text"])


def test_dictionaries_are_undone_however_deep_they_are() -> None:
    words = pa.dictionary(pa.int8(), pa.string())
    kinds = {
        "plain": (words, pa.string()),
        "list": (pa.list_(words), pa.list_(pa.string())),
        "large": (pa.large_list(words), pa.large_list(pa.string())),
        "fixed": (pa.list_(words, 2), pa.list_(pa.string(), 2)),
        "struct": (pa.struct([("a", words)]), pa.struct([("a", pa.string())])),
        "map": (pa.map_(pa.string(), words), pa.map_(pa.string(), pa.string())),
        "number": (pa.int32(), pa.int32()),
    }
    for before, after in kinds.values():
        assert plain_type(before) == after


def test_a_file_has_as_many_groups_as_were_written(tmp_path: Path) -> None:
    store = written(tmp_path / "documents-000001.arrow")
    assert store.segments[0].sizes == [1, 2, 1]


@pytest.mark.parametrize("name", ["id", "text"])
@pytest.mark.parametrize(
    "values",
    [
        pa.array([1, 2, 3, 4]),
        pa.nulls(4),
        pa.array([{"a": 1}] * 4),
    ],
    ids=["numbers", "nothing", "structs"],
)
def test_ids_and_texts_that_are_no_text_are_refused(tmp_path: Path, name: str, values) -> None:
    place = TABLE.column_names.index(name)
    table = TABLE.set_column(place, name, values)
    with pytest.raises(InputError, match="other columns than described"):
        written(tmp_path / "documents-000001.arrow", table)


def test_a_document_without_an_id_is_refused(tmp_path: Path) -> None:
    table = TABLE.set_column(0, "id", pa.array(["a", None, "c", "d"]))
    store = written(tmp_path / "documents-000001.arrow", table)
    with pytest.raises(InputError, match="a document has no id"):
        store.columns(["id"])


def test_segments_of_other_types_are_refused(tmp_path: Path) -> None:
    other = TABLE.set_column(2, "stars", pa.array(["1", None, "3", "4"]))
    first = write(tmp_path / "documents-000001.arrow")
    second = write(tmp_path / "documents-000002.arrow", other)
    with pytest.raises(InputError, match="other types than the first segment"):
        opened(tmp_path, [first, second], ["stars", "tags"])


def test_fewer_documents_than_described_are_refused(tmp_path: Path) -> None:
    stored = replace(write(tmp_path / "documents-000001.arrow"), documents=5)
    with pytest.raises(InputError, match="other documents than described"):
        opened(tmp_path, [stored], ["stars", "tags"])
