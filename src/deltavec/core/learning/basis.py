r"""The directions of the spectral recipe: its matrix, factorized.

.. math:: \mathrm{diag}(r)\,(M + \alpha I) \approx U S V^\top,

its rows whitened, and how strong its values suggest that each direction is.
"""

from __future__ import annotations

import numpy as np

from deltavec.core.arrays import Float32s, Float64s
from deltavec.core.learning.ppmi import Ppmi
from deltavec.core.learning.prior import Prior
from deltavec.core.learning.spill import Allocate
from deltavec.core.learning.svd import LeftSingular, leading_left_singular, with_columns
from deltavec.core.recipes import SpectralRecipe
from deltavec.core.statistics import CorpusStatistics
from deltavec.core.weights import idf

SEED = 0


def ridge(ppmi: Ppmi, statistics: CorpusStatistics, recipe: SpectralRecipe) -> float:
    """How much of a direction of its own each word is given: alpha."""
    return recipe.identity_share * mean_row(ppmi, statistics)


def mean_row(ppmi: Ppmi, statistics: CorpusStatistics) -> float:
    """The mean length of the rows of the words that occur."""
    return float(ppmi.row_norms()[statistics.token_counts > 0].mean())


def factorize(
    ppmi: Ppmi,
    alpha: float,
    statistics: CorpusStatistics,
    recipe: SpectralRecipe,
    allocate: Allocate = np.empty,
    prior: Prior | None = None,
) -> LeftSingular:
    """The leading left singular vectors of diag(r) (M + alpha I), beside prior vectors if any."""
    r = (np.sqrt(statistics.term_frequencies) * idf(statistics)).astype(np.float32)

    def times(matrix: Float32s) -> Float32s:
        return ppmi.times(matrix, alpha, r)

    def transposed_times(matrix: Float32s) -> Float32s:
        return ppmi.transposed_times(r[:, None] * matrix, alpha)

    beside = np.zeros((ppmi.size, 0), np.float32)
    if prior is not None:
        beside = r[:, None] * (prior.rows * np.float32(mean_row(ppmi, statistics)))
    return leading_left_singular(
        *with_columns(times, transposed_times, beside),
        ppmi.size,
        recipe.dimensions,
        power_iterations=recipe.power_iterations,
        seed=SEED,
        columns=ppmi.size + beside.shape[1],
        threads=ppmi.threads,
        allocate=allocate,
    )


def whitening(frequencies: Float64s) -> Float32s:
    """What makes words count by how often they occur: one over the root, for words that do."""
    roots = np.sqrt(frequencies)
    scale = np.divide(1, roots, out=np.zeros_like(roots), where=roots > 0)
    return scale.astype(np.float32)[:, None]


def prior_spectrum(values: Float64s, recipe: SpectralRecipe) -> Float64s:
    """How strong the spectrum suggests that directions are: g."""
    second = values[min(1, len(values) - 1)] if len(values) else 1.0
    spectrum: Float64s = np.minimum(values / second, 1.0) ** recipe.spectrum_exponent
    return spectrum
