"""The approximate index: the same face, nearly the same answers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import deltavec as dv
from deltavec.search.approximately import lists
from deltavec.search.approximately.lists import Lists
from deltavec.search.approximately.searching import FEW_ROWS, best_in_lists
from deltavec.search.matrix import Pieces
from deltavec.search.topk import NONE, Search, best_rows
from support.search_folders import with_file
from support.search_strategies import unit_rows

COUNT = FEW_ROWS + 1000


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    centres = rng.standard_normal((40, 12))
    rows = centres[rng.integers(0, 40, COUNT)] + 0.7 * rng.standard_normal((COUNT, 12))
    rows[::1000] = 0
    return unit_rows(rows)


@pytest.fixture
def index(rows):
    return dv.Index(rows, approximate=True)


def recall(index, exact, queries, **options):
    found, best = index.search(queries, **options), exact.search(queries, **options)
    assert found.ids.shape == best.ids.shape
    # What was found has the score that it has in an exact search.
    for ids, scores, exact_ids, exact_scores in zip(
        found.ids, found.scores, best.ids, best.scores, strict=True
    ):
        known = dict(zip(exact_ids.tolist(), exact_scores.tolist(), strict=True))
        assert all(
            known.get(id, s) == s for id, s in zip(ids.tolist(), scores.tolist(), strict=True)
        )
    return float((found.scores >= best.scores[:, -1:]).mean())


def test_nearly_all_of_the_best_rows_are_found(index, rows):
    exact = dv.Index(rows)
    assert recall(index, exact, rows[:200]) > 0.97
    assert repr(index) == f"Index({COUNT:,} rows, 12 dimensions, approximate)"
    assert index.info()["zero_rows"] == 6


def test_recall_is_shown_once_it_is_measured(index, rows, tmp_path):
    assert index.info()["recall"] is None
    share = index.measure_recall()
    assert 0.97 < share <= 1
    assert index.info()["recall"] == {"k": 10, "queries": 1000, "share": share}
    index.save(tmp_path / "x.idx")
    assert dv.load_index(tmp_path / "x.idx").info() == index.info()
    assert index.measure_recall(rows[:20], k=3) == index.info()["recall"]["share"]
    index.add(rows[:1])
    assert index.info()["recall"] is None


def test_an_exact_index_finds_all(rows):
    assert dv.Index(rows[:300]).measure_recall() == 1
    for empty in (dv.Index(np.empty((0, 2))), dv.Index(np.eye(2)[:1])):
        with pytest.raises(dv.InputError, match="recall needs"):
            empty.measure_recall()


def test_more_in_sight_find_more(rows):
    index = dv.Index(rows, approximate=True, expansion=1)
    few = index.measure_recall(k=1)
    index.expansion = 200
    assert index.expansion == 200
    assert index.info()["recall"] is None
    assert index.measure_recall(k=1) >= few
    for wrong in (0, 1.5, True, 10**9):
        with pytest.raises(dv.InputError, match="expansion must be"):
            index.expansion = wrong
    with pytest.raises(dv.InputError, match="exact index"):
        dv.Index(rows[:2]).expansion = 5
    with pytest.raises(dv.InputError, match="expansion must be"):
        dv.Index(rows, approximate=True, expansion=0)


@pytest.mark.parametrize("share", [0.0, 0.0005, 0.01, 0.5, 0.9, 0.95, 1.0])
def test_filters_work(index, rows, share):
    exact = dv.Index(rows)
    mask = np.random.default_rng(1).random(COUNT) < share
    assert recall(index, exact, rows[:50], where=mask) > 0.97 if mask.sum() else True
    found = index.search(rows[:50], where=mask)
    assert mask[found.ids].all()
    by_ids = index.search(rows[:50], where=np.flatnonzero(mask))
    assert by_ids.ids.tolist() == found.ids.tolist()


def test_a_filter_far_from_the_query_is_searched_further(index, rows):
    # Only rows on the other side of the query may be found.
    query = rows[1]
    mask = np.ones(COUNT, bool)
    mask[np.argsort(-(rows @ query))[:900]] = False
    assert recall(index, dv.Index(rows), query[None], where=mask) > 0.9


def test_zero_rows_are_found_where_they_belong(index, rows):
    exact = dv.Index(rows)
    zero = index.search(np.zeros(12), 5)
    assert zero.ids.tolist() == exact.search(np.zeros(12), 5).ids.tolist()
    # With all rows wanted, those of score 0 come before those below it.
    assert index.search(rows[1], COUNT).ids.tolist() == exact.search(rows[1], COUNT).ids.tolist()
    half = np.concatenate([np.zeros((20, 2)), np.tile([[-1.0, 0.0]], (COUNT, 1))])
    found = dv.Index(half, approximate=True).search(np.array([1.0, 0.0]), 22)
    assert found.ids[0, :20].tolist() == list(range(20))
    assert found.scores[0, 19:].tolist() == [0, -1, -1]


def test_one_query_finds_the_same_as_in_a_batch(index, rows):
    together = index.search(rows[:20], 5)
    for place in range(20):
        alone = index.search(rows[place], 5)
        assert alone.ids[0].tolist() == together.ids[place].tolist()
        assert alone.scores.tobytes() == together.scores[place].tobytes()


def test_rows_can_be_added_removed_saved_and_loaded(rows, tmp_path):
    names = [f"n{number}" for number in range(COUNT)]
    index, exact = dv.Index(rows, names, approximate=True), dv.Index(rows, names)
    more = unit_rows(rows[:300] + np.float32(0.01))
    for one in (index, exact):
        one.remove(names[500:900])
        one.add(more, [f"m{number}" for number in range(300)])
        one.remove([names[0], "m299"])
    assert index.info()["zero_rows"] == 5
    assert recall(index, exact, rows[:200]) > 0.97
    index.save(tmp_path / "x.idx")
    again = dv.load_index(tmp_path / "x.idx")
    assert again.info() == index.info()
    assert again.search(rows[:99]).ids.tolist() == index.search(rows[:99]).ids.tolist()
    again.add(rows[500:900], names[500:900])
    assert again.search(rows[501], 1).ids.tolist() == [["n501"]]
    again.remove(again.ids.tolist())
    assert again.search(rows[501]).ids.shape == (1, 0)


def test_a_small_index_is_searched_exactly_and_may_be_empty(rows):
    index = dv.Index(np.empty((0, 12)), approximate=True)
    assert index.search(rows[:2]).ids.shape == (2, 0)
    index.add(rows[:50])
    assert index.search(rows[:9]).ids.tolist() == dv.Index(rows[:50]).search(rows[:9]).ids.tolist()


def test_damaged_lists_are_refused(index, tmp_path):
    index.save(tmp_path / "x.idx")
    path = tmp_path / "x.idx" / "centres.npy"
    whole = path.read_bytes()
    for place in range(0, len(whole), len(whole) // 10):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        with pytest.raises(dv.InputError, match=r"centres\.npy"):
            dv.load_index(tmp_path / "x.idx", verify=False)
    path.write_bytes(whole[:-1])
    with pytest.raises(dv.InputError, match=r"centres\.npy: expected"):
        dv.load_index(tmp_path / "x.idx")


@pytest.mark.parametrize("number", [-1, 14 + 1])
def test_a_row_in_a_list_that_there_is_not_is_refused(rows, tmp_path, number):
    dv.Index(rows[:50], approximate=True).save(tmp_path / "x.idx")
    there = pa.ipc.open_file(tmp_path / "x.idx" / "ids.arrow").read_all()
    assert there["list"].to_pylist()[0] == 14  # a row of zeros
    changed = pa.table({"id": there["id"], "list": [number] * 50}, there.schema)
    sink = pa.BufferOutputStream()
    with pa.ipc.new_file(sink, changed.schema) as writer:
        writer.write_table(changed)
    with_file(tmp_path / "x.idx", "ids.arrow", sink.getvalue().to_pybytes())
    with pytest.raises(dv.InputError, match=r"ids\.arrow: a row is in a list that there is not"):
        dv.load_index(tmp_path / "x.idx")


def test_the_same_rows_make_the_same_lists_on_any_number_of_threads(rows):
    one, two = (dv.Index(rows, approximate=True, threads=count)._state.lists for count in (1, 3))
    assert one.centres.tobytes() == two.centres.tobytes()
    assert one.homes.tobytes() == two.homes.tobytes()


def test_what_all_lists_hold_is_all_there_is(rows):
    search = Search(Pieces.of(rows, "rows"), NONE, Pieces.of(rows[1:40], "queries"), 7)
    lists = Lists.of(search.pieces, 3, None)
    found = best_in_lists(search, lists, np.arange(39), len(lists.centres))
    exact = best_rows(search)
    assert found.ranks.tolist() == exact.ranks.tolist()
    assert found.scores.tobytes() == exact.scores.tobytes()
    few = best_in_lists(search, lists, np.arange(39), 1)
    assert (few.scores <= exact.scores).all()


def test_added_rows_have_a_shelf_of_their_own_and_old_ones_keep_theirs(index, rows):
    lists, pieces = index._state.lists, index.pieces
    (before, _) = next(lists.shelves(pieces, 1))
    more = Pieces.of(np.tile(rows[1:9], (600, 1)), "more")
    whole = pieces.with_more(more)
    after, added = lists.with_more(more, whole, 1).shelves(whole, 1)
    assert after[0] is before
    assert len(added[0].order) == 4800


def test_an_index_with_a_graph_of_an_earlier_version_gets_lists(tmp_path):
    stored = Path(__file__).parents[3] / "snapshots" / "indexes" / "approximate"
    assert (stored / "graph.usearch").exists()
    index = dv.load_index(stored)
    assert index.info()["search"] == "approximate"
    index.save(tmp_path / "x.idx")
    assert sorted(one.name for one in (tmp_path / "x.idx").iterdir()) == [
        "centres.npy", "ids.arrow", "index.json", "vectors.npy",
    ]  # fmt: skip


def test_by_default_2_8_times_the_root_of_the_lists_is_looked_through_and_64_at_least(
    monkeypatch,
):
    rows = unit_rows(np.random.default_rng(5).standard_normal((1600, 4)))
    assert dv.Index(rows, approximate=True).expansion == 64
    monkeypatch.setattr(lists, "LEAST_EXPANSION", 1)
    assert dv.Index(rows, approximate=True).expansion == 25  # of 80
    assert dv.Index(rows, approximate=True, expansion=7).expansion == 7


@pytest.mark.parametrize("first", [0, 3, 400])
def test_an_index_that_is_filled_later_answers_as_one_that_was_made_of_all(rows, first):
    index, whole = (dv.Index(rows[:n], approximate=True, threads=1) for n in (first, COUNT))
    index.expansion = whole.expansion = 10
    index.add(rows[first:])
    found, expected = index.search(rows[1:100]), whole.search(rows[1:100])
    assert found.ids.tolist() == expected.ids.tolist()
    assert found.scores.tobytes() == expected.scores.tobytes()
    assert index.expansion == 10


def test_the_expansion_follows_the_rows_unless_it_was_asked_for(rows, monkeypatch, tmp_path):
    monkeypatch.setattr(lists, "LEAST_EXPANSION", 1)
    for asked_for, expected in ((None, 35), (3, 3)):  # of 155 lists
        index = dv.Index(rows[:100], approximate=True, expansion=asked_for)
        assert index.expansion == (asked_for or 13)  # of 20
        index.save(tmp_path / "x.idx")
        for one in (index, dv.load_index(tmp_path / "x.idx")):
            one.add(rows[100:])
            assert one.expansion == expected


def test_rows_of_zeros_do_not_make_lists_anew(rows):
    index = dv.Index(rows[1:2], approximate=True)
    centres = index._state.lists.centres
    index.add(np.zeros((5000, 12)))
    assert index._state.lists.centres is centres
    assert index.info()["zero_rows"] == 5000
