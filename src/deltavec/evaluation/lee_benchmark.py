"""The agreement of every method with people, on Lee's news stories.

Words are counted and vectors trained on all 350 stories. What is taken off every document (the
centre, and the component that ``-pca`` removes) comes from all of them, or from the 50 that are
compared: two problems.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from hashlib import sha256
from pathlib import Path

import numpy as np
import numpy.typing as npt

from deltavec.core.discovery import usual_min_count
from deltavec.core.model import EmbeddingModel, compiled, corpus_statistics, without_common
from deltavec.core.recipes import RECIPES, Recipe
from deltavec.core.texts import as_chunked
from deltavec.core.vectors import WordVectors
from deltavec.core.weights import idf
from deltavec.evaluation.baselines import (
    DOC2VEC_MIN_COUNTS,
    Embedder,
    Lsa,
    doc2vec_vectors,
    tfidf,
)
from deltavec.evaluation.lee import LeeDocuments, agreement, lee_documents
from deltavec.evaluation.question_methods import BASELINES, statistics_of
from deltavec.evaluation.results import Lengths, Problem, Results
from deltavec.evaluation.review_methods import Outcome
from deltavec.evaluation.review_settings import require_number, require_one_of
from deltavec.evaluation.review_words import ReviewWords, read_words, weight_curve
from deltavec.evaluation.word_counts import Words
from deltavec.io.corpora import read_corpus
from deltavec.io.word_vectors import load_vectors
from deltavec.training import METHODS, train_vectors

TOKENIZER = "words"
FROM_CORPUS, FROM_JUDGED = "all 350 stories", "the 50 judged"


def lee_benchmark(
    documents: LeeDocuments | None = None,
    *,
    vectors: WordVectors | str | os.PathLike[str] | None = None,
    vectors_method: str = "ppmi",
    skip: Iterable[str] = (),
    embedder: str | Embedder | None = None,
    seed: int = 0,
    threads: int | None = None,
    on_stage: Callable[[str], None] | None = None,
) -> Results:
    """Pearson's correlation of cosines with human judgements, for every method.

    Parameters
    ----------
    documents
        The stories; by default those that gensim carries.
    vectors
        Word vectors, or their file; by default they are trained on the stories.
    vectors_method
        ``ppmi`` or ``word2vec``, for those that are trained.
    skip
        Baselines to leave out: ``doc2vec``, ``tf-idf``, ``lsa``.
    embedder
        A function from a list of texts to a matrix, as ``module:function`` or an `Embedder`.
    seed
        Where random numbers begin.
    threads
        How many cores to use; all of them by default. word2vec and doc2vec repeat exactly only
        with 1.
    on_stage
        Called with a few words when each stage begins.

    Returns
    -------
    Results
        Two problems, by what the centre and the component come from.
    """
    require_number("seed", seed, 0)
    require_one_of("vectors_method", vectors_method, METHODS)
    skipped = tuple(dict.fromkeys(skip))
    for name in skipped:
        require_one_of("skip", name, BASELINES)
    function = Embedder.named(embedder) if isinstance(embedder, str) else embedder
    begin = on_stage or (lambda stage: None)
    stories = documents or lee_documents()
    given = load_vectors(vectors) if isinstance(vectors, str | os.PathLike) else vectors
    loaded = given or train_vectors(
        stories.stories, method=vectors_method, seed=seed, threads=threads, on_stage=on_stage
    )
    begin("counting words")
    corpus = read_corpus(stories.stories)
    words = read_words(corpus, np.arange(len(stories.stories)), TOKENIZER, threads=threads)
    begin("evaluating the baselines")
    baselines = baseline_scores(stories, words, skipped, function, seed, threads)
    begin("evaluating every recipe")
    problems = [
        problem_of(name, stories, words, recipe_scores(stories, loaded, offset_from), baselines)
        for name, offset_from in ((FROM_CORPUS, stories.stories), (FROM_JUDGED, stories.judged))
    ]
    return Results(
        experiment="lee",
        measure="Pearson correlation",
        problems=tuple(problems),
        settings={
            "seed": seed,
            "skip": list(skipped),
            "embedder": function and function.name,
            "vectors": vectors_name(vectors, vectors_method),
            "vectors_dimensions": loaded.dimensions,
            "vectors_fingerprint": loaded.fingerprint,
        },
        data={
            "name": "Lee's news stories, from gensim's test data",
            "sha256": digest(stories),
            "stories": len(stories.stories),
            "judged": len(stories.judged),
            "pairs": stories.pairs,
        },
        curve=weight_curve(words.statistics),
    )


def vectors_name(vectors: object, method: str) -> str:
    """Where the word vectors came from; of a path only the name."""
    if vectors is None:
        return f"{method}, trained on the stories"
    return Path(vectors).name if isinstance(vectors, str | os.PathLike) else "given in memory"


def digest(documents: LeeDocuments) -> str:
    """A hash of stories and judgements."""
    found = sha256("\n".join(documents.stories).encode())
    found.update(np.ascontiguousarray(documents.judgements).tobytes())
    return found.hexdigest()


def recipe_scores(documents: LeeDocuments, vectors: WordVectors, offset_from: list[str]) -> Outcome:
    """The 19 recipes; centre and component come from the documents given."""
    outcome = Outcome()
    chunked = as_chunked(documents.stories)
    statistics = corpus_statistics(chunked, vectors.vocabulary, TOKENIZER, None)
    for name in RECIPES:
        with outcome.timed("recipes"):
            recipe = Recipe.named(name)
            model = compiled(vectors, statistics, recipe, TOKENIZER, {})
            if recipe.form == "center":
                model = recentred(model, offset_from)
            if recipe.n_components_removed:
                model = without_common(model, as_chunked(offset_from))
            outcome.scores[name] = agreement(model.embed(documents.judged), documents.judgements)
    return outcome


def recentred(model: EmbeddingModel, documents: list[str]) -> EmbeddingModel:
    """The model with the centre of these documents, its weights as they are."""
    counted = corpus_statistics(as_chunked(documents), model.vocabulary, model.tokenizer, None)
    offset = counted.term_frequencies @ model.folded.rows.astype(np.float64)
    folded = replace(model.folded, offset=offset, offset_norm=float(np.linalg.norm(offset)))
    return replace(model, folded=folded)


def baseline_scores(
    documents: LeeDocuments,
    words: ReviewWords,
    skip: tuple[str, ...],
    embedder: Embedder | None,
    seed: int,
    threads: int | None,
) -> Outcome:
    """What the recipes are compared with; fitted on all stories."""
    chosen: dict[str, Callable[[], npt.NDArray[np.float32]]] = {}
    # A copy: counting sorts the ids it is given, and doc2vec needs them in their order.
    listed = Words(words.words.ids.copy(), words.words.begins.copy())
    if "doc2vec" not in skip:
        for least in DOC2VEC_MIN_COUNTS:
            chosen[f"d2v-mc{least}"] = partial(doc2vec, listed, least, seed, threads)
    if "tf-idf" not in skip:
        chosen["tf-idf"] = partial(dense_tfidf, words, 1.0)
        chosen["tf-idf2"] = partial(dense_tfidf, words, 2.0)
    if "lsa" not in skip:
        chosen["lsa"] = partial(lsa, words, seed)
    outcome = Outcome()
    judged = slice(len(documents.background), None)
    for name, embedded in chosen.items():
        with outcome.timed(name):
            outcome.scores[name] = agreement(embedded()[judged], documents.judgements)
    if embedder is not None:
        with outcome.timed(embedder.name):
            vectors = embedder.embed(documents.judged)
            outcome.scores[embedder.name] = agreement(vectors, documents.judgements)
    return outcome


def doc2vec(
    words: Words, min_count: int, seed: int, threads: int | None
) -> npt.NDArray[np.float32]:
    """The vectors that doc2vec learns for all stories."""
    listed = [words.of_document(place) for place in range(words.documents)]
    return doc2vec_vectors(listed, min_count=min_count, seed=seed, threads=threads)


def dense_tfidf(words: ReviewWords, power: float) -> npt.NDArray[np.float32]:
    """The tf-idf vectors of all stories."""
    weights = idf(statistics_of(words.counts))
    vectors: npt.NDArray[np.float32] = tfidf(words.counts, weights, power=power).toarray()
    return vectors


def lsa(words: ReviewWords, seed: int) -> npt.NDArray[np.float32]:
    """The vectors of all stories by TF-IDF and truncated SVD."""
    least = usual_min_count(words.statistics.tokens)
    counts = words.counts[:, np.flatnonzero(words.statistics.token_counts >= least)]
    return Lsa(counts, seed=seed).embed(counts)


def problem_of(
    name: str, documents: LeeDocuments, words: ReviewWords, recipes: Outcome, baselines: Outcome
) -> Problem:
    """A row of the table."""
    lengths = np.asarray(words.counts[len(documents.background) :].sum(axis=1)).reshape(-1)
    seconds = recipes.seconds | baselines.seconds
    return Problem(
        name,
        recipes.scores | baselines.scores,
        Lengths(int(lengths.min()), float(lengths.mean()), int(lengths.max())),
        {
            "stories": len(documents.judged),
            "pairs": documents.pairs,
            "seconds": {step: round(taken, 3) for step, taken in seconds.items()},
        },
    )
