r"""All 19 recipes on one set of documents, from their word counts.

What `deltavec.fit` compiles into a table for each recipe is here one sparse product for each weight
and form, since many recipes are wanted and the documents are few:

.. math:: c = \sum_{i \in V_d} w_i \left(n_i / N - \mathrm{penalty}_i\right) v_i - \mathrm{offset}

``center`` is ``sum`` less an offset, and ``-pca`` is made from the same vectors, so the 19 recipes
need seven products.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import linalg, sparse

from deltavec.core.components import NEGLIGIBLE, SecondMoment
from deltavec.core.kernels.embed import ROUNDING
from deltavec.core.recipes import RECIPES, WeightedRecipe
from deltavec.core.statistics import CorpusStatistics
from deltavec.core.vectors import WordVectors
from deltavec.lab.words import Counts

REMOVAL = "-pca"


class Variant(NamedTuple):
    """The vectors that one recipe gives to the documents.

    Attributes
    ----------
    name : str
        The recipe's.
    vectors : ndarray of float32, shape (documents, dimensions)
        Of unit length, or zero.
    rounding : ndarray of float64, shape (documents,)
        What is left of a vector after a removal is rounding, and not meaning, up to this length.
    """

    name: str
    vectors: npt.NDArray[np.float32]
    rounding: npt.NDArray[np.float64]

    def without(self, component: npt.NDArray[np.float64], name: str) -> Variant:
        r"""The vectors with nothing along a component, at unit length again.

        .. math:: u \leftarrow u - p\, (p \cdot u)

        (Schmidt, equation 1.)
        """
        p = component.astype(np.float32)
        left = self.vectors - np.outer(self.vectors @ p, p)
        return unit_rows(name, left, self.rounding)


def variants(
    counts: Counts,
    vectors: WordVectors,
    statistics: CorpusStatistics,
    *,
    components: Mapping[str, npt.NDArray[np.float64]] | None = None,
) -> Iterator[Variant]:
    """The documents' vectors by each of the 19 recipes, one recipe after the other.

    Parameters
    ----------
    counts
        The documents; the columns are the words of ``vectors``.
    vectors
        The word vectors.
    statistics
        The counts of the same words in the background corpus.
    components
        What to remove, by the name of the recipe; by default what these documents have in common,
        as in the paper.
    """
    for variant in without_removal(counts, vectors, statistics):
        yield variant
        name = variant.name + REMOVAL
        if name in RECIPES:
            fitted = common_component(variant.vectors) if components is None else components[name]
            yield variant.without(fitted, name)


def without_removal(
    counts: Counts, vectors: WordVectors, statistics: CorpusStatistics
) -> Iterator[Variant]:
    """The documents' vectors by each of the ten recipes that remove nothing."""
    shares = Shares.of(counts)
    frequencies = statistics.term_frequencies
    for name in RECIPES:
        recipe = WeightedRecipe.named(name)
        if recipe.n_components_removed:
            continue
        weights = recipe.weights(statistics)
        if recipe.form == "sum":
            total = shares.weighted(weights, np.zeros_like(weights), vectors.matrix)
            yield shares.unit(name, total)
        elif recipe.form == "center":
            offset = (weights * frequencies) @ vectors.matrix
            yield shares.unit(name, total, offset)
        else:
            yield shares.unit(name, shares.weighted(weights, frequencies, vectors.matrix))


class Total(NamedTuple):
    """A weighted sum for each document, and the sum of the lengths that were summed."""

    sums: npt.NDArray[np.float32]
    magnitudes: npt.NDArray[np.float64]


class Shares(NamedTuple):
    """The share n_i / N of each known word in each document, as rows of a sparse matrix."""

    values: npt.NDArray[np.float64]
    ids: npt.NDArray[np.int32]
    begins: npt.NDArray[np.int32]
    lengths: npt.NDArray[np.float64]

    @classmethod
    def of(cls, counts: Counts) -> Shares:
        """The shares of these counts."""
        counts = counts.sorted_indices()  # scipy sorts in place otherwise, when it likes
        lengths = np.asarray(counts.sum(axis=1), np.float64).reshape(-1)
        values = counts.data / np.repeat(lengths, np.diff(counts.indptr))
        return cls(values, counts.indices, counts.indptr, lengths)

    def weighted(
        self,
        weights: npt.NDArray[np.float64],
        penalties: npt.NDArray[np.float64],
        matrix: npt.NDArray[np.float32],
    ) -> Total:
        """The sum of (n_i / N - penalty_i) w_i v_i over the words of each document."""
        factors = (self.values - penalties[self.ids]) * weights[self.ids]
        shape = len(self.lengths), len(matrix)
        parts = sparse.csr_matrix((factors.astype(np.float32), self.ids, self.begins), shape)
        return Total(parts @ matrix, np.asarray(abs(parts).sum(axis=1), np.float64).reshape(-1))

    def unit(
        self, name: str, total: Total, offset: npt.NDArray[np.float64] | None = None
    ) -> Variant:
        """The sums less an offset, at unit length; zeros for a document without known words."""
        taken = np.zeros(total.sums.shape[1]) if offset is None else offset
        left = (total.sums - taken) * (self.lengths > 0)[:, None]
        return unit_rows(name, left, ROUNDING * (total.magnitudes + np.linalg.norm(taken)))


def unit_rows(name: str, rows: npt.NDArray[Any], rounding: npt.NDArray[np.float64]) -> Variant:
    """The rows at unit length; zeros for those whose length is rounding."""
    lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows, dtype=np.float64))
    kept = lengths > rounding
    scales = np.divide(1.0, lengths, out=np.zeros_like(lengths), where=kept)
    return Variant(name, (rows * scales[:, None]).astype(np.float32), rounding * scales)


def common_component(vectors: npt.NDArray[np.float32]) -> npt.NDArray[np.float64]:
    """The direction that these documents have in common; zeros if there is none.

    The first of `deltavec.core.components.leading_components`, up to its sign, without the others.
    """
    moment = SecondMoment.of(vectors).matrix
    last = len(moment) - 1
    values, directions = linalg.eigh(moment, subset_by_index=[last, last])
    component: npt.NDArray[np.float64] = directions[:, 0] * (
        values[0] > NEGLIGIBLE * np.trace(moment)
    )
    return component
