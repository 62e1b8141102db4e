"""What is served follows the folder, whole state by whole state."""

from __future__ import annotations

import gc
import json
import logging
import weakref
from collections.abc import Iterator
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np
import pyarrow as pa
import pytest

import deltavec as dv
from deltavec.collection.map.storage import Positions
from deltavec.server import reload as following
from deltavec.server.app import create_app
from deltavec.server.explorer import Explorer
from deltavec.server.explorer import document as shown_document
from deltavec.server.limits import Limits
from deltavec.server.map_view import Drawn, MapView, describe_topics, write_topics
from deltavec.server.metrics import Metrics
from deltavec.server.reload import Reloader
from deltavec.server.requests import DocumentRequest
from support.served import PLACED, TEXTS, on_a_socket, small_collection


@pytest.fixture
def collection(tmp_path: Path) -> dv.Collection:
    return small_collection(tmp_path)


@pytest.fixture
def live(collection: dv.Collection) -> Reloader:
    return Reloader(Explorer(collection, MapView.of(collection), Limits(), "reviews"), Metrics())


def text_of(live: Reloader, name: str) -> str:
    found = shown_document(live.explorer, DocumentRequest(id=name))
    return str(json.loads(found)["text"])


def document(name: str, text: str) -> pa.Table:
    return pa.table({"name": [name], "text": [text], "stars": [1], "kind": ["new"]})


def test_a_look_finds_what_has_changed_and_nothing_else(live: Reloader) -> None:
    first = live.explorer
    live.check()
    live.check()
    assert live.explorer is first
    first.collection.add(document("new", "a quiet bed"), update=True)
    live.check()
    assert live.explorer is not first
    assert (len(live.explorer.collection), len(first.collection)) == (len(TEXTS) + 1, len(TEXTS))
    assert text_of(live, "new") == "a quiet bed"
    assert first.collection.find_row("new") is None
    again = live.explorer
    live.check()
    assert live.explorer is again


def test_the_map_stays_and_what_is_new_is_placed_on_it(live: Reloader) -> None:
    first = live.explorer
    collection = first.collection.add(document("copy", TEXTS["coffee"])).remove(["sea"])
    live.check()
    there, before = live.explorer, first.map_view.positions
    rows = {name: row for row, name in enumerate(collection.ids.to_pylist())}
    old = {name: row for row, name in enumerate(first.collection.ids.to_pylist())}
    for name in TEXTS.keys() - {"sea"}:
        placed = there.map_view.positions.places[rows[name]]
        assert np.allclose(placed, before.places[old[name]], atol=1e-6, equal_nan=True)
    copy, coffee = there.map_view.positions.of(np.array([rows["copy"], rows["coffee"]]))
    assert copy == coffee
    assert len(there.map_view.positions.shown) == len(PLACED)  # one more, and one less
    named = {tuple(words) for words in first.map_view.clusters.names}
    clusters = there.map_view.clusters
    assert {tuple(words) for words in clusters.names} <= named
    assert len(clusters.labels) == len(collection)
    assert clusters.labels[rows["copy"]] == clusters.labels[rows["coffee"]]
    assert (clusters.labels >= 0).sum() == sum(clusters.sizes)


def test_maps_that_several_processes_make_are_the_same_whatever_they_saw(live: Reloader) -> None:
    start = live.explorer.collection
    drawn = live.explorer.map_view.drawn
    start.add(document("new", "a quiet bed"))
    live.check()
    start.remove(["sea"])
    live.check()
    other = MapView(dv.open_collection(start.path), drawn, points=100)
    assert other.map_points() == live.explorer.map_view.map_points()
    assert describe_topics(other.clusters) == describe_topics(live.explorer.map_view.clusters)


def test_processes_that_share_a_file_have_the_same_topics_whatever_they_saw(
    live: Reloader, tmp_path: Path
) -> None:
    start, file = live.explorer.collection, tmp_path / "topics.json"
    view = MapView.of(start, topics=file)
    assert view.color_names == live.explorer.map_view.color_names
    assert not view.is_known(None)  # reading them may take a while
    write_topics(start, file)
    assert view.clusters.names == live.explorer.map_view.clusters.names
    assert view.is_known(None)
    later = start.add(document("new", "a quiet bed"))
    seen, unseen = view.after(later), MapView.of(later, topics=file)
    assert describe_topics(seen.clusters) == describe_topics(unseen.clusters)
    write_topics(dv.build_collection(start.model, ["sea", "bed"], tmp_path / "two.idx"), file)
    assert MapView.of(later, topics=file).clusters is None


def test_a_map_without_axes_keeps_the_places_of_documents_that_stay(
    collection: dv.Collection,
) -> None:
    places = np.arange(2 * len(TEXTS), dtype=np.float32).reshape(-1, 2) / 20
    placed = Positions("neighbors", places, np.arange(len(TEXTS)), ())
    drawn = Drawn(collection.description, placed, None, collection.ids, [])
    after = collection.add(document("new", "a quiet bed")).remove(["sea"])
    shown = MapView(after, drawn, points=100)
    assert np.array_equal(shown.positions.places[:-1], places[1:])
    assert np.isfinite(shown.positions.places[-1]).all()  # among its neighbors
    assert shown.positions.shown.tolist() == list(range(len(TEXTS)))


def test_documents_without_a_vector_have_no_cluster_and_none_is_no_clusters(live: Reloader) -> None:
    live.explorer.collection.remove([name for name in TEXTS if name not in ("empty", "sea")])
    live.check()
    assert live.explorer.map_view.clusters.sizes == [1]
    live.explorer.collection.remove(["sea"])
    live.check()
    assert live.explorer.map_view.clusters is None


def test_a_collection_built_anew_is_drawn_anew(live: Reloader) -> None:
    path = live.explorer.collection.path
    texts = [f"{text} and then" for text in TEXTS.values()]
    model = dv.fit(texts, dv.train_vectors(texts, dimensions=4), "unit-sum")
    dv.build_collection(model, texts, path)
    live.check()
    assert live.explorer.collection.model.fingerprint == model.fingerprint
    assert live.explorer.map_view.drawn.description == live.explorer.collection.description


def test_what_cannot_be_read_is_told_once_and_the_old_state_goes_on(
    live: Reloader, caplog: pytest.LogCaptureFixture
) -> None:
    first = live.explorer
    stated = first.collection.path / "collection.json"
    whole = stated.read_bytes()
    with caplog.at_level(logging.INFO, "deltavec.server"):
        stated.write_bytes(b"{}")
        live.check()
        live.check()
        assert live.explorer is first
        stated.unlink()
        live.check()
        assert text_of(live, "sea") == TEXTS["sea"]
        stated.write_bytes(whole)
        live.check()
        first.collection.remove(["sea"])
        live.check()
    said = [(record.levelname, record.message.split(";")[0]) for record in caplog.records]
    unread = ("ERROR", "the collection cannot be read")
    assert said == [unread, unread, ("INFO", "collection changed")]
    assert len(live.explorer.collection) == len(TEXTS) - 1


def test_a_mistake_of_ours_is_logged_and_the_next_look_is_taken(
    live: Reloader, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(following, "SECONDS", 0.01)
    path = live.explorer.collection.path
    broken, live.explorer = live.explorer, None  # type: ignore[assignment]
    with caplog.at_level(logging.ERROR, "deltavec.server"):
        live.start()
        while not caplog.records:
            live.stopping.wait(0.01)
        live.explorer = broken
        dv.open_collection(path).remove(["sea"])
        while live.explorer is broken:
            live.stopping.wait(0.01)
        live.stop()
    assert "AttributeError" in str(caplog.records[0].fields)  # type: ignore[attr-defined]


def test_an_old_state_is_let_go(live: Reloader) -> None:
    live.explorer.collection.remove(["sea"])
    live.check()
    kept = weakref.ref(live.explorer.collection)
    live.explorer.collection.remove(["coffee"])
    gc.disable()
    try:
        live.check()
        assert kept() is None
    finally:
        gc.enable()


@pytest.fixture
def address(collection: dv.Collection, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setattr(following, "SECONDS", 0.02)
    with on_a_socket(create_app(collection)) as found:
        yield found


def test_every_address_follows(address: str, collection: dv.Collection) -> None:
    connection = HTTPConnection(urlsplit(address).netloc)

    def answered(path: str) -> tuple[int, str]:
        connection.request("GET", path)
        answer = connection.getresponse()
        return answer.status, answer.read().decode()

    assert answered("/documents/new")[0] == 404
    collection.add(document("new", "a quiet bed of xylophones")).remove(["sea"])
    while answered("/documents/new")[0] == 404:
        pass
    assert '"id":"new"' in answered("/search?query=xylophones&by=keyword")[1]
    assert '"new"' in answered("/map")[1]
    assert '"id":"new"' in answered("/list?k=100")[1]
    assert '"id":"new"' in answered("/similar/coffee?k=99")[1]
    assert f'"documents":{len(TEXTS)}' in answered("/info")[1]
    assert answered("/similar/sea")[0] == 404
    texts = ["a quiet sea", "the room"]
    other = dv.fit(texts, dv.WordVectors(["quiet", "room"], np.eye(2)), "unit-sum")
    dv.build_collection(other, texts, collection.path)
    while other.fingerprint not in answered("/v1/models")[1]:
        pass
    assert answered("/documents/new")[0] == 404
    connection.close()
