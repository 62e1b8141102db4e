r"""BM25: the weight of a term in a document, and what a query term is worth.

A document d with n occurrences of term i adds

.. math:: W_{di} = \mathrm{idf}_i\, \frac{n'}{n' + K_d}, \qquad
          K_d = k_1 \left(1 - b + b\, \frac{L_d}{\bar L}\right), \qquad
          \mathrm{idf}_i = \ln\left(1 + \frac{D - D_i + .5}{D_i + .5}\right)

(Robertson and Zaragoza 2009, with the idf of Lucene). The lead of a document, its first 25 words,
counts twice: :math:`n'` and :math:`L_d` have them once more. A query multiplies it with

.. math:: q_i = n_i\, \frac{a_i}{a_i + .7}, \quad
          a_i = \frac{\sum_d (n_{di} - \mu_{di})^2 - \mu_{di} + 1}{\sum_d \mu_{di}^2 + .2}, \quad
          \mu_{di} = p_i L_d.

:math:`a_i`, the burstiness, compares how a term clumps with a random spread over the documents:
near 0 for *the* and *with*, above 1 for words that documents are about. So no stop words are needed
(docs/decisions/0019).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from deltavec.core.arrays import Float32s, Float64s, Int64s, read_only
from deltavec.core.jit import inlined
from deltavec.core.kernels.count import TOTALS

K1 = 1.5
B = 0.75
HALF_BURSTINESS = 0.7  # the burstiness of a term that counts half
LEAST_BURSTINESS = 0.01  # so that a query of nothing but *the* finds something


def saturate(count: Any, norm: Any) -> Any:
    """The saturated term frequency n' / (n' + K) of a packed count, in float64."""
    n = TOTALS[count]
    return n / (n + np.float64(norm))


saturation = inlined(saturate)  # the same for kernels


def norms_of(lengths: npt.NDArray[np.integer], mean: float, deleted: Int64s) -> Float32s:
    """:math:`K_d = k_1 (1 - b + b L_d / mean L)` of documents of these lengths.

    A deleted document has an infinite one: no term of it is worth anything.
    """
    norms = (K1 * (1 - B + B * (lengths / mean))).astype(np.float32)
    norms[deleted] = np.inf
    return read_only(norms)


def idf(documents: int, document_counts: Float64s) -> Float64s:
    """Inverse document frequencies of terms with these document counts."""
    rarity: Float64s = np.log(1 + (documents - document_counts + 0.5) / (document_counts + 0.5))
    return rarity


def burstiness_weights(sums: Float64s, length: int, squares: int) -> Float64s:
    """:math:`a_i / (a_i + .7)` of terms, from the sums of n, n squared, and n times the length.

    ``length`` and ``squares`` are the sums of all lengths and of their squares.
    """
    p = sums[:, 0] / max(length, 1)
    expected = p**2 * squares
    excess = sums[:, 1] - 2 * p * sums[:, 2] + expected - sums[:, 0]
    burstiness = np.maximum((excess + 1) / (expected + 0.2), LEAST_BURSTINESS)
    weights: Float64s = burstiness / (burstiness + HALF_BURSTINESS)
    return weights
