"""Who may ask, how much, how many at once, and for how long."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable
from typing import Any

import pytest

from deltavec.server.batching import Pools
from deltavec.server.errors import RequestError
from deltavec.server.limits import Limits
from deltavec.server.metrics import JsonLines, Metrics
from deltavec.server.middleware import Guard, LimitMiddleware
from support.served import ask, asked


async def echo(scope: Any, receive: Any, send: Any) -> None:
    """Answers with the length of what came."""
    message = await receive()
    content = str(len(message["body"])).encode()
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": content})


async def failing(scope: Any, receive: Any, send: Any) -> None:
    raise KeyError("secret")


async def endless(scope: Any, receive: Any, send: Any) -> None:
    await asyncio.Event().wait()


def guarded(app: Any = echo, **options: Any) -> LimitMiddleware:
    settings = {"limits": Limits(body_bytes=100, seconds=20), "token": None, "loopback_only": True}
    return LimitMiddleware(app, Guard(**{**settings, **options}), ["/health"])


@pytest.mark.parametrize(
    "host", ["localhost", "LOCALHOST:80", "127.0.0.1:8000", "[::1]:8000", "127.9.9.9", "localhost."]
)
def test_names_of_this_machine_are_let_in(host: str) -> None:
    assert ask(guarded(), "GET", "/", headers={"host": host}).status == 200


@pytest.mark.parametrize("loopback_only", [True, False])
def test_two_host_headers_are_refused(loopback_only: bool) -> None:
    headers = {"host": "localhost", "Host": "evil.example"}
    answer = ask(guarded(loopback_only=loopback_only), "GET", "/", headers=headers)
    assert answer.status == 400
    assert answer.error["message"] == "expected one Host header, got several"


@pytest.mark.parametrize(("client", "status"), [("10.0.0.7", 503), ("127.0.0.1", 200)])
def test_one_client_cannot_take_every_place_in_the_queue(client: str, status: int) -> None:
    async def many() -> list[int]:
        going = asyncio.Event()

        async def slow(scope: Any, receive: Any, send: Any) -> None:
            await going.wait()
            await echo(scope, receive, send)

        app = guarded(slow, limits=Limits(from_client=3, seconds=20))
        clients = (client, client, client, client, "10.0.0.8")
        requests = [asyncio.ensure_future(asked(app, "GET", "/", client=one)) for one in clients]
        for _ in range(10):  # each takes its place, or is refused
            await asyncio.sleep(0)
        going.set()
        return [(await request).status for request in requests]

    assert asyncio.run(many()) == [200, 200, 200, status, 200]


@pytest.mark.parametrize(
    "host",
    [
        *(
            "",
            "evil.example",
            "localhost.evil.example",
            "192.168.0.1",
            "[fe80::1]",
            "]",
            "[",
            "::1",
        ),
        *("[::1].evil.example", "[::1]x:80", "127.0.0.1:80:90", "localhost:80@evil.example"),
    ],
)
def test_other_names_are_not_which_stops_dns_rebinding(host: str) -> None:
    assert ask(guarded(), "GET", "/", headers={"host": host}).error["type"] == "wrong_host"
    assert ask(guarded(loopback_only=False), "GET", "/", headers={"host": host}).status == 200


@pytest.mark.parametrize(
    "shown",
    [
        "",
        "Bearer",
        "Bearer ",
        "Bearer wrong",
        "secret",
        "Basic secret",
        "Bearer secret2",
        "Bearer é",
    ],
)
def test_a_wrong_token_is_refused(shown: str) -> None:
    refused = ask(guarded(token="secret"), "GET", "/", headers={"authorization": shown})
    assert refused.status == 401
    assert refused.error["type"] == "unauthorized"
    assert refused.headers["www-authenticate"] == "Bearer"


def test_the_right_token_is_let_in_and_some_paths_need_none() -> None:
    app = guarded(token="secret")
    assert ask(app, "GET", "/", headers={"authorization": "bearer secret"}).status == 200
    assert ask(app, "GET", "/health").status == 200


def test_a_body_is_handed_on_whole() -> None:
    assert ask(guarded(), "POST", "/", pieces=[b"a" * 60, b"b" * 40]).body == b"100"


@pytest.mark.parametrize("announced", [None, "5", "101", "9" * 30, "-1", "x"])
def test_a_body_too_large_is_refused_whatever_it_says_of_itself(announced: str | None) -> None:
    headers = {} if announced is None else {"content-length": announced}
    refused = ask(guarded(), "POST", "/", pieces=[b"a" * 60] * 3, headers=headers)
    assert refused.status == 413
    assert refused.error["type"] == "too_large"
    assert refused.headers["connection"] == "close"


def test_a_client_that_never_stops_sending_is_cut_off() -> None:
    read = 0

    async def receive() -> dict[str, Any]:
        nonlocal read
        read += 50
        return {"type": "http.request", "body": b"a" * 50, "more_body": True}

    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {"type": "http", "method": "POST", "path": "/", "headers": [(b"host", b"localhost")]}
    asyncio.run(guarded()(scope, receive, send))
    assert sent[0]["status"] == 413
    assert read < 2000


def test_all_bodies_together_take_so_much_memory_and_no_more() -> None:
    app = guarded()
    app.free = 150

    async def two() -> list[int]:
        begun, free = asyncio.Event(), asyncio.Event()

        async def slow(scope: Any, receive: Any, send: Any) -> None:
            begun.set()
            await free.wait()
            await echo(scope, receive, send)

        app.app = slow
        first = asyncio.ensure_future(asked(app, "POST", "/", body=b"a" * 100))
        await begun.wait()
        refused = await asked(app, "POST", "/", body=b"a" * 100)
        assert refused.error["type"] == "busy"
        free.set()
        return [(await first).status, (await asked(app, "POST", "/", body=b"a" * 100)).status]

    assert asyncio.run(two()) == [200, 200]
    assert app.free == 150


def test_a_request_has_so_much_time_and_no_more() -> None:
    limits = Limits(seconds=0.05)
    assert ask(guarded(endless, limits=limits), "GET", "/").error["type"] == "timeout"
    assert ask(guarded(limits=limits), "POST", "/", pieces=[]).status == 408


def test_a_mistake_of_ours_says_nothing_but_that(caplog: pytest.LogCaptureFixture) -> None:
    answer = ask(guarded(failing), "GET", "/")
    assert answer.status == 500
    assert "secret" not in answer.body.decode()
    assert answer.error["type"] == "internal_error"
    (told,) = (json.loads(JsonLines().format(record)) for record in caplog.records)
    assert (told["level"], told["error"]) == ("error", "KeyError")
    assert told["places"][-1].startswith("test_middleware.py:")
    assert "secret" not in str(told)


def test_every_answer_has_the_headers_that_keep_browsers_in_check() -> None:
    refused = ask(guarded(token="secret"), "GET", "/")
    for answer in (ask(guarded(), "GET", "/"), refused, ask(guarded(failing), "GET", "/")):
        assert "default-src 'none'" in answer.headers["content-security-policy"]
        assert "unsafe" not in answer.headers["content-security-policy"]
        assert answer.headers["x-content-type-options"] == "nosniff"


def test_a_websocket_is_closed() -> None:
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    asyncio.run(guarded()({"type": "websocket"}, None, send))  # type: ignore[arg-type]
    assert sent == [{"type": "websocket.close"}]


def working(pools: Pools, work: Callable[[], Any]) -> Any:
    """An application that works in a pool."""

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await pools.short.run(work)
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    return app


def test_when_all_places_are_taken_one_more_is_sent_away() -> None:
    limits = Limits(workers=1, waiting=2, seconds=20)
    pools, free = Pools(limits, Metrics()), threading.Event()
    app = guarded(working(pools, free.wait), limits=limits)

    async def many() -> list[int]:
        three = [asyncio.ensure_future(asked(app, "GET", "/")) for _ in range(3)]
        while pools.ready:  # until all three have their place
            await asyncio.sleep(0)
        refused = await asked(app, "GET", "/")
        assert refused.headers["retry-after"] == "1"
        assert refused.error["type"] == "busy"
        free.set()
        return [refused.status] + [answer.status for answer in await asyncio.gather(*three)]

    assert asyncio.run(many()) == [503, 200, 200, 200]
    assert ask(app, "GET", "/").status == 200
    pools.stop()


def test_a_client_that_goes_gives_its_place_away() -> None:
    limits = Limits(workers=1, waiting=1, seconds=20)
    pools, begun, free = Pools(limits, Metrics()), threading.Event(), threading.Event()

    def work() -> None:
        begun.set()
        free.wait()

    async def both() -> None:
        first = asyncio.ensure_future(pools.short.run(work))
        await asyncio.to_thread(begun.wait)
        messages = iter([{"type": "http.request", "body": b""}, {"type": "http.disconnect"}])

        async def receive() -> dict[str, Any]:
            return next(messages)

        async def send(message: Any) -> None:
            raise AssertionError("nobody listens")

        scope = {"type": "http", "method": "GET", "path": "/", "headers": [(b"host", b"localhost")]}
        await guarded(working(pools, work), limits=limits)(scope, receive, send)
        assert pools.ready  # to take one in the place of the one who went
        free.set()
        await first

    asyncio.run(both())
    pools.stop()


def test_a_server_that_stops_is_not_taken_for_a_client_that_went() -> None:
    async def endless(scope: Any, receive: Any, send: Any) -> None:
        await asyncio.Event().wait()

    async def stopped() -> None:
        messages = iter([{"type": "http.request", "body": b""}])

        async def receive() -> dict[str, Any]:
            for message in messages:
                return message
            await asyncio.Event().wait()
            raise AssertionError("the client stays")

        scope = {"type": "http", "method": "GET", "path": "/", "headers": [(b"host", b"localhost")]}
        task = asyncio.ensure_future(guarded(endless, limits=Limits())(scope, receive, None))
        await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(stopped())


def test_workers_that_were_stopped_take_no_more_work() -> None:
    pools = Pools(Limits(workers=1), Metrics())
    assert pools.ready
    pools.stop()
    assert not pools.ready
    with pytest.raises(RequestError, match="stopping"):
        asyncio.run(pools.short.run(int))
