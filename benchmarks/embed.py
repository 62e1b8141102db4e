"""Embedding in memory: a column, a list, short documents, one at a time; beside other libraries."""

from __future__ import annotations

import re
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from run import Given, Step
from texts import count_words, read_column

import deltavec as dv

FITTED = 20_000
SINGLE = 500


def steps(given: Given) -> dict[str, Step]:
    """A model of the first documents, and what it embeds."""
    column = read_column(Path(given.corpus))
    model = dv.fit(column[:FITTED])
    texts = column.to_pylist()
    joined = " ".join(texts[:4_000]).split()
    short = pa.array(
        [" ".join(joined[at : at + 10]) for at in range(0, len(joined), 10)], pa.large_string()
    )

    def embed(documents: Any, threads: int) -> Step:
        items = count_words(documents if isinstance(documents, pa.Array) else column)

        def step() -> dict[str, Any]:
            vectors = model.embed(documents, threads=threads)
            return {"items": items, "answer": {"numbers": vectors[:20].ravel().tolist()}}

        return step

    def one_by_one() -> dict[str, Any]:
        for text in texts[:SINGLE]:
            model.embed([text])
        return {"items": SINGLE}

    return {
        "words of a column": embed(column, given.threads),
        "words of a column, one thread": embed(column, 1),
        "words of a list of strings": embed(texts, given.threads),
        "words of documents of ten words": embed(short, given.threads),
        "documents, one at a time": one_by_one,
    }


def peers(given: Given) -> dict[str, Step]:
    """What else turns text into vectors, each as its documentation has it."""
    column = read_column(Path(given.corpus))
    texts, words = column.to_pylist(), count_words(column)
    found: dict[str, Step] = {"regex + dict + scipy": regex_dict_scipy(texts, words)}
    if find_spec("sklearn"):
        from sklearn.feature_extraction.text import TfidfVectorizer

        tfidf = TfidfVectorizer(min_df=2).fit(texts[:FITTED])
        found["scikit-learn TfidfVectorizer"] = counted(lambda: tfidf.transform(texts), words)
    potion = Path(given.models, "potion-base-8M")
    if find_spec("model2vec") and potion.exists():
        from model2vec import StaticModel

        model = StaticModel.from_pretrained(potion)
        some = texts[:12_000]
        own = count_words(column[: len(some)])
        found["model2vec potion-base-8M"] = counted(lambda: model.encode(some), own)
    return found


def counted(run: Any, items: int) -> Step:
    """A step that runs a function and says how many items it had."""

    def step() -> dict[str, Any]:
        run()
        return {"items": items}

    return step


def regex_dict_scipy(texts: list[str], words: int) -> Step:
    """What people write: ``re.findall``, a dict, a sparse matrix times a table, unit rows."""
    from scipy import sparse

    find = re.compile(r"\w+").findall
    known = dict.fromkeys(word for text in texts[:FITTED] for word in find(text.lower()))
    ids = {word: number for number, word in enumerate(known)}
    rows = np.random.default_rng(0).standard_normal((len(ids), 100), dtype=np.float32)

    def run() -> np.ndarray:
        offsets, columns = [0], []
        for text in texts:
            columns += [ids[word] for word in find(text.lower()) if word in ids]
            offsets.append(len(columns))
        values = np.ones(len(columns), np.float32)
        counts = sparse.csr_matrix((values, columns, offsets), (len(texts), len(rows)))
        counts.sum_duplicates()
        sums = counts @ rows
        lengths = np.linalg.norm(sums, axis=1, keepdims=True)
        return np.divide(sums, lengths, out=np.zeros_like(sums), where=lengths > 0)

    return counted(run, words)
