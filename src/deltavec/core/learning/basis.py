r"""The directions of the spectral recipe: its matrix, factorized, beside prior word vectors if any.

.. math:: \mathrm{diag}(r)\,[M + \alpha I \mid g\, \bar m\, V] \approx U S W^\top,

with V a row of prior vectors for each word of the corpus, centered and of unit length (zeros for a
word that has none), and :math:`\bar m` the mean length of a row of M, so that both weigh the same.
g is 1 if the prior vectors help, otherwise 0: split-half recovery decides (`crossfit`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from deltavec.core.arrays import Float32s, Float64s
from deltavec.core.learning.cooccurrence import Cooccurrence
from deltavec.core.learning.ppmi import Ppmi
from deltavec.core.learning.spill import Spill
from deltavec.core.learning.svd import LeftSingular, leading_left_singular, with_columns
from deltavec.core.recipes import Recipe
from deltavec.core.statistics import CorpusStatistics
from deltavec.core.vectors import WordVectors, normalize_rows
from deltavec.core.vocabulary import Vocabulary
from deltavec.core.weights import idf
from deltavec.errors import RecipeError

SEED = 0


class Prior(NamedTuple):
    """Rows of prior vectors for the words of a corpus, and how many words have one."""

    rows: Float32s
    known: int

    @classmethod
    def of(cls, vectors: WordVectors, vocabulary: Vocabulary) -> Prior:
        """The prior vectors of the words of a corpus: V.

        Raises
        ------
        RecipeError
            If no word has one.
        """
        places = vectors.vocabulary.ids(vocabulary.words)
        has = places >= 0
        if not has.any():
            raise RecipeError(
                "none of the corpus' words has a prior vector: are the vectors of its language, "
                "and lower-case?"
            )
        found = vectors.matrix[places[has]].astype(np.float64)
        found -= found.mean(axis=0)
        rows = np.zeros((len(places), vectors.dimensions), np.float32)
        rows[has] = normalize_rows(found, np.linalg.norm(found, axis=1))
        return cls(rows, int(has.sum()))


def learn_basis(
    pairs: Cooccurrence,
    statistics: CorpusStatistics,
    recipe: Recipe,
    budget: int,
    *,
    prior: Prior | None = None,
    without: Cooccurrence | None = None,
    threads: int | None = None,
) -> tuple[LeftSingular, float]:
    """The leading left singular vectors of diag(r) (M + alpha I), beside prior vectors; alpha.

    Parameters
    ----------
    pairs, without
        Co-occurrence counts, and those of a part of the text that are subtracted.
    budget
        Bytes of memory; larger arrays are spilled to files.
    """
    room = Spill(budget)
    ppmi = Ppmi(pairs, recipe.context_smoothing, without=without, threads=threads, allocate=room)
    mean_row = float(ppmi.row_norms()[statistics.token_counts > 0].mean())
    alpha = recipe.identity_share * mean_row
    r = (np.sqrt(statistics.term_frequencies) * idf(statistics)).astype(np.float32)

    def times(matrix: Float32s) -> Float32s:
        return ppmi.times(matrix, alpha, r)

    def transposed_times(matrix: Float32s) -> Float32s:
        return ppmi.transposed_times(r[:, None] * matrix, alpha)

    beside = np.zeros((ppmi.size, 0), np.float32)
    if prior is not None:
        beside = r[:, None] * (prior.rows * np.float32(mean_row))
    directions = leading_left_singular(
        *with_columns(times, transposed_times, beside),
        ppmi.size,
        recipe.dimensions,
        power_iterations=recipe.power_iterations,
        seed=SEED,
        columns=ppmi.size + beside.shape[1],
        threads=ppmi.threads,
        allocate=room,
    )
    return directions, alpha


def whitening(frequencies: Float64s) -> Float32s:
    """The whitening scale of each word: one over the root of its frequency, 0 if it is 0."""
    roots = np.sqrt(frequencies)
    scale = np.divide(1, roots, out=np.zeros_like(roots), where=roots > 0)
    return scale.astype(np.float32)[:, None]


def prior_spectrum(values: Float64s, recipe: Recipe) -> Float64s:
    """The weights of directions that the singular values suggest: g."""
    second = values[min(1, len(values) - 1)] if len(values) else 1.0
    spectrum: Float64s = np.minimum(values / second, 1.0) ** recipe.spectrum_exponent
    return spectrum
