"""Long explanations: bounded by their words, stopped when nobody waits, never before short ones."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("starlette")

from deltavec.core import explain
from deltavec.core.threads import stop_if_cancelled
from deltavec.server import explorer
from deltavec.server.app import create_app
from deltavec.server.limits import Limits
from support.served import ask, asked, small_collection

TEXTS = {"text_a": "quiet sea room", "text_b": "quiet room"}
LIMITS = Limits(workers=1, waiting=64, seconds=600)


def test_an_explanation_is_bounded_by_pairs_of_words(tmp_path: Path) -> None:
    app = create_app(small_collection(tmp_path), limits=Limits(explained_pairs=3))
    refused = ask(app, "POST", "/explain", body=TEXTS)
    assert refused.status == 422
    assert "6 pairs of different words, and 3 can be compared" in refused.error["message"]
    assert ask(app, "POST", "/explain", body={**TEXTS, "text_a": "sea"}).status == 200
    refused = ask(app, "POST", "/why", body={"query": "quiet sea room", "id": "sea"})
    assert "pairs of different words, and 3 can be compared" in refused.error["message"]


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> tuple[threading.Event, threading.Event]:
    """Explanations last until nobody waits for them; when they have begun, and when one ended."""
    begun, ended, forever = threading.Event(), threading.Event(), threading.Event()

    def work(*arguments: Any) -> None:
        begun.set()
        try:
            while not forever.wait(0.01):
                stop_if_cancelled()
        finally:
            ended.set()

    monkeypatch.setattr(explain, "stop_if_cancelled", work)
    monkeypatch.setattr(explorer, "LONG_TEXT", 1)
    return begun, ended


def test_searches_are_answered_beside_any_number_of_explanations_which_end_with_their_clients(
    tmp_path: Path, held: tuple[threading.Event, threading.Event]
) -> None:
    begun, ended = held
    app = create_app(small_collection(tmp_path), limits=LIMITS)

    async def beside() -> None:
        explaining = [
            asyncio.ensure_future(asked(app, "POST", "/explain", body=TEXTS)) for _ in range(20)
        ]
        await asyncio.to_thread(begun.wait)
        for path, query in (("/search", "query=sea"), ("/documents/sea", ""), ("/info", "")):
            assert (await asked(app, "GET", path, query=query)).status == 200
        assert not ended.is_set()
        for one in explaining:
            one.cancel()
        await asyncio.gather(*explaining, return_exceptions=True)
        await asyncio.to_thread(ended.wait)

    asyncio.run(beside())


def test_an_explanation_ends_at_its_time(
    tmp_path: Path, held: tuple[threading.Event, threading.Event]
) -> None:
    app = create_app(small_collection(tmp_path), limits=Limits(workers=1, seconds=0.2))
    begun, ended = held
    while not begun.is_set():  # on a busy machine its time may be up before it begins
        assert ask(app, "POST", "/explain", body=TEXTS).status == 504
    ended.wait()


@pytest.mark.parametrize("word", ["LONG_TEXT", "LONG_WORK"])
def test_long_work_gives_the_answer_that_short_work_gives(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, word: str
) -> None:
    app = create_app(small_collection(tmp_path), limits=LIMITS)
    requests = [("/explain", TEXTS), ("/explain", {"id_a": "sea", "text_b": "quiet room"}),
                ("/why", {"query": "quiet room", "id": "sea"})]  # fmt: skip
    short = [ask(app, "POST", path, body=body) for path, body in requests]
    monkeypatch.setattr(explorer, word, 1)
    long = [ask(app, "POST", path, body=body) for path, body in requests]
    assert [one.status for one in short] == [200] * 3
    assert [one.json for one in long] == [one.json for one in short]
