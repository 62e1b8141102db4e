"""Rankings measured on a judged collection, compared pair by pair, and written up."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from deltavec.evaluation.retrieval import Ranking, bootstrap_error, measured
from deltavec.io.artifacts.atomic import scratch_folder
from deltavec.lab.baselines import Embedder
from deltavec.lab.report.pages import Report, Section, as_html, as_markdown
from deltavec.lab.report.tables import Cell, Table, method_table
from deltavec.lab.results import Problem, versions, write_whole
from deltavec.lab.retrieval.judged import read_judged
from deltavec.lab.retrieval.methods import our_rankers, peers

OURS = "deltavec"
MEASURES = {
    "ndcg_10": "nDCG@10",
    "recall_100": "recall@100",
    "average_precision": "MAP",
    "reciprocal_rank": "MRR",
}
ABOUT = {
    OURS: "the default search: words and meaning in one score",
    "words": "our words alone, their stems learned from the documents",
    "cosine": "our meaning alone: the cosine of spectral vectors",
    "tf-idf": "the cosine of scikit-learn's tf-idf vectors, sublinear",
    "bm25": "bm25s with its English stop words",
    "bm25 stemmed": "bm25s with its English stop words and Snowball's English stems",
    "embedder": "the cosine of your own vectors",
}


@dataclass(frozen=True)
class MethodScores:
    """What one way to rank scored.

    Attributes
    ----------
    mean : dict of str to float
        The mean of each measure over the queries.
    behind : dict of str to float
        How far it is behind the default search, query by query; below 0 if it is ahead.
    error : dict of str to float
        The standard error of that, by paired bootstrap over the queries.
    seconds : float
        What ranking took.
    """

    mean: dict[str, float]
    behind: dict[str, float]
    error: dict[str, float]
    seconds: float


@dataclass(frozen=True)
class RetrievalResults:
    """What was found on a judged collection."""

    collection: str
    documents: int
    queries: int
    judgements: int
    methods: dict[str, MethodScores]
    versions: dict[str, str]

    def as_dict(self) -> dict[str, Any]:
        """All of it, for JSON."""
        return {"experiment": "retrieval", **asdict(self)}


def retrieval_benchmark(
    folder: str | Path,
    *,
    split: str = "test",
    embedder: str | None = None,
    seed: int = 0,
    threads: int | None = None,
    on_stage: Callable[[str], None] | None = None,
) -> RetrievalResults:
    """How well documents are ranked for the queries of a judged collection.

    Parameters
    ----------
    folder
        A collection as BEIR lays it out; see `deltavec.lab.retrieval.judged`.
    split
        Whose judgements: the name of a file in ``qrels``.
    embedder
        A function of one's own, ``module:function``, from texts to a matrix.
    seed
        For the bootstrap.
    threads
        How many cores to use; all of them by default.
    on_stage
        Called with a word or two when each stage begins.
    """
    begin = on_stage or (lambda stage: None)
    begin("reading the judgements")
    judged = read_judged(Path(folder), split)
    own = None if embedder is None else Embedder.named(embedder)
    begin("building the collection")
    with scratch_folder() as scratch:
        rankers = our_rankers(judged, scratch, threads)
        begin("preparing the others")
        rankers |= peers(judged, own)
        scores: dict[str, npt.NDArray[np.float64]] = {}
        seconds: dict[str, float] = {}
        for name, ranked in rankers.items():
            begin(f"ranking by {name}")
            begun = time.perf_counter()
            found = ranked(list(judged.queries.values()))
            seconds[name] = time.perf_counter() - begun
            scores[name] = np.array(
                [
                    measured(ids, judged.grades[q])
                    for q, ids in zip(judged.queries, found, strict=True)
                ]
            )
    return RetrievalResults(
        judged.name,
        len(judged.ids),
        len(judged.queries),
        sum(map(len, judged.grades.values())),
        {name: compared(scores[OURS], own, seconds[name], seed) for name, own in scores.items()},
        versions(),
    )


def compared(
    ours: npt.NDArray[np.float64], other: npt.NDArray[np.float64], seconds: float, seed: int
) -> MethodScores:
    """The scores of one way to rank, and how far it is behind ours."""
    gaps = ours - other
    names = Ranking._fields
    return MethodScores(
        dict(zip(names, other.mean(axis=0).tolist(), strict=True)),
        dict(zip(names, gaps.mean(axis=0).tolist(), strict=True)),
        {name: bootstrap_error(gaps[:, place], seed) for place, name in enumerate(names)},
        round(seconds, 3),
    )


def write_retrieval(results: RetrievalResults, folder: Path) -> None:
    """Write ``results.json``, ``report.md`` and ``report.html`` to a folder."""
    folder.mkdir(exist_ok=True)
    report = as_report(results)
    write_whole(folder / "results.json", json.dumps(results.as_dict(), indent=2) + "\n")
    write_whole(folder / "report.md", as_markdown(report))
    write_whole(folder / "report.html", as_html(report))


def as_report(results: RetrievalResults) -> Report:
    """The report of what was found."""
    measures = [
        Problem(title, {method: found.mean[name] for method, found in results.methods.items()})
        for name, title in MEASURES.items()
    ]
    scores = method_table("The best of each measure in bold.", measures, [*results.methods], 4)
    gaps = tuple(
        (Cell(method), *(Cell(gap_text(found, name)) for name in MEASURES))
        for method, found in results.methods.items()
        if method != OURS
    )
    about = tuple((Cell(name), Cell(ABOUT[name])) for name in results.methods)
    return Report(
        f"Retrieval: {results.collection}",
        "",
        f"{results.documents:,} documents, {results.queries:,} queries, {results.judgements:,} "
        "relevant pairs. The documents are ranked for each query, a thousand at most; scores are "
        "means over the queries.",
        (
            Section("Scores", (scores,)),
            Section(
                "How far the others are behind the default search",
                (
                    Table(
                        "In thousandths, with the standard error of a paired bootstrap over the "
                        "queries; below 0 they are ahead.",
                        scores.header,
                        gaps,
                    ),
                ),
            ),
            Section("What they are", (Table("", ("method", "ranks by"), about, prose=True),)),
        ),
    )


def gap_text(found: MethodScores, name: str) -> str:
    """A difference and its error, in thousandths."""
    return f"{1000 * found.behind[name]:+.0f} ± {1000 * found.error[name]:.0f}"
