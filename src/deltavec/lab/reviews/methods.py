"""What is measured on each problem of the review benchmark, and what that is learned from."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from scipy import sparse

from deltavec.core.fitting import model_of_table
from deltavec.core.model import remove_components
from deltavec.core.recipes import RECIPES, WeightedRecipe
from deltavec.core.statistics import CorpusStatistics
from deltavec.core.threads import one_blas_thread
from deltavec.evaluation.auc import pairwise_auc
from deltavec.lab.background import Background, chosen, of_one_matrix, spectral
from deltavec.lab.baselines import (
    DOC2VEC_MIN_COUNTS,
    Lsa,
    doc2vec_vectors,
    sparse_pairwise_auc,
)
from deltavec.lab.experiment import Method, Outcome
from deltavec.lab.reviews.settings import COMPONENTS_FROM, ReviewSettings
from deltavec.lab.variants import REMOVAL, common_component, variants
from deltavec.lab.words import CorpusWords, Counts, lengths_of

# The paper's best on short and on long documents: their component is fitted in both ways.
BOTH_WAYS = ("idf-sum-pca", "idf-delta-pca")
# LSA learns from at most so many reviews of the file, and from words that occur at least so often.
LSA_REVIEWS = 50_000
LSA_MIN_COUNT = 5


@dataclass(eq=False)
class ReviewDocuments:
    """Documents made of several reviews each.

    Attributes
    ----------
    source : CorpusWords
        The reviews.
    places : ndarray of int64, shape (documents, k)
        Which reviews make which document, a row for each.
    labels : ndarray of int64, shape (documents,)
        The number of each document's location.
    threads : int or None
        How many cores to use.
    """

    source: CorpusWords
    places: npt.NDArray[np.int64]
    labels: npt.NDArray[np.int64]
    threads: int | None = None

    @functools.cached_property
    def counts(self) -> Counts:
        """The words of each document: the sum of its reviews' counts."""
        documents, k = self.places.shape
        begins = np.arange(0, documents * k + 1, k)
        picked = sparse.csr_matrix(
            (np.ones(documents * k, np.int32), self.places.reshape(-1), begins),
            (documents, len(self.source.rows)),
        )
        return picked @ self.source.counts

    @property
    def statistics(self) -> CorpusStatistics:
        """The counts of all words in the whole file."""
        return self.source.statistics

    def words(self) -> list[npt.NDArray[np.int32]]:
        """The words of each document, in their order."""
        return [
            np.concatenate([self.source.words.of_document(place) for place in places])
            for places in self.places.tolist()
        ]

    def texts(self) -> list[str]:
        """The text of each document, a line for each review."""
        k = self.places.shape[1]
        reviews = self.source.texts.take(pa.array(self.places.reshape(-1))).to_pylist()
        return ["\n".join(reviews[first : first + k]) for first in range(0, len(reviews), k)]

    def score(self, vectors: Any) -> float:
        """The area under the ROC curve over all pairs of documents."""
        area = sparse_pairwise_auc if sparse.issparse(vectors) else pairwise_auc
        return area(vectors, self.labels, threads=self.threads)


class ReviewBackground(Background):
    """What the review benchmark learns from the whole file."""

    @property
    def settings(self) -> ReviewSettings:
        """What is asked for."""
        assert isinstance(self.given.settings, ReviewSettings)
        return self.given.settings

    @functools.cached_property
    def components(self) -> dict[str, npt.NDArray[np.float64]]:
        """What all reviews of the file have in common, for the recipes that need it."""
        wanted = RECIPES if self.settings.components_from == "corpus" else BOTH_WAYS
        known = self.known
        found = {}
        for name in wanted:
            recipe = WeightedRecipe.named(name)
            if not recipe.n_components_removed:
                continue
            self.given.progress.stage(f"finding the component of {name}")
            model = model_of_table(
                known.vectors, known.statistics, recipe, self.settings.tokenizer, {}
            )
            removed = remove_components(model, self.corpus, self.given.threads).folded.components
            found[name] = removed[0] if len(removed) else np.zeros(model.dimensions)
        return found

    @functools.cached_property
    def lsa(self) -> Lsa:
        """LSA, fitted on reviews of the file."""
        words, columns = self.words, self.lsa_columns
        self.given.progress.stage("fitting LSA")
        rows = lsa_rows(words.statistics.documents, self.settings)
        return Lsa(words.counts[words.places(rows)][:, columns], seed=self.settings.seed)

    @property
    def lsa_columns(self) -> npt.NDArray[np.int64]:
        """The words that LSA knows."""
        occurrences = self.words.statistics.token_counts
        return np.flatnonzero(occurrences >= min(LSA_MIN_COUNT, occurrences.max()))


def lsa_rows(reviews: int, settings: ReviewSettings) -> npt.NDArray[np.int64]:
    """The reviews that LSA learns from, ascending; none if it is left out."""
    if "lsa" in settings.skip:
        return np.zeros(0, np.int64)
    # Reproducible, and apart from the numbers that draw the documents.
    rng = np.random.default_rng([settings.seed, reviews])
    return np.sort(rng.choice(reviews, min(LSA_REVIEWS, reviews), replace=False))


def methods(background: ReviewBackground, k: int) -> list[Method[ReviewDocuments]]:
    """The methods that are asked for, in the order of their columns."""
    settings = background.settings
    vectors = {"vectors": background.vectors.fingerprint}
    way = {"components_from": settings.components_from}
    doc2vec = [doc2vec_method(least, background, k) for least in DOC2VEC_MIN_COUNTS]
    lsa: Method[ReviewDocuments] = of_one_matrix(
        "lsa",
        lambda documents: background.lsa.embed(documents.counts[:, background.lsa_columns]),
        0.1 + 0.03 * k,
        ("words", "lsa"),
        packages=("scikit-learn",),
    )
    return [
        Method(
            "documents",
            lambda documents: document_facts(documents, background),
            0.01 * k,
            ("words", "known"),
            vectors,
        ),
        Method(
            "variants",
            lambda documents: variant_scores(documents, background),
            3 + 0.15 * k,
            ("words", "known", "components"),
            vectors | way,
        ),
        spectral(background, own_centre=settings.components_from == "documents")._replace(
            origin=way
        ),
        *chosen(
            background, doc2vec if k in (settings.doc2vec_ks or ()) else [], lsa, 0.3 + 0.06 * k
        ),
    ]


def document_facts(documents: ReviewDocuments, background: Background) -> Outcome:
    """How long the documents are, and how many pairs they make."""
    outcome = Outcome()
    with outcome.timed("counting"):
        lengths = lengths_of(documents.counts)
        known = documents.counts[:, background.known.columns].sum(axis=1)
    count = len(documents.labels)
    sizes = np.bincount(documents.labels)
    outcome.facts.update(
        lengths=lengths,
        documents=count,
        pairs=count * (count - 1) // 2,
        positive_pairs=int((sizes * (sizes - 1) // 2).sum()),
        documents_without_known_words=int((known == 0).sum()),
    )
    return outcome


@one_blas_thread()
def variant_scores(documents: ReviewDocuments, background: ReviewBackground) -> Outcome:
    """The 19 recipes, two of them with the component fitted in the other way too."""
    outcome, extra = Outcome(), {}
    primary = background.settings.components_from
    other = next(way for way in COMPONENTS_FROM if way != primary)
    known, of_corpus = background.known, background.components
    components = of_corpus if primary == "corpus" else None

    def area(vectors: npt.NDArray[np.float32]) -> float:
        with outcome.timed("comparing"):
            return documents.score(vectors)

    with outcome.timed("counting"):
        counts = documents.counts[:, known.columns]
    found = variants(counts, known.vectors, known.statistics, components=components)
    for variant in outcome.timed_each("embedding", found):
        outcome.scores[variant.name] = area(variant.vectors)
        name = variant.name + REMOVAL
        if name in BOTH_WAYS:
            with outcome.timed("embedding"):
                fitted = common_component(variant.vectors) if components else of_corpus[name]
                left = variant.without(fitted, name).vectors
            extra[f"{name} ({other})"] = area(left)
    outcome.scores.update(extra)
    return outcome


def doc2vec_method(min_count: int, background: Background, k: int) -> Method[ReviewDocuments]:
    """doc2vec, trained on the problem's own documents."""
    given = background.given

    def embed(documents: ReviewDocuments) -> npt.NDArray[np.float32]:
        return doc2vec_vectors(
            documents.words(),
            min_count=min_count,
            seed=given.settings.seed,
            threads=given.threads,
            on_progress=given.meter.within,
        )

    return of_one_matrix(f"d2v-mc{min_count}", embed, 35.0 * k, packages=("gensim",))
