"""A collection: build, open, hybrid, keyword and semantic search, why; beside bm25s."""

from __future__ import annotations

import shutil
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from run import Given, Step
from texts import read_column, sentences

import deltavec as dv

FITTED = 20_000
K = 10
QUERIES = 200
WAYS = {"hybrid": "both", "keyword": "words", "semantic": "meaning"}  # and their earlier names


def way_to_search(collection: dv.Collection, way: str) -> str:
    """The name that this checkout has for a way to search."""
    try:
        collection.search("a", K, by=way)
    except (ValueError, dv.DeltavecError):
        return WAYS[way]
    return way


def steps(given: Given) -> dict[str, Step]:
    """A collection of all documents."""
    corpus = Path(given.corpus)
    model = dv.fit(read_column(corpus, FITTED))
    folder, again = given.path / "built.idx", given.path / "again.idx"

    def build(target: Path) -> dv.Collection:
        read = dv.read_corpus(corpus)
        return dv.build_collection(model, read, target, id_column="id")

    collection = build(folder)
    queries = sentences(read_column(corpus, QUERIES), QUERIES)
    ids = [hit.id for hit in collection.search(queries[0], K)]

    def search(way: str) -> Step:
        by = way_to_search(collection, way)

        def step() -> dict[str, Any]:
            hits = [hit for query in queries for hit in collection.search(query, K, by=by)]
            answer = {"ids": [hit.id for hit in hits], "numbers": [hit.score for hit in hits]}
            return {"items": len(queries), "answer": answer}

        return step

    def why() -> dict[str, Any]:
        for identity in ids:
            collection.why(queries[0], identity)
        return {"items": len(ids)}

    def rebuild() -> dict[str, Any]:
        shutil.rmtree(again, ignore_errors=True)
        build(again)
        return {"items": given.documents}

    def reopen() -> dict[str, Any]:
        for _ in range(10):
            dv.open_collection(folder)
        return {"items": 10}

    return {
        **{f"queries, {way}": search(way) for way in WAYS},
        "explanations": why,
        "documents, build_collection": rebuild,
        "collections opened": reopen,
    }


def peers(given: Given) -> dict[str, Step]:
    """bm25s, which drops stop words by default."""
    if not find_spec("bm25s"):
        return {}
    import bm25s

    column = read_column(Path(given.corpus))
    queries = sentences(column, QUERIES)
    retriever = bm25s.BM25()
    tokens = bm25s.tokenize(column.to_pylist(), show_progress=False)
    retriever.index(tokens, show_progress=False)

    def keyword() -> dict[str, Any]:
        for query in queries:
            asked = bm25s.tokenize([query], show_progress=False, return_ids=False)
            retriever.retrieve(asked, k=K, show_progress=False, n_threads=given.threads)
        return {"items": len(queries)}

    return {"bm25s, queries": keyword}
