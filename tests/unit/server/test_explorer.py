"""Searches answered together: each gets what it would get alone, to the byte."""

from __future__ import annotations

from pathlib import Path

import pytest

from deltavec.server.errors import RequestError
from deltavec.server.explorer import Explorer, search
from deltavec.server.limits import Limits
from deltavec.server.map_view import MapView
from deltavec.server.requests import SearchRequest, SimilarRequest
from support.served import small_collection

REQUESTS = [
    SearchRequest(query="a quiet room by the sea"),
    SearchRequest(query="sea", by="semantic", k=3),
    SearchRequest(query="sea", by="keyword", k=1),
    SearchRequest(query="room -sea", k=5),
    SearchRequest(query="room -quiet -sea", k=5),
    SearchRequest(query=""),
    SearchRequest(query="zzz"),
    SearchRequest(query="quiet room", k=2, explain=True, length=20),
    SearchRequest(query="quiet room", k=3, offset=1),
    SimilarRequest(id="sea", k=2),
    SimilarRequest(id="sea", k=1, offset=1, explain=True),
]


@pytest.fixture(scope="module")
def explorer(tmp_path_factory: pytest.TempPathFactory) -> Explorer:
    collection = small_collection(Path(tmp_path_factory.mktemp("together")))
    limits = Limits()
    return Explorer(collection, MapView.of(collection, points=limits.map_points), limits, "small")


def test_each_search_gets_what_it_would_get_alone(explorer: Explorer) -> None:
    column = explorer.collection.columns[0]
    filtered = [
        request.model_copy(update={"filter": f"{column} is not null"}) for request in REQUESTS[:3]
    ]
    requests = [*REQUESTS, *filtered]
    together = list(search(explorer, requests, 1))
    assert all(isinstance(answer, bytes) for answer in together)
    for request, answer in zip(requests, together, strict=True):
        assert list(search(explorer, [request], 2)) == [answer]


def test_what_one_gets_wrong_is_its_own(explorer: Explorer) -> None:
    wrong = [
        SimilarRequest(id="nowhere"),
        SearchRequest(query="sea", filter="no such column"),
        SearchRequest(query="sea", offset=5000),
    ]
    right, *others = search(explorer, [REQUESTS[0], *wrong], 1)
    assert [right] == list(search(explorer, [REQUESTS[0]], 1))
    assert all(isinstance(other, RequestError) for other in others)


def test_a_pass_that_fails_fails_for_those_that_share_it(
    explorer: Explorer, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*arguments: object, **options: object) -> None:
        raise OSError("the disk is gone")

    monkeypatch.setattr("deltavec.collection.collection.find_best", broken)
    found = list(search(explorer, REQUESTS[:2], 1))
    assert [type(each) for each in found] == [OSError, OSError]
