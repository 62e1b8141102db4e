r"""All 19 recipes on one set of documents, from their word counts.

`deltavec.fit` compiles each recipe into a table. Here many recipes are applied to few documents, so
each weight and form is one sparse product:

.. math:: c = \sum_{i \in V_d} w_i \left(n_i / N - \mathrm{penalty}_i\right) v_i - \mathrm{offset}

``center`` is ``sum`` minus an offset, and ``-pca`` starts from the same vectors, so the 19 recipes
need seven products. ``sum`` comes before ``center`` in `RECIPES`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse

from deltavec.core.kernels.embed import ROUNDING
from deltavec.core.recipes import RECIPES, Recipe
from deltavec.core.statistics import CorpusStatistics, SecondMoment, leading_components
from deltavec.core.vectors import WordVectors
from deltavec.lab.words import Counts

REMOVAL = "-pca"


class Variant(NamedTuple):
    """The vectors that one recipe gives to the documents.

    Attributes
    ----------
    name : str
        The name of the recipe.
    vectors : ndarray of float32, shape (documents, dimensions)
        Of unit length, or zero.
    rounding : ndarray of float64, shape (documents,)
        A vector of at most this length after a removal is rounding error.
    """

    name: str
    vectors: npt.NDArray[np.float32]
    rounding: npt.NDArray[np.float64]

    def without_component(self, name: str) -> Variant:
        r"""The vectors without their first principal component, uncentered, normalized again.

        .. math:: u \leftarrow u - p\, (p \cdot u)

        (Schmidt, equation 1.)
        """
        left = self.vectors
        for p in leading_components(SecondMoment.of(left), 1).astype(np.float32):
            left = left - np.outer(left @ p, p)
        return make_variant(name, left, self.rounding)


def variants(
    counts: Counts, vectors: WordVectors, statistics: CorpusStatistics
) -> Iterator[Variant]:
    """The documents' vectors by each of the 19 recipes, one recipe after the other.

    Parameters
    ----------
    counts
        The documents; the columns are the words of ``vectors``.
    vectors
        The word vectors.
    statistics
        The counts of the same words in the background corpus. The component that ``-pca`` removes
        is fitted on the documents, as in the paper.
    """
    for variant in without_removal(counts, vectors, statistics):
        yield variant
        name = variant.name + REMOVAL
        if name in RECIPES:
            yield variant.without_component(name)


def without_removal(
    counts: Counts, vectors: WordVectors, statistics: CorpusStatistics
) -> Iterator[Variant]:
    """The documents' vectors by each of the ten recipes that remove nothing."""
    counts = counts.sorted_indices()  # otherwise scipy may sort in place
    frequencies, matrix = statistics.term_frequencies, vectors.matrix
    lengths = np.asarray(counts.sum(axis=1), np.float64).reshape(-1)
    shares = counts.data / np.repeat(lengths, np.diff(counts.indptr))
    has_words = (lengths > 0)[:, None]

    def weighted(penalties: npt.NDArray[np.float64]) -> sparse.csr_matrix:
        factors = (shares - penalties[counts.indices]) * weights[counts.indices]
        return sparse.csr_matrix(
            (factors.astype(np.float32), counts.indices, counts.indptr), counts.shape
        )

    for name in RECIPES:
        recipe = Recipe.named(name)
        if recipe.n_components_removed:
            continue
        weights = recipe.weights(statistics)
        offset = np.zeros(vectors.dimensions)
        if recipe.form == "center":
            offset = (weights * frequencies) @ matrix
        else:
            delta = recipe.form == "delta"
            factors = weighted(frequencies if delta else np.zeros_like(weights))
            sums = factors @ matrix
            magnitudes = np.asarray(abs(factors).sum(axis=1), np.float64).reshape(-1)
        rounding = ROUNDING * (magnitudes + np.linalg.norm(offset))
        yield make_variant(name, (sums - offset) * has_words, rounding)


def make_variant(name: str, rows: npt.NDArray[Any], rounding: npt.NDArray[np.float64]) -> Variant:
    """The variant of these rows, normalized; zeros where the length is rounding error."""
    lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows, dtype=np.float64))
    kept = lengths > rounding
    scales = np.divide(1.0, lengths, out=np.zeros_like(lengths), where=kept)
    return Variant(name, (rows * scales[:, None]).astype(np.float32), rounding * scales)
