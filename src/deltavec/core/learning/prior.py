r"""Word vectors from elsewhere, as knowledge that a corpus alone may be too small to have.

They stand beside the word pairs in the factorization,

.. math:: \mathrm{diag}(r)\,[M + \alpha I \mid g\, \bar m\, V] \approx U S W^\top,

with V a row for each word of the corpus, centered and of unit length (zeros for a word that has
none), and :math:`\bar m` the mean length of a row of M, so that both weigh the same. Whether they
help is asked of the halves of documents: g is 1 if, in tables that did not learn from them,
first halves find their second halves better than with g = 0.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from deltavec.core.learning.split_half import HalfSample
from deltavec.core.vectors import WordVectors, normalize_rows
from deltavec.core.vocabulary import Vocabulary
from deltavec.errors import RecipeError

# Of each fold: so many halves are looked for among as many others; fewer say nothing.
ASKED_DOCUMENTS = 1_000
FEWEST_ASKED = 10
MEASURED_ONLY = (
    "halves of documents decide whether prior vectors help: they need measured_documents above 0"
)


class Prior(NamedTuple):
    """Rows for the words of a corpus, and how many of them have one."""

    rows: npt.NDArray[np.float32]
    known: int

    @classmethod
    def of(cls, vectors: WordVectors, vocabulary: Vocabulary) -> Prior:
        """What word vectors say of the words of a corpus: V.

        Raises
        ------
        RecipeError
            If they have none of the words.
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


def recovery(halves: HalfSample, spectrum: npt.NDArray[np.float64]) -> float:
    """How well first halves find their second halves: the mean of one over their rank."""
    first, second = (with_prior(part, spectrum) for part in (halves.first, halves.second))
    cosines = first @ second.T
    own = np.diag(cosines).copy()
    ranks = 1 + (cosines > own[:, None]).sum(axis=1)
    return float((1 / ranks).mean())


def with_prior(
    vectors: npt.NDArray[np.float32], spectrum: npt.NDArray[np.float64]
) -> npt.NDArray[np.float32]:
    """Halves as documents are compared: from their mean, by the strength of directions."""
    weighed = (vectors - vectors.mean(axis=0, dtype=np.float64)) * spectrum
    return normalize_rows(weighed, np.linalg.norm(weighed, axis=1))
