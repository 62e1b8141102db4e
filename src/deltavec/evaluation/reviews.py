"""The paper's review benchmark: documents of one location should lie closer than those of two.

(Schmidt, sections 4 and 5.) A document is k reviews of one location, and a problem is all pairs of
documents for one k. The score of a method is the area under the ROC curve of its cosines.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from deltavec.core.texts import rereadable
from deltavec.core.vectors import WordVectors
from deltavec.evaluation.baselines import Embedder
from deltavec.evaluation.problems_cache import Part, ProblemsCache
from deltavec.evaluation.results import Results
from deltavec.evaluation.review_methods import Stopwatch
from deltavec.evaluation.review_run import Run, evaluated
from deltavec.evaluation.review_sample import chosen, reviewed
from deltavec.evaluation.review_settings import ReviewSettings, whole_numbers
from deltavec.io.corpora import read_corpus
from deltavec.io.word_vectors import load_vectors
from deltavec.training import train_vectors

DEFAULT_KS = tuple(range(1, 21))


def review_benchmark(
    corpus: Any,
    *,
    group_column: str,
    kind_column: str | None = None,
    column: str = "text",
    format: str | None = None,
    ks: Iterable[int] = DEFAULT_KS,
    documents_per_location: int = 50,
    locations: int = 60,
    seed: int = 0,
    vectors: WordVectors | str | os.PathLike[str] | None = None,
    vectors_method: str = "ppmi",
    components_from: str = "documents",
    skip: Iterable[str] = (),
    doc2vec_ks: Iterable[int] | None = None,
    embedder: str | Embedder | None = None,
    tokenizer: str = "words",
    cache: str | os.PathLike[str] | None = None,
    threads: int | None = None,
    on_stage: Callable[[str], None] | None = None,
    on_progress: Callable[[float], None] | None = None,
    on_notice: Callable[[str], None] | None = None,
    on_results: Callable[[Results], None] | None = None,
) -> Results:
    """What each method scores on documents of k reviews, for each k.

    Parameters
    ----------
    corpus
        A file of reviews (or anything else that `deltavec.read_corpus` takes), one review a row.
        Word counts and vectors come from all of it.
    group_column
        The column that says which location a review is of.
    kind_column
        The column that says of which kind a location is. Each kind then has the same share of
        the locations, if the data allow.
    column, format
        As for `deltavec.read_corpus`.
    ks
        How many reviews make a document, for each problem.
    documents_per_location
        How many documents are made for each location. No review is drawn twice for one k.
    locations
        How many locations: the most reviewed. They are the same for every k, so that each must have
        enough reviews for the largest.
    seed
        Where random numbers begin.
    vectors
        Word vectors, or their file; by default they are trained on the corpus.
    vectors_method
        ``ppmi`` or ``word2vec``, for those that are trained.
    components_from
        Where ``-pca`` finds the component to remove: on the ``documents`` that are compared, as in
        the paper, or on the whole ``corpus``. Two recipes have the other way in a column besides.
    skip
        Baselines to leave out: ``doc2vec``, ``tf-idf``, ``lsa``.
    doc2vec_ks
        The k to train doc2vec for, which takes long; all by default.
    embedder
        A function from a list of texts to a matrix, as ``module:function`` or an `Embedder`.
    tokenizer
        ``words`` or ``whitespace``.
    cache
        A folder in which finished parts and trained vectors are kept: the same call goes on from
        there.
    threads
        How many cores to use; all of them by default. word2vec and doc2vec repeat exactly only
        with 1.
    on_stage
        Called with a few words when each stage begins.
    on_progress
        Called with the share of the stage that is done.
    on_notice
        Called with a sentence where the data did not allow what was asked for, and where earlier
        work is used.
    on_results
        Called after each problem with what is there so far.

    Returns
    -------
    Results
        One problem for each k.
    """
    every_k = whole_numbers("k", ks)
    skipped = tuple(dict.fromkeys(skip))
    d2v_ks = every_k if doc2vec_ks is None else whole_numbers("doc2vec_ks", doc2vec_ks)
    settings = ReviewSettings(
        group_column, kind_column, every_k, documents_per_location, locations, seed,
        vectors_method, components_from, skipped, () if "doc2vec" in skipped else d2v_ks, tokenizer,
    )  # fmt: skip
    begin, notice = on_stage or ignore, on_notice or ignore
    source = read_corpus(corpus, column=column, format=format)
    rereadable(source)
    watched = source if on_progress is None else source.watched(on_progress)
    if isinstance(embedder, str):
        begin(f"trying {embedder}")
        embedder = Embedder.named(embedder)
    if isinstance(vectors, str | os.PathLike):
        begin(f"loading {Path(vectors).name}")
        given: WordVectors | None = load_vectors(vectors)
    else:
        given = vectors
    clock = Stopwatch()
    begin("reading locations")
    with clock.timed("locations"):
        found = reviewed(watched, group_column, kind_column)
    sample = chosen(
        found,
        locations,
        settings.reviews_needed,
        by_kind=kind_column is not None,
        needed_for=f"{max(every_k)} for each of {documents_per_location} documents",
    )
    for note in sample.notes:
        notice(note)
    kept = ProblemsCache(None if cache is None else Path(cache))
    if given is None:
        with clock.timed("vectors"):
            given = kept.vectors(
                trained_part(settings, found.digest),
                lambda: train_vectors(
                    watched,
                    method=vectors_method,
                    seed=seed,
                    tokenizer=tokenizer,
                    threads=threads,
                    on_stage=on_stage,
                    on_progress=on_progress,
                ),
            )
    run = Run(
        watched, settings, found, sample, given, vectors_name(vectors, vectors_method), embedder,
        kept, threads, clock,
    )  # fmt: skip
    return evaluated(
        run,
        begin=begin,
        reach=on_progress or ignore,
        notice=notice,
        report=on_results or ignore,
    )


def trained_part(settings: ReviewSettings, digest: str) -> Part:
    """Word vectors that are trained on the reviews, as the cache knows them."""
    return Part(
        f"vectors-{settings.vectors_method}",
        {"data": digest, "seed": settings.seed, "tokenizer": settings.tokenizer},
        ("deltavec", "gensim", "numpy"),
    )


def ignore(_: Any) -> None:
    """Tell nobody."""


def vectors_name(vectors: object, method: str) -> str:
    """Where the word vectors came from; of a path only the name."""
    if vectors is None:
        return f"{method}, trained on the reviews"
    return Path(vectors).name if isinstance(vectors, str | os.PathLike) else "given in memory"
