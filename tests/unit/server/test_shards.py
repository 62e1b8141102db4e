"""A server in front of others searches their collections as one."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from starlette.applications import Starlette
from tests.support.served import ask, on_a_socket

import deltavec as dv
from deltavec.server.app import create_app, create_front

FORMS = [stem + end for stem in ("flow", "wing", "plate", "layer") for end in ("", "s", "ed")]
TEXTS = [f"{a} {b} near the {a}s" for a in FORMS for b in FORMS[:7]] * 2
QUERIES = ["wings in a flow", "plate -wing", '"layers" of the plate', "the", "zzz", ""]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> dv.Collection:
    folder = tmp_path_factory.mktemp("whole")
    names = [f"d/{n}" for n in range(len(TEXTS))]
    table = pa.table(
        {"text": TEXTS, "name": names, "even": [n % 2 == 0 for n in range(len(TEXTS))]}
    )
    return dv.build_collection(
        dv.fit(TEXTS), table, folder / "all.idx", id_column="name", keep=["even"],
        as_collection=False,
    )  # fmt: skip


@pytest.fixture(scope="module")
def addresses(whole: dv.Collection) -> Iterator[list[str]]:
    """Two servers with a part of the documents each, and the stems of all."""
    ids = whole.ids.to_pylist()
    with ExitStack() as servers:
        found = []
        for part, gone in (("a", ids[40:]), ("b", ids[:40])):
            folder = whole.path.parent / f"{part}.idx"
            whole.backup(folder)
            collection = dv.open_collection(folder).remove(gone)
            found.append(servers.enter_context(on_a_socket(create_app(collection, token="secret"))))
        yield found


@pytest.fixture(scope="module")
def front(addresses: list[str]) -> Iterator[Starlette]:
    with in_front(addresses) as app:
        yield app


@contextmanager
def in_front(addresses: list[str], token: str | None = "secret") -> Iterator[Starlette]:
    app = create_front(addresses, token=token)
    try:
        yield app
    finally:
        app.state.api.stop()


def get(app: Starlette, path: str, **fields: Any) -> Any:
    headers = {"authorization": "Bearer secret"}
    return ask(app, "POST", path, body=fields, headers=headers)


@pytest.mark.parametrize("query", QUERIES)
@pytest.mark.parametrize("by", ["hybrid", "keyword", "semantic"])
def test_results_are_those_of_one_collection(
    front: Starlette, whole: dv.Collection, query: str, by: str
) -> None:
    for filter in (None, "even == true"):
        theirs = whole.search(query, k=20, by=by, filter=filter)
        asked = {"query": query, "by": by, "k": 20, **({"filter": filter} if filter else {})}
        answer = get(front, "/search", **asked).json
        ours = answer["results"]
        assert np.allclose([one["score"] for one in ours], [h.score for h in theirs], atol=1e-6)
        scores = {h.id: h.score for h in whole.search(query, k=999, by=by, filter=filter)}
        assert np.allclose(
            [scores[one["id"]] for one in ours], [h.score for h in theirs], atol=1e-6
        )
        assert (answer["by"], answer["unknown"]) == (by, whole.query(query, by=by).unknown)
    page = get(front, "/search", query=query, by=by, k=5, offset=10).json["results"]
    everything = get(front, "/search", query=query, by=by, k=15).json["results"]
    assert page == everything[10:]


def test_explanations_add_up_to_the_score_of_all(front: Starlette, whole: dv.Collection) -> None:
    for id in ("d/3", "d/77"):  # one of each server
        theirs, ours = (
            whole.why("wings in a flow", id),
            get(front, "/why", query="wings in a flow", id=id),
        )
        assert np.isclose(ours.json["score"], theirs.score, atol=1e-6)
        shares = {
            one["word"]: round(one["keyword"] + one["semantic"], 5) for one in ours.json["words"]
        }
        assert shares == {word.word: round(word.share, 5) for word in theirs.words}
    explained = get(front, "/search", query="wings", explain=True).json["results"][0]
    assert explained["pieces"]
    assert explained["matched"]
    assert explained["position"] is None


def test_documents_and_counts_come_from_the_servers(
    front: Starlette, addresses: list[str], whole: dv.Collection
) -> None:
    headers = {"authorization": "Bearer secret"}
    for id in ("d/3", "d/77"):
        assert ask(front, "GET", f"/documents/{id}", headers=headers).json["text"] == whole.text(id)
    assert ask(front, "GET", "/documents/nope", headers=headers).status == 404
    info = ask(front, "GET", "/info", headers=headers).json
    assert info["documents"] == len(whole)
    assert info["shards"] == [
        {"address": addresses[0], "documents": 40},
        {"address": addresses[1], "documents": len(whole) - 40},
    ]
    assert ask(front, "GET", "/ready").status == 200
    assert ask(front, "GET", "/docs").status == 200
    assert ask(front, "GET", "/metrics", headers=headers).status == 200
    assert ask(front, "GET", "/info").status == 401


def test_what_cannot_be_answered_is_refused(
    front: Starlette, addresses: list[str], tmp_path: Path
) -> None:
    refused = [{"sort": "even"}, {"broad": True}, {"offset": 95, "k": 10}, {"filter": "nope == 1"}]
    for fields in refused:
        assert get(front, "/search", query="wing", **fields).status == 422, fields
    other = dv.build_collection(dv.fit(TEXTS[:50]), TEXTS[:50], tmp_path / "other.idx")
    with on_a_socket(create_app(other, token="secret")) as third:
        with in_front([addresses[0], third]) as app:
            mixed = get(app, "/search", query="wing")
        assert (mixed.status, "different models" in mixed.error["message"]) == (503, True)
    with in_front([addresses[0], third]) as app:
        silent = get(app, "/search", query="wing")
        assert (silent.status, f"{third} does not answer" in silent.error["message"]) == (503, True)
        assert ask(app, "GET", "/ready").status == 503
    with in_front(addresses, token=None) as app:
        stranger = get(app, "/search", query="wing")
    assert (stranger.status, "answers 401" in stranger.error["message"]) == (503, True)
    with pytest.raises(dv.InputError, match="expected an address such as"):
        create_front(["ftp://a"])


def test_a_kept_connection_that_was_closed_is_opened_again(front: Starlette) -> None:
    assert get(front, "/search", query="wing").status == 200
    for server in front.state.api.servers:
        assert server.kept
        for connection in server.kept:
            connection.sock.shutdown(socket.SHUT_RDWR)
    assert get(front, "/search", query="wing").status == 200


def test_statistics_of_a_stranger_are_checked(addresses: list[str], whole: dv.Collection) -> None:
    app = create_app(whole)
    good = {"documents": 9, "lengths": [90, 900], "terms": [["wing"]], "rows": [[1.0] * 7],
            "cosines": [9, 1.0, 2.0]}  # fmt: skip
    assert (
        ask(app, "POST", "/shards/search", body={"query": "wing", "statistics": good}).status == 200
    )
    for wrong in (
        {"rows": []}, {"rows": [[1.0] * 6]}, {"rows": [[-1.0] * 7]}, {"cosines": [9, "nan", 2]},
        {"documents": -1}, {"lengths": [1e99, 1]}, {"other": 1},
    ):  # fmt: skip
        body = {"query": "wing", "statistics": {**good, **wrong}}
        assert ask(app, "POST", "/shards/search", body=body).status == 422, wrong
