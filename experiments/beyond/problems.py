"""What is measured: documents drawn anew with each seed, or a fixed set compared again.

Reviews and newsgroups: documents of k texts of one location (or group), drawn without replacement
within a draw; ROC AUC over all pairs of documents. Questions: the judged pairs, resampled with
replacement (a bootstrap) within duplicates and others. Lee: the 50 judged stories, resampled with
replacement; Pearson's correlation over pairs of different stories. Pairs of sentences: 2,000 of
them, resampled; Pearson's correlation with what people said.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from corpora import LANGUAGES, LabelledCorpus
from scipy import sparse

from deltavec.evaluation.auc import ROWS_AT_ONCE, Block, blocks_auc, pairs_auc
from deltavec.lab.questions.forums import Forum
from deltavec.lab.words import Counts

DRAWS = 10
BOOTSTRAPS = 200
SMALL_DRAWS = 6

Vectors = Any
"""Rows of unit length or zero, dense or sparse."""
Products = npt.NDArray[np.float32]
"""The products of all rows with each other."""


class GroupTask(NamedTuple):
    """Locations to tell apart: how many documents of each, how many texts in a document."""

    name: str
    kind: str
    texts: int
    documents: int
    least: int  # texts that a location must have


REVIEW_TASKS = tuple(
    GroupTask(f"{kind} k={k}", kind, k, documents, least)
    for kind, least, sizes in (
        ("hotel", 250, {1: 16, 4: 16, 12: 16}),
        ("restaurant", 250, {1: 20, 4: 20, 12: 20}),
        ("attraction", 100, {1: 25, 4: 25, 12: 8}),
    )
    for k, documents in sizes.items()
)
NEWSGROUP_TASKS = tuple(GroupTask(f"newsgroups k={k}", "", k, 40, 0) for k in (1, 4))
TOPIC_TASKS = (
    *(GroupTask(f"reuters k={k}", "reuters", k, 24, 99) for k in (1, 4)),
    *(GroupTask(f"ohsumed k={k}", "ohsumed", k, 30, 120) for k in (1, 4)),
    *(GroupTask(language, language, 1, 60, 60) for language in LANGUAGES),
)
COMPARED_PAIRS = 2_000
# Documents that a slow transformer can embed: fewer of each location, one text each.
SMALL_TASKS = (
    GroupTask("hotel k=1", "hotel", 1, 5, 250),
    GroupTask("restaurant k=1", "restaurant", 1, 8, 250),
    GroupTask("attraction k=1", "attraction", 1, 10, 100),
    GroupTask("newsgroups k=1", "", 1, 10, 0),
)


@dataclass(frozen=True, eq=False)
class Draw:
    """Documents, and what their vectors are worth.

    Attributes
    ----------
    places : ndarray of int64, shape (documents, texts)
        Which texts of the corpus make which document.
    judge : callable
        One or more scores, from the products of all documents' vectors with each other.
    labels : ndarray of int64
        What each document belongs to, ascending; empty where pairs are judged.
    """

    places: npt.NDArray[np.int64]
    judge: Callable[[Products], list[float]]
    labels: npt.NDArray[np.int64]

    def scores(self, vectors: Vectors) -> list[float]:
        """One or more scores of the documents' vectors."""
        return self.judge(products(vectors))


def products(vectors: Vectors) -> Products:
    """The products of all rows with each other."""
    if sparse.issparse(vectors):
        return (vectors @ vectors.T).toarray()
    return vectors @ vectors.T


@dataclass(frozen=True, eq=False)
class Problem:
    """A set of draws whose scores are comparable.

    Attributes
    ----------
    name : str
        What it is called.
    corpus : LabelledCorpus
        Where its texts come from.
    draws : list of Draw
        The documents; each gives one score or more.
    bootstrap : bool
        Whether the scores are of one set, resampled: their spread is the standard error then, and
        not their spread over the root of their number.
    """

    name: str
    corpus: LabelledCorpus
    draws: list[Draw]
    bootstrap: bool

    def scores(self, embed: Callable[[Draw], Vectors]) -> list[float]:
        """The score of each resampling."""
        return [score for draw in self.draws for score in draw.scores(embed(draw))]


def problems(
    corpus: LabelledCorpus, *, small: bool = False, draws: int = DRAWS
) -> Iterator[Problem]:
    """All problems of a corpus."""
    if corpus.lee is not None:
        yield lee_problem(corpus)
    first = 0
    for forum in corpus.forums:
        yield pair_problem(corpus, forum, first)
        first += len(forum.questions)
    if corpus.alike is not None:
        yield alike_problem(corpus, corpus.alike)
    elif corpus.lee is None and not corpus.forums:
        tasks = SMALL_TASKS if small else (*REVIEW_TASKS, *tasks_of_one(corpus))
        for task in tasks:
            if task.kind in set(corpus.kinds):
                yield group_problem(corpus, task, draws)


def tasks_of_one(corpus: LabelledCorpus) -> tuple[GroupTask, ...]:
    """The tasks of a corpus that is no review: texts without a kind are compared in some only."""
    own = tuple(task for task in TOPIC_TASKS if task.kind in set(corpus.kinds))
    return own or NEWSGROUP_TASKS


def group_rows(corpus: LabelledCorpus, kind: str, least: int) -> list[npt.NDArray[np.int64]]:
    """The texts of each location of a kind that has so many with words in them."""
    usable = (corpus.kinds == kind) & (np.diff(corpus.words.words.offsets) > 0)
    names, sizes = np.unique(corpus.groups[usable], return_counts=True)
    return [np.flatnonzero(usable & (corpus.groups == name)) for name in names[sizes >= least]]


def group_problem(corpus: LabelledCorpus, task: GroupTask, draws: int = DRAWS) -> Problem:
    """Documents of the same location against documents of others."""
    rows = group_rows(corpus, task.kind, max(task.least, task.texts * task.documents))
    labels = np.repeat(np.arange(len(rows)), task.documents)

    def drawn(seed: int) -> Draw:
        places = [
            np.random.default_rng([seed, task.texts, place])
            .permutation(of_group)[: task.texts * task.documents]
            .reshape(task.documents, task.texts)
            for place, of_group in enumerate(rows)
        ]
        return Draw(np.concatenate(places), lambda found: [area(found, labels)], labels)

    return Problem(task.name, corpus, [drawn(seed) for seed in range(draws)], bootstrap=False)


def area(found: Products, groups: npt.NDArray[np.int64]) -> float:
    """The exact area under the ROC curve over all pairs."""

    def blocks() -> Iterator[Block]:
        for first in range(0, len(found), ROWS_AT_ONCE):
            yield Block(first, found[first : first + ROWS_AT_ONCE, first:])

    return blocks_auc(blocks, groups, threads=1)


def pair_problem(corpus: LabelledCorpus, forum: Forum, first: int) -> Problem:
    """Pairs of questions: duplicates against others."""
    assert forum.others is not None
    pairs = np.concatenate([forum.duplicates, forum.others])
    positive = np.arange(len(pairs)) < len(forum.duplicates)

    def resampled(seed: int) -> npt.NDArray[np.int64]:
        rng = np.random.default_rng([seed, first])
        sides = (np.flatnonzero(positive), np.flatnonzero(~positive))
        return np.concatenate([rng.choice(side, len(side)) for side in sides])

    def judge(found: Products) -> list[float]:
        cosines = found[pairs[:, 0], pairs[:, 1]]
        draws = [np.arange(len(pairs)), *map(resampled, range(BOOTSTRAPS))]
        return [pairs_auc(cosines[draw], positive[draw]) for draw in draws]

    places = first + np.arange(len(forum.questions))[:, None]
    return Problem(forum.name, corpus, [Draw(places, judge, np.zeros(0, np.int64))], bootstrap=True)


def lee_problem(corpus: LabelledCorpus) -> Problem:
    """Stories that people compared."""
    assert corpus.lee is not None
    judgements = corpus.lee.judgements
    both = judgements + judgements.T
    count = len(judgements)

    def judge(found: Products) -> list[float]:
        draws = [np.arange(count)] + [
            np.random.default_rng(seed).integers(0, count, count) for seed in range(BOOTSTRAPS)
        ]
        return [correlation(found, both, draw) for draw in draws]

    places = len(corpus.lee.background) + np.arange(count)[:, None]
    return Problem(
        corpus.name, corpus, [Draw(places, judge, np.zeros(0, np.int64))], bootstrap=True
    )


def alike_problem(corpus: LabelledCorpus, alike: npt.NDArray[np.float64]) -> Problem:
    """Pairs of sentences that people compared."""
    count = len(alike)
    some = np.sort(np.random.default_rng(0).permutation(count)[:COMPARED_PAIRS])
    scores = alike[some]

    def judge(found: Products) -> list[float]:
        own = np.arange(len(some))
        cosines = found[own, len(some) + own].astype(np.float64)
        draws = [own] + [
            np.random.default_rng(seed).integers(0, len(own), len(own))
            for seed in range(BOOTSTRAPS)
        ]
        return [float(np.corrcoef(cosines[draw], scores[draw])[0, 1]) for draw in draws]

    places = np.concatenate([some, count + some])[:, None]
    return Problem("sts", corpus, [Draw(places, judge, np.zeros(0, np.int64))], bootstrap=True)


def correlation(
    found: Products, judged: npt.NDArray[np.float64], draw: npt.NDArray[np.int64]
) -> float:
    """Pearson's correlation over the pairs of different stories in a draw."""
    one, other = np.triu_indices(len(draw), 1)
    one, other = draw[one], draw[other]
    apart = one != other
    pairs = one[apart], other[apart]
    return float(np.corrcoef(found[pairs].astype(np.float64), judged[pairs])[0, 1])


def counts_of(corpus: LabelledCorpus, draw: Draw) -> Counts:
    """The words of each document: the sum of its texts' counts."""
    documents, texts = draw.places.shape
    picked = sparse.csr_matrix(
        (
            np.ones(documents * texts, np.int32),
            draw.places.reshape(-1),
            np.arange(0, documents * texts + 1, texts),
        ),
        (documents, len(corpus.texts)),
    )
    return picked @ corpus.words.counts


class Estimate(NamedTuple):
    """A mean over resamplings, and its standard error."""

    mean: float
    error: float


def estimate(scores: list[float], bootstrap: bool) -> Estimate:
    """The score and its standard error.

    The first score of a bootstrap is that of the set itself.
    """
    if bootstrap:
        return Estimate(scores[0], float(np.std(scores[1:], ddof=1)))
    spread = float(np.std(scores, ddof=1)) if len(scores) > 1 else float("nan")
    return Estimate(float(np.mean(scores)), spread / len(scores) ** 0.5)


def difference(ours: list[float], theirs: list[float], bootstrap: bool) -> Estimate:
    """How much higher one method scores than another on the same resamplings."""
    shared = min(len(ours), len(theirs))
    return estimate((np.array(ours[:shared]) - np.array(theirs[:shared])).tolist(), bootstrap)
