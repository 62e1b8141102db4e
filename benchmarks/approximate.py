r"""Approximate indexes side by side: our lists, usearch, hnswlib and faiss, on one core.

    python benchmarks/approximate.py -o benchmarks/results/approximate.json
    python benchmarks/approximate.py --vectors documents.npy
    python benchmarks/approximate.py --documents reviews.parquet --save pieces.npy \
        --rows 1000000 --threads 2 -o benchmarks/results/approximate_million.json

Seconds of questions are those of the processor, on one core, so that what else the machine does
matters little; indexes are built on as many threads as asked for, and both clocks are read. Each
index is made in a process of its own, by what its library calls usual: graphs of 16 links and
128 rows in sight when built, and as many lists as ours has. Each is asked one query after the
other, and in one batch, at several depths: the lists looked through, or the rows in sight. What it
proposes is ranked anew by float32 products where its own numbers are smaller. Recall is the share
of the ten best rows that is found. Memory is what the process has more when the index is there; it
holds the rows that are given, which ours does not copy. Peers that are not installed are absent.
An output that is there already keeps what it has of methods that are not measured again.

Rows are drawn, or read from a file, or pieces of documents: every thirty words of each, what is
left of it if that is fifteen words or more, and so many of all these as rows are asked for, drawn
with a seed. A model of the whole documents (every fourth of them, at most 40,000) embeds them.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import time
from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow.parquet as pq
from measuring import publish, surroundings
from search import K, drawn, from_file, installed

import deltavec as dv

QUERIES = 500
ALONE = 200  # of them, one after the other
DEPTHS = (16, 32, 64, 128, 256)
LINKS, IN_SIGHT = 16, 128
WORDS_A_PIECE, FEWEST_WORDS = 30, 15
LEARNED_FROM = 40_000

Search = Callable[[np.ndarray, int], np.ndarray]
"""From queries and a depth to the numbers of the best rows."""


def lists(rows: np.ndarray, threads: int) -> Search:
    index = dv.Index(rows, approximate=True, threads=threads)
    index.search(rows[0], K)  # their codes are made

    def search(queries: np.ndarray, depth: int) -> np.ndarray:
        index.expansion = depth
        return np.asarray(index.search(queries, K, threads=1).ids)

    return search


def usearch_graph(rows: np.ndarray, threads: int, kind: str) -> Search:
    from usearch.index import Index

    index = Index(
        ndim=rows.shape[1], metric="cos", dtype=kind, connectivity=LINKS, expansion_add=IN_SIGHT
    )
    index.add(np.arange(len(rows)), rows, threads=threads)

    def search(queries: np.ndarray, depth: int) -> np.ndarray:
        index.expansion_search = depth
        found = index.search(queries, K if kind == "f32" else 2 * K, threads=1).keys
        return ranked_anew(rows, queries, found.astype(np.int64).reshape(len(queries), -1))

    return search


def hnswlib_graph(rows: np.ndarray, threads: int) -> Search:
    import hnswlib

    index = hnswlib.Index(space="ip", dim=rows.shape[1])
    index.init_index(len(rows), ef_construction=IN_SIGHT, M=LINKS)
    index.add_items(rows, num_threads=threads)

    def search(queries: np.ndarray, depth: int) -> np.ndarray:
        index.set_ef(max(K, depth))
        return index.knn_query(queries, K, num_threads=1)[0].astype(np.int64)

    return search


def faiss_index(rows: np.ndarray, threads: int, kind: str) -> Search:
    import faiss

    faiss.omp_set_num_threads(threads)
    count = round(2 * len(rows) ** 0.5)
    names = {"hnsw": f"HNSW{LINKS}", "ivf": f"IVF{count},Flat", "ivf_sq8": f"IVF{count},SQ8"}
    index = faiss.index_factory(rows.shape[1], names[kind], faiss.METRIC_INNER_PRODUCT)
    if kind == "hnsw":
        index.hnsw.efConstruction = IN_SIGHT
    index.train(rows)
    index.add(rows)
    faiss.omp_set_num_threads(1)

    def search(queries: np.ndarray, depth: int) -> np.ndarray:
        if kind == "hnsw":
            index.hnsw.efSearch = depth
        else:
            index.nprobe = depth
        found = index.search(queries, 2 * K if kind == "ivf_sq8" else K)[1]
        return ranked_anew(rows, queries, found)

    return search


def ranked_anew(rows: np.ndarray, queries: np.ndarray, found: np.ndarray) -> np.ndarray:
    """The best of what was proposed, by float32 products; as it is if no more than that."""
    if found.shape[1] == K:
        return found
    scores = np.einsum("qkd,qd->qk", rows[found], queries)
    return np.take_along_axis(found, np.argsort(-scores, axis=1)[:, :K], axis=1)


class Method(NamedTuple):
    """How an index is made, and the module it needs."""

    make: Callable[[np.ndarray, int], Search]
    module: str


METHODS = {
    "deltavec": Method(lists, "deltavec"),
    "usearch_f32": Method(partial(usearch_graph, kind="f32"), "usearch"),
    "usearch_i8": Method(partial(usearch_graph, kind="i8"), "usearch"),
    "hnswlib": Method(hnswlib_graph, "hnswlib"),
    "faiss_hnsw": Method(partial(faiss_index, kind="hnsw"), "faiss"),
    "faiss_ivf": Method(partial(faiss_index, kind="ivf"), "faiss"),
    "faiss_ivf_sq8": Method(partial(faiss_index, kind="ivf_sq8"), "faiss"),
}


def megabytes() -> float:
    """What this process has in memory of its own."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("RssAnon")) / 1024


def queries_a_second(search: Search, queries: np.ndarray, depth: int, at_once: int) -> float:
    begun = time.process_time()
    for first in range(0, len(queries), at_once):
        search(queries[first : first + at_once], depth)
    return len(queries) / (time.process_time() - begun)


def measured(
    name: str, rows: np.ndarray, queries: np.ndarray, best: np.ndarray, threads: int, out: Any
) -> None:
    """Send what an index takes to build, what it finds, and how quickly."""
    METHODS[name].make(rows[:10_000], threads)(queries[:2], 16)  # compiled, or loaded
    memory, used, begun = megabytes(), time.process_time(), time.perf_counter()
    search = METHODS[name].make(rows, threads)
    used, begun = time.process_time() - used, time.perf_counter() - begun
    memory = megabytes() - memory
    curve = []
    for depth in DEPTHS:
        found = search(queries, depth)
        shared = [len(set(a) & set(b)) for a, b in zip(found.tolist(), best.tolist(), strict=True)]
        curve.append(
            {
                "depth": depth,
                "recall_at_10": round(sum(shared) / best.size, 4),
                "queries_a_second_alone": round(
                    queries_a_second(search, queries[:ALONE], depth, 1)
                ),
                "queries_a_second_together": round(
                    queries_a_second(search, queries, depth, len(queries))
                ),
            }
        )
    out.send(
        {
            "build_processor_seconds": round(used, 2),
            "build_seconds": round(begun, 2),
            "megabytes_more": round(memory),
            "curve": curve,
        }
    )


def embedded_pieces(documents: Path, rows: int, dimensions: int) -> np.ndarray:
    """So many pieces of documents as rows, none of them zero."""
    texts = pq.read_table(documents, columns=["text"])["text"].to_pylist()
    pieces = [
        " ".join(words[first : first + WORDS_A_PIECE])
        for words in map(str.split, texts)
        for first in range(0, len(words), WORDS_A_PIECE)
        if len(words) - first >= FEWEST_WORDS
    ]
    recipe = dv.Recipe(form="spectral", dimensions=dimensions)
    model = dv.fit(texts[::4][:LEARNED_FROM], recipe=recipe)
    order = np.random.default_rng(1).permutation(len(pieces))
    vectors = model.embed([pieces[place] for place in order[: rows + rows // 100]])
    return vectors[vectors.any(axis=1)][:rows]


def split(vectors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The first rows, and the last ones as queries."""
    return np.ascontiguousarray(vectors[:-QUERIES]), np.ascontiguousarray(vectors[-QUERIES:])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--dimensions", type=int, default=100)
    parser.add_argument("--vectors", type=Path, help="an .npy file of unit rows, instead of drawn")
    parser.add_argument("--documents", type=Path, help="a .parquet file whose text makes the rows")
    parser.add_argument("--save", type=Path, help="where to keep the rows that documents make")
    parser.add_argument("--threads", type=int, default=1, help="that build an index")
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=list(METHODS))
    parser.add_argument("-o", "--output", type=Path)
    arguments = parser.parse_args()
    source = "drawn around centres"
    if arguments.vectors:
        source = arguments.vectors.name
        rows, queries = map(np.ascontiguousarray, from_file(arguments.vectors, QUERIES))
    elif arguments.documents:
        source = f"pieces of {arguments.documents.stem}"
        size = arguments.rows + QUERIES, arguments.dimensions
        rows, queries = split(embedded_pieces(arguments.documents, *size))
        if arguments.save:
            np.save(arguments.save, np.concatenate([rows, queries]))
    else:
        rows, queries = split(drawn(arguments.rows + QUERIES, arguments.dimensions))
    exact = dv.Index(rows, threads=1)
    exact.search(queries[:2], K)
    best = np.asarray(exact.search(queries, K).ids)
    rates = {
        "alone": round(
            queries_a_second(lambda q, _: exact.search(q, K).ids, queries[:ALONE], 0, 1)
        ),
        "together": round(
            queries_a_second(lambda q, _: exact.search(q, K).ids, queries, 0, QUERIES)
        ),
    }
    there = [name for name in arguments.methods if find_spec(METHODS[name].module)]
    found = {}
    for name in there:
        ours, theirs = multiprocessing.get_context("fork").Pipe()
        child = multiprocessing.get_context("fork").Process(
            target=measured, args=(name, rows, queries, best, arguments.threads, theirs)
        )
        child.start()
        theirs.close()
        found[name] = ours.recv()
        child.join()
        print(name, found[name], flush=True)
    report = {
        **surroundings(installed(["faiss-cpu", "hnswlib", "numba", "numpy", "usearch"])),
        "load_of_the_machine": [round(each, 1) for each in os.getloadavg()],
        "rows": len(rows),
        "dimensions": rows.shape[1],
        "vectors": source,
        "megabytes_of_rows": round(rows.nbytes / 2**20),
        "threads_that_build": arguments.threads,
        "default_expansion": dv.Index(rows, approximate=True).expansion,
        "exact_queries_a_second": rates,
        "absent": sorted(set(arguments.methods) - set(there)),
    }
    if arguments.output and arguments.output.exists():
        before = json.loads(arguments.output.read_text())
        report |= {name: before[name] for name in METHODS if name in before}
    publish(report | found, arguments.output)


if __name__ == "__main__":
    main()
