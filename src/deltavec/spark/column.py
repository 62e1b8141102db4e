"""A column of text that is counted in Spark, and learned from on the driver."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Self

from deltavec.core.components import leading_components
from deltavec.core.learning.corpora import LearnedVocabulary, LearningCorpus
from deltavec.core.learning.vocabulary_builder import frequent_words
from deltavec.core.model import EmbeddingModel
from deltavec.core.statistics import CorpusStatistics
from deltavec.core.text.external import NamedTokenizer
from deltavec.core.text.feature_choice import units_for
from deltavec.core.vocabulary import Vocabulary
from deltavec.errors import InputError
from deltavec.spark.pairs import cooccurrence, sampled_folds
from deltavec.spark.reduce import corpus_statistics, second_moment
from deltavec.spark.ship import ship_model, ship_vocabulary
from deltavec.spark.words import WordsInSpark

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


@dataclass(frozen=True, eq=False)
class SparkColumn(LearningCorpus):
    """Documents in a frame of one column of strings."""

    texts: DataFrame
    counts: WordsInSpark | None = None  # of all units, where they were counted already

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.tokenizer, str | NamedTokenizer):
            raise InputError(  # executors are sent no code of a caller, but a name they import
                "on Spark the tokenizer must be 'words', 'whitespace' or a name such as "
                "'module:function', got a callable: name it, or put the words that yours finds "
                "into a column, with spaces between them, and use 'whitespace'"
            )

    def with_chosen_units(self) -> Self:
        """The same column, counted in the units that suit it; its words are counted first."""
        if not self.units_open:
            return self
        counts = self.counted()
        asked = units_for(counts, self.tokenizer)
        chosen: Any = {"tokenizer": asked.tokenizer, "units": asked.reason, "units_open": False}
        if asked.tokenizer == self.tokenizer:
            return replace(self, counts=counts, **chosen)
        counts.close()
        return replace(self, **chosen)

    def counted(self) -> WordsInSpark:
        """All units of the column, counted."""
        self.begin("learning the vocabulary")
        return WordsInSpark(self.texts, self.tokenizer)

    def words(self, min_count: int | None = None) -> LearnedVocabulary:
        """The words that occur at least so often."""
        counts = self.counted() if self.counts is None else self.counts
        try:
            vocabulary = frequent_words(counts, min_count)
        finally:
            counts.close()
        statistics = self.statistics(vocabulary)
        key = ship_vocabulary(self.texts.sparkSession, vocabulary)
        pairs = partial(cooccurrence, self.texts, self.tokenizer, key, statistics)
        folds = partial(sampled_folds, self.texts, self.tokenizer, key)
        return LearnedVocabulary(vocabulary, statistics, pairs, folds)

    def statistics(self, vocabulary: Vocabulary) -> CorpusStatistics:
        """The counts of words that are known already."""
        self.begin("counting words")
        key = ship_vocabulary(self.texts.sparkSession, vocabulary)
        return corpus_statistics(self.texts, self.tokenizer, key, len(vocabulary))

    def remove_components(self, model: EmbeddingModel) -> EmbeddingModel:
        """The model with the components removed that the documents have in common."""
        shipped = ship_model(self.texts.sparkSession, model)
        moment = second_moment(self.texts, shipped, model.dimensions)
        components = leading_components(moment, model.recipe.n_components_removed)
        return replace(model, folded=model.folded.without(components))
