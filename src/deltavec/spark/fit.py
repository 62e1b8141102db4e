"""A model, or word vectors, of a column: counted in Spark, learned on the driver."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from deltavec.core.fitting import fit_recipe, require_use, resolve_recipe
from deltavec.core.learning.cooccurrence import DEFAULT_MEMORY
from deltavec.core.learning.corpora import LearnedVocabulary, LearningCorpus
from deltavec.core.learning.ppmi import DIMENSIONS, WINDOW, ppmi_vectors
from deltavec.core.learning.vocabulary_builder import (
    AskedUnits,
    WordCounts,
    frequent_words,
    units_for,
)
from deltavec.core.model import EmbeddingModel
from deltavec.core.recipes import Recipe
from deltavec.core.statistics import CorpusStatistics
from deltavec.core.text.batches import Tokenizer, as_text_batch
from deltavec.core.text.external import NamedTokenizer
from deltavec.core.text.rules import are_unspaced, units_of
from deltavec.core.vectors import WordVectors
from deltavec.core.vocabulary import Vocabulary
from deltavec.errors import InputError
from deltavec.io.vectors.rows import binary_array, vocabulary_of
from deltavec.spark.pairs import cooccurrence, sampled_folds
from deltavec.spark.reduce import corpus_statistics, without_components
from deltavec.spark.ship import bytes_type, failing_clearly, rereadable_text, ship_vocabulary

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

# Distinct words that a task holds before it passes them on.
DISTINCT_AT_ONCE = 1 << 20
SCHEMA = "word binary, count long"


class WordsInSpark(WordCounts):
    """Words that were counted in Spark, and stay there until it is known which are wanted.

    They are asked for several times and counted once, so Spark keeps them until `close`.
    """

    def __init__(self, texts: DataFrame, tokenizer: Tokenizer) -> None:
        from pyspark.sql import functions

        self.of_grams = isinstance(tokenizer, str) and units_of(tokenizer).gram > 0
        self._all = counted_words(texts, tokenizer).persist()
        self._counted = self._all.where("word is not null")
        with failing_clearly():
            self.distinct = self._counted.count()
            self.documents = texts.count()
            passed = self._all.where("word is null").agg(functions.sum("count")).first()
        self.tokens = int((passed and passed[0]) or 0)

    def close(self) -> None:
        """Let Spark forget them; what is asked for later is counted again."""
        self._all.unpersist()

    @property
    def seen_once(self) -> int:
        """How many words occurred once."""
        with failing_clearly():
            return self._counted.where("count = 1").count()

    @property
    def unspaced(self) -> int:
        """How many of all words are characters of scripts without spaces, or pairs of them."""
        vocabulary, counts = self.frequent(1)
        firsts = "".join(word[0] for word in vocabulary.words)
        return int(counts[are_unspaced(firsts)].sum())

    def frequent(self, min_count: int) -> tuple[Vocabulary, npt.NDArray[np.int64]]:
        """The words that occur at least so often and their counts, the most frequent first."""
        with failing_clearly():
            table = self._counted.where(f"count >= {int(min_count)}").toArrow()
        # Bytes decide between words of one count, as on one machine.
        table = table.sort_by([("count", "descending"), ("word", "ascending")])
        words = table["word"].cast(pa.large_binary()).combine_chunks()
        return vocabulary_of(words), table["count"].to_numpy()


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
        arrived = ship_vocabulary(self.texts.sparkSession, vocabulary)
        pairs = partial(cooccurrence, self.texts, self.tokenizer, arrived, statistics)
        folds = partial(sampled_folds, self.texts, self.tokenizer, arrived)
        return LearnedVocabulary(vocabulary, statistics, pairs, folds)

    def statistics(self, vocabulary: Vocabulary) -> CorpusStatistics:
        """The counts of words that are known already."""
        self.begin("counting words")
        arrived = ship_vocabulary(self.texts.sparkSession, vocabulary)
        return corpus_statistics(self.texts, self.tokenizer, arrived, len(vocabulary))

    def remove_components(self, model: EmbeddingModel) -> EmbeddingModel:
        """The model with the components removed that the documents have in common."""
        return without_components(self.texts, model)


def counted_words(texts: DataFrame, tokenizer: Tokenizer) -> DataFrame:
    """All words with their counts; beside null, how many words there are in all."""
    from pyspark.sql import functions

    stored = bytes_type(texts)

    def counted(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        counts = WordCounts()
        for batch in batches:
            counts.add(as_text_batch(batch.column(0), tokenizer))
            if counts.distinct >= DISTINCT_AT_ONCE:
                yield from word_rows(counts, stored)
                counts = WordCounts()
        yield from word_rows(counts, stored)

    partial = texts.mapInArrow(counted, SCHEMA)
    return partial.groupBy("word").agg(functions.sum("count").alias("count"))


def word_rows(counts: WordCounts, stored: pa.DataType) -> Iterator[pa.RecordBatch]:
    """The counted words as Spark's rows, and beside null the sum of all."""
    yield pa.RecordBatch.from_arrays(
        [pa.array([None], stored), pa.array([counts.tokens], pa.int64())], ["word", "count"]
    )
    vocabulary, occurrences = counts.frequent(1)
    words = binary_array(vocabulary.data, vocabulary.offsets)
    yield pa.RecordBatch.from_arrays([words.cast(stored), occurrences], ["word", "count"])


def fit(
    frame: DataFrame,
    column: str,
    vectors: WordVectors | None = None,
    recipe: Recipe | str | None = None,
    *,
    prior: WordVectors | None = None,
    tokenizer: str = "words",
    units: str = "auto",
    normalization: str = "none",
    threads: int | None = None,
    max_memory: int = DEFAULT_MEMORY,
    on_stage: Callable[[str], None] | None = None,
) -> EmbeddingModel:
    """The model that `deltavec.fit` makes of the same text.

    Counts are equal to those of one machine, bit for bit. So is the table, unless components are
    removed: their sum over all documents depends on its order, by about 1e-7 of a vector.

    Parameters
    ----------
    frame
        The documents to learn from; null is an empty one. Executors read it once, and once more if
        components are removed; without vectors, three times, and once more if its words are so
        rare that character n-grams are learned.
    column
        The column with the text.
    vectors
        Word vectors, on the driver; without them they are learned from the column.
    recipe
        A name such as ``idf-delta-pca``, ``auto`` or ``spectral``, or a `Recipe`. By default
        ``auto`` with vectors, and ``spectral``, which needs none, without.
    prior
        Word vectors, on the driver, that ``spectral`` may learn from besides the column, as for
        `deltavec.fit`.
    tokenizer
        ``words`` or ``whitespace``, or a third-party tokenizer by its name (``jieba``,
        ``module:function``), which executors import.
    units
        ``words``, ``words+grams``, ``grams`` or ``auto``, as for `deltavec.fit`.
    normalization
        ``none`` or ``folded``, as for `deltavec.fit`.
    threads
        How many of the driver's cores to use; all of them by default.
    max_memory
        Bytes of counted pairs that the driver may hold, if there are no vectors; beyond, they are
        kept in temporary files.
    on_stage
        Called with a word or two when each stage begins.

    Examples
    --------
    >>> model = dv.spark.fit(frame, "text")  # doctest: +SKIP
    """
    choice = resolve_recipe(recipe, vectors)
    require_use(prior, choice.recipe)
    units = "words" if prior is not None and units == "auto" else units  # as for deltavec.fit
    asked = AskedUnits.of(tokenizer, units, vectors, normalization)
    source = SparkColumn(
        rereadable_text(frame, column),
        tokenizer=asked.tokenizer,
        units=asked.reason,
        units_open=asked.open,
        threads=threads,
        max_memory=max_memory,
        on_stage=on_stage,
    )
    return fit_recipe(source, choice, vectors, prior)


def train_vectors(
    frame: DataFrame,
    column: str,
    *,
    dimensions: int = DIMENSIONS,
    window: int = WINDOW,
    min_count: int | None = None,
    seed: int = 0,
    tokenizer: str = "words",
    threads: int | None = None,
    max_memory: int = DEFAULT_MEMORY,
    on_stage: Callable[[str], None] | None = None,
) -> WordVectors:
    """Word vectors learned from the co-occurrence of words in a column.

    The same vectors as those of `deltavec.train_vectors`. The column is read three
    times by the executors; what reaches the driver is the vocabulary and the counted pairs, which
    it factorizes.

    Parameters
    ----------
    frame
        The documents; null is an empty one.
    column
        The column with the text.
    dimensions
        The length of a vector; fewer where the vocabulary is smaller.
    window
        How far to look to either side.
    min_count
        How often a word must occur; by default 5, 2 in a corpus below 300,000 words, 1 below
        3,000.
    seed
        Where random numbers begin.
    tokenizer
        ``words`` or ``whitespace``, or a third-party tokenizer by its name (``jieba``,
        ``module:function``), which executors import.
    threads
        How many of the driver's cores to use; all of them by default.
    max_memory
        Bytes of counts that the driver may hold; beyond, they are kept in temporary files.
    on_stage
        Called with a word or two when each stage begins.

    Examples
    --------
    >>> vectors = dv.spark.train_vectors(frame, "text", dimensions=100)  # doctest: +SKIP
    """
    source = SparkColumn(
        rereadable_text(frame, column),
        tokenizer=tokenizer,
        threads=threads,
        max_memory=max_memory,
        on_stage=on_stage,
    )
    return ppmi_vectors(
        source, dimensions=dimensions, window=window, min_count=min_count, seed=seed
    )
