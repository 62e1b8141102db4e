"""The documents and methods of the review benchmark."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from scipy import sparse

from deltavec.evaluation.auc import pairwise_auc
from deltavec.lab.background import (
    Background,
    baselines,
    matrix_method,
    spectral_method,
    variant_method,
)
from deltavec.lab.baselines import DOC2VEC_MIN_COUNTS, Lsa, doc2vec_vectors, sparse_pairwise_auc
from deltavec.lab.experiment import Documents, Method
from deltavec.lab.reviews.settings import ReviewSettings
from deltavec.lab.words import CorpusWords

# LSA learns from at most this many reviews, and from words that occur at least this often.
LSA_REVIEWS = 50_000
LSA_MIN_COUNT = 5


def review_documents(
    source: CorpusWords,
    positions: npt.NDArray[np.int64],
    labels: npt.NDArray[np.int64],
    threads: int | None = None,
) -> Documents:
    """Documents made of several reviews each.

    Parameters
    ----------
    source
        The reviews.
    positions
        The reviews of each document, one row per document.
    labels
        The location of each document.
    threads
        How many cores to use.
    """
    count, k = positions.shape
    columns, offsets = positions.reshape(-1), np.arange(0, count * k + 1, k)
    ones = np.ones(count * k, np.int32)
    membership = sparse.csr_matrix((ones, columns, offsets), (count, len(source.rows)))
    reviews = source.texts.take(pa.array(columns)).to_pylist()
    of_review, sizes = source.words.of_document, np.bincount(labels)
    return Documents(
        membership @ source.counts,
        source.statistics,
        ["\n".join(reviews[first : first + k]) for first in range(0, len(reviews), k)],
        [np.concatenate([*map(of_review, rows)]) for rows in positions.tolist()],
        functools.partial(score, labels=labels, threads=threads),
        {
            "documents": count,
            "pairs": count * (count - 1) // 2,
            "positive_pairs": int((sizes * (sizes - 1) // 2).sum()),
        },
    )


def score(vectors: Any, labels: npt.NDArray[np.int64], threads: int | None) -> float:
    """The area under the ROC curve over all pairs of documents."""
    area = sparse_pairwise_auc if sparse.issparse(vectors) else pairwise_auc
    return area(vectors, labels, threads=threads)


class ReviewBackground(Background):
    """What the review benchmark learns from the whole file."""

    @property
    def settings(self) -> ReviewSettings:
        """The settings."""
        assert isinstance(self.given.settings, ReviewSettings)
        return self.given.settings

    @functools.cached_property
    def lsa(self) -> Lsa:
        """LSA, fitted on reviews of the file."""
        words = self.words
        self.given.progress.stage("fitting LSA")
        rows = lsa_rows(words.statistics.documents, self.settings)
        counts = words.counts[words.positions(rows)][:, self.lsa_columns]
        return Lsa(counts, seed=self.settings.seed)

    @property
    def lsa_columns(self) -> npt.NDArray[np.int64]:
        """The words that LSA knows."""
        occurrences = self.words.statistics.token_counts
        return np.flatnonzero(occurrences >= min(LSA_MIN_COUNT, occurrences.max()))


def lsa_rows(reviews: int, settings: ReviewSettings) -> npt.NDArray[np.int64]:
    """The reviews that LSA learns from, ascending; none if it is skipped."""
    if "lsa" in settings.skip:
        return np.zeros(0, np.int64)
    # Independent of the draws of documents.
    rng = np.random.default_rng([settings.seed, reviews])
    return np.sort(rng.choice(reviews, min(LSA_REVIEWS, reviews), replace=False))


def methods(background: ReviewBackground, k: int) -> list[Method]:
    """The methods that are not skipped, in the order of their columns."""
    settings, threads = background.settings, background.given.threads

    def doc2vec(documents: Documents, min_count: int) -> npt.NDArray[np.float32]:
        seed = settings.seed
        return doc2vec_vectors(documents.tokens, min_count=min_count, seed=seed, threads=threads)

    trained = [
        matrix_method(f"d2v-mc{least}", functools.partial(doc2vec, min_count=least))
        for least in DOC2VEC_MIN_COUNTS
        if k in (settings.doc2vec_ks or ())
    ]
    lsa = matrix_method(
        "lsa", lambda docs: background.lsa.embed(docs.counts[:, background.lsa_columns]), "lsa"
    )
    spectral = spectral_method(background, own_center=True)
    return [variant_method(background), spectral, *baselines(background, trained, lsa)]
