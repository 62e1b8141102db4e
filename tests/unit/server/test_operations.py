"""What operators and other pages ask of the server: readiness, counts, a log, CORS, a proxy."""

from __future__ import annotations

import asyncio
import gzip
import json
import logging
import os
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from starlette.applications import Starlette

import deltavec as dv
from deltavec.errors import InputError
from deltavec.server.app import create_app
from deltavec.server.limits import Limits
from deltavec.server.metrics import JsonLines
from deltavec.server.routes import OPERATIONS
from support.served import ask, asked, small_collection

ORIGIN = "https://example.org"


@pytest.fixture(scope="module")
def collection(tmp_path_factory: pytest.TempPathFactory) -> dv.Collection:
    return small_collection(tmp_path_factory.mktemp("operations"))


@pytest.fixture
def app(collection: dv.Collection) -> Starlette:
    return create_app(collection)


def test_every_address_of_the_api_is_counted_under_its_name(app: Starlette) -> None:
    assert set(ask(app, "GET", "/openapi.json").json["paths"]) == {
        one.address for one in OPERATIONS
    }
    for path in ("/documents/sea", "/documents/room/1", "/documents/nope", "/", "/elsewhere"):
        ask(app, "GET", path)
    metrics = ask(app, "GET", "/metrics")
    assert metrics.headers["content-type"].startswith("text/plain; version=0.0.4")
    text = metrics.body.decode()
    assert 'deltavec_requests_total{address="/documents/{id}",status="200"} 2' in text
    assert 'deltavec_requests_total{address="/documents/{id}",status="404"} 1' in text
    assert 'deltavec_requests_total{address="other",status="200"} 2' in text
    assert 'deltavec_requests_total{address="other",status="404"} 1' in text


def test_readiness_ends_while_the_queue_is_full_and_the_queue_is_told(
    collection: dv.Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, free = threading.Event(), threading.Event()

    def slow(self: object, *arguments: Any, **options: Any) -> Any:
        begun.set()
        free.wait()
        return {}

    monkeypatch.setattr("deltavec.server.explorer.plain", slow)
    app = create_app(collection, limits=Limits(workers=1, waiting=1), token="secret")
    assert ask(app, "GET", "/ready").json == {"status": "ready"}
    headers = {"authorization": "Bearer secret"}

    async def full() -> tuple[int, int, str]:
        two = [asyncio.ensure_future(asked(app, "GET", "/info", headers=headers)) for _ in "ab"]
        await asyncio.to_thread(begun.wait)
        status = 200
        while status == 200:  # until the second waits
            status = (await asked(app, "GET", "/ready")).status
        counts = (await asked(app, "GET", "/metrics", headers=headers)).body.decode()
        free.set()
        await asyncio.gather(*two)
        return status, (await asked(app, "GET", "/ready")).status, counts

    refused, taken, counts = asyncio.run(full())
    assert (refused, taken) == (503, 200)
    assert f'deltavec_requests_working{{process="{os.getpid()}"}} 1' in counts
    assert f'deltavec_requests_waiting{{process="{os.getpid()}"}} 1' in counts
    assert ask(app, "GET", "/metrics").status == 401


def test_the_log_tells_each_request_and_none_of_its_content(
    app: Starlette, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "deltavec.server")
    headers = {"authorization": "Bearer hidden-token"}
    ask(app, "GET", "/search", query="query=hidden-query", headers=headers)
    ask(app, "GET", "/documents/room/1", headers=headers)
    ask(app, "GET", "/hidden-path", query="hidden-query", headers=headers)
    ask(app, "HIDDEN", "/search", headers=headers)
    ask(app, "POST", "/v1/embeddings", body={"input": "hidden-text", "model": "deltavec"})
    lines = [JsonLines().format(record) for record in caplog.records]
    told = [json.loads(line) for line in lines]
    assert [(one["method"], one["address"], one["status"]) for one in told] == [
        ("GET", "/search", 200),
        ("GET", "/documents/{id}", 200),
        ("GET", "other", 404),
        ("other", "/search", 405),
        ("POST", "/v1/embeddings", 200),
    ]
    for line, one in zip(lines, told, strict=True):
        assert set(one) >= {"time", "level", "event", "seconds", "bytes", "client"}
        assert "hidden" not in line.lower()
        assert "room/1" not in line
        assert "\n" not in line


def test_pages_of_the_origins_named_may_ask_and_no_others(collection: dv.Collection) -> None:
    app = create_app(collection, origins=[ORIGIN], token="secret")
    wanted = {
        "origin": ORIGIN,
        "access-control-request-method": "POST",
        "access-control-request-headers": "authorization,content-type",
    }
    allowed = ask(app, "OPTIONS", "/v1/embeddings", headers=wanted)  # which shows no token
    assert allowed.status == 200
    assert allowed.headers["access-control-allow-origin"] == ORIGIN
    refused = ask(app, "OPTIONS", "/v1/embeddings", headers={**wanted, "origin": "https://evil"})
    assert "access-control-allow-origin" not in refused.headers
    shown = {"origin": ORIGIN, "authorization": "Bearer secret"}
    assert ask(app, "GET", "/info", headers=shown).headers["access-control-allow-origin"] == ORIGIN
    unknown = ask(app, "GET", "/info", headers={"origin": ORIGIN})
    assert unknown.status == 401
    assert unknown.headers["access-control-allow-origin"] == ORIGIN
    without = create_app(collection)
    assert "access-control-allow-origin" not in ask(without, "GET", "/info", headers=shown).headers


def test_behind_a_proxy_every_address_works_with_its_path_and_without(
    collection: dv.Collection,
) -> None:
    app = create_app(collection, root_path="/our/reviews", token="secret")
    for path in ("/", "/health", "/page/explorer.css", "/docs", "/openapi.json"):
        whole = ask(app, "GET", f"/our/reviews{path}")
        assert whole.status == 200
        assert ask(app, "GET", path).body == whole.body
    assert ask(app, "GET", "/our/reviews/info").status == 401
    headers = {"authorization": "Bearer secret"}
    assert ask(app, "GET", "/our/reviews/documents/room/1", headers=headers).status == 200
    assert ask(app, "GET", "/our/reviewsinfo", headers=headers).status == 404
    servers = ask(app, "GET", "/openapi.json").json["servers"]
    assert [one["url"] for one in servers] == ["/our/reviews"]


def test_the_page_and_the_reference_name_no_address_from_the_root(app: Starlette) -> None:
    for path in ("/", "/docs"):
        text = ask(app, "GET", path).body.decode()
        assert 'href="/' not in text
        assert 'src="/' not in text


@pytest.mark.parametrize("origin", ["", "example.org", "https://a.b/", "https://a b", "null"])
def test_what_is_no_origin_is_refused(collection: dv.Collection, origin: str) -> None:
    with pytest.raises(InputError, match="expected an origin such as"):
        create_app(collection, origins=[origin])


@pytest.mark.parametrize("path", ["reviews", "/reviews/", "/", "/a?b", "/a b"])
def test_what_cannot_stand_before_addresses_is_refused(
    collection: dv.Collection, path: str
) -> None:
    with pytest.raises(InputError, match="expected a path such as /reviews"):
        create_app(collection, root_path=path)


def test_a_request_keeps_the_id_of_a_proxy_in_response_and_log(
    app: Starlette, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "deltavec.server")
    given = ["abc-1.2_X", "two words", "x" * 65, ""]
    sent = [ask(app, "GET", "/health", headers={"X-Request-ID": one}) for one in given]
    ids = [answer.headers["x-request-id"] for answer in sent]
    assert ids[0] == "abc-1.2_X"
    assert all(len(made) == 16 for made in ids[1:])
    assert len({*ids}) == 4
    assert [json.loads(JsonLines().format(one))["id"] for one in caplog.records] == ids


def test_long_responses_are_compressed_for_clients_that_accept_it(app: Starlette) -> None:
    plain = ask(app, "GET", "/openapi.json")
    packed = ask(app, "GET", "/openapi.json", headers={"Accept-Encoding": "gzip"})
    assert "content-encoding" not in plain.headers
    assert packed.headers["content-encoding"] == "gzip"
    assert gzip.decompress(packed.body) == plain.body
    short = ask(app, "GET", "/health", headers={"Accept-Encoding": "gzip"})
    assert "content-encoding" not in short.headers


def test_the_schema_says_how_clients_show_their_token(app: Starlette) -> None:
    schema = ask(app, "GET", "/openapi.json").json
    assert schema["components"]["securitySchemes"]["token"]["scheme"] == "bearer"
    assert schema["security"] == [{}, {"token": []}]


def test_a_query_is_encoded_for_another_store(collection: dv.Collection, tmp_path: Path) -> None:
    refused = ask(create_app(collection), "GET", "/v1/query", query="query=sea")
    assert refused.status == 404
    assert "--encoder" in refused.json["error"]["message"]
    made = collection.export(tmp_path / "out", "opensearch", name="reviews")
    app = create_app(collection, encoder=tmp_path / "out" / "encoder")
    found = ask(app, "GET", "/v1/query", query="query=quiet%20sea&k=3").json
    expected = made.query("quiet sea")
    assert (found["store"], found["name"], found["sql"]) == ("opensearch", "reviews", None)
    assert found["terms"] == expected.terms.tolist()
    assert found["weights"] == expected.weights.tolist()
    assert found["vector"] == expected.vector.tolist()
    assert found["request"] == expected.request(3)
    for_sql = replace(made, store="pgvector")
    for_sql.save(tmp_path / "sql.query")
    app = create_app(collection, encoder=tmp_path / "sql.query")
    found = ask(app, "GET", "/v1/query", query="query=quiet%20sea").json
    assert found["sql"] == for_sql.query("quiet sea").sql(10)
    assert found["request"] is None
