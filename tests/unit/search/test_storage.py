"""An index on disk: saved whole, loaded as it was, and refused when a byte has changed."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import deltavec as dv
from deltavec.io.artifacts.manifest import with_checksum
from deltavec.search.storage import require_ascending
from support.search_folders import entries_of, with_file
from support.search_strategies import unit_rows

ROWS = unit_rows(np.random.default_rng(0).standard_normal((50, 4)))
NAMES = [f"document {number} ö" for number in range(50)]


@pytest.fixture
def folder(tmp_path):
    dv.Index(ROWS, NAMES).save(tmp_path / "x.idx")
    return tmp_path / "x.idx"


def arrow_file(**columns):
    batch = pa.RecordBatch.from_pydict(columns)
    sink = pa.BufferOutputStream()
    with pa.ipc.new_file(sink, batch.schema) as writer:
        writer.write_batch(batch)
    return sink.getvalue().to_pybytes()


def test_a_folder_holds_ordinary_files(folder):
    assert {path.name for path in folder.iterdir()} == {"index.json", "vectors.npy", "ids.arrow"}
    assert np.load(folder / "vectors.npy").tobytes() == ROWS.tobytes()
    assert entries_of(folder)["format"] == "deltavec index"


def test_row_numbers_need_no_file(tmp_path):
    index = dv.Index(ROWS)
    index.save(tmp_path / "x.idx")
    assert not (tmp_path / "x.idx" / "ids.arrow").exists()
    index.remove([49])
    index.save(tmp_path / "x.idx")
    again = dv.load_index(tmp_path / "x.idx")
    again.add(ROWS[:1])
    assert again.ids.tolist() == [*range(49), 50]


@pytest.mark.parametrize("mmap", [True, False])
@pytest.mark.parametrize("verify", [True, False])
def test_what_is_loaded_finds_the_same(folder, mmap, verify):
    again = dv.load_index(folder, mmap=mmap, verify=verify)
    expected = dv.Index(ROWS, NAMES).search(ROWS)
    assert again.search(ROWS).ids.tolist() == expected.ids.tolist()
    assert again.search(ROWS).scores.tobytes() == expected.scores.tobytes()
    assert again.ids.tolist() == NAMES


def test_an_index_can_be_saved_over_the_one_it_is_mapped_from(folder):
    index = dv.load_index(folder)
    index.remove(NAMES[:20])
    index.add(ROWS[:2], ["x", "y"])
    index.save(folder)
    again = dv.load_index(folder)
    assert again.ids.tolist() == [*NAMES[20:], "x", "y"]
    assert again.vectors.tobytes() == index.vectors.tobytes()
    assert [path.name for path in folder.parent.iterdir()] == ["x.idx"]


@pytest.mark.parametrize("ids", [None, [], np.array([], dtype=str)])
def test_an_empty_index_can_be_saved(tmp_path, ids):
    dv.Index(np.empty((0, 3)), ids).save(tmp_path / "x.idx")
    again = dv.load_index(tmp_path / "x.idx")
    assert len(again) == 0
    assert again.dimensions == 3
    again.add(np.eye(3), None if ids is None else list("abc"))
    assert len(again) == 3


@pytest.mark.parametrize("name", ["index.json", "vectors.npy", "ids.arrow"])
def test_any_changed_byte_is_noticed(folder, name):
    path = folder / name
    whole = path.read_bytes()
    for place in {*range(0, len(whole), max(1, len(whole) // 40)), len(whole) - 1}:
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        with pytest.raises(dv.InputError, match=name):
            dv.load_index(folder)
    for length in (0, 1, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:length])
        with pytest.raises(dv.InputError, match=name):
            dv.load_index(folder)
    path.write_bytes(whole + b"x")
    with pytest.raises(dv.InputError, match=name):
        dv.load_index(folder)
    path.unlink()
    with pytest.raises(dv.InputError, match=f"{name}: the file is missing"):
        dv.load_index(folder)


def test_a_file_that_was_cut_is_noticed_without_reading_it(folder):
    path = folder / "vectors.npy"
    path.write_bytes(path.read_bytes()[:-4])
    with pytest.raises(dv.InputError, match=r"expected 928 bytes, found 924: the file was cut"):
        dv.load_index(folder, verify=False)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"format": "deltavec model"}, "expected the format 'deltavec index'"),
        ({"format_version": 0}, "expected version 1 of the format, got 0"),
        ({"format_version": "1"}, "version 1 of the format"),
        ({"format_version": 2}, "written by a newer deltavec"),
        ({"rows": -1}, "rows must be from 0"),
        ({"rows": 49}, "expected 912 bytes"),
        ({"rows": 2**52}, "expected .* bytes"),
        ({"dimensions": 0}, "dimensions must be from 1"),
        ({"dimensions": 4.0}, "dimensions must be a whole number"),
        ({"length_error": 1.0}, "length_error must be"),
        ({"id_kind": "names"}, "id_kind must be"),
        ({"id_kind": "numbers"}, "50 ids that are numbers"),
        ({"ids_given": False}, "strings must be given"),
        ({"files": {}}, "files must be those of an index"),
        ({"files": {"../x": {"bytes": 1, "sha256": ""}}}, "files must be those of an index"),
        ({"files": {"vectors.npy": 3}}, "'bytes' is missing"),
        ({"surprise": 1}, "'surprise' is unknown"),
    ],
)
def test_descriptions_that_make_no_sense_are_refused(folder, changes, message):
    (folder / "index.json").write_bytes(with_checksum({**entries_of(folder), **changes}))
    with pytest.raises(dv.InputError, match=message):
        dv.load_index(folder)


@pytest.mark.parametrize("ids", [[5, 4], [0, 1]])
def test_row_numbers_that_were_not_given_out_in_order_are_refused(tmp_path, ids):
    dv.Index(np.eye(2), ids).save(tmp_path / "x.idx")
    entries = {**entries_of(tmp_path / "x.idx"), "ids_given": False, "following": 1}
    (tmp_path / "x.idx" / "index.json").write_bytes(with_checksum(entries))
    with pytest.raises(dv.InputError, match="numbers must ascend from 0, and stay below 1"):
        dv.load_index(tmp_path / "x.idx")


def test_what_is_no_description_is_refused(folder):
    for content in (b"", b"{}", b"[1]", b"\xff" * 100, b" " * (2 << 20)):
        (folder / "index.json").write_bytes(content)
        with pytest.raises(dv.InputError, match="damaged, or not a deltavec index"):
            dv.load_index(folder)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"no arrow", "expected Arrow's file format"),
        (arrow_file(id=pa.array(NAMES[:49], pa.large_string())), "expected 50 ids"),
        (arrow_file(id=pa.array([None, *NAMES[1:]], pa.large_string())), "an id is missing"),
        (arrow_file(id=pa.array([*NAMES[1:], NAMES[1]], pa.large_string())), "ids must be unique"),
        (arrow_file(name=pa.array(NAMES, pa.large_string())), "expected 50 ids"),
        (
            arrow_file(odd=pa.array(NAMES, pa.large_string())).replace(b"odd", b"o\xffd"),
            "expected ",
        ),
    ],
)
def test_ids_are_looked_at_even_if_the_checksum_is_right(folder, content, message):
    with_file(folder, "ids.arrow", content)
    with pytest.raises(dv.InputError, match=message):
        dv.load_index(folder)


def test_rows_are_looked_at_even_if_the_checksum_is_right(folder):
    whole = (folder / "vectors.npy").read_bytes()
    with_file(folder, "vectors.npy", whole[:-4] + np.float32(np.nan).tobytes())
    with pytest.raises(
        dv.InputError, match="vectors must be finite, got NaN or infinity in row 49"
    ):
        dv.load_index(folder)
    with_file(folder, "vectors.npy", whole.replace(b"(50, 4)", b"(4, 50)"))
    with pytest.raises(dv.InputError, match="the header is not the one of this index"):
        dv.load_index(folder)


@pytest.mark.parametrize("number", [np.nan, np.inf, -np.inf])
def test_rows_that_are_no_numbers_are_an_error_of_the_search_if_nobody_looked_before(
    folder, number
):
    whole = (folder / "vectors.npy").read_bytes()
    rows = np.full_like(ROWS, number)
    rows[:3] = ROWS[:3]
    (folder / "vectors.npy").write_bytes(whole[: -rows.nbytes] + rows.tobytes())
    index = dv.load_index(folder, verify=False)
    with np.errstate(invalid="ignore"):
        assert len(index.search(ROWS[:1], k=3).ids[0]) == 3
        with pytest.raises(dv.InputError, match="NaN or infinity among the vectors"):
            index.search(ROWS[:1], k=5)


@pytest.mark.parametrize("first", [-1, -(2**63), 2**62])
def test_numbers_that_wrap_around_are_refused(first):
    for numbers in ([first, 0, 1], [0, first, 1], [0, 1, first]):
        with pytest.raises(dv.InputError, match="numbers must ascend from 0, and stay below 50"):
            require_ascending(np.array(numbers), 50)
    require_ascending(np.array([], np.int64), 0)
    require_ascending(np.array([0, 49]), 50)


def test_files_of_another_index_are_refused(folder, tmp_path):
    dv.Index(-ROWS, NAMES).save(tmp_path / "other")
    (tmp_path / "other" / "vectors.npy").replace(folder / "vectors.npy")
    with pytest.raises(dv.InputError, match="checksum"):
        dv.load_index(folder)


def test_what_is_no_index_is_not_loaded(tmp_path):
    with pytest.raises(dv.InputError, match="found nothing there"):
        dv.load_index(tmp_path / "missing")
    (tmp_path / "file").write_text("x")
    with pytest.raises(dv.InputError, match="found a file"):
        dv.load_index(tmp_path / "file")
    with pytest.raises(dv.InputError, match="file is missing"):
        dv.load_index(tmp_path)
    with pytest.raises(dv.InputError, match="threads must be"):
        dv.load_index(tmp_path, threads=0)


def test_what_is_no_index_is_not_overwritten(tmp_path, folder):
    index = dv.Index(ROWS)
    (tmp_path / "file").write_text("x")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "letter.txt").write_text("x")
    (tmp_path / "half").mkdir()
    (tmp_path / "half" / "index.json").write_text("{}")
    for name, message in (
        ("file", "found a file"),
        ("folder", "holds 'letter.txt'"),
        ("half", "not a deltavec index"),
        ("file/below", "not a directory|found|file exists"),
    ):
        with pytest.raises(dv.InputError, match=message):
            index.save(tmp_path / name)
    assert (tmp_path / "folder" / "letter.txt").read_text() == "x"
    (tmp_path / "empty").mkdir()
    index.save(tmp_path / "empty")
    index.save(str(tmp_path / "new" / "folders" / "x.idx"))
    assert len(dv.load_index(tmp_path / "new" / "folders" / "x.idx")) == 50
