"""A server answers from the first moment."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path
from typing import Any

from deltavec.server.app import create_app
from deltavec.server.map_view import MapView
from deltavec.server.middleware import StartingApp
from support.served import Answered, asked, small_collection


async def with_lifespan(app: StartingApp, work: Any) -> Any:
    """What some work gives while the application runs."""
    messages: asyncio.Queue[dict[str, str]] = asyncio.Queue()
    sent: list[str] = []

    async def send(message: Any) -> None:
        sent.append(message["type"])

    await messages.put({"type": "lifespan.startup"})
    running = asyncio.create_task(app({"type": "lifespan"}, messages.get, send))
    try:
        return await work()
    finally:
        await messages.put({"type": "lifespan.shutdown"})
        await running
        assert sent == ["lifespan.startup.complete", "lifespan.shutdown.complete"]


def test_health_is_there_at_once_and_requests_wait_until_the_collection_is_open(
    tmp_path: Path,
) -> None:
    opened = threading.Event()
    collection = small_collection(tmp_path)

    def load() -> Any:
        opened.wait()
        return create_app(collection)

    async def work() -> list[Answered]:
        early = [await asked(app, "GET", path) for path in ("/health", "/ready")]
        searching = asyncio.create_task(asked(app, "GET", "/search", query="query=sea"))
        opened.set()
        return [*early, await searching, await asked(app, "GET", "/ready")]

    app = StartingApp(load, lambda: None)
    answers = asyncio.run(with_lifespan(app, work))
    assert [answer.status for answer in answers] == [200, 503, 200, 200]
    assert answers[0].json["status"] == "ok"
    assert "being opened" in answers[1].error["message"]


def test_a_failure_to_open_is_reported() -> None:
    failed = asyncio.Event()

    def load() -> Any:
        raise OSError("gone")

    async def work() -> None:
        await failed.wait()

    asyncio.run(with_lifespan(StartingApp(load, failed.set), work))
    assert failed.is_set()


def test_a_map_that_is_being_drawn_is_shown_when_it_is_there(tmp_path: Path) -> None:
    collection = small_collection(tmp_path)
    first = MapView.of(collection, at_once=True)
    assert first.is_provisional
    assert first.positions.method == "pca"
    assert first.finished() is None
    after = first.after(collection.with_map())
    assert not after.is_provisional
    assert after.positions.method == "neighbors"
    assert not MapView.of(collection, "pca", at_once=True).is_provisional
