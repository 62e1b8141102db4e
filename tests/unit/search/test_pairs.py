"""Similar pairs and neighbors: pairs, groups, files and what is refused."""

from __future__ import annotations

import sys

import numpy as np
import pyarrow.parquet as pq
import pytest

import deltavec as dv
from deltavec.search.matrix import ChunkedMatrix
from deltavec.search.pairs import Strips, row_pairs
from support import search_reference
from support.search_strategies import unit_rows

ROWS = unit_rows(
    np.array([[1.0, 0], [0, 1], [1, 0.1], [0, 0], [0.1, 1], [1, 0.2], [0, 0], [-1, 0]])
)


def drawn(count, dimensions=8, seed=0):
    return unit_rows(np.random.default_rng(seed).standard_normal((count, dimensions)))


def test_pairs_come_in_order():
    found = dv.similar_pairs(ROWS, 0.98)
    assert found.a.tolist() == [0, 0, 1, 2]
    assert found.b.tolist() == [2, 5, 4, 5]


def test_equal_rows_have_the_cosine_one():
    rows = np.repeat(drawn(50, 100), 2, axis=0)
    found = dv.similar_pairs(rows, 1)
    assert found.a.tolist() == list(range(0, 100, 2))
    assert set(found.score.tolist()) == {1.0}


def test_rows_of_zeros_are_similar_to_nothing():
    assert len(dv.similar_pairs(np.zeros((5, 3)), 1e-60).a) == 0
    found = dv.similar_pairs(ROWS, 1e-60)
    assert not {3, 6} & {*found.a.tolist(), *found.b.tolist()}


def test_no_rows_have_no_pairs():
    for rows in (np.empty((0, 2)), np.eye(2), np.eye(2)[:1]):
        assert dv.similar_pairs(rows, 0.5).a.shape == (0,)


@pytest.mark.parametrize("ids", [list("abcdefgh"), [7, 6, 5, 4, 3, 2, 1, 0]])
def test_ids_stand_for_rows(ids):
    found = dv.similar_pairs(ROWS, 0.98, ids=ids)
    assert found.a.tolist() == [ids[0], ids[0], ids[1], ids[2]]


def test_a_file_holds_the_same_pairs(tmp_path):
    rows = drawn(2000, 3)
    found = dv.similar_pairs(rows, 0.9)
    written = dv.write_similar_pairs(tmp_path / "x.parquet", rows, 0.9)
    table = pq.read_table(tmp_path / "x.parquet")
    assert table.column_names == ["a", "b", "score"]
    assert table["a"].to_pylist() == found.a.tolist()
    assert table["score"].to_numpy().tobytes() == found.score.tobytes()
    assert written == len(found.a) > 50_000
    assert [path.name for path in tmp_path.iterdir()] == ["x.parquet"]


def test_a_file_without_pairs_has_its_columns(tmp_path):
    assert dv.write_similar_pairs(tmp_path / "x.parquet", np.eye(3)) == 0
    assert pq.read_table(tmp_path / "x.parquet").column_names == ["a", "b", "score"]


@pytest.mark.parametrize("strips", [Strips(64, 100, 1), Strips(5, 7, 500), Strips(300, 300, 10**6)])
@pytest.mark.parametrize("threads", [1, 2])
def test_very_many_pairs_come_in_small_portions(strips, threads):
    rows = np.repeat(drawn(3, 4), 70, axis=0)
    expected = search_reference.pairs(rows, 0.99)
    parts = list(row_pairs(ChunkedMatrix.of(rows, "U"), 0.99, threads=threads, strips=strips))
    columns = (np.concatenate(column).tolist() for column in zip(*parts, strict=True))
    pairs = list(zip(*columns, strict=True))
    assert len(pairs) == 3 * 70 * 69 // 2
    assert pairs == expected


def test_too_many_pairs_for_memory_are_an_error_that_says_what_to_do(tmp_path, monkeypatch):
    monkeypatch.setattr(sys.modules["deltavec.search.pairs"], "MOST_PAIRS", 4000)
    rows = np.repeat(drawn(1), 100, axis=0)
    with pytest.raises(dv.InputError, match=r"more than 4,000 pairs .* write_similar_pairs"):
        dv.similar_pairs(rows, 0.9)
    assert dv.write_similar_pairs(tmp_path / "x.parquet", rows, 0.9) == 4950


def test_progress_is_told_up_to_the_end():
    for call in (dv.similar_pairs, dv.neighbors):
        told = []
        call(drawn(2000), on_progress=told.append)
        assert told == sorted(told)
        assert len(told) > 1
        assert told[-1] == 1


def test_what_goes_wrong_leaves_no_file(tmp_path):
    def fail(_):
        raise RuntimeError("stop")

    (tmp_path / "x.parquet").write_bytes(b"old")
    with pytest.raises(RuntimeError, match="stop"):
        dv.write_similar_pairs(tmp_path / "x.parquet", drawn(2000), 0.1, on_progress=fail)
    assert [path.read_bytes() for path in tmp_path.iterdir()] == [b"old"]


@pytest.mark.parametrize(
    "threshold", [0, -0.5, 1.0001, float("nan"), float("inf"), "0.9", None, True]
)
def test_thresholds_that_are_no_cosines_are_refused(threshold):
    with pytest.raises(dv.InputError, match="threshold must be a cosine above 0, up to 1, got"):
        dv.similar_pairs(ROWS, threshold)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"U": [[2.0, 0.0]]}, "unit length"),
        ({"U": [[np.nan, 0.0]]}, "finite"),
        ({"U": [1.0]}, "shape"),
        ({"ids": [1]}, "an id for each of 8 rows, got 1"),
        ({"threads": 0}, "threads must be"),
    ],
)
def test_what_makes_no_sense_is_refused(arguments, message):
    with pytest.raises(dv.InputError, match=message):
        dv.similar_pairs(**{"U": ROWS, **arguments})


@pytest.mark.parametrize(
    ("output", "message"),
    [
        ("pairs.csv", "output must end in .parquet, got 'pairs.csv'"),
        ("missing/pairs.parquet", "missing is not there; make the folder first"),
        ("folder.parquet", "is a folder"),
    ],
)
def test_a_file_that_cannot_be_written_is_refused(output, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder.parquet").mkdir()
    with pytest.raises(dv.InputError, match=message):
        dv.write_similar_pairs(output, ROWS)


def test_neighbors_leave_the_row_itself_out():
    found = dv.neighbors(ROWS, k=2)
    assert found.ids[:3].tolist() == [[2, 5], [4, 5], [5, 0]]
    assert found.ids.shape == (8, 2)
    assert dv.neighbors(ROWS, k=100).ids.shape == (8, 7)
    assert dv.neighbors(np.eye(2)[:1]).ids.shape == (1, 0)
    assert dv.neighbors(np.empty((0, 2))).ids.shape == (0, 0)


def test_equal_rows_are_each_others_neighbors():
    found = dv.neighbors(np.repeat(np.eye(2), 4, axis=0), k=2, ids=list("hgfedcba"))
    assert found.ids.tolist() == [["e", "f"]] * 2 + [["e", "g"], ["f", "g"]] + [["a", "b"]] * 2 + [
        ["a", "c"],
        ["b", "c"],
    ]


@pytest.mark.parametrize("k", [0, -1, 1.5, True])
def test_a_number_of_neighbors_that_is_none_is_refused(k):
    with pytest.raises(dv.InputError, match="k must be a whole number from 1 on"):
        dv.neighbors(ROWS, k)
