"""The short way to a search: the same answers as the long one, and no others."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI

from deltavec.server.app import create_app
from deltavec.server.limits import Limits
from deltavec.server.routes import Quick
from support.served import ask, small_collection

QUESTIONS = (
    ("/search", "query=quiet+sea"),
    ("/search", "query=quiet+sea&k=2&explain=true&offset=1&by=words"),
    ("/search", "query="),
    ("/search", "query=caf%C3%A9+%ff"),
    ("/search", "query=sea&filter=stars+%3E+3"),
    ("/similar", "id=room/1&k=3&length=5"),
)
WRONG = (
    ("/search", ""),
    ("/search", "query=sea&query=room"),
    ("/search", "query=sea&k=0"),
    ("/search", "query=sea&unheard=of"),
    ("/search", "query=sea&k=1&k=x"),
    ("/search", "query=sea&k=99"),
    ("/search", "query=sea&filter=stars+%3E"),
    ("/search", "query=" + "a" * 300),
    ("/similar", "id=nobody"),
    ("/similar", "id=sea&by=words"),
)


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> tuple[FastAPI, FastAPI]:
    """The application, and the same without its short way."""
    collection = small_collection(tmp_path_factory.mktemp("quick"))
    quick, slow = (create_app(collection, limits=Limits(k=5, text_length=200)) for _ in range(2))
    slow.user_middleware = [one for one in slow.user_middleware if one.cls is not Quick]
    assert len(slow.user_middleware) < len(quick.user_middleware)
    return quick, slow


@pytest.mark.parametrize(("path", "query"), QUESTIONS + WRONG)
def test_both_ways_give_the_same_answer(
    both: tuple[FastAPI, FastAPI], path: str, query: str
) -> None:
    short, long = (ask(app, "GET", path, query=query) for app in both)
    assert (short.status, short.body) == (long.status, long.body)
    assert sorted(short.headers) == sorted(long.headers)
    assert (short.status == 200) == ((path, query) in QUESTIONS or query == "query=sea&query=room")


def test_a_proxys_prefix_is_no_part_of_the_address(tmp_path: Path) -> None:
    app = create_app(small_collection(tmp_path), root_path="/reviews")
    found: list[Any] = [
        ask(app, "GET", f"{prefix}/search", query="query=sea") for prefix in ("", "/reviews")
    ]
    assert [one.status for one in found] == [200, 200]
    assert found[0].body == found[1].body
    counted = ask(app, "GET", "/metrics").body.decode()
    assert 'deltavec_requests_total{address="/search",status="200"} 2' in counted
