"""A server with 1 and 64 clients: GET /search with and without explain, and embeddings.

``deltavec serve`` runs in a process of its own on loopback; the clients share one process. Each
client sends its next query when it has its answer. ``cpu`` is that of the server for each answer.
"""

from __future__ import annotations

import asyncio
import atexit
import json
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

from measuring import MAIN, cpu_seconds, peak_megabytes
from run import Given, Step
from texts import read_column, sentences

import deltavec as dv

FITTED = 20_000
QUERIES = 200
BATCH = 64
CLIENTS = (1, 64)
OPTIONS = ("--port", "0", "--json", "--log", "none")


class Client:
    """One connection, kept open."""

    async def connect(self, address: str) -> Client:
        """Open the connection."""
        parts = urlsplit(address)
        opened = await asyncio.open_connection(str(parts.hostname), parts.port)
        self.reader, self.writer = opened
        return self

    async def send(self, request: bytes) -> bytes:
        """The body of the answer, which must be 200."""
        self.writer.write(request)
        head = (await self.reader.readuntil(b"\r\n\r\n")).decode().lower().split("\r\n")
        fields = dict(line.split(": ", 1) for line in head[1:] if ": " in line)
        body = await self.reader.readexactly(int(fields["content-length"]))
        if head[0].split()[1] != "200":
            raise RuntimeError(f"{head[0]}: {body[:300]!r}")
        return body


async def answers(address: str, requests: list[bytes], clients: int, until: float) -> list[float]:
    """The seconds of every answer."""
    opened = [await Client().connect(address) for _ in range(clients)]

    async def ask(client: Client, number: int) -> list[float]:
        seconds = []
        while time.perf_counter() < until:
            begin = time.perf_counter()
            await client.send(requests[number % len(requests)])
            seconds.append(time.perf_counter() - begin)
            number += 1
        return seconds

    shares = await asyncio.gather(*(ask(one, 17 * at) for at, one in enumerate(opened)))
    for client in opened:
        client.writer.close()
        await client.writer.wait_closed()
    return [second for share in shares for second in share]


async def warm_up(address: str, requests: list[bytes]) -> None:
    """Send requests until some are answered: the first ones may wait for a compiler."""
    for attempt in range(20):
        client = await Client().connect(address)
        try:
            for request in requests[:4]:
                await client.send(request)
            return
        except (RuntimeError, asyncio.IncompleteReadError):
            if attempt == 19:
                raise
        finally:
            client.writer.close()


async def first_hits(address: str, requests: list[bytes]) -> list[dict[str, Any]]:
    """The hits of the first requests."""
    client = await Client().connect(address)
    bodies = [json.loads(await client.send(request)) for request in requests[:20]]
    client.writer.close()
    await client.writer.wait_closed()
    return [hit for body in bodies for hit in body["results"]]


def start(folder: Path) -> tuple[subprocess.Popen[str], str]:
    """A server for a collection, and its address."""
    server = subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", MAIN, "serve", str(folder), *OPTIONS],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
    )
    atexit.register(stop, server)
    assert server.stdout is not None
    said = ""
    while not said.endswith("}\n"):
        line = server.stdout.readline()
        if not line:
            raise RuntimeError(f"the server ended, and said: {said}")
        said += line
    return server, json.loads(said)["address"]


def stop(server: subprocess.Popen[str]) -> None:
    """End a server."""
    server.terminate()
    server.wait()


def steps(given: Given) -> dict[str, Step]:
    """A collection of all documents, served."""
    corpus = Path(given.corpus)
    column = read_column(corpus, FITTED)
    folder = given.path / "news.idx"
    dv.build_collection(dv.fit(column), dv.read_corpus(corpus), folder, id_column="id")
    queries = sentences(column, QUERIES)
    server, address = start(folder)

    def get(**options: Any) -> list[bytes]:
        paths = [f"/search?{urlencode({'query': query, **options})}" for query in queries]
        return [f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode() for path in paths]

    texts = column.slice(0, 4 * BATCH).to_pylist()
    embeddings = [post(texts[at : at + BATCH]) for at in range(0, len(texts), BATCH)]

    def ask(requests: list[bytes], clients: int, *, each: int = 1) -> Step:
        asyncio.run(warm_up(address, requests))

        def step() -> dict[str, Any]:
            used, begin = cpu_seconds(server.pid), time.perf_counter()
            seconds = asyncio.run(answers(address, requests, clients, begin + given.seconds))
            wall = time.perf_counter() - begin
            used = cpu_seconds(server.pid) - used
            done = len(seconds)
            found = {
                "wall": wall / done / each,
                "cpu": used / done / each,
                "items": 1,
                "answers_per_second": done / wall,
                "p50_ms": 1000 * statistics.median(seconds),
                "p99_ms": 1000 * statistics.quantiles(seconds, n=100)[98],
                "peak_megabytes": peak_megabytes(server.pid),
            }
            if each == 1:
                hits = asyncio.run(first_hits(address, requests))
                numbers = [hit["score"] for hit in hits]
                found["answer"] = {"ids": [hit["id"] for hit in hits], "numbers": numbers}
            return found

        return step

    found = {f"search, {clients} clients": ask(get(k=10), clients) for clients in CLIENTS}
    explained = get(k=20, explain="true", length=400)
    found |= {f"search, explain, {n} clients": ask(explained, n) for n in CLIENTS}
    return found | {"texts embedded, 1 client": ask(embeddings, 1, each=BATCH)}


def post(texts: list[str]) -> bytes:
    """A request for the embeddings of texts, in base64 as OpenAI's client asks for them."""
    asked = {"model": "deltavec", "input": texts, "encoding_format": "base64"}
    body = json.dumps(asked).encode()
    head = f"POST /v1/embeddings HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n"
    return f"{head}Content-Type: application/json\r\n\r\n".encode() + body
