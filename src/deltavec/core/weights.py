"""How much each word counts: one function, one equation each."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from deltavec.core.statistics import CorpusStatistics

Weights: TypeAlias = npt.NDArray[np.float64]


def unit(statistics: CorpusStatistics) -> Weights:
    r"""The weight 1 for every word.

    .. math:: w_i = 1
    """
    return np.ones(len(statistics.token_counts))


def idf(statistics: CorpusStatistics) -> Weights:
    r"""The inverse document frequency of each word.

    .. math:: w_i = \log(D / D_i)

    (Schmidt, section 3.) A word that the corpus never shows counts as if one document held it:
    :math:`D_i` is at least 1.
    """
    return np.log(max(statistics.documents, 1) / np.maximum(statistics.document_counts, 1))


def sif(statistics: CorpusStatistics, *, a: float = 1e-4) -> Weights:
    r"""The smooth inverse frequency of each word.

    .. math:: w_i = \frac{a}{a + \mathrm{tf}_{ic}}

    (Schmidt, section 3; Arora et al. 2017.)
    """
    return a / (a + statistics.term_frequencies)


def subsampling(statistics: CorpusStatistics, *, t: float = 1e-5) -> Weights:
    r"""The weight word2vec gives a word when it drops frequent ones.

    .. math:: w_i = \min\left(1, \sqrt{t / \mathrm{tf}_{ic}}\right)

    (Schmidt, section 3; Mikolov et al. 2013.)
    """
    return np.sqrt(t / np.maximum(statistics.term_frequencies, t))


WEIGHTINGS: dict[str, Callable[..., Weights]] = {
    "unit": unit,
    "idf": idf,
    "sif": sif,
    "subsampling": subsampling,
}
