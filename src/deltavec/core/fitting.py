"""Fit, in order: count the corpus, fold weight and form into a table, remove what is common."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from deltavec.core.arguments import require_one_of
from deltavec.core.learning.cooccurrence import DEFAULT_MEMORY
from deltavec.core.learning.corpora import LearningCorpus, LocalCorpus
from deltavec.core.learning.ppmi import ppmi_vectors
from deltavec.core.learning.spectral import spectral
from deltavec.core.learning.vocabulary_builder import AskedUnits
from deltavec.core.model import EmbeddingModel
from deltavec.core.recipes import Choice, Recipe, resolve
from deltavec.core.statistics import (
    CorpusStatistics,
    TextCounts,
    require_known_words,
    warn_low_coverage,
)
from deltavec.core.text.batches import Tokenizer, as_corpus, require_reiterable
from deltavec.core.threads import one_blas_thread
from deltavec.core.vectors import WordVectors
from deltavec.errors import RecipeError, VectorsError

if TYPE_CHECKING:
    from deltavec.core.learning.targets import Teacher

WITH_VECTORS = (
    "are the word vectors of its language, and lower-case? Without vectors a model is learned from "
    "the text itself"
)
# Units and steepness for texts of a kind: experiments/answers.
PRESETS = {
    "titles": ("words+grams-4", 0.5),
    "posts": ("words+grams-4", 0.0),
    "articles": ("words", 0.0),
}
ALONE = (
    "is it the right column, and is the tokenizer right? Add text like it, or count "
    "runs of characters (units='grams')"
)


@one_blas_thread()
def fit(
    corpus: Any,
    vectors: WordVectors | None = None,
    recipe: Recipe | str | None = None,
    *,
    prior: WordVectors | None = None,
    targets: tuple[Any, Any] | None = None,
    teacher: Teacher | None = None,
    weight: float = 0.5,
    texts: str | None = None,
    tokenizer: Tokenizer = "words",
    units: str = "auto",
    normalization: str = "none",
    threads: int | None = None,
    max_memory: int = DEFAULT_MEMORY,
    on_stage: Callable[[str], None] | None = None,
) -> EmbeddingModel:
    """Learn an embedding model from a corpus.

    Parameters
    ----------
    corpus
        The documents to learn from: a list of strings, a column, a path, a table, or what
        `deltavec.read_corpus` gives. Read once, and once more if there are no vectors or
        components are removed.
    vectors
        Word vectors, for the recipes of the paper. Where these are asked for without vectors,
        they are trained on the corpus (`deltavec.train_vectors`).
    recipe
        A name such as ``idf-delta-pca``, ``auto`` or ``spectral``, or a `Recipe`. By default
        ``auto`` with vectors, and ``spectral``, which needs none, without.
    prior
        Word vectors that ``spectral`` may learn from besides the corpus, if split-half recovery
        is better with them; `EmbeddingModel.info` says whether.
    targets
        Vectors that you already have: a pair of 50 to 10,000 documents of the corpus, texts or
        their numbers from 0 on, and a vector for each, from any model, to learn from too.
    teacher
        That model itself, a callable that turns a list of texts into vectors. It is asked for
        frequent words, and for 1,000 documents if there are no targets.
    weight
        How much the targets count, from 0 to 1, beside what the corpus says.
    texts
        What the documents are, if you know: ``titles`` (words and n-grams, strong directions count
        more: for coarse topics of short texts), ``posts`` (words and n-grams) or ``articles``
        (words). By default their length and their words decide.
    tokenizer
        ``words``, ``whitespace``; a third-party tokenizer by its name, which is stored with the
        model: ``jieba``, ``sudachi``, ``spacy:ja``, ``module:function``; or a callable that turns
        a string into a list of words. A model with a callable cannot be saved.
    units
        What is counted of each word: ``words``, the words; ``grams``, runs of four characters
        (``grams-3``: of three); ``words+grams``, both. By default ``auto``: words, but runs of
        characters where ``spectral`` learns from a corpus in which many words stand nowhere else.
        `EmbeddingModel.info` says what was chosen, and why.
    normalization
        ``none``, or ``folded``: texts are written in one way first. Composed and decomposed
        letters, full-width and half-width forms, ligatures, ``ß`` and ``ss``, ``ς`` and ``σ`` are
        then the same, and vowel marks of Arabic, soft hyphens and the like are left out.
    threads
        How many cores to use; all of them by default. The counts are the same.
    max_memory
        Bytes that counts of pairs of words may take, where the corpus is learned from alone;
        beyond, they are kept in temporary files.
    on_stage
        Called with a word or two when each stage begins.

    Warns
    -----
    SmallModelWarning
        If the corpus has too few words for the dimensions asked for: the model has fewer.
    LowCoverageWarning
        If less than half of the corpus' words are known, more than half stand nowhere else, or
        nearly all documents hold none that is known.

    Examples
    --------
    >>> vectors = WordVectors(["sea", "room", "quiet"], [[1, 0], [0, 1], [0.5, 1]])
    >>> model = fit(["Sea view", "quiet room", "room"], vectors, "idf-sum")
    >>> model.embed(["A quiet sea", "?"]).round(2)
    array([[0.85, 0.53],
           [0.  , 0.  ]], dtype=float32)
    """
    choice = resolve_recipe(recipe, vectors)
    if texts is not None:
        units, choice = with_preset(texts, units, choice)
    require_use(prior, choice.recipe)
    chunked = as_corpus(corpus)
    given = None
    if targets is not None or teacher is not None:
        from deltavec.core.learning.targets import Targets, learn_from  # loads SciPy

        given = Targets.of(chunked, targets, teacher, weight)
    if (given or prior) is not None and units == "auto":
        units = "words"  # others have vectors of whole words, and know rare ones
    asked = AskedUnits.of(tokenizer, units, vectors, normalization)
    if vectors is None or choice.recipe.n_components_removed:
        require_reiterable(chunked)
    source = LocalCorpus(
        chunked,
        tokenizer=asked.tokenizer,
        units=asked.reason,
        units_open=asked.open,
        threads=threads,
        max_memory=max_memory,
        on_stage=on_stage,
    )
    if given is None:
        return fit_recipe(source, choice, vectors, prior)
    if choice.recipe.needs_vectors:
        raise RecipeError(f"targets are for spectral, got the recipe {choice.recipe.name}")
    model = fit_recipe(source, choice, vectors, prior)
    source.begin("learning from targets")
    return learn_from(model, chunked, given)


def with_preset(texts: str, units: str, choice: Choice) -> tuple[str, Choice]:
    """The units and the recipe for texts of a kind."""
    require_one_of("texts", texts, tuple(PRESETS))
    if choice.recipe.needs_vectors:
        raise RecipeError(f"texts={texts!r} is for spectral, got the recipe {choice.recipe.name}")
    chosen, steepness = PRESETS[texts]
    if units not in ("auto", chosen):
        raise RecipeError(f"texts={texts!r} counts {chosen}, got units={units!r}: leave one out")
    recipe = replace(choice.recipe, steepness=choice.recipe.steepness or steepness)
    return chosen, Choice(recipe, f"spectral for {texts}")


def require_use(prior: WordVectors | None, recipe: Recipe) -> None:
    """Refuse prior vectors for a recipe that cannot learn from them, and what are none."""
    if prior is None:
        return
    if not isinstance(prior, WordVectors):
        raise VectorsError(
            f"prior must be WordVectors or None, got {type(prior).__name__}: load them first, with "
            "deltavec.load_vectors"
        )
    if recipe.needs_vectors:
        raise RecipeError(
            f"prior vectors are for spectral, got the recipe {recipe.name}: give them as vectors"
        )


def fit_recipe(
    corpus: LearningCorpus,
    choice: Choice,
    vectors: WordVectors | None,
    prior: WordVectors | None = None,
) -> EmbeddingModel:
    """The model of a recipe, of whichever kind; prior vectors are for spectral alone."""
    if choice.recipe.needs_vectors:
        model = fit_weighted(corpus, choice.recipe, vectors)
    else:
        model = spectral(corpus, choice, prior)
    statistics = model.statistics
    warn_low_coverage(
        TextCounts.of(statistics),
        WITH_VECTORS if vectors is not None else ALONE,
        seen_once=int((statistics.token_counts == 1).sum()) if vectors is None else 0,
    )
    return model


def resolve_recipe(recipe: Recipe | str | None, vectors: WordVectors | None) -> Choice:
    """The recipe asked for, or the one for what is given."""
    if recipe is None:
        if vectors is None:
            return Choice(Recipe.named("spectral"), "spectral: no word vectors were given")
        return Choice(Recipe.named("auto"), "word vectors were given")
    chosen = Recipe.of(recipe)
    if vectors is not None and not chosen.needs_vectors:
        raise RecipeError(f"{chosen.name} learns its own word vectors: leave the vectors out")
    return Choice(chosen, "as asked for")


def vectors_note(vectors: WordVectors) -> str:
    """What a model says about the word vectors it was given."""
    return f"{len(vectors):,} words, {vectors.dimensions} dimensions"


def fit_weighted(
    corpus: LearningCorpus, recipe: Recipe, vectors: WordVectors | None
) -> EmbeddingModel:
    """The model of one of the paper's recipes, with word vectors given or trained on the corpus."""
    if vectors is not None:
        note = vectors_note(vectors)
    else:
        vectors = ppmi_vectors(corpus)
        note = f"trained on the corpus: ppmi, {vectors.dimensions} dimensions"
    statistics = corpus.statistics(vectors.vocabulary)
    notes = {"vectors": note, "units": corpus.units}
    model = model_of_table(vectors, statistics, recipe, corpus.tokenizer, notes)
    if not recipe.n_components_removed:
        return model
    corpus.begin("finding common components")
    return corpus.remove_components(model)


def model_of_table(
    vectors: WordVectors,
    statistics: CorpusStatistics,
    recipe: Recipe,
    tokenizer: Tokenizer,
    notes: Mapping[str, str],
) -> EmbeddingModel:
    """The model of these counts, with nothing removed yet; the most frequent words first."""
    require_known_words(statistics)
    choice = resolve(recipe, statistics)
    # Hot rows side by side stay in the cache.
    order = np.argsort(-statistics.token_counts, kind="stable")
    vocabulary = vectors.vocabulary.taken(order)
    statistics = statistics.taken(order)
    ordered = WordVectors.from_unit_rows(vocabulary, vectors.matrix[order])
    folded = choice.recipe.table(ordered, statistics)
    return EmbeddingModel(
        choice.recipe, choice.reason, vocabulary, statistics, folded, tokenizer, dict(notes)
    )
