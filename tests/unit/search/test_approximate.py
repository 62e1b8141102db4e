"""The approximate index: the same face, nearly the same answers."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import deltavec as dv
from deltavec.search.approximate import FEW_ROWS
from search_folders import with_file
from search_strategies import unit_rows

pytest.importorskip("usearch")

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


def test_a_damaged_graph_is_refused(index, tmp_path, rows):
    index.save(tmp_path / "x.idx")
    path = tmp_path / "x.idx" / "graph.usearch"
    whole = path.read_bytes()
    for place in range(0, len(whole), len(whole) // 10):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        with pytest.raises(dv.InputError, match=r"graph\.usearch"):
            dv.load_index(tmp_path / "x.idx", verify=False)
    path.write_bytes(whole[:-1])
    with pytest.raises(dv.InputError, match=r"graph\.usearch: expected"):
        dv.load_index(tmp_path / "x.idx")


@pytest.mark.parametrize("other", ["another width", "other rows", "no graph"])
def test_a_graph_that_is_not_the_index_s_own_is_refused(rows, tmp_path, other):
    dv.Index(rows[:50], approximate=True).save(tmp_path / "x.idx")
    graphs = {"another width": rows[:50, 1:], "other rows": rows[:70], "no graph": None}
    content = b"usearch" * 100
    if graphs[other] is not None:
        dv.Index(unit_rows(graphs[other]), approximate=True).save(tmp_path / "y.idx")
        content = (tmp_path / "y.idx" / "graph.usearch").read_bytes()
    with_file(tmp_path / "x.idx", "graph.usearch", content)
    with pytest.raises(
        dv.InputError, match=r"graph\.usearch: .*(not that of this|expected a graph)"
    ):
        dv.load_index(tmp_path / "x.idx")


def test_without_usearch_it_is_said_what_to_install(rows, monkeypatch):
    monkeypatch.setitem(sys.modules, "usearch.index", None)
    with pytest.raises(dv.MissingDependencyError, match=r"pip install 'deltavec\[ann\]'"):
        dv.Index(rows, approximate=True)
