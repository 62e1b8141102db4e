"""How fast each kind of unit is found and summed: Latin words, Chinese characters, runs.

    python benchmarks/units.py reviews.parquet headlines.parquet --before PYTHON \
        -o benchmarks/results/units.json

Embedding on one thread, 100 dimensions, medians of processor time; everything takes turns, so
that what else the machine does falls on all alike. ``--before`` is the interpreter of another
version, for words on the same reviews and the same vectors. Chinese headlines are measured as they
are and joined to texts about as long as reviews, Latin text as reviews and cut as short as
headlines: what a document costs by itself weighs on short ones. Runs of characters are measured
beside scikit-learn's ``TfidfVectorizer(analyzer="char_wb")``, which has learned its vocabulary and
has no threads: also on all cores, by the clock.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from measuring import publish, surroundings

import deltavec as dv

DIMENSIONS = 100
HEADLINES_JOINED = 20
RUNS = 4
BY_THE_CLOCK = ", all cores by the clock"


def reviews_of(path: Path, most: int) -> list[str]:
    return pq.read_table(path, columns=["text"])["text"].slice(0, most).to_pylist()


def cut_short(texts: list[str], size: int) -> list[str]:
    """The same words in pieces of about so many characters."""
    pieces = []
    for text in texts:
        words = text.split(" ")
        each = max(1, round(size / (len(text) / len(words))))
        pieces += [" ".join(words[begin : begin + each]) for begin in range(0, len(words), each)]
    return pieces


def processor_seconds(function: Callable[[], Any]) -> float:
    begin = time.process_time()
    function()
    return time.process_time() - begin


def clock_seconds(function: Callable[[], Any]) -> float:
    begin = time.perf_counter()
    function()
    return time.perf_counter() - begin


def embedding(
    model: dv.EmbeddingModel, texts: list[str], threads: int | None = 1
) -> Callable[[], Any]:
    column = pa.array(texts, pa.large_string())
    return lambda: model.embed(column, threads=threads)


def words_model(texts: list[str]) -> dv.EmbeddingModel:
    """A model whose words and vectors do not depend on the version of deltavec."""
    counts = Counter(word for text in texts for word in text.lower().split() if word.isalpha())
    words = [word for word, _ in counts.most_common(20_000)]
    matrix = np.random.default_rng(0).normal(size=(len(words), DIMENSIONS))
    return dv.fit(texts, dv.WordVectors(words, matrix), "idf-sum", threads=1)


def work(path: Path, most: int) -> None:
    """Embed the reviews for each line that comes in, and answer with the seconds."""
    texts = reviews_of(path, most)
    run = embedding(words_model(texts), texts)
    run()
    print("ready", flush=True)
    for _ in sys.stdin:
        print(processor_seconds(run), flush=True)


class Version:
    """Another interpreter, which embeds the reviews when asked to."""

    def __init__(self, python: str, path: Path, most: int) -> None:
        command = [python, __file__, str(path), "-", "--reviews", str(most), "--work"]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        assert self.answer() == "ready"

    def answer(self) -> str:
        """The next line that it prints."""
        assert self.process.stdout is not None
        return self.process.stdout.readline().strip()

    def seconds(self) -> float:
        """The processor time of one run."""
        assert self.process.stdin is not None
        self.process.stdin.write("go\n")
        self.process.stdin.flush()
        return float(self.answer())


def tasks(asked: argparse.Namespace) -> dict[str, tuple[int, Callable[[], float]]]:
    """What is measured: the bytes of its text, and what gives the seconds of one run."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    reviews = reviews_of(asked.reviews_file, asked.reviews)
    headlines = reviews_of(asked.headlines_file, sys.maxsize)
    joined = [
        "，".join(headlines[begin : begin + HEADLINES_JOINED])
        for begin in range(0, len(headlines), HEADLINES_JOINED)
    ]
    few = reviews[: len(reviews) // 5]
    recipe = dv.Recipe(form="spectral", dimensions=DIMENSIONS)
    latin = dv.fit(reviews, recipe=recipe, units="words")
    chinese = dv.fit(headlines, recipe=recipe)
    found: dict[str, tuple[int, Callable[[], float]]] = {}

    def add(name: str, texts: list[str], run: Callable[[], Any]) -> None:
        size = sum(len(text.encode()) for text in texts)
        found[name] = size, lambda: processor_seconds(run)

    short = cut_short(reviews, 55)
    add("reviews, words", reviews, embedding(latin, reviews))
    add("reviews cut short, words", short, embedding(latin, short))
    add("headlines", headlines * 4, embedding(chinese, headlines * 4))
    add("headlines joined", joined * 4, embedding(chinese, joined * 4))
    for units in ("words+grams", "grams"):
        model = dv.fit(few, recipe=recipe, units=units)
        add(f"reviews, {units}", few, embedding(model, few))
        size, every_core = found[f"reviews, {units}"][0], embedding(model, few, None)
        found[f"reviews, {units}{BY_THE_CLOCK}"] = size, partial(clock_seconds, every_core)
    sparse = TfidfVectorizer(analyzer="char_wb", ngram_range=(RUNS, RUNS)).fit(few)
    add("reviews, char_wb", few, lambda: sparse.transform(few))
    size = found["reviews, words"][0]
    if asked.before:
        found["reviews, words, before"] = (
            size,
            Version(asked.before, asked.reviews_file, asked.reviews).seconds,
        )
        found["reviews, words, now"] = (
            size,
            Version(sys.executable, asked.reviews_file, asked.reviews).seconds,
        )
    return found


def measured(asked: argparse.Namespace) -> dict[str, Any]:
    every = tasks(asked)
    seconds: dict[str, list[float]] = {name: [] for name in every}
    for turn in range(asked.repeats + 1):
        for name, (_, run) in every.items():
            if turn == 0 and "char_wb" in name:
                continue
            taken = run()
            if turn:  # the first is to warm up
                seconds[name].append(taken)
    rates = {
        name: size / statistics.median(seconds[name]) / 1e6 for name, (size, _) in every.items()
    }
    sparse = rates["reviews, char_wb"]
    ratios = {
        "headlines joined / reviews": rates["headlines joined"] / rates["reviews, words"],
        "headlines / reviews cut short": rates["headlines"] / rates["reviews cut short, words"],
        "headlines / reviews": rates["headlines"] / rates["reviews, words"],
        "words+grams / char_wb": rates["reviews, words+grams"] / sparse,
        "grams / char_wb": rates["reviews, grams"] / sparse,
    }
    for units in ("words+grams", "grams"):
        ratios[f"{units} / char_wb{BY_THE_CLOCK}"] = (
            rates[f"reviews, {units}{BY_THE_CLOCK}"] / sparse
        )
    if asked.before:
        pairs = zip(seconds["reviews, words, before"], seconds["reviews, words, now"], strict=True)
        ratios["words now / before"] = statistics.median(before / now for before, now in pairs)
    return {
        "dimensions": DIMENSIONS,
        "repeats": asked.repeats,
        "megabytes_per_second": {name: round(rate, 1) for name, rate in rates.items()},
        "ratios": {name: round(ratio, 3) for name, ratio in ratios.items()},
        "seconds": {name: [round(one, 4) for one in every] for name, every in seconds.items()},
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("reviews_file", type=Path)
    parser.add_argument("headlines_file", type=Path)
    parser.add_argument("--before", help="the Python of the version to compare words with")
    parser.add_argument("--reviews", type=int, default=20_000, help="how many")
    parser.add_argument("--repeats", type=int, default=15)
    parser.add_argument("--work", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("-o", "--output", type=Path)
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    if asked.work:
        work(asked.reviews_file, asked.reviews)
        return
    report = surroundings(["numpy", "numba", "scikit-learn"])
    publish(json.loads(json.dumps({**report, **measured(asked)})), asked.output)


if __name__ == "__main__":
    main()
