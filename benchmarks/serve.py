"""How long /search takes with 1, 8 and 64 clients, every answer checked, and the server's memory.

    python benchmarks/serve.py -o benchmarks/results/serve.json

`deltavec serve` runs in a process of its own, on loopback; the clients share one process and the
machine with it. Documents are made of sentences of Lee's news stories. Each client asks its next
question when it has its answer; a question is a sentence, and its answer must have the ids and
scores that `Collection.search` gives. The page asks with ``explain``, programs mostly without.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlencode, urlsplit

import pyarrow as pa
from measuring import publish, surroundings
from pyarrow import parquet

import deltavec as dv
from deltavec.evaluation.lee import lee_documents

QUESTIONS = 200
KINDS = {
    "search": {"k": 10},
    "search_explained": {"k": 20, "explain": "true", "length": 400},
}


class Expected(NamedTuple):
    """A question, and the ids and scores of its answer."""

    path: str
    answer: list[tuple[str, float]]


def sentences() -> list[str]:
    return [part.strip() for story in lee_documents().stories for part in story.split(". ")]


def built(folder: Path, documents: int) -> dv.Collection:
    rng = random.Random(0)
    known = sentences()
    texts = [". ".join(rng.sample(known, 3)) for _ in range(documents)]
    names = [f"document/{number}" for number in range(documents)]
    parquet.write_table(pa.table({"name": names, "text": texts}), folder / "news.parquet")
    model = dv.fit(lee_documents().stories)
    corpus = dv.read_corpus(folder / "news.parquet")
    return dv.build_collection(model, corpus, folder / "news.idx", id_column="name")


def questions(collection: dv.Collection, options: dict[str, Any]) -> list[Expected]:
    drawn = random.Random(1).sample(sentences(), QUESTIONS)
    found = []
    for query in drawn:
        path = f"/search?{urlencode({'query': query, **options})}"
        answer = collection.search(query, int(options["k"]))
        found.append(Expected(path, [(one.id, one.score) for one in answer]))
    return found


class Client:
    """One connection, kept open."""

    def __init__(self, host: str, port: int) -> None:
        self.host, self.port = host, port

    async def __aenter__(self) -> Client:
        self.reader, self.writer = await asyncio.open_connection(self.host, self.port)
        return self

    async def __aexit__(self, *error: object) -> None:
        self.writer.close()
        await self.writer.wait_closed()

    async def get(self, path: str) -> tuple[int, bytes]:
        """Status and body of the answer."""
        self.writer.write(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        head = (await self.reader.readuntil(b"\r\n\r\n")).decode().lower().split("\r\n")
        fields = dict(line.split(": ", 1) for line in head[1:] if ": " in line)
        body = await self.reader.readexactly(int(fields["content-length"]))
        return int(head[0].split()[1]), body


async def asking(
    client: Client, expected: list[Expected], first: int, until: float
) -> tuple[list[float], int]:
    """The seconds of each answer, and how many were wrong."""
    seconds, wrong, number = [], 0, first
    while time.perf_counter() < until:
        question = expected[number % len(expected)]
        number += 1
        begun = time.perf_counter()
        status, body = await client.get(question.path)
        seconds.append(time.perf_counter() - begun)
        found = json.loads(body).get("results", []) if status == 200 else []
        wrong += [(one["id"], one["score"]) for one in found] != question.answer
    return seconds, wrong


async def measured(address: str, expected: list[Expected], clients: int, lasting: float) -> Any:
    parts = urlsplit(address)
    async with AsyncExitStack() as stack:
        asked = [
            await stack.enter_async_context(Client(str(parts.hostname), parts.port or 80))
            for _ in range(clients)
        ]
        begun = time.perf_counter()
        shares = [
            asking(client, expected, 17 * number, begun + lasting)
            for number, client in enumerate(asked)
        ]
        found = await asyncio.gather(*shares)
        taken = time.perf_counter() - begun
    seconds = sorted(second for share, _ in found for second in share)
    quantiles = statistics.quantiles(seconds, n=100, method="inclusive")
    return {
        "clients": clients,
        "answers": len(seconds),
        "wrong_or_refused": sum(wrong for _, wrong in found),
        "answers_per_second": round(len(seconds) / taken, 1),
        "p50_ms": round(1000 * quantiles[49], 2),
        "p99_ms": round(1000 * quantiles[98], 2),
        "slowest_ms": round(1000 * seconds[-1], 2),
    }


def megabytes(process: int) -> dict[str, int]:
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    entries = dict(line.split(":", 1) for line in lines)
    return {name: int(entries[name].split()[0]) // 1024 for name in ("VmRSS", "VmHWM")}


def address_of(server: subprocess.Popen[str]) -> str:
    assert server.stdout is not None
    said = ""
    while not said.endswith("}\n"):
        said += server.stdout.readline()
    return str(json.loads(said)["address"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--documents", type=int, default=100_000)
    parser.add_argument("--clients", type=int, nargs="+", default=[1, 8, 64])
    parser.add_argument("--seconds", type=float, default=15.0, help="for each number of clients")
    parser.add_argument("-o", "--output", type=Path)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        collection = built(Path(name), arguments.documents)
        command = [sys.executable, "-m", "deltavec.cli", "serve", str(collection.path)]
        with subprocess.Popen(
            [*command, "--port", "0", "--json"], stdout=subprocess.PIPE, text=True
        ) as server:
            try:
                address = address_of(server)
                before = megabytes(server.pid)
                results = {}
                for kind, options in KINDS.items():
                    expected = questions(collection, options)
                    asyncio.run(measured(address, expected, 1, 1.0))  # compiled, and warm
                    results[kind] = [
                        asyncio.run(measured(address, expected, clients, arguments.seconds))
                        for clients in arguments.clients
                    ]
                after = megabytes(server.pid)
            finally:
                server.terminate()
        report = {
            **surroundings(["fastapi", "numba", "numpy", "pyarrow", "uvicorn"]),
            "documents": len(collection),
            "dimensions": collection.model.dimensions,
            "vector_megabytes": collection.index.vectors.nbytes // 2**20,
            **results,
            "server_megabytes_before": before["VmRSS"],
            "server_megabytes_after": after["VmRSS"],
            "server_megabytes_peak": after["VmHWM"],
        }
    publish(report, arguments.output)


if __name__ == "__main__":
    main()
