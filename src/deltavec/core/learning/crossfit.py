"""Two folds of a corpus' documents: their pairs of words, and what is learned from each alone."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from deltavec.core.arrays import Float32s, Float64s
from deltavec.core.learning.basis import Prior, learn_basis, prior_spectrum, whitening
from deltavec.core.learning.cooccurrence import Cooccurrence, count_blocks
from deltavec.core.learning.corpora import LearnedVocabulary, LearningCorpus, statistics_of
from deltavec.core.learning.spill import Spill
from deltavec.core.learning.split_half import (
    FEWEST_WORDS,
    Folds,
    HalfSample,
    half_vectors,
    long_enough,
)
from deltavec.core.learning.svd import LeftSingular
from deltavec.core.recipes import Recipe
from deltavec.core.statistics import CorpusStatistics
from deltavec.core.threads import thread_count
from deltavec.core.vectors import normalize_rows

FOLD_ITERATIONS = 6  # as many as the whole has gain nothing that was seen: decision 18
# Of each fold: so many documents are recovered by one half from another; fewer say nothing.
ASKED_DOCUMENTS = 1_000
FEWEST_ASKED = 10


class FoldCounts(NamedTuple):
    """Two folds of documents; the pairs of both together, and of the first alone.

    Attributes
    ----------
    allocate : Spill
        What gave room to the counts.
    prior : Prior or None
        Vectors that are learned with.
    """

    folds: Folds
    pairs: Cooccurrence
    of_first: Cooccurrence
    allocate: Spill
    prior: Prior | None = None


def count_folds(
    folds: Folds, words: LearnedVocabulary, corpus: LearningCorpus, window: int, allocate: Spill
) -> FoldCounts:
    """Two folds of documents with their pairs, counted in one pass."""
    size, threads = len(words.vocabulary), corpus.threads
    counted = count_blocks(
        folds.ids, folds.second, size, window, allocate, threads, corpus.max_memory
    )
    both, first = (Cooccurrence(size, rows) for rows in zip(*counted, strict=True))
    return FoldCounts(folds, both, first, allocate)


def fold_basis(
    counted: FoldCounts, number: int, words: int, threads: int | None, recipe: Recipe
) -> LeftSingular:
    """What is learned from one fold alone: whitened rows of all words, and singular values."""
    quick = replace(recipe, power_iterations=min(recipe.power_iterations, FOLD_ITERATIONS))
    ids = counted.folds.both[number]
    counts = statistics_of(ids, words, len(ids))
    pairs = counted.pairs if number else counted.of_first
    without = counted.of_first if number else None
    budget, prior = counted.allocate.left, counted.prior
    found, _ = learn_basis(
        pairs, counts, quick, budget, prior=prior, without=without, threads=threads
    )
    return found._replace(vectors=found.vectors * whitening(counts.term_frequencies))


def asked(
    counted: FoldCounts,
    prior: Prior,
    statistics: CorpusStatistics,
    corpus: LearningCorpus,
    recipe: Recipe,
) -> tuple[bool, str]:
    """Whether split-half recovery is better in tables that know the prior vectors, and why."""
    words, threads = len(statistics.token_counts), thread_count(corpus.threads)
    has = f"{prior.known:,} of {words:,} words have one"
    documents = [min(long_enough(fold), ASKED_DOCUMENTS) for fold in counted.folds.both]
    if min(documents) < FEWEST_ASKED:
        return True, f"used: too few documents have {FEWEST_WORDS} words to be asked; {has}"

    def found(known: Prior | None) -> float:
        ranks = 0.0
        for number, fold in enumerate(counted.folds.both):
            from_other = counted._replace(prior=known)
            rows, values = fold_basis(from_other, 1 - number, words, threads, recipe)
            sample = half_vectors(fold, rows, statistics.mean_length, threads, ASKED_DOCUMENTS)
            ranks += documents[number] * recovery(sample, prior_spectrum(values, recipe))
        return ranks / sum(documents)

    with_them, without = found(prior), found(None)
    helps = with_them > without
    return helps, (
        f"{'used' if helps else 'not used'}: split-half recovery of {sum(documents):,} "
        f"documents is {with_them:.3f} with them, {without:.3f} without (one over the rank); {has}"
    )


def recovery(sample: HalfSample, spectrum: Float64s) -> float:
    """How well the first half of a document finds the second: the mean reciprocal rank."""
    first, second = (center_and_weight(part, spectrum) for part in sample[:2])
    cosines = first @ second.T
    own = np.diag(cosines).copy()
    ranks = 1 + (cosines > own[:, None]).sum(axis=1)
    return float((1 / ranks).mean())


def center_and_weight(vectors: Float32s, spectrum: Float64s) -> Float32s:
    """Vectors as documents are compared: centered, weighted by the spectrum, of unit length."""
    weighed = (vectors - vectors.mean(axis=0, dtype=np.float64)) * spectrum
    return normalize_rows(weighed, np.linalg.norm(weighed, axis=1))
