"""Word vectors from a column: pairs counted in Spark, factorised on the driver."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from deltavec.core.cooccurrence import DEFAULT_MEMORY
from deltavec.core.ppmi import vectors_of_counts
from deltavec.core.scratch import spilling
from deltavec.core.vectors import WordVectors
from deltavec.spark.frames import (
    only_text,
    require_rereadable,
    require_rule,
    require_text_column,
)
from deltavec.spark.pairs import cooccurrence
from deltavec.spark.passes import corpus_statistics
from deltavec.spark.shipping import ship_vocabulary
from deltavec.spark.words import learned_vocabulary
from deltavec.training import require_parameters

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def train_vectors(
    frame: DataFrame,
    column: str,
    *,
    dimensions: int = 300,
    window: int = 20,
    min_count: int | None = None,
    seed: int = 0,
    tokenizer: str = "words",
    threads: int | None = None,
    max_memory: int = DEFAULT_MEMORY,
    on_stage: Callable[[str], None] | None = None,
) -> WordVectors:
    """Word vectors learned from which words stand near each other in a column.

    The method ``ppmi`` of `deltavec.train_vectors`, and the same vectors. The column is read three
    times by the executors; what reaches the driver is the vocabulary and the counted pairs, which
    it factorises.

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
        ``words`` or ``whitespace``.
    threads
        How many of the driver's cores to use; all of them by default.
    max_memory
        Bytes of counts that the driver may hold; beyond, they are kept in temporary files.
    on_stage
        Called with a word or two when each stage begins.
    """
    require_parameters("ppmi", dimensions, window, min_count, 1, max_memory)
    require_rule(tokenizer)
    require_text_column(frame, column)
    require_rereadable(frame)
    begin = on_stage or (lambda stage: None)
    texts = only_text(frame, column)
    begin("learning the vocabulary")
    vocabulary = learned_vocabulary(texts, tokenizer, min_count)
    key = ship_vocabulary(frame.sparkSession, vocabulary)
    begin("counting words")
    statistics = corpus_statistics(texts, tokenizer, key, len(vocabulary))
    with spilling(max_memory) as allocate:
        begin("counting pairs of words")
        counts = cooccurrence(texts, tokenizer, key, statistics, window, allocate)
        begin("finding leading directions")
        return vectors_of_counts(
            vocabulary,
            counts,
            dimensions=dimensions,
            seed=seed,
            threads=threads,
            allocate=allocate,
        )
