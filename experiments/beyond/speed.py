"""Speed and size of every method on the same reviews: the other half of the table.

To be run on a quiet machine:

    python speed.py reviews.parquet --peers PYTHON --potion FOLDER --minilm FOLDER

PYTHON is that of an environment with model2vec and sentence-transformers. Fitting is timed once, on
the whole file; embedding is timed three times, on reviews as they come (k = 1), and the median
counts. Writes ``results/speed.json``.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq

import deltavec as dv
from deltavec.lab.baselines import doc2vec_vectors

REPEATS = 3
LSA_REVIEWS = 50_000
DOC2VEC_REVIEWS = 1_520


class Measured:
    """The figures of one method."""

    def __init__(self, name: str, note: str = "") -> None:
        self.name, self.figures = name, {"note": note} if note else {}

    def fitted(self, fit: Callable[[], Any]) -> Any:
        """What fitting gives; its time is noted."""
        begun = time.perf_counter()
        model = fit()
        self.figures["fit_seconds"] = time.perf_counter() - begun
        return model

    def embedded(self, embed: Callable[[], Any], documents: int) -> None:
        """Note how many documents a second are embedded."""
        seconds = []
        for _ in range(REPEATS):
            begun = time.perf_counter()
            embed()
            seconds.append(time.perf_counter() - begun)
        self.figures["documents_per_second"] = documents / statistics.median(seconds)
        self.figures["documents"] = documents


def saved_bytes(model: dv.EmbeddingModel) -> int:
    """How large a model is on disk."""
    with tempfile.TemporaryDirectory() as folder:
        model.save(Path(folder) / "model.dv")
        return sum(file.stat().st_size for file in Path(folder).rglob("*") if file.is_file())


def ours(corpus: dv.Corpus, texts: Any) -> Measured:
    """The spectral recipe."""
    measured = Measured("spectral")
    model = measured.fitted(lambda: dv.fit(corpus, recipe="spectral"))
    measured.figures["bytes"] = saved_bytes(model)
    measured.embedded(lambda: model.embed(texts), len(texts))
    return measured


def of_vectors(corpus: dv.Corpus, texts: Any, method: str, names: list[str]) -> list[Measured]:
    """Recipes of the paper; training the word vectors is part of the fit."""
    training = Measured("")
    vectors = training.fitted(lambda: dv.train_vectors(corpus, method=method))
    found = []
    for name in names:
        measured = Measured(f"{name}, {method}", "fit: training the word vectors included")
        model = measured.fitted(lambda name=name: dv.fit(corpus, vectors, recipe=name))
        measured.figures["fit_seconds"] += training.figures["fit_seconds"]
        measured.figures["bytes"] = saved_bytes(model)
        measured.embedded(lambda model=model: model.embed(texts), len(texts))
        found.append(measured)
    return found


def sparse_tfidf(everything: list[str], texts: list[str]) -> list[Measured]:
    """scikit-learn's; squaring idf costs nothing."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    measured = Measured("sparse tf-idf", "scikit-learn's TfidfVectorizer; bytes: words and weights")
    model = measured.fitted(lambda: TfidfVectorizer().fit(everything))
    words = sum(len(word.encode()) for word in model.vocabulary_)
    measured.figures["bytes"] = words + 12 * len(model.vocabulary_)
    measured.embedded(lambda: model.transform(texts), len(texts))
    squared = Measured("sparse tf-idf, idf squared", "as tf-idf")
    squared.figures |= {name: value for name, value in measured.figures.items() if name != "note"}
    return [measured, squared]


def lsa(everything: list[str], texts: list[str]) -> Measured:
    """scikit-learn's TF-IDF and truncated SVD, fitted on some of the reviews."""
    from sklearn.decomposition import TruncatedSVD
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.pipeline import make_pipeline

    some = min(LSA_REVIEWS, len(everything))
    measured = Measured("LSA 300", f"fitted on {some:,} reviews; bytes: words, weights, directions")
    rows = np.random.default_rng(0).choice(len(everything), some, replace=False)
    fit_on = [everything[row] for row in np.sort(rows)]
    steps = make_pipeline(TfidfVectorizer(min_df=5), TruncatedSVD(300, random_state=0))
    model = measured.fitted(lambda: steps.fit(fit_on))
    words = model[0].vocabulary_
    measured.figures["bytes"] = (
        sum(len(word.encode()) for word in words) + 12 * len(words) + model[1].components_.nbytes
    )
    measured.embedded(lambda: model.transform(texts), len(texts))
    return measured


def doc2vec(texts: list[str]) -> Measured:
    """doc2vec with the paper's settings, which learns the documents while it embeds them."""
    some = texts[:DOC2VEC_REVIEWS]
    measured = Measured("doc2vec", "trained on the documents it embeds: training is embedding")
    listed = [np.array(text.lower().split()) for text in some]
    begun = time.perf_counter()
    doc2vec_vectors(listed, min_count=5)
    measured.figures["documents_per_second"] = len(some) / (time.perf_counter() - begun)
    measured.figures["documents"] = len(some)
    return measured


def peer(name: str, python: str, model: Path, texts: list[str]) -> Measured:
    """An embedder that lives in an environment of its own."""
    measured = Measured(name, "pretrained: nothing to fit")
    script = Path(__file__).with_name("peer_vectors.py")
    embedder = "potion" if name.startswith("potion") else "minilm"
    with tempfile.TemporaryDirectory() as folder:
        given = Path(folder) / "texts.json"
        given.write_text(json.dumps({"rows": [], "texts": texts}), encoding="utf-8")
        command = [python, str(script), embedder, str(model), str(given), "--speed"]
        answer = subprocess.run(command, capture_output=True, text=True, check=True)
    measured.figures["documents_per_second"] = float(answer.stdout.split()[-1])
    measured.figures["documents"] = len(texts)
    measured.figures["bytes"] = (model / "model.safetensors").stat().st_size
    return measured


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("reviews", type=Path)
    parser.add_argument("--documents", type=int, default=20_000, help="how many are embedded")
    parser.add_argument("--fit-on", type=int, help="only so many reviews, to try the script")
    parser.add_argument("--peers", help="the python of an environment with the other embedders")
    parser.add_argument("--potion", type=Path, help="the folder of potion-base-8M")
    parser.add_argument("--minilm", type=Path, help="the folder of all-MiniLM-L6-v2")
    parser.add_argument("--minilm-documents", type=int, default=400)
    arguments = parser.parse_args()
    column = pq.read_table(arguments.reviews, columns=["text"])["text"].combine_chunks()
    order = np.random.default_rng(1).permutation(len(column))
    if arguments.fit_on:
        column = column.take(order[: arguments.fit_on])
        order = np.arange(len(column))
    corpus = dv.read_corpus(column)
    texts = column.take(order[: arguments.documents])
    listed, everything = texts.to_pylist(), column.to_pylist()
    dv.fit(listed[:500], recipe="spectral").embed(texts[:500])  # compiles what is compiled once
    found = [ours(corpus, texts)]
    found += of_vectors(corpus, texts, "ppmi", ["idf-delta-pca"])
    found += of_vectors(corpus, texts, "word2vec", ["unit-sum", "idf-delta-pca"])
    found += [*sparse_tfidf(everything, listed), lsa(everything, listed), doc2vec(listed)]
    if arguments.peers and arguments.potion:
        found.append(peer("potion-base-8M", arguments.peers, arguments.potion, listed))
    if arguments.peers and arguments.minilm:
        some = listed[: arguments.minilm_documents]
        found.append(peer("MiniLM", arguments.peers, arguments.minilm, some))
    packages = ("deltavec", "numpy", "scikit-learn", "gensim")
    outcome = {
        "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores",
        "versions": {name: version(name) for name in packages},
        "reviews fitted on": len(column),
        "methods": {measured.name: measured.figures for measured in found},
    }
    path = Path(__file__).parent / "results" / "speed.json"
    path.write_text(json.dumps(outcome, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
