"""One server in front of several, each with a collection: all are searched as one.

Every server with a collection answers for it as one of several (docs/decisions/0035):
``/shards/forms`` and ``/shards/sums`` give its statistics for a query, ``/shards/search`` and
``/shards/why`` take those of all. The server in front has neither a model nor documents.
"""

from __future__ import annotations

import http.client
import json
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, replace
from typing import Any
from urllib.parse import quote, urlsplit

from deltavec.collection.shards.search import (
    Forms,
    LocalShard,
    ShardCollection,
    SharedStatistics,
    Sums,
    share_statistics,
)
from deltavec.errors import InputError
from deltavec.server import explorer, requests
from deltavec.server.batching import Pools
from deltavec.server.errors import RequestError, as_json, busy, invalid
from deltavec.server.explorer import Explorer, require_last
from deltavec.server.limits import Limits
from deltavec.server.metrics import Metrics
from deltavec.version import __version__

AT_ONCE = 64  # requests to all servers


def forms(explorer: Explorer, request: requests.FormsRequest) -> bytes:
    """The forms that the words of a query have in this collection."""
    found = LocalShard(explorer.collection).find_forms(request.query, request.words)
    return as_json(found._asdict())


def sums(explorer: Explorer, request: requests.SumsRequest) -> bytes:
    """The sums over the documents of this collection that a query is weighed with."""
    shard = LocalShard(explorer.collection)
    found = shard.measure(request.query, request.terms, request.mean_length)
    return as_json(found._asdict())


def search_shard(current: Explorer, request: requests.ShardSearchRequest) -> bytes:
    """The documents of this collection that match best, by the statistics of several."""
    [found] = explorer.search(with_statistics(current, request.statistics), [request], 1)
    if isinstance(found, Exception):
        raise found
    return found


def explain_shard(current: Explorer, request: requests.ShardWhyRequest) -> bytes:
    """Why a document of this collection has its score, by the statistics of several."""
    return explorer.why(with_statistics(current, request.statistics), request)


def with_statistics(current: Explorer, given: requests.GivenStatistics) -> Explorer:
    """An explorer whose queries are weighed with given statistics."""
    if len(given.rows) != len(given.terms):
        raise invalid("expected a row for each term", "statistics")
    shared = SharedStatistics(**dict(given))
    return replace(current, collection=ShardCollection.of(current.collection, shared))


class ShardServer:
    """A server with one of several collections; connections to it are kept and used again.

    Parameters
    ----------
    address
        Its address, such as ``http://10.0.0.2:8000``.
    token
        Its token, if it asks for one.
    seconds
        How long to wait for it.
    """

    def __init__(self, address: str, token: str | None, seconds: float) -> None:
        self.address = address.rstrip("/")
        self.url = urlsplit(self.address)
        if self.url.scheme not in ("http", "https") or not self.url.hostname:
            raise InputError(f"expected an address such as http://10.0.0.2:8000, got {address!r}")
        self.headers = {"Content-Type": "application/json"}
        if token is not None:
            self.headers["Authorization"] = f"Bearer {token}"
        self.seconds = seconds
        self.kept: deque[http.client.HTTPConnection] = deque()

    def find_forms(self, query: str, words: list[str]) -> Forms:
        """The forms of the words of a query, and of more words."""
        return Forms(**self.ask("POST", "/shards/forms", {"query": query, "words": words}))

    def measure(self, query: str, terms: list[list[str]], mean_length: float) -> Sums:
        """The sums of terms, each given by its words, if documents have this mean length."""
        asked = {"query": query, "terms": terms, "mean_length": mean_length}
        return Sums(**self.ask("POST", "/shards/sums", asked))

    def ask(self, method: str, path: str, content: dict[str, Any] | None = None) -> dict[str, Any]:
        """The JSON object that the server answers with; its refusals are raised."""
        while True:  # the server may have closed kept connections
            kept = self.kept.pop() if self.kept else None
            connection = kept or self._connect()
            try:
                body = None if content is None else as_json(content)
                connection.request(method, self.url.path + path, body, self.headers)
                response = connection.getresponse()
                status, answer = response.status, json.loads(response.read())
            except (OSError, http.client.HTTPException, ValueError):
                connection.close()
                if kept is None:
                    raise busy(f"{self.address} does not answer: try again in a second") from None
                continue
            self.kept.append(connection)
            if status == 200:
                found: dict[str, Any] = answer
                return found
            error = answer.get("error", {})
            if status in (404, 422):
                raise RequestError(status, error["message"], param=error["param"])
            raise busy(f"{self.address} answers {status}: {error.get('message', '')}")

    def _connect(self) -> http.client.HTTPConnection:
        secure = self.url.scheme == "https"
        kind = http.client.HTTPSConnection if secure else http.client.HTTPConnection
        return kind(self.url.hostname or "", self.url.port, timeout=self.seconds)


class FanOut:
    """Answers requests with what other servers answer.

    Parameters
    ----------
    servers
        The servers, each with a part of the documents.
    pools
        The threads.
    metrics
        What ``/metrics`` reports.
    limits
        How much one request may ask for.
    """

    def __init__(
        self, servers: Sequence[ShardServer], pools: Pools, metrics: Metrics, limits: Limits
    ) -> None:
        self.servers = servers
        self.pools = pools
        self.metrics = metrics
        self.limits = limits
        self.executor = ThreadPoolExecutor(AT_ONCE, "deltavec-shards")

    def each(self, call: Callable[[Any], Any], servers: Sequence[Any]) -> Iterable[Any]:
        """What a call gives for every server, asked at once."""
        return list(self.executor.map(call, servers))

    def ask_all(self, method: str, path: str, content: Any = None) -> list[dict[str, Any]]:
        """What every server answers to a request."""
        return list(self.each(lambda server: server.ask(method, path, content), self.servers))

    def shared(self, request: requests.SearchRequest | requests.WhyRequest) -> dict[str, Any]:
        """A request with the statistics of all servers for its query."""
        try:
            shared = share_statistics(self.servers, request.query, self.each)
        except InputError as error:
            raise RequestError(503, str(error)) from None
        return {**request.model_dump(exclude_unset=True), "statistics": asdict(shared)}

    async def run(self, work: Callable[[FanOut, Any], bytes], request: Any) -> bytes:
        """The result of one of the functions below, in a thread."""
        return await self.pools.short.run(work, self, request)

    def search(self, request: requests.SearchRequest) -> bytes:
        """The documents of all servers that match a text best."""
        if request.sort is not None or request.broad:
            raise invalid("several servers can neither sort nor broaden a search")
        begin, end = request.offset, request.offset + min(request.k, self.limits.k)
        require_last(end, self.limits)
        asked = {**self.shared(request), "offset": 0, "k": end}
        found = self.ask_all("POST", "/shards/search", asked)
        results = [{**one, "position": None} for answer in found for one in answer["results"]]
        results.sort(key=lambda one: -one["score"])
        matches = None
        if found[0]["matches"] is not None:
            matches = sum(answer["matches"] for answer in found)
        return as_json({**found[0], "results": results[begin:end], "matches": matches})

    def why(self, request: requests.WhyRequest) -> bytes:
        """Why a document has its score for a query."""
        return self._first("POST", "/shards/why", self.shared(request))

    def document(self, request: requests.DocumentRequest) -> bytes:
        """One whole document with its keywords."""
        return self._first("GET", f"/documents/{quote(request.id, safe='')}", None)

    def _first(self, method: str, path: str, content: dict[str, Any] | None) -> bytes:
        """The answer of the first server that has the document."""
        missing = RequestError(404, "there is no document with this id", param="id")
        for server in self.servers:
            try:
                return as_json(server.ask(method, path, content))
            except RequestError as error:
                if error.status != 404:
                    raise
        raise missing

    def info(self, request: requests.NoRequest) -> bytes:
        """How many documents there are, and the servers that have them."""
        counts = [answer["documents"] for answer in self.ask_all("GET", "/info")]
        pairs = zip(self.servers, counts, strict=True)
        shards = [{"address": server.address, "documents": count} for server, count in pairs]
        return as_json({"version": __version__, "documents": sum(counts), "shards": shards})

    def ready(self, request: requests.NoRequest) -> bytes:
        """Whether every server is ready. Needs no token."""
        self.ask_all("GET", "/ready")
        return as_json({"status": "ready"})

    def stop(self) -> None:
        """Ask no more."""
        self.pools.stop()
        self.executor.shutdown(cancel_futures=True)
        for server in self.servers:
            while server.kept:
                server.kept.pop().close()
