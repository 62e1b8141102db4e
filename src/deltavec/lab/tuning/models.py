"""The models of many recipes from one corpus: read once, pairs counted once for each window.

Each is the model that `deltavec.fit` makes of the recipe. What a ``-pca`` recipe removes is left to
`EmbeddingModel.for_collection`, which finds it in the documents that are compared.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace

from deltavec.core.fitting import model_of_table
from deltavec.core.learning.basis import factorize, ridge
from deltavec.core.learning.corpora import LearningCorpus
from deltavec.core.learning.crossfit import count_folds
from deltavec.core.learning.ppmi import Ppmi, ppmi_vectors
from deltavec.core.learning.spectral import (
    Spectral,
    reweight,
    split_half_evidence,
    table,
    usual_window,
)
from deltavec.core.learning.spill import spill_folder
from deltavec.core.learning.split_half import Evidence, sample_share
from deltavec.core.learning.svd import LeftSingular
from deltavec.core.model import EmbeddingModel
from deltavec.core.recipes import SpectralRecipe, WeightedRecipe
from deltavec.core.statistics import CorpusStatistics, require_known_words
from deltavec.core.vectors import WordVectors
from deltavec.lab.tuning.budget import Pace


class SpectralModels:
    """Spectral models of one corpus; to be closed.

    Parameters
    ----------
    corpus
        The documents to learn from.

    Attributes
    ----------
    pace : Pace
        How long things took.
    """

    def __init__(self, corpus: LearningCorpus) -> None:
        self.pace = Pace()
        self._scratch = ExitStack()
        with timed() as seconds:
            self.corpus = corpus.with_chosen_units()
            self.words = self.corpus.words()
        self.pace.reading = seconds()
        self._counted: tuple[tuple[int, float], Ppmi] | None = None
        self._factorised: tuple[SpectralRecipe, LeftSingular] | None = None
        self._measured: tuple[SpectralRecipe, Evidence] | None = None

    def model(self, recipe: SpectralRecipe) -> EmbeddingModel:
        """The model of a recipe; one that differs in its exponent only costs next to nothing."""
        vocabulary, statistics = self.words.vocabulary, self.words.statistics
        folded = table(self._directions(recipe), statistics, recipe)
        learned = Spectral(vocabulary, statistics, folded, {})
        if recipe.measured_documents:
            learned = reweight(learned, self._evidence(learned, recipe))
        return EmbeddingModel(recipe, "tried", *learned[:3], self.corpus.tokenizer, {})

    def close(self) -> None:
        """Let go of what was counted, for the memory and disk that other work needs."""
        self._counted = self._factorised = self._measured = None
        self._scratch.close()

    def _directions(self, recipe: SpectralRecipe) -> LeftSingular:
        key = replace(recipe, spectrum_exponent=1.0)
        if self._factorised is None or self._factorised[0] != key:
            ppmi = self._ppmi(recipe)
            with timed() as seconds:
                alpha = ridge(ppmi, self.words.statistics, recipe)
                found = factorize(ppmi, alpha, self.words.statistics, recipe)
            self.pace.factorising = seconds() / recipe.dimensions
            self._factorised = key, found
        return self._factorised[1]

    def _evidence(self, learned: Spectral, recipe: SpectralRecipe) -> Evidence:
        key = replace(recipe, spectrum_exponent=1.0)
        if self._measured is None or self._measured[0] != key:
            window = recipe.window or usual_window(learned.statistics)
            folds = self.words.folds(sample_share(learned.statistics))
            with spill_folder(self.corpus.max_memory) as allocate:
                counted = count_folds(folds, self.words, self.corpus, window, allocate)
                self._measured = key, split_half_evidence(learned, counted, self.corpus, recipe)
        return self._measured[1]

    def _ppmi(self, recipe: SpectralRecipe) -> Ppmi:
        window = recipe.window or usual_window(self.words.statistics)
        key = window, recipe.context_smoothing
        if self._counted is None or self._counted[0] != key:
            self.close()  # first, so that two never take memory at once
            allocate = self._scratch.enter_context(spill_folder(self.corpus.max_memory))
            with timed() as seconds:
                pairs = self.words.pairs(window, allocate)
                ppmi = Ppmi(
                    pairs,
                    recipe.context_smoothing,
                    threads=self.corpus.threads,
                    allocate=allocate,
                )
            self.pace.counting = seconds() / window
            self._counted = key, ppmi
        return self._counted[1]


class VectorModels:
    """Models of one corpus from word vectors: given ones, or trained on it when first needed.

    Parameters
    ----------
    corpus
        The documents to learn from.
    vectors
        Word vectors, if there are any.
    """

    def __init__(self, corpus: LearningCorpus, vectors: WordVectors | None) -> None:
        self.corpus = corpus
        self._known: tuple[WordVectors, CorpusStatistics] | None = None
        if vectors is not None:
            self._known = vectors, corpus.statistics(vectors.vocabulary)
            require_known_words(self._known[1])

    @property
    def ready(self) -> bool:
        """Whether there are word vectors already."""
        return self._known is not None

    def model(self, recipe: WeightedRecipe) -> EmbeddingModel:
        """The model of a recipe, with nothing removed yet."""
        if self._known is None:
            trained = ppmi_vectors(self.corpus)
            self._known = trained, self.corpus.statistics(trained.vocabulary)
        return model_of_table(*self._known, recipe, self.corpus.tokenizer, {})


@contextmanager
def timed() -> Iterator[Callable[[], float]]:
    """How many seconds this lasts: a function to ask when it is over."""
    begun = time.perf_counter()
    ended: list[float] = []
    yield lambda: ended[0] - begun
    ended.append(time.perf_counter())
