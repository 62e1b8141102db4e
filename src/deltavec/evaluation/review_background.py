"""What the review benchmark learns from the whole file, before it looks at any document."""

from __future__ import annotations

import functools
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from deltavec.core.model import compiled, without_common
from deltavec.core.recipes import RECIPES, Recipe
from deltavec.core.vectors import WordVectors
from deltavec.evaluation.baselines import Embedder, Lsa
from deltavec.evaluation.review_settings import ReviewSettings
from deltavec.evaluation.review_words import KnownWords, ReviewWords, read_words
from deltavec.io.corpora import Corpus

# The paper's best on short and on long documents: their component is fitted in both ways.
BOTH_WAYS = ("idf-sum-pca", "idf-delta-pca")
# LSA learns from at most so many reviews of the file, and from words that occur at least so often.
LSA_REVIEWS = 50_000
LSA_MIN_COUNT = 5


class Background:
    """What is learned from the whole file, each thing when it is first asked for.

    Parameters
    ----------
    corpus
        The file.
    rows
        The reviews that are drawn for some problem, ascending.
    vectors
        The word vectors.
    settings
        What is asked for.
    reviews
        How many reviews the file has.
    embedder
        The user's own, if there is one.
    threads
        How many cores to use.
    begin
        Told when a stage begins.

    Attributes
    ----------
    within : callable
        To be told how much of a step is done, by a method that takes long.
    """

    def __init__(
        self,
        corpus: Corpus,
        rows: npt.NDArray[np.int64],
        vectors: WordVectors,
        settings: ReviewSettings,
        *,
        reviews: int,
        embedder: Embedder | None,
        threads: int | None,
        begin: Callable[[str], None],
    ) -> None:
        self.corpus, self.drawn, self.vectors, self.settings = corpus, rows, vectors, settings
        self.embedder, self.threads, self.begin = embedder, threads, begin
        self.within: Callable[[float], None] = lambda fraction: None
        self.lsa_rows = np.zeros(0, np.int64)
        if "lsa" not in settings.skip:
            # Reproducible, and apart from the numbers that draw the documents.
            rng = np.random.default_rng([settings.seed, reviews])
            size = min(LSA_REVIEWS, reviews)
            self.lsa_rows = np.sort(rng.choice(reviews, size, replace=False))

    @functools.cached_property
    def words(self) -> ReviewWords:
        """The words of the file, and of the reviews that are needed."""
        self.begin("counting words")
        return read_words(
            self.corpus,
            np.union1d(self.drawn, self.lsa_rows),
            self.settings.tokenizer,
            keep_texts=self.embedder is not None,
            threads=self.threads,
        )

    @functools.cached_property
    def known(self) -> KnownWords:
        """Those of the words that have vectors."""
        return KnownWords.of(self.words, self.vectors)

    @functools.cached_property
    def components(self) -> dict[str, npt.NDArray[np.float64]]:
        """What all reviews of the file have in common, for the recipes that need it."""
        wanted = RECIPES if self.settings.components_from == "corpus" else BOTH_WAYS
        known = self.known
        found = {}
        for name in wanted:
            recipe = Recipe.named(name)
            if not recipe.n_components_removed:
                continue
            self.begin(f"finding the component of {name}")
            model = compiled(known.vectors, known.statistics, recipe, self.settings.tokenizer, {})
            removed = without_common(model, self.corpus, self.threads).folded.components
            found[name] = removed[0] if len(removed) else np.zeros(model.dimensions)
        return found

    @functools.cached_property
    def lsa(self) -> Lsa:
        """LSA, fitted on reviews of the file."""
        words, columns = self.words, self.lsa_columns
        self.begin("fitting LSA")
        counts = words.counts[words.places(self.lsa_rows)][:, columns]
        return Lsa(counts, seed=self.settings.seed)

    @property
    def lsa_columns(self) -> npt.NDArray[np.int64]:
        """The words that LSA knows."""
        occurrences = self.words.statistics.token_counts
        return np.flatnonzero(occurrences >= min(LSA_MIN_COUNT, occurrences.max()))
