"""Topics beside BERTopic, NMF and LDA: how well they agree with labels, their names, and the time.

    python benchmarks/topics.py newsgroups.parquet --label group -o topics.json

The table has the columns ``text`` and one of labels (null where a document has none, or several);
labels of fewer than 20 documents do not count. All methods get the same documents in one run:

- ``deltavec``: fit, collection and cluster, from the text; the number it finds, and that of labels.
- ``bertopic``: on deltavec's vectors, with a list of stop words as its guide says, and without; as
  many topics as it finds, and as many as there are labels. Documents in its outlier topic count as
  one group more.
- ``nmf`` on tf-idf, ``lda`` on counts (scikit-learn, English stop words, at most 20,000 words); as
  many topics as labels, and as deltavec found.

NMI is over the labeled documents. A topic's name is its first 5 words. Coherence is their mean
NPMI by documents of this corpus; diversity the share of different words among all names; function
words those of scikit-learn's list which `LISTED` does not take for content.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from measuring import publish, surroundings
from pyarrow import parquet
from sklearn.decomposition import NMF, LatentDirichletAllocation
from sklearn.feature_extraction.text import (
    ENGLISH_STOP_WORDS,
    CountVectorizer,
    TfidfVectorizer,
)
from sklearn.metrics import normalized_mutual_info_score

import deltavec as dv

WORDS = 5
FEWEST = 20
# Verbs, nouns, adjectives and numbers, which that list of stop words has as well.
LISTED = """
    amount back bill bottom call cry describe detail empty fill find fire found front full give go
    interest keep made mill mine move name part put see seem serious show side sincere system take
    thick thin top first last former latter next two three four five six eight nine ten eleven
    twelve fifteen twenty forty fifty sixty hundred"""
FUNCTION = ENGLISH_STOP_WORDS.difference(LISTED.split())


class Topics(NamedTuple):
    """The topic of each document, and the words of each topic."""

    labels: Sequence[int]
    names: list[list[str]]


def npmi(names: list[list[str]], held: Any, places: dict[str, int]) -> float:
    """The mean normalized pointwise mutual information of two words of a name, by documents."""
    documents = held.shape[0]
    values = []
    for words in names:
        known = [places[word] for word in words if word in places]
        columns = held[:, known].toarray() > 0
        for a, b in combinations(range(len(known)), 2):
            both = (columns[:, a] & columns[:, b]).sum() / documents
            alone = columns[:, a].mean() * columns[:, b].mean()
            values.append(-1.0 if both == 0 else np.log(both / alone) / -np.log(both))
    return float(np.mean(values))


def judged(found: Topics, labels: list[str | None], held: Any, places: dict[str, int]) -> Any:
    there = [place for place, label in enumerate(labels) if label is not None]
    own = [int(found.labels[place]) for place in there]
    names = [words[:WORDS] for words in found.names]
    words = [word for name in names for word in name]
    return {
        "topics": len(names),
        "nmi": round(normalized_mutual_info_score([labels[place] for place in there], own), 4),
        "outliers": round(float(np.mean(np.array(found.labels) < 0)), 4),
        "coherence": round(npmi(names, held, places), 4),
        "diversity": round(len(set(words)) / max(len(words), 1), 4),
        "function_words": round(sum(word in FUNCTION for word in words) / max(len(words), 1), 4),
        "names": [", ".join(name) for name in names[:24]],
    }


def measured(work: Callable[[], Topics], *known: Any) -> dict[str, Any]:
    begin, before = time.perf_counter(), time.process_time()
    found = work()
    seconds = {
        "processor_seconds": round(time.process_time() - before, 1),
        "seconds": round(time.perf_counter() - begin, 1),
    }
    return judged(found, *known) | seconds


def clustered(collection: dv.Collection, n: int | None) -> Topics:
    found = collection.cluster(n)
    return Topics(found.labels.tolist(), found.names)


def bertopic(texts: list[str], vectors: Any, n: int | None, stop_words: str | None) -> Topics:
    from bertopic import BERTopic

    model = BERTopic(nr_topics=n, vectorizer_model=CountVectorizer(stop_words=stop_words))
    labels, _ = model.fit_transform(texts, vectors)
    numbers = [number for number in sorted(model.get_topics()) if number >= 0]
    return Topics(labels, [[word for word, _ in model.get_topic(number)] for number in numbers])


def factored(vectorizer: Any, model: Any, texts: list[str]) -> Topics:
    shares = model.fit_transform(vectorizer.fit_transform(texts))
    words = vectorizer.get_feature_names_out()
    names = [[words[place] for place in row.argsort()[::-1][:WORDS]] for row in model.components_]
    return Topics(shares.argmax(axis=1).tolist(), names)


def main(path: Path, label: str) -> dict[str, Any]:
    table = parquet.read_table(path, columns=["text", label])
    texts, labels = table["text"].to_pylist(), table[label].to_pylist()
    sizes = Counter(labels)
    labels = [one if one is not None and sizes[one] >= FEWEST else None for one in labels]
    groups = len(set(labels) - {None})
    counts = CountVectorizer(min_df=2, token_pattern=r"(?u)\b\w+\b")
    known = (labels, counts.fit_transform(texts), counts.vocabulary_)
    report: dict[str, Any] = {"documents": len(texts), "labels": groups}
    with tempfile.TemporaryDirectory() as folder:
        begin = time.process_time()
        model = dv.fit(texts)
        collection = dv.build_collection(model, texts, Path(folder) / "c.idx")
        report["vectors_processor_seconds"] = round(time.process_time() - begin, 1)
        runs: dict[str, Callable[[], Topics]] = {
            "deltavec, its number": lambda: clustered(collection, None),
            "deltavec": lambda: clustered(collection, groups),
        }
        report["methods"] = {name: measured(work, *known) for name, work in runs.items()}
        vectors = np.array(collection.index.vectors)
    own = report["methods"]["deltavec, its number"]["topics"]
    runs = {
        "bertopic, its number": lambda: bertopic(texts, vectors, None, "english"),
        "bertopic": lambda: bertopic(texts, vectors, groups + 1, "english"),
        "bertopic, its number, as it is": lambda: bertopic(texts, vectors, None, None),
    }
    for n, name in ((groups, ""), (own, ", deltavec's number")):
        tfidf = TfidfVectorizer(stop_words="english", max_features=20_000, min_df=2)
        plain = CountVectorizer(stop_words="english", max_features=20_000, min_df=2)
        nmf = NMF(n, init="nndsvd", random_state=0)
        lda = LatentDirichletAllocation(n, random_state=0)
        runs[f"nmf{name}"] = lambda v=tfidf, m=nmf: factored(v, m, texts)
        runs[f"lda{name}"] = lambda v=plain, m=lda: factored(v, m, texts)
    for name, work in runs.items():
        report["methods"][name] = measured(work, *known)
        print(name, report["methods"][name], flush=True)
    return report


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("table", type=Path)
    parser.add_argument("--label", required=True)
    parser.add_argument("-o", "--output", type=Path)
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    begun = os.getloadavg()[0]
    result = main(asked.table, asked.label)
    load = {"load_at_begin": round(begun, 1), "load_at_end": round(os.getloadavg()[0], 1)}
    packages = ("bertopic", "umap-learn", "hdbscan", "scikit-learn", "numpy")
    publish({**surroundings(packages), **load, **result}, asked.output)
