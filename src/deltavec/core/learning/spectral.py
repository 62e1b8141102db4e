r"""The recipe that needs no word vectors: they, weights, center and whitening come at once.

Co-occurrence counts are weighted by how rare and how frequent each word is, and factorized:

.. math:: \mathrm{diag}(r)\,(M + \alpha I) \approx U S V^\top,
          \quad r_i = \sqrt{p_i}\, \mathrm{idf}_i,

with M the positive pointwise mutual information, :math:`p_i = \mathrm{tf}_{ic}`, and :math:`\alpha`
a share of the mean length of M's rows, which gives a rare word a direction of its own. :math:`T_i =
U_i / \sqrt{p_i}` whitens the words of the corpus: :math:`\sum_i p_i T_i T_i^\top = I`. Directions
count by their strength g and by how long documents are:

.. math:: g_j = \min(s_j / s_2, 1)^e, \quad
          w_j = \frac{\lambda g_j}{1 + (\lambda - 1) g_j},
          \quad \lambda = L / L_0,

so that long documents weight all directions equally and short ones lean on strong ones. A document
is :math:`\sum_i (n_i / N)\, T_i \circ w - b`, with b the mean of such sums.

With prior word vectors the matrix has more columns:

.. math:: \mathrm{diag}(r)\,[M + \alpha I \mid g\, \bar m\, V] \approx U S W^\top,

with V a row of prior vectors for each word of the corpus, centered and of unit length (zeros for a
word that has none), and :math:`\bar m` the mean length of a row of M, so that both weigh the same.
g is 1 if the prior vectors help, otherwise 0: split-half recovery decides. It is measured on two
folds of the documents, each in a table that was learned from the other.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np

from deltavec.core.arrays import Float32s, Float64s, Spill
from deltavec.core.forms import EmbeddingTable, length_weights
from deltavec.core.kernels.count import UNITS_A_WORD
from deltavec.core.learning.cooccurrence import Cooccurrence, count_blocks
from deltavec.core.learning.corpora import LearnedVocabulary, LearningCorpus, statistics_of
from deltavec.core.learning.ppmi import Ppmi
from deltavec.core.learning.split_half import (
    FEWEST_WORDS,
    PRIOR_DOCUMENTS,
    Evidence,
    Folds,
    HalfSample,
    evidence,
    half_vectors,
    long_enough,
    measure,
    sample_share,
)
from deltavec.core.learning.svd import LeftSingular, leading_left_singular, with_columns
from deltavec.core.model import EmbeddingModel
from deltavec.core.recipes import Choice, Recipe
from deltavec.core.statistics import CorpusStatistics
from deltavec.core.text.batches import Tokenizer
from deltavec.core.text.rules import units_of
from deltavec.core.threads import thread_count
from deltavec.core.vectors import WordVectors, normalize_rows
from deltavec.core.vocabulary import Vocabulary
from deltavec.core.weights import idf
from deltavec.errors import CorpusError, RecipeError, SmallModelWarning, warn

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


NARROWEST_WINDOW = 5
WIDEST_WINDOW = 100
LARGE_CORPUS = 1_000_000  # words
NGRAM_STEEPNESS = 0.15  # n-grams of one document overlap, so weak directions look too strong


def spectral(
    corpus: LearningCorpus, choice: Choice, prior: WordVectors | None = None
) -> EmbeddingModel:
    """The model of the recipe that needs no word vectors, learned from a corpus alone.

    Prior vectors are used if split-half recovery is better with them.
    """
    if prior is not None and not choice.recipe.measured_documents:
        raise RecipeError(
            "split-half recovery decides whether prior vectors help: they need "
            "measured_documents above 0"
        )
    corpus = corpus.with_chosen_units()
    model, folds = learn_table(corpus, choice, Spill(corpus.max_memory), prior)
    if folds is not None:
        corpus.begin("split-half measurement")
        words, threads = len(model.vocabulary), corpus.threads
        learn = partial(fold_basis, folds, words=words, threads=threads, recipe=choice.recipe)
        found = evidence(
            model.table,
            model.statistics,
            folds.folds,
            learn,
            most_documents=choice.recipe.measured_documents,
            threads=thread_count(corpus.threads),
        )
        steepness = choice.recipe.steepness + NGRAM_STEEPNESS * has_ngrams(corpus.tokenizer)
        model = reweight(model, found, steepness)
    ratio = {"lambda": "1: for documents as long as those of the corpus"}
    return replace(model, notes={**model.notes, **ratio})


def learn_table(
    corpus: LearningCorpus, choice: Choice, allocate: Spill, vectors: WordVectors | None = None
) -> tuple[EmbeddingModel, FoldCounts | None]:
    """The model of a corpus, and the folds of its documents if they are to be measured."""
    recipe, words = choice.recipe, corpus.words()
    vocabulary, statistics = words.vocabulary, words.statistics
    prior = None if vectors is None else Prior.of(vectors, vocabulary)
    is_large = is_large_corpus(statistics, corpus.tokenizer)
    window = recipe.window or usual_window(statistics.mean_length, is_large)
    corpus.begin("counting pairs of words")
    pairs, folds = count_pairs(words, corpus, window, recipe, allocate)
    del words  # those of the corpus take room
    notes = {"vectors": "learned with the model", "units": corpus.units}
    if folds is not None and prior is not None:
        corpus.begin("trying prior vectors")
        helps, notes["prior"] = asked(folds, prior, statistics, corpus, recipe)
        folds = folds._replace(prior=prior if helps else None)
    corpus.begin("finding leading directions")
    helping = None if folds is None else folds.prior
    directions, alpha = learn_basis(
        pairs, statistics, recipe, allocate.left, prior=helping, threads=corpus.threads
    )
    if len(directions.values) == 0:
        raise CorpusError(
            "no word of the corpus tells its documents apart: they hold the same words"
        )
    warn_fewer_dimensions(len(directions.values), recipe.dimensions, len(vocabulary))
    notes |= {
        "window": f"{window} words to either side"
        + reason_for_window(recipe, statistics, is_large),
        "alpha": f"{alpha:.4g}, {recipe.identity_share:g} times the mean length of a word's row",
        "directions": f"{len(directions.values)} of {recipe.dimensions} asked for",
    }
    table = embedding_table(directions, statistics, recipe)
    parts = vocabulary, statistics, table, corpus.tokenizer, notes
    return EmbeddingModel(recipe, choice.reason, *parts), folds


def count_pairs(
    words: LearnedVocabulary, corpus: LearningCorpus, window: int, recipe: Recipe, allocate: Spill
) -> tuple[Cooccurrence, FoldCounts | None]:
    """The pairs of a corpus, and those of its folds if they are to be measured.

    What all documents together have is the sum of the folds, unless these are only a sample.
    """
    if not recipe.measured_documents:
        return words.pairs(window, allocate), None
    share = sample_share(words.statistics)
    folds = count_folds(words.folds(share), words, corpus, window, allocate)
    return folds.pairs if share == 1 else words.pairs(window, allocate), folds


def reweight(model: EmbeddingModel, found: Evidence, steepness: float = 0.0) -> EmbeddingModel:
    """The model along the directions of the split-half covariance, as strong as it says."""
    made = measure(found, model.table.spectrum, steepness)
    if made is None:
        note = f"those of the spectrum: too few documents have {FEWEST_WORDS} words to be split"
        return replace(model, notes={**model.notes, "spectrum": note})
    note = (
        f"measured: split-half covariance of {found.documents:,} documents, against "
        f"{PRIOR_DOCUMENTS:,} for the spectrum; {made.carrying_half} directions carry half of it"
    )
    turned = model.table.turned(*made.axes)
    turned = replace(turned, signal=made.signal, deflation=made.deflation)
    return replace(model, table=turned, notes={**model.notes, "spectrum": note})


def warn_fewer_dimensions(found: int, asked_for: int, words: int) -> None:
    """Say that the model is smaller than was asked for, if it is."""
    if found < asked_for:
        warn(
            f"the corpus' {words:,} words have {found:,} directions, {asked_for:,} were asked "
            "for: the model has fewer dimensions",
            SmallModelWarning,
        )


def is_large_corpus(statistics: CorpusStatistics, tokenizer: Tokenizer) -> bool:
    """Whether a corpus has a million words, whatever is counted of them."""
    return statistics.tokens >= LARGE_CORPUS * (UNITS_A_WORD if has_ngrams(tokenizer) else 1)


def has_ngrams(tokenizer: Tokenizer) -> bool:
    """Whether character n-grams are counted."""
    return isinstance(tokenizer, str) and units_of(tokenizer).gram > 0


def usual_window(mean_length: float, is_large: bool) -> int:
    """How far to look to either side: half a document, in a small corpus a quarter; within bounds.

    See docs/decisions/0013.
    """
    part = 2 if is_large else 4
    return min(WIDEST_WINDOW, max(NARROWEST_WINDOW, round(mean_length / part)))


def reason_for_window(recipe: Recipe, statistics: CorpusStatistics, large: bool) -> str:
    """Why the window is as wide as it is."""
    if recipe.window:
        return ", as asked for"
    return (
        f", {'half' if large else 'a quarter of'} the mean document of "
        f"{statistics.mean_length:.1f} known words ({'from' if large else 'below'} "
        f"{LARGE_CORPUS:,} words in all), from {NARROWEST_WINDOW} to {WIDEST_WINDOW}"
    )


def embedding_table(
    directions: LeftSingular, statistics: CorpusStatistics, recipe: Recipe
) -> EmbeddingTable:
    """The table for documents as long as those of the corpus, centered."""
    spectrum = prior_spectrum(directions.values, recipe)
    p = statistics.term_frequencies
    rows = directions.vectors * whitening(p) * length_weights(spectrum, 1.0).astype(np.float32)
    return EmbeddingTable.of_rows(rows, spectrum=spectrum).with_offset(p)
