"""How long /search takes with 1, 8 and 64 clients, /v1/embeddings in both formats, and memory.

    python benchmarks/serve.py -o benchmarks/results/serve.json
    python benchmarks/serve.py --before ../older/.venv/bin/python --rounds 5

With ``--before``, the interpreter of another checkout's environment, that one's server stands
beside, and the two are asked in turns, so that whatever else the machine does falls on both alike;
figures are medians over the rounds. Each makes its own collection of the same documents, and
searches as it does by default.

`deltavec serve` runs in a process of its own, on loopback; the clients share one process and the
machine with it. Documents are made of sentences of Lee's news stories. Each client asks its next
question when it has its answer; a question is a sentence, and its answer must have the ids and
scores that `Collection.search` gives. The page asks with ``explain``, programs mostly without.
Embeddings are asked for by one client, 64 texts at a time, as numbers and in base64, the two taking
turns; answers are read in full, and taken apart and compared with the model's after the clock has
stopped.
"""

from __future__ import annotations

import argparse
import asyncio
import base64
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlencode, urlsplit

import numpy as np
import pyarrow as pa
from measuring import commit, publish, surroundings
from pyarrow import parquet

import deltavec as dv

QUESTIONS = 200
BATCH = 64
FORMATS = ("float", "base64")
KINDS = {
    "search": {"k": 10},
    "search_explained": {"k": 20, "explain": "true", "length": 400},
}


def lee_documents() -> Any:
    from deltavec.lab.stories import lee_documents  # an older version has it elsewhere

    return lee_documents()


class Expected(NamedTuple):
    """A question, and the ids and scores of its answer."""

    path: str
    answer: list[tuple[str, float]]


def sentences(stories: Sequence[str]) -> list[str]:
    return [part.strip() for story in stories for part in story.split(". ")]


def prepare(folder: Path, documents: int) -> None:
    """Write a collection, and the questions with their answers, in whatever version this is."""
    rng = random.Random(0)
    stories = json.loads((folder / "stories.json").read_text())
    known = sentences(stories)
    texts = [". ".join(rng.sample(known, 3)) for _ in range(documents)]
    names = [f"document/{number}" for number in range(documents)]
    parquet.write_table(pa.table({"name": names, "text": texts}), folder / "news.parquet")
    model = dv.fit(stories)
    corpus = dv.read_corpus(folder / "news.parquet")
    built = dv.build_collection(model, corpus, folder / "news.idx", id_column="name")
    drawn = random.Random(1).sample(known, QUESTIONS)
    expected = {}
    for kind, options in KINDS.items():
        expected[kind] = [
            {
                "path": f"/search?{urlencode({'query': query, **options})}",
                "answer": [(one.id, one.score) for one in built.search(query, int(options["k"]))],
            }
            for query in drawn
        ]
    about = {
        "commit": commit(Path(dv.__file__).parents[2]),
        "dimensions": built.model.dimensions,
        "questions": expected,
    }
    (folder / "about.json").write_text(json.dumps(about))


class Served:
    """A server in a process of its own, of this version or another."""

    def __init__(self, python: str, folder: Path, documents: int) -> None:
        self.folder = folder
        if not (folder / "about.json").exists():
            folder.mkdir(parents=True)
            (folder / "stories.json").write_text(json.dumps(list(lee_documents().stories)))
            arguments = ["--prepare", str(folder), "--documents", str(documents)]
            subprocess.run([python, __file__, *arguments], check=True, stdout=subprocess.DEVNULL)
        self.about = json.loads((folder / "about.json").read_text())
        command = [str(Path(python).with_name("deltavec")), "serve"]
        known = subprocess.run([*command, "--help"], check=True, capture_output=True, text=True)
        quiet = ["--no-log"] if "--no-log" in known.stdout else []  # an older one writes no log
        self.process = subprocess.Popen(
            [*command, str(folder / "news.idx"), "--port", "0", "--json", *quiet],
            stdout=subprocess.PIPE,
            text=True,
        )
        self.address = address_of(self.process)

    def questions(self, kind: str) -> list[Expected]:
        """What to ask, and the answers."""
        return [
            Expected(one["path"], [tuple(hit) for hit in one["answer"]])
            for one in self.about["questions"][kind]
        ]

    def stop(self) -> None:
        """End it."""
        self.process.terminate()
        self.process.wait()


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
        return await self.answer(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())

    async def post(self, path: str, body: bytes) -> tuple[int, bytes]:
        """Status and body of the answer."""
        head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n"
        return await self.answer(f"{head}Content-Type: application/json\r\n\r\n".encode() + body)

    async def answer(self, request: bytes) -> tuple[int, bytes]:
        """Status and body of the answer to these bytes."""
        self.writer.write(request)
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


async def embedded(address: str, model: dv.EmbeddingModel, lasting: float) -> dict[str, Any]:
    """How many texts are embedded a second, as numbers and in base64."""
    rng, known = random.Random(2), sentences(lee_documents().stories)
    parts = urlsplit(address)
    taken, answers = dict.fromkeys(FORMATS, 0.0), dict.fromkeys(FORMATS, 0)
    wrong = 0
    async with Client(str(parts.hostname), parts.port or 80) as client:
        while min(taken.values()) < lasting:
            texts = [". ".join(rng.sample(known, 3)) for _ in range(BATCH)]
            expected = model.embed(texts)
            for kind in FORMATS:
                asked = {"model": "deltavec", "input": texts, "encoding_format": kind}
                request = json.dumps(asked).encode()
                begun = time.perf_counter()
                status, body = await client.post("/v1/embeddings", request)
                taken[kind] += time.perf_counter() - begun
                answers[kind] += 1
                wrong += status != 200 or not np.array_equal(vectors(body), expected)
    rates = {kind: round(BATCH * answers[kind] / taken[kind]) for kind in FORMATS}
    return {"texts_at_a_time": BATCH, "wrong_or_refused": wrong, "texts_per_second": rates}


def vectors(body: bytes) -> np.ndarray:
    """The vectors of an answer, numbers or base64."""
    entries = [entry["embedding"] for entry in json.loads(body)["data"]]
    if isinstance(entries[0], str):
        return np.array([np.frombuffer(base64.b64decode(entry), "<f4") for entry in entries])
    return np.array(entries).astype(np.float32)


def megabytes(process: int) -> dict[str, int]:
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    entries = dict(line.split(":", 1) for line in lines)
    return {name: int(entries[name].split()[0]) // 1024 for name in ("VmRSS", "VmHWM")}


def processor_seconds(process: int) -> float:
    """What a process has used of the processor: on a busy machine, what an answer costs."""
    fields = Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def address_of(server: subprocess.Popen[str]) -> str:
    assert server.stdout is not None
    said = ""
    while not said.endswith("}\n"):
        line = server.stdout.readline()
        if not line:
            sys.exit(f"the server ended, and said: {said}")
        said += line
    return str(json.loads(said)["address"])


def rounds_of(
    servers: dict[str, Served], kind: str, clients: int, rounds: int, lasting: float
) -> dict[str, Any]:
    """What each server does, in turns: the medians over the rounds."""
    turns: dict[str, list[dict[str, Any]]] = {name: [] for name in servers}
    for number in range(rounds):
        # The one that goes first changes, as the machine's other work may come and go.
        order = list(servers) if number % 2 == 0 else list(servers)[::-1]
        for name in order:
            server = servers[name]
            questions = server.questions(kind)
            own, used = time.process_time(), processor_seconds(server.process.pid)
            turn = asyncio.run(measured(server.address, questions, clients, lasting))
            own = time.process_time() - own
            used = processor_seconds(server.process.pid) - used
            # What the clients themselves take: they share the machine with the server.
            turn["clients_processor_ms"] = 1000 * own / turn["answers"]
            turn["server_processor_ms"] = 1000 * used / turn["answers"]
            turns[name].append(turn)
    found: dict[str, Any] = {"clients": clients}
    for name, each in turns.items():
        found[name] = {
            "answers": sum(one["answers"] for one in each),
            "wrong_or_refused": sum(one["wrong_or_refused"] for one in each),
            **{
                figure: round(statistics.median(one[figure] for one in each), 2)
                for figure in (
                    "answers_per_second",
                    "p50_ms",
                    "p99_ms",
                    "server_processor_ms",
                    "clients_processor_ms",
                )
            },
        }
    if "before" in found:
        now, before = found["now"], found["before"]
        found["times_as_many_a_second"] = round(
            now["answers_per_second"] / before["answers_per_second"], 2
        )
        found["times_as_fast_p50"] = round(before["p50_ms"] / now["p50_ms"], 2)
        found["times_less_processor"] = round(
            before["server_processor_ms"] / now["server_processor_ms"], 2
        )
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--documents", type=int, default=100_000)
    parser.add_argument("--clients", type=int, nargs="+", default=[1, 8, 64])
    parser.add_argument("--seconds", type=float, default=5.0, help="for each turn")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=list(KINDS))
    parser.add_argument("--before", help="the interpreter of an older checkout's environment")
    parser.add_argument("--keep", type=Path, help="a folder for the collections, to be used again")
    parser.add_argument("--prepare", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("-o", "--output", type=Path)
    arguments = parser.parse_args()
    if arguments.prepare:
        prepare(arguments.prepare, arguments.documents)
        return
    pythons = {"now": sys.executable}
    if arguments.before:
        pythons["before"] = arguments.before
    with tempfile.TemporaryDirectory() as name:
        servers = {
            version: Served(python, Path(arguments.keep or name, version), arguments.documents)
            for version, python in pythons.items()
        }
        try:
            before = {version: megabytes(one.process.pid) for version, one in servers.items()}
            results: dict[str, Any] = {}
            for kind in arguments.kinds:
                for one in servers.values():  # compiled, and warm
                    asyncio.run(measured(one.address, one.questions(kind), 4, 2.0))
                results[kind] = [
                    rounds_of(servers, kind, clients, arguments.rounds, arguments.seconds)
                    for clients in arguments.clients
                ]
            model = dv.open_collection(servers["now"].folder / "news.idx", verify=False).model
            address = servers["now"].address
            asyncio.run(embedded(address, model, 1.0))  # compiled, and warm
            results["embeddings"] = asyncio.run(embedded(address, model, arguments.seconds))
            after = {version: megabytes(one.process.pid) for version, one in servers.items()}
        finally:
            for one in servers.values():
                one.stop()
        report = {
            **surroundings(["fastapi", "numba", "numpy", "pyarrow", "uvicorn"]),
            "commits": {version: one.about["commit"] for version, one in servers.items()},
            "load_of_the_machine": [round(each, 1) for each in os.getloadavg()],
            "documents": arguments.documents,
            "dimensions": servers["now"].about["dimensions"],
            "rounds": arguments.rounds,
            "seconds_a_turn": arguments.seconds,
            **results,
            "server_megabytes": {
                version: {
                    "before": before[version]["VmRSS"],
                    "after": after[version]["VmRSS"],
                    "peak": after[version]["VmHWM"],
                }
                for version in servers
            },
        }
    publish(report, arguments.output)


if __name__ == "__main__":
    main()
