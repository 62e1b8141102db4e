"""Compile kernels before they are needed: for images, and before a server says that it is ready."""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import numpy as np

from deltavec.collection.collection import Collection
from deltavec.collection.query import BY, find_best, make_ready
from deltavec.core.jit import BUDGET
from deltavec.core.model import EmbeddingModel
from deltavec.errors import LowCoverageWarning

DOCUMENTS = 4_000  # so many that searches use quantized rows
WORDS = 25  # of each document
FILTER = "everything"
QUERIED = 5  # words of a query: of few, other loops are used
SYLLABLES = ("ka", "lo", "mi", "ren", "su", "to", "vel", "ing")


def compile_searches(collection: Collection) -> None:
    """Run a search of every kind on a collection, so that no request waits for the compiler."""
    known = collection.model.vocabulary.words
    words = known[:: max(1, len(known) // QUERIED)][:QUERIED]  # frequent and rare ones
    everything = {FILTER: np.ones(len(collection), bool)}  # no column has to be read for it
    for by in BY if len(collection) else ():
        for filter in (None, FILTER):
            queries = [collection.query(words, k=2, by=by, filter=filter) for _ in range(5)]
            find_best(queries, collection.index, collection.words, everything)
            [found] = find_best(queries[:1], collection.index, collection.words, everything)
            collection.hits(found, queries[0], length=100)
    for rows in (1, 5, 64):
        vectors = collection.index.take(np.arange(min(rows, len(collection))))
        collection.index.search(vectors, k=2)


def compile_updates(model: EmbeddingModel) -> None:
    """Update a small collection of a model, so that no write waits for the compiler."""
    from deltavec.collection.build import build_collection  # a server that only reads needs none

    texts = model.vocabulary.words[:10] or [""]
    with warnings.catch_warnings(), suppress(OSError), tempfile.TemporaryDirectory() as folder:
        warnings.simplefilter("ignore", LowCoverageWarning)
        build_collection(model, texts, Path(folder) / "warm.idx").add(texts).remove(["0"])


def compile_all(on_stage: Callable[[str], None] = lambda stage: None) -> None:
    """Compile what fitting, building, searching, updating and the map need.

    It is done on a small corpus that is made here, once for words and once for character n-grams;
    both have some text in a script without spaces.
    """
    from deltavec.collection.build import build_collection
    from deltavec.core.fitting import fit

    BUDGET.load_compiler()
    texts = [*example_texts()]
    for units in ("words", "words+grams"):
        on_stage(f"compiling kernels for {units}")
        model = fit(texts, units=units)
        with tempfile.TemporaryDirectory() as folder:
            collection = build_collection(model, texts, Path(folder) / "warm.idx")
            collection = collection.add(texts[:2])
            make_ready(collection.index, collection.words)
            compile_searches(collection)
            collection.duplicates()
            collection.similar_pairs()
            collection.with_map()


def example_texts() -> Iterator[str]:
    """Documents of made-up words on eight topics, some words frequent and most of them rare."""
    random = np.random.default_rng(0)
    for number in range(DOCUMENTS):
        ranks = random.zipf(1.3, WORDS) % 512 * 8 + number % 8
        words = ["".join(SYLLABLES[int(digit)] for digit in f"{rank:o}") for rank in ranks]
        yield " ".join([*words, "漢字かな é" if number % 50 == 0 else ""])
