"""A collection that is served while `index add --update` and `index remove` change it.

    python tests/campaigns/live_changes.py --rounds 200

`deltavec serve` runs in a process of its own. In each round all documents are replaced by ones that
say the number of the round, and then half of them are removed: so there are whole collections and
halves, and in every state all documents are of one round. Clients ask all the while. An answer must
be one state: all documents in it of one round, none missing, with the scores that a whole or a half
has; the texts of two rounds differ in one word that no query has, so that these scores are known.
After each change it is measured how long it takes until the server answers from it, and after each
round how many files the server has open and mapped, and how much memory it takes.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

import pyarrow as pa
from pyarrow import parquet
from typer.testing import CliRunner

import deltavec as dv
from deltavec.cli.application import app

QUERY = "a quiet room near the sea"
PLACES = ("sea", "harbour", "room", "garden", "street", "tower")
MOODS = ("quiet", "loud", "lovely", "shabby", "bright", "cold")
CLIENTS = 2
WARM_UP = 3  # rounds until caches are full
PATIENCE = 300  # seconds until something is said not to happen, on a machine that does much else


def documents(round: int, count: int) -> pa.Table:
    """All documents of a round."""
    numbers = range(count)
    return pa.table(
        {
            "name": [f"d{number}" for number in numbers],
            "text": [
                f"The {MOODS[n % 6]} {PLACES[n // 6 % 6]} and the {MOODS[n // 36 % 6]} "
                f"{PLACES[(n + n // 36) % 6]}, version{round:06}"
                for n in numbers
            ],
            "round": [round] * count,
        }
    )


@dataclass
class Seen:
    """What the clients were answered."""

    expected: dict[int, dict[str, float]]
    answers: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    rounds: set[tuple[int, int]] = field(default_factory=set)

    def judge(self, path: str, status: int, body: dict[str, Any]) -> None:
        """Count an answer; one that fails, or is no state, is kept."""
        self.answers[path.partition("?")[0]] += 1
        if status != 200:
            self.wrong.append(f"{path}: {status} {body}")
            return
        if "results" not in body:
            return
        found = body["results"]
        of_round = {result["columns"]["round"] for result in found}
        scores = {result["id"]: result["score"] for result in found}
        expected = self.expected.get(len(found), {})
        same = scores.keys() == expected.keys() and all(
            score is None or abs(score - expected[name]) <= 1e-6 for name, score in scores.items()
        )
        if len(of_round) != 1 or not same or body.get("documents", len(found)) != len(found):
            self.wrong.append(f"{path}: {len(found)} documents of the rounds {sorted(of_round)}")
        self.rounds.add((max(of_round, default=-1), len(found)))


def asked(connection: HTTPConnection, path: str) -> tuple[int, dict[str, Any]]:
    connection.request("GET", path)
    answer = connection.getresponse()
    return answer.status, json.loads(answer.read())


def ask_until(stop: threading.Event, address: str, seen: Seen) -> None:
    """Ask one question after the other, in connections of forty each: any process may answer."""
    everything = f"/search?query={quote(QUERY)}&k=100&by=hybrid"
    paths = (everything, "/list?k=100", "/documents/d0", "/similar/d1?k=5&length=10", "/map")
    while not stop.is_set():
        connection = HTTPConnection(urlsplit(address).netloc, timeout=PATIENCE)
        with contextlib.closing(connection):
            for number in range(40):
                path = paths[number % len(paths)]
                status, body = asked(connection, path)
                if path.startswith("/similar"):
                    body.pop("results", None)
                seen.judge(path, status, body)
                if stop.is_set():
                    break


@contextlib.contextmanager
def served(folder: Path, workers: int) -> Iterator[tuple[str, list[int]]]:
    """The address of a server, and its processes."""
    program = "from deltavec.cli import main; main()"
    arguments = ["serve", str(folder), "--port", "0", "--json", "--log", "none"]
    running = subprocess.Popen(
        [sys.executable, "-c", program, *arguments, "--workers", str(workers)],
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert running.stdout is not None
        lines = ""
        for line in running.stdout:
            lines += line
            if line.startswith("}"):
                break
        listed = Path(f"/proc/{running.pid}/task/{running.pid}/children").read_text().split()
        lines_of = {int(one): Path(f"/proc/{one}/cmdline").read_bytes() for one in listed}
        processes = [one for one, line in lines_of.items() if b"spawn_main" in line]
        yield json.loads(lines)["address"], processes
    finally:
        running.terminate()
        running.wait()
        if running.stdout:
            running.stdout.close()


def held(processes: list[int]) -> dict[str, int]:
    """Open files, mapped files of the collection that are gone, and memory; on Linux."""
    total: Counter[str] = Counter()
    for process in processes:
        total["descriptors"] += len(os.listdir(f"/proc/{process}/fd"))  # noqa: PTH208
        maps = Path(f"/proc/{process}/maps").read_text().splitlines()
        total["gone_but_mapped"] += sum(".idx/" in line and "(deleted)" in line for line in maps)
        status = Path(f"/proc/{process}/status").read_text()
        kilobytes = status.partition("RssAnon:")[2].split()[0]
        total["private_megabytes"] += round(int(kilobytes) / 1024)
    return dict(total)


def held_when_quiet(processes: list[int]) -> dict[str, int]:
    """What is held when nobody asks: a request that ends late holds its state until then."""
    until = time.perf_counter() + PATIENCE
    holding = held(processes)
    while holding["gone_but_mapped"] and time.perf_counter() < until:
        time.sleep(0.1)
        holding = held(processes)
    return holding


def typed(*arguments: object) -> None:
    """Run a command of the command line, in this process."""
    done = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert done.exit_code == 0, done.output


def until_served(address: str, state: tuple[int, int], workers: int) -> float:
    """How long it takes until every process answers from a state."""
    begin, in_a_row = time.perf_counter(), 0
    while in_a_row < (1 if workers == 1 else 8 * workers):
        connection = HTTPConnection(urlsplit(address).netloc, timeout=PATIENCE)
        with contextlib.closing(connection):
            _, body = asked(connection, "/list?k=100")
        answered = body["results"][0]["columns"]["round"], body["documents"]
        in_a_row = in_a_row + 1 if answered == state else 0
        assert time.perf_counter() - begin < PATIENCE, f"{state} is not served"
    return time.perf_counter() - begin


def campaign(folder: Path, rounds: int, *, count: int = 72, workers: int = 1) -> dict[str, Any]:
    """Change a collection while it is served; what was seen."""
    files = {number: folder / f"{number}.parquet" for number in range(rounds + 1)}
    texts = [text.rpartition(",")[0] for text in documents(0, count)["text"].to_pylist()]
    model = dv.fit(texts * 3, recipe="spectral", units="words")  # which knows no round
    path = folder / "live.idx"
    parquet.write_table(documents(0, count), files[0])
    whole = dv.build_collection(model, files[0], path, id_column="name", keep=["round"])
    gone = [f"d{number}" for number in range(0, count, 2) if number]
    (folder / "gone.txt").write_text("\n".join(gone))
    half = dv.build_collection(model, files[0], folder / "half.idx", id_column="name").remove(gone)
    found = [{one.id: one.score for one in c.search(QUERY, k=100)} for c in (whole, half)]
    seen = Seen({len(scores): scores for scores in found})
    del whole, half
    stop = threading.Event()
    waited, measured = [], []
    with served(path, workers) as (address, processes):
        clients = [
            threading.Thread(target=ask_until, args=(stop, address, seen)) for _ in range(CLIENTS)
        ]
        for client in clients:
            client.start()
        try:
            for number in range(1, rounds + 1):
                parquet.write_table(documents(number, count), files[number])
                typed("index", "add", path, files[number], "--update")
                waited.append(until_served(address, (number, count), workers))
                typed("index", "remove", path, "--from", folder / "gone.txt")
                waited.append(until_served(address, (number, count - len(gone)), workers))
                measured.append(held(processes))
        finally:
            stop.set()
            for client in clients:
                client.join()
        at_the_end = held_when_quiet(processes)
    return {
        "rounds": rounds,
        "changes": len(waited),
        "documents": count,
        "workers": workers,
        "answers": dict(seen.answers),
        "states_seen": len(seen.rounds),
        "failed_or_mixed": seen.wrong[:20],
        "seconds_until_served": {
            "median": round(sorted(waited)[len(waited) // 2], 2),
            "most": round(max(waited), 2),
        },
        "held_after_warm_up": measured[min(WARM_UP, rounds) - 1],
        "held_most_since": {
            name: max(one[name] for one in measured[min(WARM_UP, rounds) - 1 :])
            for name in measured[0]
        },
        "held_at_the_end": at_the_end,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2])
    options = parser.parse_args()
    for workers in options.workers:
        with tempfile.TemporaryDirectory() as folder:
            seen = campaign(Path(folder), options.rounds, workers=workers)
            print(json.dumps(seen, indent=2))  # noqa: T201


if __name__ == "__main__":
    main()
