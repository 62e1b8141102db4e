"""Pieces of the map: what stands inside, what it is about, and a file of it."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from starlette.applications import Starlette

import deltavec as dv
from deltavec.cli.commands.index import read_ids
from deltavec.server.app import create_app
from deltavec.server.errors import RequestError
from deltavec.server.explorer import corners, inside
from deltavec.server.limits import Limits
from deltavec.server.map_view import MapView
from deltavec.server.page.offline import bundle, map_page
from support.served import ask, checked

TEXTS = ["sea beach", "sea", "<script>alert(1)</script> room", "room bed", "zzz", "sea room"]
IDS = ["a/b", '"q"', "<i>", "..", "none", "</script>"]
EVERYWHERE = "-2,-2+2,-2+2,2+-2,2"


@pytest.fixture(scope="module")
def collection(tmp_path_factory: pytest.TempPathFactory) -> dv.Collection:
    words = ["sea", "beach", "room", "bed"]
    vectors = dv.WordVectors(words, np.eye(4) + 0.2)
    table = pa.table(
        {"text": TEXTS, "name": IDS, "tags": [["x", "y"], [], None, ["<b>"], ["x"], ["z"]]}
    )
    model = dv.fit(TEXTS, vectors, "unit-sum")
    path = tmp_path_factory.mktemp("area") / "c.idx"
    return dv.build_collection(model, table, path, id_column="name", keep=["tags"])


@pytest.fixture(scope="module")
def app(collection: dv.Collection) -> Starlette:
    return create_app(collection, limits=Limits(workers=2, seconds=600, exported=5))


def test_a_place_is_inside_a_polygon_or_not() -> None:
    triangle = corners("0,0 1,0 0,1")
    places = np.array([[0.2, 0.2], [0.8, 0.8], [-0.1, 0.5], [np.nan, np.nan]], np.float32)
    assert inside(places, triangle).tolist() == [True, False, False, False]
    hollow = corners("0,0 1,0 1,1 0.5,0.1 0,1")
    assert inside(np.array([[0.5, 0.5], [0.5, 0.05]], np.float32), hollow).tolist() == [False, True]


@pytest.mark.parametrize("area", ["", "0,0", "0,0 1,1", "0,0 1,1 a,b", "0 1 2", "0,0 1,1 inf,0"])
def test_what_is_no_area_is_refused(area: str) -> None:
    with pytest.raises(RequestError):
        corners(area)


def test_an_area_lists_what_stands_in_it(app: Starlette) -> None:
    answer = ask(app, "GET", "/list", query=f"area={EVERYWHERE}")
    assert [one["id"] for one in answer.json["results"]] == [one for one in IDS if one != "none"]
    assert ask(app, "GET", "/selection", query="area=5,5+6,5+6,6").json["documents"] == 0
    assert ask(app, "GET", "/list", query="area=1").error["param"] == "area"


def test_the_words_of_an_area_tell_it_from_the_rest(app: Starlette) -> None:
    x, y = ask(app, "GET", "/documents", query="id=a/b").json["position"]
    box = "+".join(f"{x + a},{y + b}" for a, b in ((-0.01, -0.01), (0.01, -0.01), (0, 0.01)))
    answer = ask(app, "GET", "/selection/words", query=f"area={box}")
    checked("SelectionWords", answer.json)
    assert answer.json["documents"] == 1
    assert "beach" in answer.json["words"]
    nothing = ask(app, "GET", "/selection/words", query="area=5,5+6,5+6,6").json
    assert nothing == {"documents": 0, "words": []}


def test_an_area_is_saved_as_a_table_or_as_ids(app: Starlette) -> None:
    answer = ask(app, "GET", "/selection/export", query=f"area={EVERYWHERE}")
    assert answer.headers["content-disposition"] == 'attachment; filename="documents.csv"'
    rows = list(csv.DictReader(io.StringIO(answer.body.decode())))
    assert [row["id"] for row in rows] == [one for one in IDS if one != "none"]
    assert rows[2]["text"] == TEXTS[2]
    assert rows[0]["tags"] == '["x", "y"]'
    assert -1 <= float(rows[0]["map_x"]) <= 1
    ids = ask(app, "GET", "/selection/export", query="format=ids").body.decode()
    assert ids.splitlines() == [json.dumps(one) if one == '"q"' else one for one in IDS]
    refused = ask(app, "GET", "/selection/export")
    assert refused.error["message"].startswith("at most 5 documents can be exported")


LONG = "a" * 1500
ODD = ["=1+1", "-2", '"a\\nb"', "a\nb", f"{LONG}1", f"{LONG}2"]


@pytest.fixture(scope="module")
def odd(tmp_path_factory: pytest.TempPathFactory) -> Starlette:
    texts = ["@sum", "\tsea", "+sea", "sea", "sea " * 900, "room"]
    columns = {"text": texts, "name": ODD, "x": [LONG, "=cmd", None, "=", "", "b"]}
    table = pa.table({**columns, "n": [-1, 2**60, 3, 4, 5, 6]})
    model = dv.fit(texts, dv.WordVectors(["sea", "room"], np.eye(2)), "unit-sum")
    path = tmp_path_factory.mktemp("odd") / "c.idx"
    built = dv.build_collection(model, table, path, id_column="name", keep=["x", "n"])
    return create_app(built, limits=Limits(workers=2, seconds=600))


def test_exports_are_whole_and_run_nothing_in_a_spreadsheet(odd: Starlette) -> None:
    safe = ask(odd, "GET", "/selection/export").body.decode()
    rows = list(csv.DictReader(io.StringIO(safe, newline="")))
    assert [row["id"] for row in rows] == ["'=1+1", "'-2", *ODD[2:]]
    assert [row["text"] for row in rows][:3] == ["'@sum", "'\tsea", "'+sea"]
    assert len(rows[4]["text"]) == 3600
    assert [row["x"] for row in rows] == [LONG, "'=cmd", "", "'=", "", "b"]
    assert [row["n"] for row in rows][:2] == ["-1", str(2**60)]
    raw = ask(odd, "GET", "/selection/export", query="formulas=true").body.decode()
    assert [row["id"] for row in csv.DictReader(io.StringIO(raw, newline=""))] == ODD


def test_ids_in_a_file_are_told_apart(odd: Starlette, tmp_path: Path) -> None:
    body = ask(odd, "GET", "/selection/export", query="format=ids").body
    assert len(body.splitlines()) == len(ODD)
    (tmp_path / "ids.txt").write_bytes(body)
    assert read_ids(str(tmp_path / "ids.txt")) == ODD


def test_a_document_is_whole(odd: Starlette) -> None:
    found = ask(odd, "GET", "/documents", query="id=%3D1%2B1").json
    assert found["columns"] == {"x": LONG, "n": -1}


def test_a_map_in_a_file_holds_texts_as_data_and_nothing_from_elsewhere(
    collection: dv.Collection,
) -> None:
    page = map_page(MapView.of(collection), "</title><script>")
    assert page.count("</script>") == 2  # the data, and the program
    assert "<script>alert" not in page
    assert "default-src 'none'" in page
    assert not any(one in page for one in ("http://", "https://", "@import", "url("))
    assert "import {" not in bundle()
    assert "{{" not in page.split("<script", 1)[0]


def test_a_picture_of_a_map_is_written(collection: dv.Collection, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    from deltavec.server.page.offline import save_picture

    map_view = MapView.of(collection)
    for name, by in (("a.png", "tags"), ("a.svg", None), ("b.png", "cluster")):
        save_picture(map_view, tmp_path / name, by=by, dark=by is None)
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
    assert "<svg" in (tmp_path / "a.svg").read_text("utf-8")
