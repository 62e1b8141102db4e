"""Update of one document in a warm process, at two sizes, and search in one and in ten segments.

A change is also made beside ``deltavec serve``: how long until the server finds the new document.

    python benchmarks/updates.py SMALL.idx LARGE.idx TEXTS.parquet [PEERS.json ...] > OUTPUT.json

The collections have an id column and documents of thirty words with the ids doc0, doc1, ...; they
are changed, so give copies. TEXTS has other documents in a column ``text``. PEERS are results of
the same updates in other engines, which go into the output as they are.
"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from urllib.parse import urlencode
from urllib.request import urlopen

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from serve import start, stop

import deltavec as dv

UPDATES, QUERIES, CHANGES = 400, 200, 30
SIZES = [12_000, 6_000, 3_000, 1_500, 700, 340, 160, 70, 5]


def written() -> int:
    """The bytes that this process has written."""
    lines = Path("/proc/self/io").read_text().splitlines()
    return int(next(line for line in lines if line.startswith("wchar")).split()[1])


def table(collection: dv.Collection, texts: list[str], ids: list[str]) -> pa.Table:
    """Documents with the columns of the collection, which are empty."""
    stated = collection.description
    nothing = {
        name: pa.nulls(len(texts), collection.store.schema.field(name).type)
        for name in stated.columns
    }
    return pa.table({stated.text_column: texts, stated.id_column: ids, **nothing})


def update(
    collection: dv.Collection, texts: list[str], count: int
) -> tuple[dv.Collection, dict[str, float]]:
    """Single updates in a row: CPU time, wall time and bytes of each."""
    rng, rows = np.random.default_rng(1), []
    last = len(collection)
    for text in texts[:count]:
        one = table(collection, [text], [f"doc{rng.integers(last)}"])
        before = written(), time.process_time(), time.perf_counter()
        collection = collection.add(one, update=True, threads=1)
        after = written(), time.process_time(), time.perf_counter()
        rows.append([b - a for a, b in zip(before, after, strict=True)])
    size, cpu, wall = np.array(rows[2:]).T
    return collection, {
        "updates": count,
        "cpu_ms_median": round(1e3 * float(np.median(cpu)), 1),
        "cpu_ms_mean": round(1e3 * float(cpu.mean()), 1),
        "cpu_ms_max": round(1e3 * float(cpu.max()), 1),
        "wall_ms_median": round(1e3 * float(np.median(wall)), 1),
        "written_kb_median": round(float(np.median(size)) / 1e3),
        "written_kb_mean": round(float(size.mean()) / 1e3),
        "segments": len(collection.segments),
    }


def search_time(collection: dv.Collection, queries: list[str], by: str) -> float:
    """CPU time of a search in milliseconds, the best of three rounds."""
    rounds = []
    for _ in range(4):
        begin = time.process_time()
        for query in queries:
            collection.best([collection.query(query, by=by)], threads=1)
        rounds.append(time.process_time() - begin)
    return round(1e3 * min(rounds[1:]) / len(queries), 3)


def measure(path: str, texts: list[str]) -> dict[str, object]:
    """All figures of one collection."""
    collection = dv.open_collection(path, verify=False)
    queries = [" ".join(text.split()[3:7]) for text in texts[-QUERIES:]]
    modes = ("hybrid", "keyword", "semantic")
    one = {by: search_time(collection, queries, by) for by in modes}
    found: dict[str, object] = {"documents": len(collection)}
    collection, found["update"] = update(collection, texts, UPDATES)
    begin = UPDATES
    for number, size in enumerate(SIZES):
        some = texts[begin : begin + size]
        begin += size
        ids = [f"new{number}-{place}" for place in range(len(some))]
        collection = collection.add(table(collection, some, ids), threads=1)
    found["segments"] = [segment.live for segment in collection.description.segments]
    several = {by: search_time(collection, queries, by) for by in modes}
    merged = collection.compact()
    same = {by: search_time(merged, queries, by) for by in modes}
    found["search_ms_one_segment"] = one
    found["search_ms_these_segments"] = several
    found["search_ms_the_same_in_one"] = same
    found["rate_of_one_segment"] = {by: round(same[by] / several[by], 2) for by in modes}
    return found


def served_changes(path: str, texts: list[str]) -> dict[str, object]:
    """Seconds from a change that is on disk until a server on this machine finds it by a search."""
    collection = dv.open_collection(path, verify=False)
    known, documents = collection.model.vocabulary.words[1000:], len(collection)
    os.environ["DELTAVEC_MAP"] = "pca"  # the other one would be drawn meanwhile, for minutes
    server, address = start(Path(path))
    address = address.rstrip("/")
    try:
        seconds = []
        for number, text in enumerate(texts[:CHANGES]):
            words = " ".join(known[3 * number : 3 * number + 3])
            new = f"served{len(collection)}-{number}"
            more = table(collection, [f"{words} {words} {text}"], [new])
            asked = urlencode({"query": words, "k": 50})
            collection = collection.add(more, threads=1)
            begin = time.perf_counter()
            while True:
                with urlopen(f"{address}/search?{asked}") as answer:
                    found = [one["id"] for one in json.load(answer)["results"]]
                if new in found:
                    break
                time.sleep(0.005)
            seconds.append(time.perf_counter() - begin)
    finally:
        stop(server)
    return {
        "documents": documents,
        "changes": CHANGES,
        "seconds_first": round(seconds[0], 3),
        "seconds_median": round(float(np.median(seconds)), 3),
        "seconds_most": round(max(seconds), 3),
    }


if __name__ == "__main__":
    small, large, source, *peers = sys.argv[1:]
    texts = pq.read_table(source)["text"].to_pylist()
    result = {
        "versions": {
            "deltavec": dv.__version__,
            "numpy": np.__version__,
            "pyarrow": pa.__version__,
        },
        "deltavec": [measure(path, texts) for path in (small, large)],
        "served_changes": [served_changes(path, texts[::-1]) for path in (small, large)],
        "peers": [json.loads(Path(path).read_text()) for path in peers],
    }
    json.dump(result, sys.stdout, indent=2)
