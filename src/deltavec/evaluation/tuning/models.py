"""The models of many recipes from one corpus: read once, pairs counted once for each window.

Each is the model that `deltavec.fit` makes of the recipe. What a ``-pca`` recipe removes is left to
`EmbeddingModel.for_collection`, which finds it in the documents that are compared.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace

from deltavec.core.cooccurrence import DEFAULT_MEMORY, cooccurrence, listed_ids
from deltavec.core.discovery import frequent_words, word_counts
from deltavec.core.model import EmbeddingModel, compiled, corpus_statistics, require_known_words
from deltavec.core.ppmi import Ppmi, ppmi_vectors
from deltavec.core.recipes import Recipe
from deltavec.core.scratch import spilling
from deltavec.core.singular import LeftSingular
from deltavec.core.spectral import factorised, own_share, statistics_of, table, usual_window
from deltavec.core.statistics import CorpusStatistics
from deltavec.core.texts import Chunked, Tokenizer
from deltavec.core.vectors import WordVectors
from deltavec.evaluation.tuning.budget import Pace

SEED = 0  # as `deltavec.fit` has it: the model that is measured is the one that is fitted


class SpectralModels:
    """Spectral models of one corpus; to be closed.

    Parameters
    ----------
    corpus
        The documents to learn from.
    pace
        Told how long things take.
    tokenizer, threads, max_memory
        As for `deltavec.fit`.
    """

    def __init__(
        self,
        corpus: Chunked,
        pace: Pace,
        *,
        tokenizer: Tokenizer = "words",
        threads: int | None = None,
        max_memory: int = DEFAULT_MEMORY,
    ) -> None:
        self.pace, self.tokenizer, self.threads = pace, tokenizer, threads
        self.max_memory = max_memory
        self._scratch = ExitStack()
        with timed() as seconds:
            counts = word_counts(corpus, tokenizer)
            self.vocabulary = frequent_words(counts, None)
            self.ids = listed_ids(corpus, self.vocabulary, tokenizer, threads)
            self.statistics = statistics_of(self.ids, len(self.vocabulary), counts)
        pace.reading = seconds()
        self._counted: tuple[tuple[int, float], Ppmi] | None = None
        self._factorised: tuple[Recipe, LeftSingular] | None = None

    def model(self, recipe: Recipe) -> EmbeddingModel:
        """The model of a recipe; one that differs in its exponent only costs next to nothing."""
        directions = self._directions(recipe)
        folded = table(directions, self.statistics, recipe)
        return EmbeddingModel(
            recipe, "tried", self.vocabulary, self.statistics, folded, self.tokenizer, {}
        )

    def close(self) -> None:
        """Let go of what was counted, for the memory and disk that other work needs."""
        self._counted = self._factorised = None
        self._scratch.close()

    def _directions(self, recipe: Recipe) -> LeftSingular:
        key = replace(recipe, spectrum_exponent=1.0)
        if self._factorised is None or self._factorised[0] != key:
            ppmi = self._ppmi(recipe)
            with timed() as seconds:
                alpha = own_share(ppmi, recipe)
                found = factorised(ppmi, alpha, self.statistics, recipe, SEED)
            self.pace.factorising = seconds() / recipe.dimensions
            self._factorised = key, found
        return self._factorised[1]

    def _ppmi(self, recipe: Recipe) -> Ppmi:
        window = recipe.window or usual_window(self.statistics)
        key = window, recipe.context_smoothing
        if self._counted is None or self._counted[0] != key:
            self.close()  # first, so that two never take memory at once
            allocate = self._scratch.enter_context(spilling(self.max_memory))
            with timed() as seconds:
                pairs = cooccurrence(
                    self.ids,
                    len(self.vocabulary),
                    window,
                    threads=self.threads,
                    max_memory=self.max_memory,
                    allocate=allocate,
                )
                ppmi = Ppmi(
                    pairs, recipe.context_smoothing, threads=self.threads, allocate=allocate
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
    tokenizer, threads, max_memory
        As for `deltavec.fit`.
    """

    def __init__(
        self,
        corpus: Chunked,
        vectors: WordVectors | None,
        *,
        tokenizer: Tokenizer = "words",
        threads: int | None = None,
        max_memory: int = DEFAULT_MEMORY,
    ) -> None:
        self.corpus, self.tokenizer, self.threads = corpus, tokenizer, threads
        self.max_memory = max_memory
        self._known: tuple[WordVectors, CorpusStatistics] | None = None
        if vectors is not None:
            self._known = self._counted(vectors)
            require_known_words(self._known[1])

    @property
    def ready(self) -> bool:
        """Whether there are word vectors already."""
        return self._known is not None

    def model(self, recipe: Recipe) -> EmbeddingModel:
        """The model of a recipe, with nothing removed yet."""
        if self._known is None:
            with spilling(self.max_memory) as allocate:
                trained = ppmi_vectors(
                    self.corpus,
                    tokenizer=self.tokenizer,
                    threads=self.threads,
                    max_memory=self.max_memory,
                    allocate=allocate,
                )
            self._known = self._counted(trained)
        vectors, statistics = self._known
        return compiled(vectors, statistics, recipe, self.tokenizer, {})

    def _counted(self, vectors: WordVectors) -> tuple[WordVectors, CorpusStatistics]:
        return vectors, corpus_statistics(
            self.corpus, vectors.vocabulary, self.tokenizer, self.threads
        )


@contextmanager
def timed() -> Iterator[Callable[[], float]]:
    """How many seconds this lasts: a function to ask when it is over."""
    begun = time.perf_counter()
    ended: list[float] = []
    yield lambda: ended[0] - begun
    ended.append(time.perf_counter())
