"""Search by words beside bm25s, and what storing words adds to `index build`.

    python benchmarks/words.py -o benchmarks/results/words.json

The documents are those of benchmarks/serve.py, and so are the queries: sentences of Lee's news
stories. Both get the same documents and take turns, query by query and then all of them together;
bm25s gets words without stop words, as it does by default, ours all of them. Each finds ten
documents. Collections are built with words and without, in turns.
"""

from __future__ import annotations

import argparse
import os
import random
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import bm25s
import pyarrow as pa
from measuring import publish, surroundings
from pyarrow import parquet

import deltavec as dv
from deltavec.collection.query import NO_VECTOR, Asked
from deltavec.core.threads import thread_count
from deltavec.lab.stories import lee_documents

K = 10
QUERIES = 200


def used(work: Callable[[], Any]) -> tuple[float, float]:
    """Seconds, and those of the processor."""
    begin, before = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - begin, time.process_time() - before


def medians(runs: dict[str, list[tuple[float, float]]], queries: int) -> dict[str, Any]:
    return {
        name: {
            "queries_a_second": round(queries / median(seconds for seconds, _ in each), 1),
            "processor_milliseconds_a_query": round(
                1000 * median(processor for _, processor in each) / queries, 3
            ),
        }
        for name, each in runs.items()
    }


def searched(collection: dv.Collection, texts: list[str], queries: list[str], repeats: int) -> Any:
    retriever = bm25s.BM25()
    retriever.index(bm25s.tokenize(texts, show_progress=False), show_progress=False)
    cores = thread_count(None)

    def theirs(asked: list[str]) -> None:
        tokens = bm25s.tokenize(asked, show_progress=False, return_ids=False)
        retriever.retrieve(tokens, k=K, show_progress=False, n_threads=cores)

    def ours(asked: list[str]) -> None:
        collection.answers([Asked(K, NO_VECTOR, collection.read(text, "words")) for text in asked])

    ways = {"deltavec": ours, "bm25s": theirs}
    single: dict[str, list[tuple[float, float]]] = {name: [] for name in ways}
    batch: dict[str, list[tuple[float, float]]] = {name: [] for name in ways}
    for turn in range(repeats + 1):
        for name, search in ways.items():
            one = used(lambda search=search: [search([text]) for text in queries])
            many = used(lambda search=search: search(queries))
            if turn:  # the first is for warming up
                single[name].append(one)
                batch[name].append(many)
    return {
        "one_query_at_a_time": medians(single, len(queries)),
        f"{len(queries)}_queries": medians(batch, len(queries)),
    }


def built(model: dv.EmbeddingModel, folder: Path, repeats: int) -> dict[str, Any]:
    """How long a build takes, with words and without."""
    runs: dict[bool, list[tuple[float, float]]] = {True: [], False: []}
    for turn in range(repeats + 1):
        for words in (True, False):
            run = used(
                lambda words=words: dv.build_collection(
                    model,
                    dv.read_corpus(folder / "news.parquet"),
                    folder / "timed.idx",
                    words=words,
                )
            )
            if turn:
                runs[words].append(run)
    seconds = {words: median(wall for wall, _ in each) for words, each in runs.items()}
    processor = {words: median(cpu for _, cpu in each) for words, each in runs.items()}
    return {
        "seconds": {"with_words": round(seconds[True], 2), "without": round(seconds[False], 2)},
        "processor_seconds": {
            "with_words": round(processor[True], 2),
            "without": round(processor[False], 2),
        },
        "times_as_long": round(seconds[True] / seconds[False], 2),
        "times_as_much_processor": round(processor[True] / processor[False], 2),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--documents", type=int, default=100_000)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("-o", "--output", type=Path)
    arguments = parser.parse_args()
    stories = lee_documents().stories
    known = [part.strip() for story in stories for part in story.split(". ")]
    rng = random.Random(0)
    texts = [". ".join(rng.sample(known, 3)) for _ in range(arguments.documents)]
    model = dv.fit(stories)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        parquet.write_table(pa.table({"text": texts}), folder / "news.parquet")
        corpus = dv.read_corpus(folder / "news.parquet")
        collection = dv.build_collection(model, corpus, folder / "news.idx")
        queries = random.Random(1).sample(known, QUERIES)
        report = {
            **surroundings(["bm25s", "numba", "numpy", "pyarrow"]),
            "documents": len(texts),
            "queries": QUERIES,
            "k": K,
            "repeats": arguments.repeats,
            "search": searched(collection, texts, queries, arguments.repeats),
            "index_build": built(model, folder, arguments.repeats),
            "load_of_the_machine": [round(each, 1) for each in os.getloadavg()],
        }
    publish(report, arguments.output)


if __name__ == "__main__":
    main()
