"""What is measured on each problem of the review benchmark: one method, one or more columns."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from deltavec.core.recipes import RECIPES
from deltavec.core.vectors import WordVectors
from deltavec.core.weights import idf
from deltavec.evaluation.auc import pairwise_auc
from deltavec.evaluation.baselines import (
    DOC2VEC_MIN_COUNTS,
    Embedder,
    doc2vec_vectors,
    sparse_pairwise_auc,
    tfidf,
)
from deltavec.evaluation.review_background import BOTH_WAYS, Background
from deltavec.evaluation.review_settings import COMPONENTS_FROM, ReviewSettings
from deltavec.evaluation.review_words import Documents
from deltavec.evaluation.variants import REMOVAL, common_component, without_removal
from deltavec.search.products import one_thread

Item = TypeVar("Item")


@dataclass(frozen=True)
class Stopwatch:
    """How many seconds each step took."""

    seconds: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def timed(self, step: str) -> Iterator[None]:
        """Add the time that something takes to a step."""
        begun = time.perf_counter()
        yield
        self.seconds[step] = self.seconds.get(step, 0.0) + time.perf_counter() - begun

    def timed_each(self, step: str, items: Iterable[Item]) -> Iterator[Item]:
        """The items; the time that each takes to come is added to a step."""
        iterator = iter(items)
        while True:
            with self.timed(step):
                try:
                    item = next(iterator)
                except StopIteration:
                    return
            yield item


@dataclass(frozen=True)
class Outcome(Stopwatch):
    """What a method found on a problem: scores, facts, and the seconds that each step took."""

    scores: dict[str, float] = field(default_factory=dict)
    facts: dict[str, Any] = field(default_factory=dict)


def document_facts(documents: Documents, background: Background) -> Outcome:
    """How long the documents are, and how many pairs they make."""
    outcome = Outcome()
    with outcome.timed("counting"):
        lengths = documents.lengths
        known = background.known.counts(documents).sum(axis=1)
    count = len(documents.labels)
    sizes = np.bincount(documents.labels)
    outcome.facts.update(
        lengths=lengths._asdict(),
        documents=count,
        pairs=count * (count - 1) // 2,
        positive_pairs=int((sizes * (sizes - 1) // 2).sum()),
        documents_without_known_words=int((known == 0).sum()),
    )
    return outcome


@one_thread()
def variant_scores(documents: Documents, background: Background) -> Outcome:
    """The 19 recipes, two of them with the component fitted in the other way too."""
    outcome, extra = Outcome(), {}
    primary = background.settings.components_from
    other = next(way for way in COMPONENTS_FROM if way != primary)
    known, components = background.known, background.components

    def area(vectors: npt.NDArray[np.float32]) -> float:
        with outcome.timed("auc"):
            return pairwise_auc(vectors, documents.labels, threads=background.threads)

    with outcome.timed("counting"):
        counts = known.counts(documents)
    bases = without_removal(counts, known.vectors, known.statistics)
    for base in outcome.timed_each("embedding", bases):
        outcome.scores[base.name] = area(base.vectors)
        name = base.name + REMOVAL
        if name not in RECIPES:
            continue
        for way in COMPONENTS_FROM:
            if way == other and name not in BOTH_WAYS:
                continue
            with outcome.timed("embedding"):
                fitted = components[name] if way == "corpus" else common_component(base.vectors)
                left = base.without(fitted, name).vectors
            if way == primary:
                outcome.scores[name] = area(left)
            else:
                extra[f"{name} ({other})"] = area(left)
    outcome.scores.update(extra)
    return outcome


@one_thread()
def tfidf_scores(documents: Documents, background: Background) -> Outcome:
    """Sparse tf-idf, with idf and with its square."""
    outcome = Outcome()
    weights = idf(documents.source.statistics)
    with outcome.timed("tf-idf"):
        for name, power in (("tf-idf", 1.0), ("tf-idf2", 2.0)):
            rows = tfidf(documents.counts, weights, power=power)
            outcome.scores[name] = sparse_pairwise_auc(
                rows, documents.labels, threads=background.threads
            )
    return outcome


def lsa_scores(documents: Documents, background: Background) -> Outcome:
    """scikit-learn's TF-IDF and truncated SVD."""
    return dense_scores(
        "lsa",
        lambda: background.lsa.embed(documents.counts[:, background.lsa_columns]),
        documents,
        background,
    )


def doc2vec_scores(documents: Documents, background: Background, *, min_count: int) -> Outcome:
    """doc2vec, trained on the problem's own documents."""
    return dense_scores(
        f"d2v-mc{min_count}",
        lambda: doc2vec_vectors(
            documents.words(),
            min_count=min_count,
            seed=background.settings.seed,
            threads=background.threads,
            on_progress=background.within,
        ),
        documents,
        background,
    )


def embedder_scores(documents: Documents, background: Background) -> Outcome:
    """The user's own embedder."""
    embedder = background.embedder
    assert embedder is not None
    return dense_scores(
        embedder.name, lambda: embedder.embed(documents.texts()), documents, background
    )


def dense_scores(
    name: str,
    embed: Callable[[], npt.NDArray[np.float32]],
    documents: Documents,
    background: Background,
) -> Outcome:
    """The score of the vectors that a baseline gives."""
    outcome = Outcome()
    with outcome.timed(name):
        vectors = embed()
    with outcome.timed("auc"), one_thread():
        outcome.scores[name] = pairwise_auc(vectors, documents.labels, threads=background.threads)
    return outcome


class Method(NamedTuple):
    """A way to embed documents, and what to know of it before it is run.

    Attributes
    ----------
    name : str
        What it is called.
    run : callable
        Gives the outcome for a problem's documents.
    cost : callable
        About how many seconds it takes with k reviews in each of 3,000 documents.
    needs : tuple of str
        What it asks of `Background`, to be made before the first problem.
    origin : Mapping
        What the outcome depends on, besides the documents.
    packages : tuple of str
        The packages it depends on, besides our own.
    ks : frozenset of int or None
        The problems that it is run on; None means all.
    """

    name: str
    run: Callable[[Documents, Background], Outcome]
    cost: Callable[[int], float]
    needs: tuple[str, ...] = ("words",)
    origin: Mapping[str, Any] = MappingProxyType({})
    packages: tuple[str, ...] = ()
    ks: frozenset[int] | None = None


def methods(
    settings: ReviewSettings, vectors: WordVectors, embedder: Embedder | None
) -> list[Method]:
    """The methods that are asked for, in the order of their columns."""
    chosen = of_vectors(settings, vectors)
    if "doc2vec" not in settings.skip:
        chosen += [doc2vec(min_count, settings.doc2vec_ks) for min_count in DOC2VEC_MIN_COUNTS]
    if "tf-idf" not in settings.skip:
        chosen.append(Method("tf-idf", tfidf_scores, lambda k: 0.3 + 0.06 * k))
    if "lsa" not in settings.skip:
        chosen.append(
            Method(
                "lsa",
                lsa_scores,
                lambda k: 0.1 + 0.03 * k,
                needs=("words", "lsa"),
                packages=("scikit-learn",),
            )
        )
    if embedder is not None:
        chosen.append(
            Method("embedder", embedder_scores, lambda k: 5.0 * k, origin={"name": embedder.name})
        )
    return chosen


def of_vectors(settings: ReviewSettings, vectors: WordVectors) -> list[Method]:
    """What depends on the word vectors: the recipes, and which documents hold known words."""
    origin = {"vectors": vectors.fingerprint}
    return [
        Method(
            "documents",
            document_facts,
            lambda k: 0.01 * k,
            needs=("words", "known"),
            origin=origin,
        ),
        Method(
            "variants",
            variant_scores,
            lambda k: 3 + 0.15 * k,
            needs=("words", "known", "components"),
            origin=origin | {"components_from": settings.components_from},
        ),
    ]


def doc2vec(min_count: int, ks: Iterable[int]) -> Method:
    """A method that trains doc2vec, for some problems."""
    return Method(
        f"d2v-mc{min_count}",
        functools.partial(doc2vec_scores, min_count=min_count),
        lambda k: 35.0 * k,
        packages=("gensim",),
        ks=frozenset(ks),
    )
