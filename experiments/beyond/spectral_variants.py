r"""The spectral recipe with its choices open, from counts.

.. math:: \mathrm{diag}(\sqrt{p_i}\, \mathrm{idf}_i^{\,a})\,(M + b\,\bar{m} I) \approx U S V^\top

with a the power of idf and b the share of the identity. `deltavec.fit` has a = b = 1.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from corpora import LabelledCorpus
from problems import Draw, counts_of
from scipy import sparse

from deltavec.core.forms import length_weights
from deltavec.core.learning.cooccurrence import cooccurrence
from deltavec.core.learning.ppmi import Ppmi
from deltavec.core.learning.spectral import LARGE_CORPUS
from deltavec.core.learning.svd import leading_left_singular
from deltavec.core.statistics import CorpusStatistics
from deltavec.core.weights import idf
from deltavec.lab.baselines import scaled_rows
from deltavec.lab.words import Counts

EXPONENTS = (0.5, 0.75, 1.0)
CONTEXT_SMOOTHING = 0.75
POWER_ITERATIONS = 7
# As many documents as the corpus' centre counts for in `for_collection` (deltavec.core.model).
CENTRE_DOCUMENTS = 100


class Parameters(NamedTuple):
    """What is varied, with the defaults of `deltavec.fit`."""

    idf_power: float = 1.0
    identity_share: float = 1.0
    window_factor: float = 1.0
    dimensions: int = 300

    @property
    def name(self) -> str:
        """What is not at its default."""
        default = Parameters()
        changed = [
            f"{name}={value:g}"
            for name, value in self._asdict().items()
            if value != getattr(default, name)
        ]
        return ", ".join(changed) or "default"


class Factorised(NamedTuple):
    """The factorisation of a corpus, and what embedding needs besides.

    Attributes
    ----------
    rows : ndarray of float32, shape (words, dimensions)
        T, the whitened words.
    values : ndarray of float64
        The singular values.
    frequencies : ndarray of float64
        p, each word's share of the corpus.
    mean_length : float
        L0, known words in a document of the corpus.
    """

    rows: npt.NDArray[np.float32]
    values: npt.NDArray[np.float64]
    frequencies: npt.NDArray[np.float64]
    mean_length: float

    def strengths(self, exponent: float = 0.75) -> npt.NDArray[np.float64]:
        """How much each direction counts in a document as long as those of the corpus."""
        second = self.values[min(1, len(self.values) - 1)]
        return np.minimum(self.values / second, 1.0) ** exponent

    def save(self, path: Path) -> None:
        """Keep it in a file."""
        path.parent.mkdir(parents=True, exist_ok=True)
        np.savez(path, **self._asdict())

    @classmethod
    def load(cls, path: Path) -> Factorised:
        """What was kept."""
        with np.load(path) as kept:
            found = {name: kept[name] for name in cls._fields}
        return cls(**{**found, "mean_length": float(found["mean_length"])})


def adopted(corpus: LabelledCorpus) -> Parameters:
    """The parameters of `deltavec.fit`: half a document as the window of a large corpus."""
    large = corpus.words.statistics.tokens >= LARGE_CORPUS
    return Parameters(window_factor=2.0) if large else Parameters()


class CountedPairs:
    """The word pairs of a corpus within a window, ready to be factorised in many ways.

    The window is a multiple of a quarter of the mean document, which is from 5 to 50 words.
    """

    def __init__(self, corpus: LabelledCorpus, window_factor: float = 1.0) -> None:
        self.statistics = corpus.statistics
        quarter = round(self.statistics.mean_length / 4)
        self.window = round(window_factor * min(50, max(5, quarter)))
        pairs = cooccurrence(corpus.listed_ids(), corpus.known, self.window)
        self.ppmi = Ppmi(pairs, CONTEXT_SMOOTHING)
        self.mean_row = float(self.ppmi.row_norms().mean())

    def factorised(self, parameters: Parameters, *, seed: int = 0) -> Factorised:
        """The whitened words by these parameters."""
        r = importance(self.statistics, parameters.idf_power)[:, None]
        alpha = np.float32(parameters.identity_share * self.mean_row)
        ppmi = self.ppmi

        def times(matrix: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
            return r * (ppmi.times(matrix) + alpha * matrix)

        def transposed_times(matrix: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
            scaled = r * matrix
            return ppmi.transposed_times(scaled) + alpha * scaled

        found = leading_left_singular(
            times,
            transposed_times,
            ppmi.size,
            parameters.dimensions,
            power_iterations=POWER_ITERATIONS,
            seed=seed,
        )
        p = self.statistics.term_frequencies
        rows = found.vectors / np.sqrt(p).astype(np.float32)[:, None]
        return Factorised(rows, found.values, p, self.statistics.mean_length)


def importance(statistics: CorpusStatistics, idf_power: float) -> npt.NDArray[np.float32]:
    """The weight r of each word's row in the factorisation."""
    p = statistics.term_frequencies
    return (np.sqrt(p) * idf(statistics) ** idf_power).astype(np.float32)


def factorisations(
    corpus: LabelledCorpus, wanted: Iterable[Parameters], cache: Path
) -> Iterator[tuple[Parameters, Factorised]]:
    """The corpus factorised by each set of parameters; what was done before is read back."""
    counted: dict[float, CountedPairs] = {}
    for parameters in wanted:
        path = cache / "factorised" / corpus.name / f"{parameters.name}.npz"
        if not path.exists():
            factor = parameters.window_factor
            if factor not in counted:
                counted = {factor: CountedPairs(corpus, factor)}  # one at a time: they are large
            counted[factor].factorised(parameters).save(path)
        yield parameters, Factorised.load(path)


class Sums(NamedTuple):
    """The documents before weighting: y, and how many known words each holds."""

    y: npt.NDArray[np.float32]
    lengths: npt.NDArray[np.float64]


def sums_of(counts: Counts, rows: npt.NDArray[np.float32]) -> Sums:
    """The sum of (n_i / N) T_i for each document; the columns are the rows' words."""
    lengths = np.asarray(counts.sum(axis=1), np.float64).reshape(-1)
    scales = np.divide(1.0, lengths, out=np.zeros_like(lengths), where=lengths > 0)
    shares = sparse.diags_array(scales.astype(np.float32)) @ counts.astype(np.float32)
    return Sums(shares @ rows, lengths)


def weighed(
    sums: Sums,
    strengths: npt.NDArray[np.float64],
    mean_length: float,
    centre: npt.NDArray[np.float64] | None = None,
) -> npt.NDArray[np.float32]:
    """The documents compared with each other: their mean length, seen from their own mean.

    A centre that is given is used instead; with `shared_centre` this is
    `EmbeddingModel.for_collection`.
    """
    known = sums.lengths > 0
    ratio = sums.lengths[known].mean() / mean_length
    middle = sums.y[known].mean(axis=0, dtype=np.float64) if centre is None else centre
    moved = (sums.y - middle) * length_weights(strengths, ratio)
    return scaled_rows(moved * known[:, None])


def shared_centre(sums: Sums, factorised: Factorised, documents: float) -> npt.NDArray[np.float64]:
    """The mean of the documents, the corpus' own centre counting as so many more."""
    known = sums.lengths > 0
    own = sums.y[known].sum(axis=0, dtype=np.float64)
    corpus = factorised.frequencies @ factorised.rows
    return (own + documents * corpus) / (known.sum() + documents)


def drawn_sums(corpus: LabelledCorpus, draw: Draw, factorised: Factorised) -> Sums:
    """The documents of a draw, in a factorisation of the same corpus."""
    return sums_of(counts_of(corpus, draw)[:, : len(factorised.rows)], factorised.rows)
