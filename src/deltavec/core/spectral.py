r"""The recipe that needs no word vectors: they, weights, centre and whitening come at once.

Which words stand near each other is counted, weighted by how rare a word is and how much text it
makes up, and factorised:

.. math:: \mathrm{diag}(r)\,(M + \alpha I) \approx U S V^\top,
          \quad r_i = \sqrt{p_i}\, \mathrm{idf}_i,

with M the positive pointwise mutual information, :math:`p_i = \mathrm{tf}_{ic}`, and
:math:`\alpha` a share of the mean length of M's rows, which gives a telling word a direction of its
own. :math:`T_i = U_i / \sqrt{p_i}` whitens the words of the corpus: :math:`\sum_i p_i T_i T_i^\top
= I`. Directions count by their strength g and by how long documents are:

.. math:: g_j = \min(s_j / s_2, 1)^e, \quad
          w_j = \frac{\lambda g_j}{1 + (\lambda - 1) g_j},
          \quad \lambda = L / L_0,

so that long documents use all directions alike and short ones lean on the strong ones. A document
is :math:`\sum_i (n_i / N)\, T_i \circ w - b`, with b the mean of such sums.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from deltavec.core.cooccurrence import (
    DEFAULT_MEMORY,
    Allocate,
    Cooccurrence,
    cooccurrence,
    listed_ids,
)
from deltavec.core.discovery import WordCounts, frequent_words, word_counts
from deltavec.core.forms import FoldedVectors, length_weights, nothing_removed
from deltavec.core.pair_kernels import documents_with
from deltavec.core.ppmi import Ppmi
from deltavec.core.recipes import Recipe
from deltavec.core.singular import LeftSingular, leading_left_singular
from deltavec.core.statistics import CorpusStatistics
from deltavec.core.texts import Chunked, Tokenizer
from deltavec.core.vocabulary import Vocabulary
from deltavec.core.weights import idf
from deltavec.errors import CorpusError, SmallModelWarning

NARROWEST_WINDOW = 5
WIDEST_WINDOW = 100
LARGE_CORPUS = 1_000_000  # words


class Spectral(NamedTuple):
    """What the factorisation gives: words, their counts, the table, and what was derived."""

    vocabulary: Vocabulary
    statistics: CorpusStatistics
    folded: FoldedVectors
    derived: dict[str, str]


def spectral(
    corpus: Chunked,
    recipe: Recipe,
    *,
    tokenizer: Tokenizer = "words",
    threads: int | None = None,
    max_memory: int = DEFAULT_MEMORY,
    allocate: Allocate = np.empty,
    seed: int = 0,
    on_stage: Callable[[str], None] | None = None,
) -> Spectral:
    """The table of the spectral recipe, learned from a corpus alone."""
    begin = on_stage or (lambda stage: None)
    begin("learning the vocabulary")
    counts = word_counts(corpus, tokenizer)
    vocabulary = frequent_words(counts, None)
    begin("reading words")
    ids = listed_ids(corpus, vocabulary, tokenizer, threads)
    statistics = statistics_of(ids, len(vocabulary), counts)
    window = recipe.window or usual_window(statistics)
    begin("counting pairs of words")
    pairs = cooccurrence(
        ids, len(vocabulary), window, threads=threads, max_memory=max_memory, allocate=allocate
    )
    del ids
    begin("finding leading directions")
    return spectral_of_counts(
        vocabulary, statistics, pairs, window, recipe, threads=threads, allocate=allocate, seed=seed
    )


def spectral_of_counts(
    vocabulary: Vocabulary,
    statistics: CorpusStatistics,
    pairs: Cooccurrence,
    window: int,
    recipe: Recipe,
    *,
    threads: int | None = None,
    allocate: Allocate = np.empty,
    seed: int = 0,
) -> Spectral:
    """The table of these counts, wherever they were counted, of pairs within this window."""
    ppmi = Ppmi(pairs, recipe.context_smoothing, threads=threads, allocate=allocate)
    alpha = own_share(ppmi, recipe)
    directions = factorised(ppmi, alpha, statistics, recipe, seed)
    warn_of_fewer(len(directions.values), recipe.dimensions, len(vocabulary))
    derived = {
        "window": f"{window} words to either side" + reason_for_window(recipe, statistics),
        "alpha": f"{alpha:.4g}, {recipe.identity_share:g} times the mean length of a word's row",
        "directions": f"{len(directions.values)} of {recipe.dimensions} asked for",
    }
    return Spectral(vocabulary, statistics, table(directions, statistics, recipe), derived)


def warn_of_fewer(found: int, asked_for: int, words: int) -> None:
    """Say that the model is smaller than was asked for, if it is."""
    if found < asked_for:
        warnings.warn(
            f"the corpus' {words:,} words have {found:,} directions, {asked_for:,} were asked "
            "for: the model has fewer dimensions",
            SmallModelWarning,
            stacklevel=2,
        )


def usual_window(statistics: CorpusStatistics) -> int:
    """How far to look to either side: half a document, in a small corpus a quarter; within bounds.

    See docs/decisions/0013.
    """
    part = 2 if statistics.tokens >= LARGE_CORPUS else 4
    return min(WIDEST_WINDOW, max(NARROWEST_WINDOW, round(statistics.mean_length / part)))


def reason_for_window(recipe: Recipe, statistics: CorpusStatistics) -> str:
    """Why the window is as wide as it is."""
    if recipe.window:
        return ", as asked for"
    large = statistics.tokens >= LARGE_CORPUS
    return (
        f", {'half' if large else 'a quarter of'} the mean document of "
        f"{statistics.mean_length:.1f} known words ({'from' if large else 'below'} "
        f"{LARGE_CORPUS:,} words in all), from {NARROWEST_WINDOW} to {WIDEST_WINDOW}"
    )


def statistics_of(ids: npt.NDArray[np.int32], words: int, counts: WordCounts) -> CorpusStatistics:
    """The statistics of documents given as ids, each document closed by -1."""
    closed = np.flatnonzero(ids < 0)
    empty = int((np.diff(closed, prepend=-1) == 1).sum())
    return CorpusStatistics(
        np.bincount(ids[ids >= 0], minlength=words).astype(np.int64),
        documents_with(ids, words),
        len(closed),
        counts.tokens,
        empty,
    )


def own_share(ppmi: Ppmi, recipe: Recipe) -> float:
    """How much of a direction of its own each word is given: alpha."""
    return recipe.identity_share * float(ppmi.row_norms().mean())


def factorised(
    ppmi: Ppmi, alpha: float, statistics: CorpusStatistics, recipe: Recipe, seed: int
) -> LeftSingular:
    """The leading left singular vectors of diag(r) (M + alpha I)."""
    r = (np.sqrt(statistics.term_frequencies) * idf(statistics)).astype(np.float32)[:, None]
    share = np.float32(alpha)

    def times(matrix: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
        return r * (ppmi.times(matrix) + share * matrix)

    def transposed_times(matrix: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
        scaled = r * matrix
        return ppmi.transposed_times(scaled) + share * scaled

    directions = leading_left_singular(
        times,
        transposed_times,
        ppmi.size,
        recipe.dimensions,
        power_iterations=recipe.power_iterations,
        seed=seed,
    )
    if len(directions.values) == 0:
        raise CorpusError(
            "no word of the corpus tells its documents apart: they hold the same words"
        )
    return directions


def table(directions: LeftSingular, statistics: CorpusStatistics, recipe: Recipe) -> FoldedVectors:
    """The folded table for documents as long as those of the corpus, seen from its centre."""
    second = directions.values[min(1, len(directions.values) - 1)]
    strengths = np.minimum(directions.values / second, 1.0) ** recipe.spectrum_exponent
    p = statistics.term_frequencies
    whitening = (1 / np.sqrt(p)).astype(np.float32)[:, None]
    rows = directions.vectors * whitening * length_weights(strengths, 1.0).astype(np.float32)
    return FoldedVectors(
        rows=rows,
        penalties=np.zeros(len(rows)),
        offset=np.zeros(rows.shape[1]),
        norms=np.linalg.norm(rows, axis=1),
        offset_norm=0.0,
        strengths=strengths,
        length_ratio=1.0,
        **nothing_removed(*rows.shape),
    ).with_offset(p)
