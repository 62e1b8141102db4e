"""The ways to rank documents for queries that are compared with each other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from deltavec.collection import build_collection
from deltavec.core.fitting import fit
from deltavec.lab.baselines import Embedder
from deltavec.lab.retrieval.judged import Judged

DEPTH = 1000  # documents ranked for each query

Rankings: TypeAlias = list[list[str]]
Ranker: TypeAlias = Callable[[Sequence[str]], Rankings]


def our_rankers(judged: Judged, folder: Path, threads: int | None) -> dict[str, Ranker]:
    """Our own: the default search, and its two parts, of a collection built in a folder."""
    model = fit(judged.texts, threads=threads)
    built = build_collection(model, judged.texts, folder / "judged.idx", threads=threads)
    depth = min(DEPTH, len(judged.ids))

    def by(way: str) -> Ranker:
        def ranked(queries: Sequence[str]) -> Rankings:
            rows = (built.best(query, depth, by=way, threads=threads).rows for query in queries)
            return [[judged.ids[row] for row in found.tolist()] for found in rows]

        return ranked

    return {"deltavec": by("both"), "words": by("words"), "cosine": by("meaning")}


def peers(judged: Judged, embedder: Embedder | None) -> dict[str, Ranker]:
    """What ours are compared with: tf-idf, BM25 if bm25s is installed, and the user's own."""
    found: dict[str, Ranker] = {"tf-idf": tfidf_ranker(judged)}
    if find_spec("bm25s"):
        found["bm25"] = bm25_ranker(judged, None)
        if find_spec("Stemmer"):
            import Stemmer

            found["bm25 stemmed"] = bm25_ranker(judged, Stemmer.Stemmer("english"))
    if embedder is not None:
        found["embedder"] = vector_ranker(judged, embedder)
    return found


def tfidf_ranker(judged: Judged) -> Ranker:
    """The cosine of sublinear tf-idf vectors, as scikit-learn makes them."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    vectorizer = TfidfVectorizer(sublinear_tf=True)
    documents = vectorizer.fit_transform(judged.texts)

    def ranked(queries: Sequence[str]) -> Rankings:
        scores = (vectorizer.transform(queries) @ documents.T).toarray()
        return [best_first(line, judged.ids) for line in scores]

    return ranked


def bm25_ranker(judged: Judged, stemmer: Any) -> Ranker:
    """bm25s in its default variant, with its English stop words, with or without stems."""
    import bm25s

    def parted(texts: Sequence[str]) -> Any:
        return bm25s.tokenize(
            list(texts), stopwords="en", stemmer=stemmer, return_ids=False, show_progress=False
        )

    index = bm25s.BM25()
    index.index(parted(judged.texts), show_progress=False)

    def ranked(queries: Sequence[str]) -> Rankings:
        return [
            best_first(index.get_scores(words), judged.ids) if words else []
            for words in parted(queries)
        ]

    return ranked


def vector_ranker(judged: Judged, embedder: Embedder) -> Ranker:
    """The cosine of the vectors that a function of the user's gives for texts."""
    documents = embedder.embed(judged.texts)

    def ranked(queries: Sequence[str]) -> Rankings:
        scores = embedder.embed(list(queries)) @ documents.T
        return [best_first(line, judged.ids) for line in scores]

    return ranked


def best_first(scores: npt.NDArray[Any], ids: Sequence[str]) -> list[str]:
    """The ids of the documents with a score, the highest first; equals in their order."""
    order = np.argsort(-scores, kind="stable")[:DEPTH]
    return [ids[place] for place in order.tolist() if scores[place] != 0]
