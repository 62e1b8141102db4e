"""Word vectors from a column: pairs counted in Spark, factorized on the driver."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from deltavec.core.learning.cooccurrence import DEFAULT_MEMORY
from deltavec.core.learning.ppmi import DIMENSIONS, WINDOW, ppmi_vectors
from deltavec.core.vectors import WordVectors
from deltavec.spark.column import SparkColumn
from deltavec.spark.frames import rereadable_text
from deltavec.training import require_sizes

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


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
    """Word vectors learned from which words stand near each other in a column.

    The method ``ppmi`` of `deltavec.train_vectors`, and the same vectors. The column is read three
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
    """
    require_sizes(dimensions=dimensions, window=window, min_count=min_count)
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
