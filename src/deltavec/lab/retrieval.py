"""Search quality on a judged collection: hybrid search beside its two parts and other rankings."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from deltavec.collection.build import build_collection
from deltavec.core.fitting import fit
from deltavec.evaluation.pairs import Ranking, bootstrap_error, measured
from deltavec.io.artifacts.atomic import scratch_folder
from deltavec.lab.baselines import Embedder
from deltavec.lab.judged import Judged, read_judged
from deltavec.lab.results import versions

DEPTH = 1000  # documents ranked for each query
OURS = "hybrid"
MEASURES = dict(zip(Ranking._fields, ("nDCG@10", "recall@100", "MAP", "MRR"), strict=True))

Rankings = list[list[str]]
Ranker = Callable[[Judged, list[str]], Rankings]


@dataclass(frozen=True)
class MethodScores:
    """The scores of one ranking method.

    Attributes
    ----------
    mean : dict of str to float
        The mean of each measure over the queries.
    behind : dict of str to float
        How far it is behind hybrid search, query by query; negative if it is ahead.
    error : dict of str to float
        The standard error of that, by paired bootstrap over the queries.
    """

    mean: dict[str, float]
    behind: dict[str, float]
    error: dict[str, float]

    def gap(self, measure: str) -> str:
        """How far it is behind and the error of that, in thousandths."""
        return f"{1000 * self.behind[measure]:+.0f} ± {1000 * self.error[measure]:.0f}"


@dataclass(frozen=True)
class RetrievalResults:
    """The results on a judged collection."""

    collection: str
    documents: int
    queries: int
    judgments: int
    methods: dict[str, MethodScores]
    versions: dict[str, str]


def retrieval_benchmark(
    folder: str | Path,
    *,
    split: str = "test",
    embedder: str | None = None,
    seed: int = 0,
    threads: int | None = None,
    on_stage: Callable[[str], None] = lambda _: None,
) -> RetrievalResults:
    """Rank the documents of a judged collection for its queries, and measure the rankings.

    Parameters
    ----------
    folder
        A collection in BEIR's layout; see `deltavec.lab.judged`.
    split
        The judgments to use: the name of a file in ``qrels``.
    embedder
        The user's own function ``module:function``, from texts to a matrix.
    seed
        The seed of the bootstrap.
    threads
        How many cores to use; all of them by default.
    on_stage
        Called with a few words when each stage begins.
    """
    on_stage("reading the judgments")
    judged = read_judged(Path(folder), split)
    queries = list(judged.queries.values())
    rankers: dict[str, Ranker] = {"tf-idf": rank_by_tfidf}
    if find_spec("bm25s") and find_spec("Stemmer"):
        rankers["bm25"] = rank_by_bm25
        rankers["bm25 stemmed"] = partial(rank_by_bm25, stems="english")
    if embedder is not None:
        rankers["embedder"] = partial(rank_by_vectors, Embedder.named(embedder))
    rankings: dict[str, Rankings] = {}
    on_stage("building the collection")
    with scratch_folder() as scratch:
        model = fit(judged.texts, threads=threads)
        built = build_collection(model, judged.texts, scratch / "judged.idx", threads=threads)
        for name, by in ((OURS, "hybrid"), ("keyword", "keyword"), ("semantic", "semantic")):
            on_stage(f"ranking by {name}")
            parsed = (built.query(query, DEPTH, by=by) for query in queries)
            found = (built.best([query], threads=threads)[0] for query in parsed)
            rankings[name] = [[judged.ids[row] for row in best.numbers] for best in found]
    for name, rank in rankers.items():
        on_stage(f"ranking by {name}")
        rankings[name] = rank(judged, queries)
    scores = {
        name: np.array([*map(measured, ranked, judged.grades.values())])
        for name, ranked in rankings.items()
    }
    return RetrievalResults(
        judged.name,
        len(judged.ids),
        len(queries),
        sum(map(len, judged.grades.values())),
        {name: compare(scores[OURS], found, seed) for name, found in scores.items()},
        versions(),
    )


def rank_by_tfidf(judged: Judged, queries: list[str]) -> Rankings:
    """Rank by the cosine of scikit-learn's tf-idf vectors, with sublinear tf."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    vectorizer = TfidfVectorizer(sublinear_tf=True)
    documents = vectorizer.fit_transform(judged.texts)
    return rank((vectorizer.transform(queries) @ documents.T).toarray(), judged.ids)


def rank_by_bm25(judged: Judged, queries: list[str], stems: str | None = None) -> Rankings:
    """Rank by bm25s in its default variant, with its English stop words, with or without stems."""
    import bm25s
    import Stemmer

    tokenize = partial(
        bm25s.tokenize,
        stopwords="en",
        stemmer=stems and Stemmer.Stemmer(stems),
        return_ids=False,
        show_progress=False,
    )
    index = bm25s.BM25()
    index.index(tokenize(judged.texts), show_progress=False)
    nothing = np.zeros(len(judged.ids))
    return rank(
        (index.get_scores(words) if words else nothing for words in tokenize(queries)), judged.ids
    )


def rank_by_vectors(embedder: Embedder, judged: Judged, queries: list[str]) -> Rankings:
    """Rank by the cosine of the user's own vectors."""
    return rank(embedder.embed(queries) @ embedder.embed(judged.texts).T, judged.ids)


def rank(scores: Iterable[npt.NDArray[Any]], ids: list[str]) -> Rankings:
    """The ids of the documents with a score for each query, best first; ties keep their order."""
    return [
        [ids[row] for row in np.argsort(-line, kind="stable")[:DEPTH] if line[row] != 0]
        for line in scores
    ]


def compare(
    ours: npt.NDArray[np.float64], other: npt.NDArray[np.float64], seed: int
) -> MethodScores:
    """The scores of a method, and how far it is behind ours."""
    gaps = ours - other
    errors = [bootstrap_error(gaps[:, column], seed) for column in range(len(MEASURES))]
    columns = (other.mean(axis=0).tolist(), gaps.mean(axis=0).tolist(), errors)
    mean, behind, error = (dict(zip(MEASURES, column, strict=True)) for column in columns)
    return MethodScores(mean, behind, error)
