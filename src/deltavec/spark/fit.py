"""A model, or word vectors, of a column: counted in Spark, learned on the driver."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from deltavec.core.fitting import fit_recipe, require_use, resolve_recipe
from deltavec.core.learning.cooccurrence import DEFAULT_MEMORY
from deltavec.core.learning.ppmi import DIMENSIONS, WINDOW, ppmi_vectors
from deltavec.core.model import EmbeddingModel
from deltavec.core.recipes import Recipe
from deltavec.core.text.feature_choice import AskedUnits
from deltavec.core.vectors import WordVectors
from deltavec.spark.column import SparkColumn
from deltavec.spark.frames import rereadable_text

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


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
