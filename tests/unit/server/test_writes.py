"""Documents are written over HTTP: durable when answered, in their order, and only with a token."""

from __future__ import annotations

import json
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from starlette.applications import Starlette

import deltavec as dv
from deltavec.collection.manifest import writing
from deltavec.server.app import create_app
from deltavec.server.limits import Limits
from deltavec.server.requests import RemoveByFilterRequest, RemoveRequest, WriteRequest
from support.served import ask, small_collection

TOKEN = {"authorization": "Bearer write"}


@pytest.fixture
def app(tmp_path: Path) -> Starlette:
    return create_app(small_collection(tmp_path), token="read", write_token="write")


def post(app: Starlette, *documents: dict[str, Any], **headers: str) -> Any:
    body = {"documents": list(documents)}
    return ask(app, "POST", "/documents", body=body, headers={**TOKEN, **headers})


def live(app: Starlette) -> dv.Collection:
    return app.state.api.reloader.explorer.collection


def test_documents_are_upserted_and_seen_at_once(app: Starlette) -> None:
    new = {"id": "new", "text": "a zeppelin over the sea", "stars": 9, "kind": None}
    for _ in range(2):  # sent again, it changes nothing
        assert post(app, new, {"id": "sea", "text": "no water", "stars": 1}).json == {"written": 2}
        found = ask(app, "GET", "/documents/new", headers={"authorization": "Bearer read"}).json
        assert (found["text"], found["columns"]["stars"]) == (new["text"], 9)
        on_disk = dv.open_collection(live(app).path)
        assert (len(on_disk), on_disk.text("sea")) == (9, "no water")


def test_lines_of_json_are_documents(app: Starlette) -> None:
    lines = '{"id": "a", "text": "one"}\n\n{"id": "b", "text": "two"}\n'
    headers = {**TOKEN, "content-type": "application/x-ndjson"}
    assert ask(app, "POST", "/documents", body=lines.encode(), headers=headers).json == {
        "written": 2
    }
    assert ask(app, "POST", "/documents", body=b'{"id":', headers=headers).status == 400
    assert live(app).text("b") == "two"


def test_documents_are_removed_by_id_and_by_filter(app: Starlette) -> None:
    assert ask(app, "DELETE", "/documents/room/1", headers=TOKEN).json == {"removed": 1}
    assert ask(app, "DELETE", "/documents/room/1", headers=TOKEN).json == {"removed": 0}
    removed = ask(app, "DELETE", "/documents", query="filter=kind+%3D%3D+'food'", headers=TOKEN)
    assert removed.json == {"removed": 3}
    assert len(dv.open_collection(live(app).path)) == 4
    assert ask(app, "GET", "/stats", headers={"authorization": "Bearer read"}).json == {
        "documents": 4,
        "documents_added": 0,
        "documents_removed": 4,
        "segments": 1,
        "documents_deleted": 0,
        "coverage_added": None,
        "refit_due": False,
        "refit_reason": None,
        "coverage_at_fit": pytest.approx(1, abs=0.3),
    }


def test_writes_need_their_own_token(app: Starlette, tmp_path: Path) -> None:
    document = {"id": "x", "text": "y"}
    for headers in ({}, {"authorization": "Bearer read"}):
        refused = ask(app, "POST", "/documents", body={"documents": [document]}, headers=headers)
        assert (refused.status, refused.json["error"]["type"]) == (401, "unauthorized")
        assert ask(app, "DELETE", "/documents/sea", headers=headers).status == 401
    closed = create_app(live(app), token="read")
    for method, path in (("POST", "/documents"), ("DELETE", "/documents/sea")):
        refused = ask(closed, method, path, body={}, headers=TOKEN)
        assert (refused.status, "--write-token" in refused.json["error"]["message"]) == (403, True)
    assert len(live(app)) == 8


@pytest.mark.parametrize(
    ("document", "said"),
    [
        ({"id": "x"}, "has an id, a text"),
        ({"text": "x"}, "has an id, a text"),
        ({"id": 5, "text": "x"}, "documents: "),
        ({"id": "x", "text": "y", "stars": "many"}, "documents: "),
        ({"id": "x", "text": "y", "nope": 1}, "no others of id, text, stars, kind"),
        ({"id": "x", "text": "\ud800"}, "documents: "),
    ],
)
def test_what_does_not_fit_is_refused_alone(
    document: dict[str, Any], said: str, app: Starlette
) -> None:
    good = WriteRequest(documents=[{"id": "good", "text": "a quiet room"}])
    bad = WriteRequest(documents=[document])
    answers = [*app.state.api.writes.write([bad, good], 1, None)]
    assert (answers[0].status, said in answers[0].message) == (422, True)
    assert json.loads(answers[1]) == {"written": 1}
    assert live(app).text("good") == "a quiet room"
    if document.get("text") != "\ud800":  # no client can send that
        assert post(app, document).status == 422


def test_too_many_or_no_documents_are_refused(tmp_path: Path) -> None:
    app = create_app(small_collection(tmp_path), write_token="write", limits=Limits(batch=2))
    assert post(app).status == 422
    assert post(app, *[{"id": str(n), "text": "sea"} for n in range(3)]).status == 422


def test_numbered_documents_cannot_be_upserted(tmp_path: Path) -> None:
    built = dv.build_collection(small_collection(tmp_path).model, ["sea"] * 3, tmp_path / "n.idx")
    app = create_app(built, write_token="write")
    assert "numbered" in post(app, {"id": "1", "text": "x"}).json["error"]["message"]


def test_requests_are_applied_in_their_order_and_share_commits(app: Starlette) -> None:
    def put(text: str) -> WriteRequest:
        return WriteRequest(documents=[{"id": "x", "text": text}])

    before = live(app).description.additions
    batch = [put("one"), put("two"), RemoveRequest(id="x"), RemoveRequest(id="x"), put("three"),
             RemoveByFilterRequest(filter="id == 'sea'"), RemoveByFilterRequest(filter="stars >"),
             put("four")]  # fmt: skip
    answers = [*app.state.api.writes.write(batch, 1, None)]
    kinds = [json.loads(one) if isinstance(one, bytes) else one.status for one in answers]
    assert kinds == [
        *({"written": 1}, {"written": 1}, {"removed": 1}, {"removed": 0}, {"written": 1}),
        *({"removed": 1}, 422, {"written": 1}),
    ]
    assert live(app).text("x") == "four"
    assert live(app).find_row("sea") is None
    assert live(app).description.additions == before + 3


def test_many_clients_share_commits(app: Starlette) -> None:
    def put(number: int) -> Any:
        return post(app, {"id": f"n{number}", "text": "a quiet sea"}).json

    with ThreadPoolExecutor(8) as pool:
        assert [*pool.map(put, range(24))] == [{"written": 1}] * 24
    assert len(dv.open_collection(live(app).path)) == 32


def test_another_process_that_writes_is_waited_for(tmp_path: Path) -> None:
    app = create_app(small_collection(tmp_path), write_token="write", limits=Limits(seconds=2))
    held, done = threading.Event(), threading.Event()

    def hold() -> None:
        with writing(live(app).path):
            held.set()
            done.wait(10)

    thread = threading.Thread(target=hold)
    thread.start()
    held.wait(10)
    app.state.api.writes.seconds = 0.1
    refused = post(app, {"id": "x", "text": "y"})
    assert (refused.status, refused.json["error"]["type"]) == (503, "busy")
    done.set()
    thread.join()
    assert post(app, {"id": "x", "text": "y"}).json == {"written": 1}


def test_a_full_disk_changes_nothing(app: Starlette, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    refused = post(app, {"id": "x", "text": "y"})
    monkeypatch.undo()
    assert (refused.status, "nothing has changed" in refused.json["error"]["message"]) == (
        507,
        True,
    )
    assert live(app).find_row("x") is None
