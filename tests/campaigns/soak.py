"""A collection that is served for a long time: asked, attacked and changed all the while.

`deltavec serve` runs in a process of its own. Clients that mean well ask for everything there is to
ask for, others attack (`campaigns.clients`), and `deltavec index add --update` changes documents.
Whoever means well must get a right answer, at most after asking again where the server says that it
is busy or, on a machine that does much else, that the time was up. Memory and descriptors are
looked at all the while; a long run must find them flat.
"""

from __future__ import annotations

import json
import resource
import threading
import time
from dataclasses import asdict, dataclass, field
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from random import Random
from statistics import median
from typing import Any
from urllib.parse import quote, urlsplit

from pyarrow import parquet

import deltavec as dv
from campaigns.clients import ATTACKS, Attacker
from campaigns.live_changes import documents, held, served, typed

PATIENCE = 300.0  # seconds for an answer, on a machine that does much else
DOCUMENTS = 72
WORDS = ("sea", "room", "quiet", "loud", "garden", "street", "tower", "unheard")


@dataclass
class Soaked:
    """How a long service went."""

    seed: int
    seconds: float = 0.0
    requests: int = 0
    by_address: dict[str, int] = field(default_factory=dict)
    attacks: int = 0
    changes: int = 0
    asked_again: int = 0
    late: int = 0  # answers that took longer than the server gives them
    slowest: float = 0.0
    failures: list[str] = field(default_factory=list)
    before: dict[str, int] = field(default_factory=dict)  # held before anybody came
    after: dict[str, int] = field(default_factory=dict)  # and after all have gone
    held: list[dict[str, int]] = field(default_factory=list, repr=False)

    def quarter(self, number: int, name: str) -> int:
        """The median of what was held in a quarter of the time."""
        size = max(1, len(self.held) // 4)
        return round(median(one[name] for one in self.held[number * size :][:size]))

    def figures(self) -> dict[str, Any]:
        """What is worth keeping."""
        kept = asdict(self)
        del kept["held"]
        name = "private_megabytes"
        kept[name] = [self.quarter(number, name) for number in range(4)]
        kept["most_descriptors"] = max(one["descriptors"] for one in self.held)
        return kept

    def is_flat(self) -> bool:
        """Whether no more is held at the end than when it had begun to run smoothly."""
        memory = self.quarter(3, "private_megabytes") <= 1.2 * self.quarter(1, "private_megabytes")
        return memory and is_quiet(self.after, self.before)


def is_quiet(now: dict[str, int], before: dict[str, int]) -> bool:
    """Whether connections are closed and old states let go."""
    few = now["descriptors"] <= before["descriptors"] + 20
    return few and not now["gone_but_mapped"]


def request_of(rng: Random) -> tuple[str, dict[str, Any] | None]:
    """Something to ask for: an address, and a body for what is sent."""
    words = " ".join(rng.choices(WORDS, k=rng.choice([1, 3, 30])))
    one, other = rng.randrange(DOCUMENTS), rng.randrange(DOCUMENTS)
    asked = quote(words)
    return rng.choice(
        [
            (f"/search?query={asked}&k={rng.choice([1, 10, 50])}&explain=true", None),
            (f"/search?query={asked}&by=keyword&filter=round%20%3E%3D%200", None),
            ("/search", {"query": words, "by": "semantic"}),
            (f"/similar/d{one}?k=5", None),
            (f"/documents/d{one}", None),
            (f"/why?query={asked}&id=d{one}", None),
            (f"/explain?id_a=d{one}&id_b=d{other}", None),
            ("/explain", {"text_a": words, "id_b": f"d{other}"}),
            (f"/list?k={rng.randrange(1, 100)}", None),
            (f"/topics?clusters={rng.randrange(2, 9)}", None),
            ("/map", None),
            ("/columns", None),
            ("/info", None),
            ("/metrics", None),
            ("/", None),
            ("/v1/embeddings", {"model": "deltavec", "input": [words, ""]}),
        ]
    )


class Client:
    """One who means well, on connections that last as long as the server lets them."""

    def __init__(self, address: str, seed: int, outcome: Soaked) -> None:
        self.place = urlsplit(address).netloc
        self.rng = Random(seed)
        self.outcome = outcome
        self.connection = HTTPConnection(self.place, timeout=PATIENCE)

    def ask(self) -> None:
        """Ask for something, again where the server says that it is busy or hangs up."""
        path, body = request_of(self.rng)
        name, begin, tries = path.partition("?")[0].rstrip("0123456789"), time.monotonic(), 0
        while True:
            tries += 1
            try:
                status, content = self.answer(path, body)
            except (OSError, HTTPException) as error:  # a connection that was idle for too long
                self.connection.close()
                status, content = 503, repr(error).encode()
            self.outcome.late += status == 504
            if status not in (503, 504) or time.monotonic() - begin > PATIENCE:
                break
            time.sleep(0.2)
        self.outcome.requests += 1
        self.outcome.by_address[name] = self.outcome.by_address.get(name, 0) + 1
        self.outcome.asked_again += tries > 1
        self.outcome.slowest = round(max(self.outcome.slowest, time.monotonic() - begin), 2)
        if status != 200:
            self.outcome.failures.append(f"{path}: {status} {content[:200]!r}")

    def answer(self, path: str, body: dict[str, Any] | None) -> tuple[int, bytes]:
        """The answer to one try."""
        if body is None:
            self.connection.request("GET", path)
        else:
            headers = {"Content-Type": "application/json"}
            self.connection.request("POST", path, json.dumps(body), headers)
        answer = self.connection.getresponse()
        return answer.status, answer.read()


def soak(
    folder: Path, seed: int, *, seconds: float, requests: int = 0, pause: float = 0.0
) -> Soaked:
    """Serve a collection for so long, and until so many requests and all attacks have been made.

    Parameters
    ----------
    folder
        Where the collection is made.
    seed
        What requests and attacks follow from.
    seconds, requests
        How long, and how many requests at least.
    pause
        Seconds between two requests, attacks or changes of the same client.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    texts = [text.rpartition(",")[0] for text in documents(0, DOCUMENTS)["text"].to_pylist()]
    model = dv.fit(texts * 3, recipe="spectral", units="words")
    path, changed = folder / "soaked.idx", folder / "changed.parquet"
    parquet.write_table(documents(0, DOCUMENTS), changed)
    dv.build_collection(model, changed, path, id_column="name", keep=["round"])
    outcome, stop, begin = Soaked(seed), threading.Event(), time.monotonic()

    def repeated(work: Any) -> None:
        while not stop.is_set():
            try:
                work()
            except Exception as error:
                outcome.failures.append(repr(error))
            stop.wait(pause)

    def change() -> None:
        parquet.write_table(documents(outcome.changes + 1, DOCUMENTS), changed)
        typed("index", "add", path, changed, "--update")
        outcome.changes += 1
        stop.wait(4 * pause)

    with served(path, 1) as (address, processes):
        outcome.before = held(processes)
        place = urlsplit(address)
        attacker = Attacker(str(place.hostname), int(place.port or 0), seed)
        clients = [Client(address, seed + number, outcome) for number in range(2)]
        workers = [
            threading.Thread(target=repeated, args=(work,))
            for work in (*(client.ask for client in clients), attacker.attack, change)
        ]
        for worker in workers:
            worker.start()
        try:
            while time.monotonic() - begin < seconds or not enough(outcome, attacker, requests):
                outcome.held.append(held(processes))
                time.sleep(min(5.0, max(0.2, seconds / 200)))
        finally:
            stop.set()
            for worker in workers:
                worker.join()
            for client in clients:
                client.connection.close()
            attacker.let_go()
            outcome.after = held(processes)
        ending = time.monotonic()
        while not is_quiet(outcome.after, outcome.before) and time.monotonic() - ending < PATIENCE:
            time.sleep(0.2)
            outcome.after = held(processes)
    outcome.attacks = attacker.attacks
    outcome.failures += attacker.wrong
    outcome.seconds = round(time.monotonic() - begin, 1)
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    return outcome


def enough(outcome: Soaked, attacker: Attacker, requests: int) -> bool:
    """Whether all has been done, or something has failed, so that no more time is needed."""
    done = outcome.requests >= requests and attacker.attacks >= len(ATTACKS) and outcome.changes > 0
    return done or bool(outcome.failures)
