"""Planted duplicates beside semhash and MinHash, and what of one corpus is in another.

    python benchmarks/duplicates.py planted reviews.parquet -o planted.json
    python benchmarks/duplicates.py against reviews.parquet newsgroups.parquet -o against.json

``planted``: 10,000 documents of 20 words or more, and 500 copies each with 1, 2 and 5 of their
words replaced by words of other documents. A copy is found if one of the two goes. deltavec's pairs
are compared with all cosines, computed one by one in float64. semhash gets deltavec's vectors, and
potion-base-8M's if its folder is given (``--potion``). MinHash (datasketch) has 128 permutations,
of words and of three words in a row. Each method has a process of its own; memory is that process'
peak, with the texts and, for those that take them, the vectors in it.

``against``: 200,000 documents and 200,000 others, the first and second halves of the texts given;
among the others 2,000 copies of the first with 0, 1, 2 and 5 words replaced.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from measuring import publish, surroundings
from pyarrow import parquet

import deltavec as dv

CHANGES = (1, 2, 5)
COSINES = (0.8, 0.85, 0.9, 0.95, 0.98, 0.99)
DOCUMENTS, COPIES = 10_000, 500
LARGE, LEAKED = 200_000, 500  # so many leaked for each number of changes


def changed(text: str, count: int, others: list[str], rng: random.Random) -> str:
    words = text.split()
    for place in rng.sample(range(len(words)), count):
        words[place] = rng.choice(rng.choice(others).split())
    return " ".join(words)


def long_texts(paths: list[Path]) -> list[str]:
    texts: list[str] = []
    for path in paths:
        texts += parquet.read_table(path, columns=["text"])["text"].to_pylist()
    return [text for text in texts if text and len(text.split()) >= 20]


def planted(paths: list[Path]) -> pa.Table:
    """Documents, then the copies; ``original`` is the row a copy is made of, ``changes`` how."""
    rng = random.Random(1)
    texts = rng.sample([*dict.fromkeys(long_texts(paths))], DOCUMENTS)
    rows = [(text, -1, 0) for text in texts]
    places = rng.sample(range(DOCUMENTS), COPIES * len(CHANGES))
    for number, place in enumerate(places):
        changes = CHANGES[number % len(CHANGES)]
        rows.append((changed(texts[place], changes, texts, rng), place, changes))
    return pa.table(
        dict(zip(("text", "original", "changes"), zip(*rows, strict=True), strict=True))
    )


def recalls(gone: set[int], table: pa.Table) -> dict[str, Any]:
    """The share of copies of which one of the two goes, and how many other documents go."""
    found: dict[int, list[bool]] = {changes: [] for changes in CHANGES}
    pairs = set()
    for row, (original, changes) in enumerate(
        zip(table["original"].to_pylist(), table["changes"].to_pylist(), strict=True)
    ):
        if original >= 0:
            found[changes].append(row in gone or original in gone)
            pairs |= {row, original}
    shares = {f"recall_{changes}": float(np.mean(hits)) for changes, hits in found.items()}
    return shares | {"others_gone": len(gone - pairs)}


def with_deltavec(table: pa.Table, vectors: Any) -> Iterator[tuple[str, Callable[[], set[int]]]]:
    for cosine in COSINES:
        yield f"{cosine}", lambda t=cosine: set(dv.duplicates(vectors, t).removed.tolist())


class Given:
    """An encoder for semhash that looks vectors up."""

    def __init__(self, texts: list[str], vectors: Any) -> None:
        self.rows = {text: row for row, text in enumerate(texts)}
        self.vectors = vectors

    def encode(self, inputs: Any, **_: Any) -> Any:
        """The vectors of texts."""
        return self.vectors[[self.rows[text] for text in inputs]]


def with_semhash(table: pa.Table, encoder: Any) -> Iterator[tuple[str, Callable[[], set[int]]]]:
    from semhash import SemHash

    texts = table["text"].to_pylist()

    def removed(cosine: float) -> set[int]:
        index = SemHash.from_records(records=texts, model=encoder)
        result = index.self_deduplicate(threshold=cosine)
        left: dict[str, int] = {}
        for record in result.selected:
            left[record] = left.get(record, 0) + 1
        gone = set()
        for row, text in enumerate(texts):
            if left.get(text, 0):
                left[text] -= 1
            else:
                gone.add(row)
        return gone

    for cosine in COSINES:
        yield f"{cosine}", lambda t=cosine: removed(t)


def with_minhash(table: pa.Table, words: int) -> Iterator[tuple[str, Callable[[], set[int]]]]:
    from datasketch import MinHash, MinHashLSH

    def shingles(text: str) -> set[bytes]:
        tokens = text.lower().split()
        runs = range(max(1, len(tokens) - words + 1))
        return {" ".join(tokens[begin : begin + words]).encode() for begin in runs}

    def sketched(text: str) -> Any:
        sketch = MinHash(num_perm=128)
        sketch.update_batch([*shingles(text)])
        return sketch

    sketches = [sketched(text) for text in table["text"].to_pylist()]

    def removed(threshold: float) -> set[int]:
        index, gone = MinHashLSH(threshold=threshold, num_perm=128), set()
        for row, sketch in enumerate(sketches):
            if index.query(sketch):
                gone.add(row)
            else:
                index.insert(row, sketch)
        return gone

    for threshold in (0.5, 0.7, 0.8, 0.9):
        yield f"{threshold}", lambda t=threshold: removed(t)


def peak_megabytes() -> int:
    """The most memory this program had; getrusage would count what its parent had before it."""
    status = Path("/proc/self/status").read_text()
    return int(re.search(r"VmHWM:\s+(\d+) kB", status)[1]) >> 10


def one_method(name: str, folder: Path, potion: str) -> dict[str, Any]:
    table = parquet.read_table(folder / "planted.parquet")
    vectors = np.load(folder / "vectors.npy") if "deltavec" in name else None
    if name == "deltavec":
        runs = with_deltavec(table, vectors)
        dv.duplicates(vectors[:2000], 0.9)  # compiled
    elif name == "semhash on deltavec":
        runs = with_semhash(table, Given(table["text"].to_pylist(), vectors))
    elif name == "semhash on potion":
        from model2vec import StaticModel

        runs = with_semhash(table, StaticModel.from_pretrained(potion))
    else:
        runs = with_minhash(table, 3 if name.endswith("three words") else 1)
    found = {}
    before = time.process_time()
    first = next(runs)  # what is done once, for all thresholds
    preparing = round(time.process_time() - before, 2)
    for threshold, work in (first, *runs):
        begin, before = time.perf_counter(), time.process_time()
        gone = work()
        found[threshold] = recalls(gone, table) | {
            "processor_seconds": round(time.process_time() - before, 2),
            "seconds": round(time.perf_counter() - begin, 2),
        }
    return {
        "preparing_processor_seconds": preparing,
        "thresholds": found,
        "peak_megabytes": peak_megabytes(),
    }


def all_cosines(vectors: Any, table: pa.Table) -> dict[str, Any]:
    """The exact answer: how many pairs there are, and which share of copies is in one."""
    wide = vectors.astype(np.float64)
    lengths = np.linalg.norm(wide, axis=1, keepdims=True)
    wide /= np.where(lengths > 0, lengths, 1)
    counts = dict.fromkeys(COSINES, 0)
    for first in range(0, len(wide), 512):
        products = (wide[first : first + 512] @ wide[first:].T).astype(np.float32)
        upper = np.triu_indices(products.shape[0], 1, products.shape[1])
        for cosine in COSINES:
            counts[cosine] += int((products[upper] >= np.float32(cosine)).sum())
    original, changes = table["original"].to_numpy(), table["changes"].to_numpy()
    rows = np.flatnonzero(original >= 0)
    own = np.einsum("ij,ij->i", wide[rows], wide[original[rows]]).astype(np.float32)
    return {
        f"{cosine}": {
            "pairs": counts[cosine],
            "pairs_deltavec": dv.duplicates(vectors, cosine).count,
            **{
                f"recall_{one}": float((own[changes[rows] == one] >= np.float32(cosine)).mean())
                for one in CHANGES
            },
        }
        for cosine in COSINES
    }


def run_planted(paths: list[Path], potion: str | None) -> dict[str, Any]:
    methods = ["deltavec", "semhash on deltavec", "minhash, words", "minhash, three words"]
    methods += ["semhash on potion"] if potion else []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        table = planted(paths)
        parquet.write_table(table, folder / "planted.parquet")
        begin = time.process_time()
        texts = table["text"].to_pylist()
        vectors = dv.fit(texts).for_collection(texts).embed(texts)
        seconds = round(time.process_time() - begin, 1)
        np.save(folder / "vectors.npy", vectors)
        report: dict[str, Any] = {
            "documents": len(table),
            "copies_of_each_kind": COPIES,
            "fit_and_embed_processor_seconds": seconds,
            "exact": all_cosines(vectors, table),
        }
        print(json.dumps(report["exact"]), flush=True)
        for method in methods:
            arguments = [sys.executable, __file__, "method", method, name, potion or ""]
            done = subprocess.run(arguments, capture_output=True, text=True, check=True)
            report[method] = json.loads(done.stdout.splitlines()[-1])
            print(method, report[method], flush=True)
    return report


def run_against(paths: list[Path]) -> dict[str, Any]:
    rng = random.Random(2)
    halves: tuple[list[str], list[str]] = ([], [])
    texts = long_texts(paths)
    rng.shuffle(texts)
    for text in texts:
        words = text.split()
        middle = len(words) // 2
        halves[0].append(" ".join(words[:middle]))
        halves[1].append(" ".join(words[middle:]))
    ours, others = halves[0][:LARGE], halves[1][: LARGE - 4 * LEAKED]
    for changes in (0, 1, 2, 5):
        for place in rng.sample(range(len(ours)), LEAKED):
            fits = len(ours[place].split()) >= changes
            others.append(changed(ours[place], changes if fits else 0, ours, rng))
    rng.shuffle(others)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        parquet.write_table(pa.table({"text": ours}), folder / "ours.parquet")
        parquet.write_table(pa.table({"text": others}), folder / "others.parquet")
        model = dv.fit(ours[:20_000])
        collection = dv.build_collection(
            model, dv.read_corpus(folder / "ours.parquet"), folder / "ours.idx", words=False
        )
        report: dict[str, Any] = {
            "documents": len(ours), "others": len(others), "dimensions": model.dimensions
        }  # fmt: skip
        del texts, halves, ours, others, model
        arguments = [sys.executable, __file__, "compare", name]
        done = subprocess.run(arguments, capture_output=True, text=True, check=True)
        megabytes = collection.index.vectors.nbytes >> 20
        return report | {"vectors_megabytes": megabytes} | json.loads(done.stdout.splitlines()[-1])


def compare(folder: Path) -> dict[str, Any]:
    collection = dv.open_collection(folder / "ours.idx", verify=False)
    collection.against(["a quiet room by the sea"] * 10, 0.9)  # compiled
    begin, before = time.perf_counter(), time.process_time()
    found = collection.against(dv.read_corpus(folder / "others.parquet"), 0.9)
    score = found.table["score"].to_numpy()
    return {
        "processor_seconds": round(time.process_time() - before, 1),
        "seconds": round(time.perf_counter() - begin, 1),
        "peak_megabytes": peak_megabytes(),
        "found": {f"{t}": int((score >= np.float32(t)).sum()) for t in (0.9, 0.95, 0.99, 0.999)},
    }


if __name__ == "__main__":
    if sys.argv[1] == "method":
        print(json.dumps(one_method(sys.argv[2], Path(sys.argv[3]), sys.argv[4])))
        sys.exit()
    if sys.argv[1] == "compare":
        print(json.dumps(compare(Path(sys.argv[2]))))
        sys.exit()
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["planted", "against"])
    parser.add_argument("texts", type=Path, nargs="+")
    parser.add_argument("--potion", help="the folder of potion-base-8M")
    parser.add_argument("-o", "--output", type=Path)
    asked = parser.parse_args()
    begun = os.getloadavg()[0]
    if asked.what == "planted":
        result = run_planted(asked.texts, asked.potion)
    else:
        result = run_against(asked.texts)
    load = {"load_at_begin": round(begun, 1), "load_at_end": round(os.getloadavg()[0], 1)}
    publish({**surroundings(("semhash", "datasketch", "numpy")), **load, **result}, asked.output)
