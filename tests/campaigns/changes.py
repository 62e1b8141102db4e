"""Random changes of a collection, killed at any moment, with a dictionary as the oracle.

A child process adds, updates, removes, purges, merges, backs up and refits nothing but what the
seed says, and tells each change that is done. It is killed after a random time, again and again,
while a reader opens the collection and searches it. What is there then must be what the dictionary
holds after the last change that was told, or after the one that was going on; and a copy that is
merged into one segment must answer as the collection does.

    python tests/campaigns/changes.py [KILLS] [SEED]
"""

from __future__ import annotations

import os
import signal
import sys
import tempfile
import time
from pathlib import Path
from random import Random

import pyarrow as pa

import deltavec as dv
from deltavec.collection.manifest import backup

WORDS = ["sea", "room", "wind", "quiet", "view", "calm", "bed", "storms", "storm", "beds", "winds"]
START = {
    f"d{n}": f"d{n} v0 {WORDS[n % 11]} {WORDS[n % 7]} near the {WORDS[n % 5]}" for n in range(150)
}
KINDS = ("add",) * 6 + ("remove",) * 3 + ("purge", "compact")


def table(documents: dict[str, str]) -> pa.Table:
    return pa.table({"text": list(documents.values()), "name": list(documents)})


def change(seed: int, number: int, there: list[str]) -> tuple[str, dict[str, str]]:
    """A change by its number: its kind, and the documents that it is about."""
    rng = Random(f"{seed} {number}")
    kind = rng.choice(KINDS)
    ids = [f"d{rng.randrange(300)}" for _ in range(rng.choice([1, 1, 2, 9, 40]))]
    if kind != "add":
        ids = ids[: len(there) - 1]  # one stays
    return kind, {
        id: f"{id} v{number} {' '.join(rng.choices(WORDS, k=6))} new{rng.randrange(999)}"
        for id in ids
    }


def after(state: dict[str, str], kind: str, what: dict[str, str]) -> dict[str, str]:
    """The documents after a change, in their order."""
    if kind == "compact":
        return state
    left = {id: text for id, text in state.items() if id not in what}
    return left | what if kind == "add" else left


def apply(live: dv.Collection, kind: str, what: dict[str, str]) -> dv.Collection:
    """The same change of the collection."""
    if kind == "add":
        return live.add(table(what), update=True, threads=1)
    if kind == "compact":
        return live.compact()
    return live.remove(list(what), missing_ok=True, purge=kind == "purge")


def write_on(path: Path, seed: int, number: int, told: int) -> None:
    """Change the collection until killed, telling each change that is done."""
    live = dv.open_collection(path, verify=False)
    while True:
        kind, what = change(seed, number, live.ids.to_pylist())
        live = apply(live, kind, what)
        os.write(told, number.to_bytes(8, "little"))
        number += 1


def read_on(path: Path) -> None:
    """Open and search the collection until killed; end with an error if anything is mixed up."""
    while True:
        opened = dv.open_collection(path)
        for by in ("hybrid", "keyword", "semantic"):
            for hit in opened.search("quiet storm near new7", k=20, by=by):
                if not hit.text.startswith(f"{hit.id} v"):
                    os._exit(1)


def in_child(work: object, *arguments: object) -> int:
    """The number of a process that does some work."""
    child = os.fork()
    if not child:
        try:
            work(*arguments)  # type: ignore[operator]
        except BaseException as error:
            sys.stderr.write(f"{type(error).__name__}: {error}\n")
        os._exit(1)
    return child


def require_same(
    path: Path, expected: list[dict[str, str]], folder: Path, whole: bool
) -> dict[str, str]:
    """The documents that are there, which must be one of those expected."""
    opened = dv.open_collection(path)
    found = dict(zip(opened.ids.to_pylist(), opened.column("text").to_pylist(), strict=True))
    if not any(list(found.items()) == list(one.items()) for one in expected):
        raise AssertionError(f"{len(found)} documents, expected one of {[*map(len, expected)]}")
    if whole:
        backup(path, folder / "copy.idx")
        merged = dv.open_collection(folder / "copy.idx").compact()
        for by in ("hybrid", "keyword", "semantic"):
            for query in ("quiet storm new7", "view beds calm", "near winds"):
                ours, theirs = (one.search(query, k=50, by=by) for one in (opened, merged))
                assert [hit.id for hit in ours] == [hit.id for hit in theirs]
                assert all(abs(a.score - b.score) < 1e-6 for a, b in zip(ours, theirs, strict=True))
    return found


def run(kills: int, seed: int = 0) -> dict[str, int]:
    """Kill a writer so many times; how many changes and merges were seen."""
    rng, number = Random(seed), 0
    counts = {"kills": 0, "changes": 0, "most_segments": 0}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        path, state = folder / "live.idx", dict(START)
        model = dv.fit([*START.values()] * 2)
        live = dv.build_collection(model, table(state), path, id_column="name", as_collection=False)
        live.search("quiet storm")  # kernels are loaded before processes are forked
        for kind in ("add", "remove", "compact"):
            before = live
            live = apply(live, kind, {"d1": "d1 v0 sea"})
            state = after(state, kind, {"d1": "d1 v0 sea"})
            assert before is not live or kind == "compact"
        while counts["kills"] < kills:
            reading, told = os.pipe()
            os.set_blocking(reading, False)
            writer, reader = in_child(write_on, path, seed, number, told), in_child(read_on, path)
            time.sleep(rng.uniform(0.01, 0.6))
            os.kill(writer, signal.SIGKILL)
            assert os.WIFSIGNALED(os.waitpid(writer, 0)[1]), "the writer ended by itself"
            os.kill(reader, signal.SIGKILL)
            assert os.WIFSIGNALED(os.waitpid(reader, 0)[1]), "the reader found documents mixed up"
            os.close(told)
            with os.fdopen(reading, "rb") as pipe:
                done = len(pipe.read() or b"") // 8
            for _ in range(done):
                state = after(state, *change(seed, number, list(state)))
                number += 1
            following = after(state, *change(seed, number, list(state)))
            found = require_same(path, [state, following], folder, counts["kills"] % 10 == 0)
            if list(found.items()) != list(state.items()):
                state, number = following, number + 1
            segments = len(dv.open_collection(path, verify=False).segments)
            counts["most_segments"] = max(counts["most_segments"], segments)
            counts["kills"] += 1
            counts["changes"] = number
    return counts


if __name__ == "__main__":
    sys.stdout.write(f"{run(*map(int, sys.argv[1:] or ['500']))}\n")
