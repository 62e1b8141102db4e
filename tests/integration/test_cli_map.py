"""``deltavec map`` and ``index build --map``: a map that is stored, a page on its own, pictures."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet

import deltavec as dv
from support.browser import Browser
from support.explorer_page import READY, texts
from support.typed import Deltavec

# Whatever is written on a canvas, from the first line of the page on.
WRITTEN = """
window.written = [];
const write = CanvasRenderingContext2D.prototype.fillText;
CanvasRenderingContext2D.prototype.fillText = function (text, ...place) {
  window.written.push(text);
  return write.call(this, text, ...place);
};
"""
HOSTILE = "</script><img src=http://127.0.0.1:9/x.png onerror=missing()>"


@pytest.fixture
def drawn(lee: Path, tmp_path: Path) -> Path:
    """A collection of one's own, to be drawn."""
    return Path(shutil.copytree(lee, tmp_path / "lee.idx"))


def open_from_disk(window: Browser, page: Path) -> None:
    """Open a page; it asks nobody for anything and complains of nothing."""
    window.sized(1280, 800)
    script = window.call("Page.addScriptToEvaluateOnNewDocument", source=WRITTEN)
    window.visit("about:blank")
    window.show(page)
    window.until(READY)
    window.settle()
    window.call("Page.removeScriptToEvaluateOnNewDocument", **script)
    assert window.addresses == [page.as_uri()]
    assert window.complaints == []


def test_the_page_opens_from_disk_and_shows_the_names_of_topics(
    drawn: Path, window: Browser, deltavec: Deltavec
) -> None:
    page = drawn.with_name("map.html")
    done = deltavec("map", drawn, "-o", page, "--json")
    assert done.code == 0, done.stderr
    assert json.loads(done.stdout)["output"] == str(page)
    stored = dv.open_collection(drawn).map
    assert stored is not None
    open_from_disk(window, page)
    assert texts(window, "#size") == ["350 documents"]
    names = {name.text for name in stored.names if name.level == 0}
    written = " ".join(window.evaluate("window.written"))
    shown = [name for name in names if name in written]
    assert len(shown) >= 4  # those that stand in nobody's way
    window.evaluate("document.getElementById('query').focus()")
    window.write("sydney")
    window.until("!document.getElementById('chosen').hidden")
    assert window.complaints == []


def test_markup_odd_ids_and_lists_are_data_on_the_page(
    tmp_path: Path, window: Browser, deltavec: Deltavec
) -> None:
    table = pa.table(
        {
            "id": ["a/b", 'c"d', "e'f", "<b>", HOSTILE],
            "text": [f"quiet sea {HOSTILE}", "loud street", "quiet garden", HOSTILE, "sea street"],
            HOSTILE: [["x", HOSTILE], [], None, ["y"], ["x"]],
        }
    )
    parquet.write_table(table, tmp_path / "odd.parquet")
    deltavec("fit", tmp_path / "odd.parquet", "-o", tmp_path / "odd.dv")
    options = ["--id-column", "id", "--keep", HOSTILE, "--map"]
    source, built = tmp_path / "odd.parquet", tmp_path / "odd.idx"
    done = deltavec("index", "build", tmp_path / "odd.dv", source, *options, "-o", built)
    assert done.code == 0, done.stderr
    done = deltavec("map", built, "-o", tmp_path / "odd.html")
    assert done.code == 0, done.stderr
    open_from_disk(window, tmp_path / "odd.html")
    assert window.evaluate("document.images.length") == 0
    assert texts(window, "#size") == ["5 documents"]


@pytest.mark.parametrize("documents", [["quiet sea"], ["quiet sea"] * 30])
def test_one_document_and_equal_ones_have_a_page_and_a_picture(
    documents: list[str], tmp_path: Path, deltavec: Deltavec
) -> None:
    pytest.importorskip("matplotlib")
    vectors = dv.WordVectors(["quiet", "sea"], [[1.0, 0.5], [0.0, 1.0]])
    dv.build_collection(dv.fit(documents, vectors, "idf-sum"), documents, tmp_path / "few.idx")
    for name in ("few.html", "few.png"):
        done = deltavec("map", tmp_path / "few.idx", "-o", tmp_path / name)
        assert done.code == 0, done.stderr
        assert (tmp_path / name).stat().st_size > 1000


def test_a_picture_has_the_colors_that_were_asked_for(drawn: Path, deltavec: Deltavec) -> None:
    pytest.importorskip("matplotlib")
    column = dv.open_collection(drawn).columns[0]
    pictures = []
    for number, options in enumerate(([], ["--dark"], ["--color-by", column])):
        picture = drawn.with_name(f"{number}.png")
        assert deltavec("map", drawn, "-o", picture, *options).code == 0
        pictures.append(picture.read_bytes())
    assert len(set(pictures)) == 3
    assert all(one.startswith(b"\x89PNG") for one in pictures)
    assert deltavec("map", drawn, "-o", drawn.with_name("a.svg")).code == 0
    assert "<svg" in drawn.with_name("a.svg").read_text("utf-8")


def test_a_map_is_drawn_while_a_collection_is_built_and_drawn_once(
    small: Path, tmp_path: Path, deltavec: Deltavec
) -> None:
    built = tmp_path / "reviews.idx"
    source = [small / "reviews.dv", small / "reviews.csv", "--id-column", "id"]
    assert deltavec("index", "build", *source, "-o", built).code == 0
    assert dv.open_collection(built).map is None
    assert deltavec("index", "build", *source, "--map", "-o", built).code == 0
    assert dv.open_collection(built).map is not None
    files = sorted(path.name for path in built.iterdir())
    assert deltavec("map", built).code == 0
    assert sorted(path.name for path in built.iterdir()) == files
    assert deltavec("map", built, "--again").code == 0
    assert dv.open_collection(built).map is not None


def test_what_cannot_be_drawn_is_one_line(drawn: Path, small: Path, deltavec: Deltavec) -> None:
    for arguments, said in (
        ([drawn, "-o", "map.pdf"], ".html"),
        ([drawn, "-o", drawn.with_name("m.png"), "--color-by", "nothing"], "'nothing'"),
        ([drawn, "-o", drawn.with_name("none") / "map.html"], "none"),
        ([small / "reviews.dv"], "reviews.dv"),
        ([drawn.with_name("none.idx")], "none.idx"),
    ):
        done = deltavec("map", *arguments)
        assert done.code in (1, 2)
        assert said in done.stderr
        assert not done.stdout
