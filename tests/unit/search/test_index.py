"""The index: what it finds, what it keeps, and what it refuses."""

from __future__ import annotations

import threading

import numpy as np
import pyarrow as pa
import pytest

import deltavec as dv
from deltavec.core.arrays import read_only
from deltavec.core.jit import BUDGET
from deltavec.search.index import Hit
from deltavec.search.matrix import SHORT, ChunkedMatrix
from deltavec.search.topk import Sizes, nearest_rows
from support import search_reference
from support.search_strategies import unit_rows

ROWS = unit_rows(np.array([[1.0, 0], [3, 4], [0, 1], [0, 0], [-1, 0], [3, 4]]))


def drawn(count, dimensions=8, seed=0):
    return unit_rows(np.random.default_rng(seed).standard_normal((count, dimensions)))


def same(hits, others):
    return (
        hits.ids.tolist() == others.ids.tolist()
        and hits.scores.tobytes() == others.scores.tobytes()
    )


def test_the_best_rows_come_first_and_equal_ones_by_their_number():
    hits = dv.Index(ROWS).search(ROWS[1], k=4)
    assert hits.ids.tolist() == [[1, 5, 2, 0]]
    assert hits.scores[0].tolist() == pytest.approx([1, 1, 0.8, 0.6])
    assert hits.scores.dtype == np.float32


def test_equal_rows_come_in_the_order_of_their_ids():
    numbers = dv.Index(ROWS, [30, 20, 5, 4, 3, 10]).search(ROWS[1], k=2)
    assert numbers.ids.tolist() == [[10, 20]]
    strings = dv.Index(ROWS, ["a", "z", "c", "d", "e", "Z"]).search(ROWS[1], k=2)
    assert strings.ids.tolist() == [["Z", "z"]]


def test_a_row_of_zeros_has_the_score_zero_with_everything():
    index = dv.Index(ROWS)
    assert index.search(ROWS[3], k=6).ids.tolist() == [[0, 1, 2, 3, 4, 5]]
    assert not index.search(ROWS[3], k=6).scores.any()
    assert index.search(ROWS[0], k=6)[0][-2:] == [Hit(3, 0.0), Hit(4, -1.0)]


def test_fewer_rows_than_wanted_are_all_found():
    assert dv.Index(ROWS).search(ROWS[:2], k=100).ids.shape == (2, 6)


def test_an_empty_index_finds_nothing_until_rows_are_added():
    index = dv.Index(np.empty((0, 2)))
    assert index.search(ROWS[:3]).ids.shape == (3, 0)
    assert index.search(ROWS[:3])[0] == []
    index.add(ROWS)
    assert index.search(ROWS[0], 1).ids.tolist() == [[0]]


def test_no_queries_find_nothing():
    assert dv.Index(ROWS).search(np.empty((0, 2)), 3).scores.shape == (0, 3)


def test_a_filter_is_a_mask_or_ids():
    index = dv.Index(ROWS, list("abcdef"))
    assert index.search(ROWS[1], where=["f", "c", "f"]).ids.tolist() == [["f", "c"]]
    assert index.search(ROWS[1], where=index.ids >= "e").ids.tolist() == [["f", "e"]]
    assert index.search(ROWS[1], 2, where=[True] * 6).ids.tolist() == [["b", "f"]]
    for nothing in ([], np.zeros(6, bool), np.array([], dtype=str)):
        assert index.search(ROWS[1], where=nothing).ids.shape == (1, 0)


def test_numbers_of_removed_rows_are_not_used_again():
    index = dv.Index(ROWS)
    index.remove([5, 1])
    index.add(ROWS[:1])
    assert index.ids.tolist() == [0, 2, 3, 4, 6]
    assert index.search(ROWS[0], 2).ids.tolist() == [[0, 6]]


def test_everything_can_be_removed_and_added_again():
    index = dv.Index(ROWS, list("abcdef"))
    index.remove(list("abcdef"))
    assert len(index) == 0
    index.add(ROWS[:2], [7, 8])  # with nothing left, ids may be of another kind
    assert index.search(ROWS[1], 1).ids.tolist() == [[8]]


def test_long_pieces_are_kept_and_short_ones_joined():
    rows = drawn(3 * SHORT)
    index = dv.Index(rows[:SHORT])
    index.add(rows[SHORT:])
    index.remove([2 * SHORT])
    pieces = index.pieces
    assert [len(array) for array in pieces.arrays] == [SHORT, 2 * SHORT - 1]
    assert np.shares_memory(pieces.arrays[0], rows)
    for row in range(5):
        index.add(rows[row : row + 1])
    assert [len(array) for array in index.pieces.arrays] == [SHORT, 2 * SHORT - 1, 5]
    left = np.delete(rows, 2 * SHORT, axis=0)
    queries = drawn(9, seed=1)
    expected = search_reference.best(np.concatenate([left, rows[:5]]), queries, 7)
    ids = np.concatenate([np.delete(np.arange(len(rows)), 2 * SHORT), len(rows) + np.arange(5)])
    hits = index.search(queries, 7)
    assert hits.ids.tolist() == ids[np.array(expected[0])].tolist()
    assert hits.scores.tolist() == expected[1]


def test_an_array_is_kept_and_not_copied():
    rows = drawn(10)
    assert np.shares_memory(dv.Index(rows).vectors, rows)
    assert rows.flags.writeable
    assert not dv.Index(rows).vectors.flags.writeable


def test_a_memory_map_is_searched_where_it_is(tmp_path):
    rows = drawn(5000)
    np.save(tmp_path / "rows.npy", rows)
    mapped = np.load(tmp_path / "rows.npy", mmap_mode="r")
    index = dv.Index(mapped)
    assert np.shares_memory(index.vectors, mapped)
    assert same(index.search(rows[:20]), dv.Index(rows).search(rows[:20]))


@pytest.mark.parametrize("dtype", [np.float16, np.float64, ">f4"])
def test_other_floating_point_numbers_are_converted(dtype):
    rows = drawn(50).astype(dtype)
    index = dv.Index(rows)
    assert index.vectors.dtype == np.float32
    assert same(index.search(rows[:3]), index.search(rows[:3].astype(np.float32)))


def test_rows_in_columns_or_out_of_line_are_copied():
    rows = drawn(40)
    expected = dv.Index(rows[::2]).search(rows[:3])
    data = np.zeros(rows[::2].nbytes + 1, np.uint8)
    crooked = data[1:].view(np.float32).reshape(rows[::2].shape)
    crooked[:] = rows[::2]
    for other in (np.asfortranarray(rows[::2]), rows[::2], crooked):
        assert same(dv.Index(other).search(rows[:3]), expected)


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("queries", [1, 3, 20, 600])
def test_threads_change_nothing(threads, queries):
    rows = drawn(10_000, 30)
    index = dv.Index(rows)
    expected = search_reference.best(rows, rows[:3], 5)
    hits = index.search(rows[:queries], 5, threads=threads)
    assert hits.ids[:3].tolist() == expected[0][:queries]
    assert hits.scores[:3].tolist() == expected[1][:queries]
    assert same(hits, index.search(rows[:queries], 5))


def test_searches_at_the_same_time_do_not_disturb_each_other():
    rows = drawn(5000, 20)
    index = dv.Index(rows)
    expected = index.search(rows[:50])
    answers = []
    threads = [
        threading.Thread(target=lambda: answers.append(index.search(rows[:50]))) for _ in range(6)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(answers) == 6
    assert all(same(hits, expected) for hits in answers)


def test_ids_may_come_as_columns():
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    names = list("fedcba")
    for ids in (
        tuple(names),
        np.array(names),
        np.array(names, object),
        pa.array(names),
        pa.chunked_array([names[:2], names[2:]]),
        pa.array(names).dictionary_encode(),
        pandas.Series(names),
        polars.Series(names),
    ):
        assert dv.Index(ROWS, ids).search(ROWS[1], 2).ids.tolist() == [["a", "e"]]
    for numbers in (
        range(6),
        np.arange(6, dtype=np.uint8),
        pa.array(range(6)),
        pandas.Index(range(6)),
    ):
        assert dv.Index(ROWS, numbers).search(ROWS[1], 2).ids.tolist() == [[1, 5]]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([[1, 0]], "U must be floating-point numbers, got int64"),
        ([["a"]], "floating-point"),
        ([[True]], "floating-point"),
        ([1.0, 0.0], r"shape \(rows, dimensions\), got \(2,\)"),
        (np.ones((2, 0)), r"got \(2, 0\)"),
        (np.zeros((1, 70_000)), "65,536 dimensions, got 70,000"),
        ([[1.0, 0.0], [1.0]], "rows of the same length"),
        ([[1.0, 0.0], [np.nan, 0.0]], "finite, got NaN or infinity in row 1"),
        ([[1.0, 0.0], [np.inf, 0.0]], "finite, got NaN or infinity in row 1"),
        ([[1.0, 0.0], [1e300, 0.0]], "finite, got NaN or infinity in row 1"),
        ([[1.0, 0.0], [3.0, 4.0]], "unit length .* got 5 in row 1: divide each row"),
        ([[1e-30, 0.0]], "unit length"),
    ],
)
def test_rows_that_cannot_be_searched_are_refused(rows, message):
    with pytest.raises(dv.InputError, match=message):
        dv.Index(rows)
    index = dv.Index(np.eye(2))
    with pytest.raises(dv.InputError):
        index.add(rows)
    assert len(index) == 2


def test_the_row_that_is_wrong_is_named_in_large_arrays_too():
    rows = drawn(200_000, 2)
    rows[150_000] = np.nan
    with pytest.raises(dv.InputError, match="row 150,000"):
        dv.Index(rows, threads=2)


@pytest.mark.parametrize(
    ("ids", "message"),
    [
        ([1, 2], "an id for each of 6 rows, got 2"),
        ([1, 2, 3, 4, 5, 1], "unique, got 1 more than once"),
        (list("abcdea"), "unique, got 'a' more than once"),
        ([1.5, 2, 3, 4, 5, 6], "whole numbers or strings, got double"),
        ([True] * 6, "whole numbers or strings, got bool"),
        ([1, "a", 2, 3, 4, object()], "all whole numbers or all strings"),
        ([2**70, 1, 2, 3, 4, 5], "ids must"),
        (np.array([2**64 - 1, 1, 2, 3, 4, 5], np.uint64), "64 bits"),
        (["a", "b", "c", "d", "e", None], "none missing"),
        (["a", "b", "c", "d", "e", "\ud800"], "ids must"),
        ("abcdef", "put it into a list"),
        ([[1], [2], [3], [4], [5], [6]], "ids must"),
    ],
)
def test_ids_that_are_none_are_refused(ids, message):
    with pytest.raises(dv.InputError, match=message):
        dv.Index(ROWS, ids)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"queries": np.eye(3)}, "queries must have 2 dimensions, got 3"),
        ({"queries": np.ones((1, 1, 2))}, "shape"),
        ({"queries": 1.0}, "shape"),
        ({"queries": [[np.nan, 0.0]]}, "queries must be finite"),
        ({"queries": [[2.0, 0.0]]}, "queries must have rows of unit length"),
        ({"k": 0}, "k must be a whole number from 1 on, got 0"),
        ({"k": -1}, "got -1"),
        ({"k": 2.0}, "got 2.0"),
        ({"k": True}, "got True"),
        ({"where": [True]}, r"a boolean for each of 6 rows, got \(1,\)"),
        ({"where": np.ones((6, 1), bool)}, "a boolean for each of 6 rows"),
        ({"where": [1, 77]}, "no row with the id 77"),
        ({"where": [7, 8, 9]}, "no row with the id 7, nor with 2 others"),
        ({"where": ["a"]}, "ids are numbers here, got 'a'"),
        ({"where": "a"}, "put it into a list"),
        ({"threads": 0}, "threads must be"),
    ],
)
def test_searches_that_make_no_sense_are_refused(arguments, message):
    with pytest.raises(dv.InputError, match=message):
        dv.Index(ROWS).search(**{"queries": ROWS[:1], **arguments})


def test_what_cannot_be_added_or_removed_changes_nothing():
    numbered, named = dv.Index(ROWS), dv.Index(ROWS, list("abcdef"))
    for index, rows, ids, message in (
        (numbered, ROWS[:1], [9], "numbers its rows: add rows without ids"),
        (named, ROWS[:1], None, "ids of yours: give ids"),
        (named, ROWS[:1], ["a"], "unique, got 'a'"),
        (named, ROWS[:1], [1], "ids are strings here, got numbers"),
        (named, ROWS[:2], ["x"], "each of 2 rows"),
        (named, np.eye(3), list("xyz"), "U must have 2 dimensions, got 3"),
    ):
        with pytest.raises(dv.InputError, match=message):
            index.add(rows, ids)
    for index, ids in ((numbered, [99]), (named, ["a", "x"]), (named, [1])):
        with pytest.raises(dv.InputError):
            index.remove(ids)
    assert len(numbered) == len(named) == 6


def test_hits_can_be_gone_through():
    hits = dv.Index(ROWS, list("abcdef")).search(ROWS[:2], k=2)
    assert len(hits) == 2
    assert [[hit.id for hit in found] for found in hits] == [["a", "b"], ["b", "f"]]
    assert repr(hits) == "Hits(2 queries, 2 found for each)"


def test_a_notebook_shows_ids_as_text_and_not_all_of_them():
    names = ["<script>alert(1)</script>", "a&b", *map(str, range(28))]
    page = dv.Index(drawn(30), names).search(drawn(30), k=30)._repr_html_()
    assert "<script>" not in page
    assert "&lt;script&gt;" in page
    assert "a&amp;b" in page
    assert "Not all are shown" in page
    assert page.count("<tr>") == 201


def test_an_index_says_what_it_holds():
    assert dv.Index(ROWS, list("abcdef")).info() == {
        "rows": 6,
        "dimensions": 2,
        "ids": "strings",
        "bytes": 48,
    }
    assert repr(dv.Index(ROWS)) == "Index(6 rows, 2 dimensions)"


@pytest.mark.parametrize("threads", [1, 2])
def test_what_threads_find_of_one_array_is_kept_when_the_next_is_searched(threads, monkeypatch):
    monkeypatch.setattr(BUDGET, "loaded", True)  # not the fallback
    # Fewer than k are found in the first array, so the heap is not full when one thread goes on.
    arrays = tuple(map(read_only, np.split(drawn(9), [8])))
    pieces = ChunkedMatrix(arrays, 1e-6)
    allowed = pieces.physical_mask(np.arange(9) % 4 == 0)
    cut = Sizes(narrow=1, scan_worth_a_thread=1, candidate_rows=2)
    query = ChunkedMatrix.of(drawn(1), "queries")
    for _ in range(20):
        found = nearest_rows(pieces, query, 3, allowed=allowed, threads=threads, sizes=cut)
        assert sorted(found.ranks[0].tolist()) == [0, 4, 8]
