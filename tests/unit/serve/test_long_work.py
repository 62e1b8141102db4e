"""Long explanations: bounded by their words, stopped when nobody waits, never before short ones."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("fastapi")

from deltavec.core import explain
from deltavec.core.threads import stop_if_unwanted
from deltavec.serve.app import create_app
from deltavec.serve.limits import Limits
from served import ask, asked, small_collection

TEXTS = {"text_a": "quiet sea room", "text_b": "quiet room"}


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
    begun, ended = threading.Event(), threading.Event()

    def work(*arguments: Any) -> None:
        begun.set()
        try:
            while True:
                stop_if_unwanted()
        finally:
            ended.set()

    monkeypatch.setattr(explain, "stop_if_unwanted", work)
    return begun, ended


def test_searches_are_answered_beside_any_number_of_explanations_which_end_with_their_clients(
    tmp_path: Path, held: tuple[threading.Event, threading.Event]
) -> None:
    begun, ended = held
    app = create_app(small_collection(tmp_path), limits=Limits(workers=1, waiting=64))

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
    late = ask(app, "POST", "/explain", body=TEXTS)
    assert late.status == 504
    assert held[1].wait(60)
