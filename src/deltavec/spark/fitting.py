"""A model of a column: counted in Spark, folded on the driver."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from deltavec.core.components import leading_components
from deltavec.core.cooccurrence import DEFAULT_MEMORY
from deltavec.core.model import (
    EmbeddingModel,
    chosen_recipe,
    compiled,
    require_memory,
    spectral_model,
)
from deltavec.core.recipes import Choice, Recipe
from deltavec.core.scratch import spilling
from deltavec.core.spectral import spectral_of_counts, usual_window
from deltavec.core.vectors import WordVectors
from deltavec.spark.frames import (
    only_text,
    require_rereadable,
    require_rule,
    require_text_column,
)
from deltavec.spark.pairs import cooccurrence
from deltavec.spark.passes import corpus_statistics, second_moment
from deltavec.spark.shipping import ship_model, ship_vocabulary
from deltavec.spark.training import train_vectors
from deltavec.spark.words import learned_vocabulary

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def fit(
    frame: DataFrame,
    column: str,
    vectors: WordVectors | None = None,
    recipe: Recipe | str | None = None,
    *,
    tokenizer: str = "words",
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
        components are removed; without vectors, three times.
    column
        The column with the text.
    vectors
        Word vectors, on the driver; without them they are learned from the column.
    recipe
        A name such as ``idf-delta-pca``, ``auto`` or ``spectral``, or a `Recipe`. By default
        ``auto`` with vectors, and ``spectral``, which needs none, without.
    tokenizer
        ``words`` or ``whitespace``.
    threads
        How many of the driver's cores to use; all of them by default.
    max_memory
        Bytes of counted pairs that the driver may hold, if there are no vectors; beyond, they are
        kept in temporary files.
    on_stage
        Called with a word or two when each stage begins.
    """
    choice = chosen_recipe(recipe, vectors)
    require_rule(tokenizer)
    require_memory(max_memory)
    require_text_column(frame, column)
    require_rereadable(frame)
    begin = on_stage or (lambda stage: None)
    if choice.recipe.form == "spectral":
        return fit_spectral(frame, column, choice, tokenizer, threads, max_memory, begin)
    notes = {}
    if vectors is None:
        vectors = train_vectors(
            frame,
            column,
            tokenizer=tokenizer,
            threads=threads,
            max_memory=max_memory,
            on_stage=on_stage,
        )
        notes["vectors"] = f"trained on the corpus: ppmi, {vectors.dimensions} dimensions"
    else:
        notes["vectors"] = f"{len(vectors):,} words, {vectors.dimensions} dimensions"
    texts = only_text(frame, column)
    begin("counting words")
    key = ship_vocabulary(frame.sparkSession, vectors.vocabulary)
    statistics = corpus_statistics(texts, tokenizer, key, len(vectors))
    model = compiled(vectors, statistics, choice.recipe, tokenizer, notes)
    if not choice.recipe.n_components_removed:
        return model
    begin("finding common components")
    moment = second_moment(texts, ship_model(frame.sparkSession, model), model.dimensions)
    components = leading_components(moment, choice.recipe.n_components_removed)
    return replace(model, folded=model.folded.without(components))


def fit_spectral(
    frame: DataFrame,
    column: str,
    choice: Choice,
    tokenizer: str,
    threads: int | None,
    max_memory: int,
    begin: Callable[[str], None],
) -> EmbeddingModel:
    """The model of the recipe that needs no word vectors."""
    recipe = choice.recipe
    texts = only_text(frame, column)
    begin("learning the vocabulary")
    vocabulary = learned_vocabulary(texts, tokenizer, None)
    key = ship_vocabulary(frame.sparkSession, vocabulary)
    begin("counting words")
    statistics = corpus_statistics(texts, tokenizer, key, len(vocabulary))
    window = recipe.window or usual_window(statistics)
    with spilling(max_memory) as allocate:
        begin("counting pairs of words")
        pairs = cooccurrence(texts, tokenizer, key, statistics, window, allocate)
        begin("finding leading directions")
        learned = spectral_of_counts(
            vocabulary, statistics, pairs, window, recipe, threads=threads, allocate=allocate
        )
    return spectral_model(learned, recipe, choice.reason, tokenizer)
