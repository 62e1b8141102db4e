"""A corpus to learn from: its counts, on this machine or on Spark."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple, Self

import numpy as np

from deltavec.core.arguments import require_whole
from deltavec.core.arrays import Allocate, Int32s
from deltavec.core.batching import count_batch
from deltavec.core.kernels.count import count_ids
from deltavec.core.learning.cooccurrence import (
    DEFAULT_MEMORY,
    Cooccurrence,
    cooccurrence,
    list_token_ids,
)
from deltavec.core.learning.split_half import Folds, folds_of
from deltavec.core.learning.vocabulary_builder import (
    WORDS_AS_USUAL,
    WordCounts,
    count_units,
    frequent_words,
    word_counts,
)
from deltavec.core.model import EmbeddingModel, remove_components
from deltavec.core.statistics import CorpusStatistics
from deltavec.core.text.batches import Chunked, Tokenizer, as_text_batch, resolve_tokenizer
from deltavec.core.vocabulary import Vocabulary


class LearnedVocabulary(NamedTuple):
    """The frequent words of a corpus.

    Attributes
    ----------
    vocabulary : Vocabulary
        The words, the most frequent first.
    statistics : CorpusStatistics
        How often they occur.
    pairs : callable
        Counts co-occurrences within a window; the second argument allocates the arrays.
    folds : callable
        Splits the documents, or a share of them, into two folds.
    """

    vocabulary: Vocabulary
    statistics: CorpusStatistics
    pairs: Callable[[int, Allocate], Cooccurrence]
    folds: Callable[[float], Folds]


@dataclass(frozen=True, eq=False, kw_only=True)
class LearningCorpus(ABC):
    """Documents to learn from, and how: as `deltavec.fit` is told."""

    tokenizer: Tokenizer = "words"
    threads: int | None = None
    max_memory: int = DEFAULT_MEMORY
    on_stage: Callable[[str], None] | None = None
    units: str = WORDS_AS_USUAL
    units_open: bool = False

    def __post_init__(self) -> None:
        require_whole("max_memory", self.max_memory)
        object.__setattr__(self, "tokenizer", resolve_tokenizer(self.tokenizer))

    def begin(self, stage: str) -> None:
        """Report that a stage begins."""
        if self.on_stage is not None:
            self.on_stage(stage)

    @abstractmethod
    def with_chosen_units(self) -> Self:
        """The same corpus, counted in the units that suit it, if these are still open."""

    @abstractmethod
    def words(self, min_count: int | None = None) -> LearnedVocabulary:
        """The words that occur at least so often."""

    @abstractmethod
    def statistics(self, vocabulary: Vocabulary) -> CorpusStatistics:
        """The counts of words that are known already."""

    @abstractmethod
    def remove_components(self, model: EmbeddingModel) -> EmbeddingModel:
        """The model with the components removed that the documents have in common."""


@dataclass(frozen=True, eq=False)
class LocalCorpus(LearningCorpus):
    """Documents that are read by this process."""

    corpus: Chunked
    counts: WordCounts | None = None  # of all units, where they were counted already

    def with_chosen_units(self) -> Self:
        """The same corpus, counted in the units that suit it; its words are counted first."""
        if not self.units_open:
            return self
        self.begin("learning the vocabulary")
        asked, counts = count_units(self.corpus, self.tokenizer, self.threads)
        chosen: Any = {"tokenizer": asked.tokenizer, "units": asked.reason, "counts": counts}
        return replace(self, units_open=False, **chosen)

    def words(self, min_count: int | None = None) -> LearnedVocabulary:
        """The words that occur at least so often; the corpus is read twice."""
        counts = self.counts
        if counts is None:
            self.begin("learning the vocabulary")
            counts = word_counts(self.corpus, self.tokenizer, self.threads)
        vocabulary = frequent_words(counts, min_count)
        self.begin("reading words")
        ids = list_token_ids(self.corpus, vocabulary, self.tokenizer, self.threads, self.max_memory)
        statistics = statistics_of(ids, len(vocabulary), counts.tokens)
        pairs = partial(
            cooccurrence, ids, len(vocabulary), threads=self.threads, max_memory=self.max_memory
        )
        return LearnedVocabulary(vocabulary, statistics, pairs, partial(folds_of, ids))

    def statistics(self, vocabulary: Vocabulary) -> CorpusStatistics:
        """The counts of words that are known already."""
        self.begin("counting words")
        return corpus_statistics(self.corpus, vocabulary, self.tokenizer, self.threads)

    def remove_components(self, model: EmbeddingModel) -> EmbeddingModel:
        """The model with the components removed that the documents have in common."""
        return remove_components(model, self.corpus, self.threads)


def corpus_statistics(
    corpus: Chunked, vocabulary: Vocabulary, tokenizer: Tokenizer, threads: int | None
) -> CorpusStatistics:
    """The counts of a whole corpus, chunk by chunk."""
    return sum(
        (count_batch(as_text_batch(chunk, tokenizer), vocabulary, threads) for chunk in corpus),
        CorpusStatistics.empty(len(vocabulary)),
    )


def statistics_of(ids: Int32s, words: int, tokens: int) -> CorpusStatistics:
    """The statistics of documents given as ids, each document closed by -1."""
    token_counts, document_counts = np.zeros((2, words), np.int64)
    progress = np.zeros(3, np.int64)
    count_ids(ids, token_counts, document_counts, np.full(words, -1), progress)
    documents, _, empty = progress.tolist()
    return CorpusStatistics(token_counts, document_counts, documents, tokens, empty)
