"""Lists without a query, and pages of those with one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from starlette.applications import Starlette

import deltavec as dv
from deltavec.server.app import create_app
from deltavec.server.limits import Limits
from support.served import PLACED, TEXTS, ask, checked, small_collection


@pytest.fixture(scope="module")
def collection(tmp_path_factory: pytest.TempPathFactory) -> dv.Collection:
    return small_collection(tmp_path_factory.mktemp("list"))


@pytest.fixture(scope="module")
def app(collection: dv.Collection) -> Starlette:
    # Time enough to compile what is searched with, on a machine that others use too.
    return create_app(collection, limits=Limits(k=5, deepest=6, workers=2, seconds=600))


def get(app: Starlette, path: str, query: str = "", model: str | None = None) -> Any:
    answer = ask(app, "GET", path, query=query)
    assert answer.status == 200, answer.body
    if model is not None:
        checked(model, answer.json)
    return answer.json


def refused(app: Starlette, path: str, query: str) -> tuple[int, str]:
    answer = ask(app, "GET", path, query=query)
    return answer.status, answer.error["param"]


def test_a_filter_without_a_query_lists_what_it_leaves_in_pages(app: Starlette) -> None:
    found = get(app, "/list", "filter=stars+>=+2&k=4", "Listing")
    more = get(app, "/list", "filter=stars+>=+2&k=4&offset=4", "Listing")
    stars = dict(zip(TEXTS, [5, 4, 1, 3, 4, None, 2, 2], strict=True))
    expected = [name for name, count in stars.items() if count and count >= 2]
    assert [one["id"] for one in found["results"] + more["results"]] == expected
    assert found["documents"] == more["documents"] == len(expected)
    assert {one["score"] for one in found["results"]} == {None}
    assert get(app, "/list")["documents"] == len(TEXTS)
    assert get(app, "/list", "filter=stars+>+9", "Listing")["results"] == []
    assert refused(app, "/list", "filter=stars+>") == (422, "filter")
    assert refused(app, "/list", "k=6") == (422, "k")


def test_the_topics_hold_every_document_with_a_vector_once(
    app: Starlette, collection: dv.Collection
) -> None:
    for clusters in (2, 3, 4):
        topics = get(app, "/topics", f"clusters={clusters}", "TopicList")["topics"]
        seen: list[str] = []
        for number, topic in enumerate(topics):
            asked = f"cluster={number}&clusters={clusters}"
            page = get(app, "/list", f"{asked}&k=5&explain=true", "Listing")
            assert page["documents"] == topic["documents"] == len(page["results"])
            seen += [one["id"] for one in page["results"]]
            assert page["results"][0]["id"] == topic["central_id"]
            scores = [one["score"] for one in page["results"]]
            assert scores == sorted(scores, reverse=True)
            assert np.mean(scores) == pytest.approx(topic["cohesion"])
            assert all(one["pieces"] for one in page["results"])
            points = get(app, "/selection", asked, "Selection")["points"]
            on_map = [name for name, there in zip(PLACED, points, strict=True) if there == "1"]
            assert sorted(on_map) == sorted(one["id"] for one in page["results"])
        assert len(seen) == len(set(seen)) == len(TEXTS) - collection.description.zero_rows


def test_a_filter_and_a_topic_together_leave_what_both_leave(app: Starlette) -> None:
    asked = "cluster=0&clusters=2"
    topic = {one["id"] for one in get(app, "/list", f"{asked}&k=5")["results"]}
    kept = {one["id"] for one in get(app, "/list", "filter=stars+>+2&k=5")["results"]}
    both = get(app, "/list", f"{asked}&filter=stars+>+2&k=5")
    assert {one["id"] for one in both["results"]} == topic & kept
    selected = get(app, "/selection", f"{asked}&filter=stars+>+2", "Selection")
    assert selected["documents"] == len(topic & kept) == selected["points"].count("1")


def test_without_a_filter_all_are_selected(app: Starlette) -> None:
    assert get(app, "/selection") == {"documents": len(TEXTS), "points": "1" * len(PLACED)}


def test_clusters_color_the_map_in_any_number(app: Starlette) -> None:
    for clusters in (2, 3):
        colors = get(app, "/map/colors", f"by=cluster&clusters={clusters}")
        topics = get(app, "/topics", f"clusters={clusters}")["topics"]
        assert colors["labels"] == [topic["name"] for topic in topics]
        assert colors["counts"] == [topic["documents"] for topic in topics]
        assert colors["missing"] == colors["values"].count(None)


@pytest.mark.parametrize(
    ("path", "asked", "param"),
    [
        ("/topics", "clusters=1", "clusters"),
        ("/topics", "clusters=25", "clusters"),
        ("/list", "cluster=3&clusters=3", "cluster"),
        ("/selection", "cluster=99", "cluster"),
        ("/list", "cluster=-1", "cluster"),
        ("/list", "offset=-1", "offset"),
        ("/search", "query=sea&k=5&offset=2", "offset"),
        ("/similar", "id=sea&k=5&offset=2", "offset"),
    ],
)
def test_what_is_not_there_is_refused(app: Starlette, path: str, asked: str, param: str) -> None:
    assert refused(app, path, asked) == (422, param)


@pytest.mark.parametrize("documents", [["a quiet room"], ["a quiet room"] * 30])
def test_a_collection_too_small_to_part_or_of_equal_documents_has_no_topics(
    documents: list[str], tmp_path: Path
) -> None:
    # Words that are in every document weigh nothing: thirty equal ones have no vector.
    vectors = dv.WordVectors(["quiet", "room"], np.eye(2))
    model = dv.fit(documents, vectors, "idf-sum")
    collection = dv.build_collection(model, documents, tmp_path / "one.idx")
    app = create_app(collection)
    assert refused(app, "/topics", "") == (422, "clusters")
    assert get(app, "/columns", model="Columns") == {"columns": []}
    assert get(app, "/list", model="Listing")["documents"] == len(documents)


@pytest.mark.parametrize("by", ["hybrid", "keyword", "semantic"])
def test_pages_of_a_search_are_pieces_of_one_list(
    app: Starlette, collection: dv.Collection, by: str
) -> None:
    pages = [get(app, "/search", f"query=quiet+room&k=2&offset={n}&by={by}") for n in (0, 2, 4)]
    found = [(one["id"], one["score"]) for page in pages for one in page["results"]]
    expected = collection.search("quiet room", 6, by=by)
    assert found == [(one.id, one.score) for one in expected]
    pages = [get(app, "/similar", f"id=sea&k=2&offset={n}") for n in (0, 2, 4)]
    alike = [one["id"] for page in pages for one in page["results"]]
    assert alike == [one.id for one in collection.similar("sea", 6)]


def test_columns_are_described(app: Starlette) -> None:
    stars, kind = get(app, "/columns", model="Columns")["columns"]
    assert (stars["kind"], stars["example"]) == ("number", "stars >= 3")
    assert kind["values"][0] == "'food'"


def test_values_are_counted_among_what_a_filter_leaves(app: Starlette) -> None:
    _, kind = get(app, "/columns", "filter=stars+>=+3", "Columns")["columns"]
    assert dict(zip(kind["values"], kind["counts"], strict=True)) == {
        "'food'": 2,
        "'room'": 1,
        "'sea'": 1,
    }
    assert refused(app, "/columns", "filter=stars+>") == (422, "filter")


def test_lists_and_searches_are_sorted_by_a_column(
    app: Starlette, collection: dv.Collection
) -> None:
    stars = [one["columns"]["stars"] for one in get(app, "/list", "sort=-stars&k=5")["results"]]
    assert stars == [5, 4, 4, 3, 2]
    last = get(app, "/list", "sort=stars&k=4&offset=4")["results"]
    assert [one["columns"]["stars"] for one in last] == [4, 4, 5, None]
    best = {one.id for one in collection.search("quiet room", 5)}
    found = get(app, "/search", "query=quiet+room&sort=-stars&k=5", "Results")["results"]
    assert {one["id"] for one in found} == best
    given = [one["columns"]["stars"] for one in found]
    assert given == sorted(given, key=lambda value: -(value or 0))
    pages = [get(app, "/search", f"query=quiet+room&sort=-stars&k=2&offset={n}") for n in (0, 2)]
    assert [one for page in pages for one in page["results"]] == found[:4]
    assert refused(app, "/list", "sort=nothing") == (422, "sort")
    assert refused(app, "/search", "query=room&sort=text") == (422, "sort")


def test_a_search_counts_matches_and_suggests_known_words(
    app: Starlette, collection: dv.Collection
) -> None:
    found = get(app, "/search", "query=brekfast", "Results")
    assert found["suggestions"] == {"brekfast": ["breakfast"]}
    assert found["matches"] == 0
    assert get(app, "/search", "query=coffee")["matches"] == 2
    assert get(app, "/search", "query=coffee&filter=stars+>+2")["matches"] == 1
    assert get(app, "/search", "query=coffee&by=semantic")["matches"] is None
    removed = collection.remove(["coffee"])
    assert removed.count_matches(removed.query("coffee")) == 1


def test_frequent_words_count_no_matches_unless_all_are_frequent(tmp_path: Path) -> None:
    texts = [f"the {word}" for word in ("sea", "sea", "bed", "lamp", "desk", "chair")] * 3
    collection = dv.build_collection(texts, tmp_path / "c.idx")
    assert collection.count_matches(collection.query("the lamp")) == 3
    assert collection.count_matches(collection.query("the")) == 18


def test_near_duplicates_are_listed_in_pages(tmp_path: Path) -> None:
    story = "a quiet beach by the sea with white sand and a small hotel near the harbor"
    other = "the parliament voted on a law about taxes for farmers in the north of the country"
    texts = [story, f"{story} again", other, other.replace("north", "south"), "a lamp"]
    app = create_app(dv.build_collection(texts, tmp_path / "c.idx"))
    found = get(app, "/duplicates", "k=1&length=7", "DuplicateList")
    more = get(app, "/duplicates", "k=5&offset=1", "DuplicateList")
    assert found["documents"] == more["documents"] == 2
    pairs = [(one["a"], one["b"]) for one in found["pairs"] + more["pairs"]]
    assert sorted(pairs) == [("0", "1"), ("2", "3")]
    assert found["pairs"][0]["shared"] >= more["pairs"][0]["shared"] >= 0.5
    assert len(found["pairs"][0]["text_a"]) == 7
    few = create_app(dv.open_collection(tmp_path / "c.idx"), limits=Limits(compared=3))
    assert ask(few, "GET", "/duplicates").status == 422


def test_colors_are_those_of_what_a_filter_leaves(app: Starlette) -> None:
    colors = get(app, "/map/colors", "by=kind&filter=kind+==+'room'", "MapColors")
    assert (colors["labels"], colors["counts"], colors["other"]) == (["room"], [2], 0)
    assert colors["missing"] == 0
    assert sorted(map(str, colors["values"])) == ["0", "0", *["None"] * (len(PLACED) - 2)]
    assert refused(app, "/map/colors", "by=kind&filter=kind") == (422, "filter")
