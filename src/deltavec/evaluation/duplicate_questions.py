"""The duplicate-questions benchmark: whether duplicates lie closer than other questions.

(Schmidt, section 6; Hoogeveen et al. 2015.) A problem is one forum. The score of a method is the
area under the ROC curve of its cosines over pairs of the forum's questions.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from deltavec.core.model import require_known_words
from deltavec.core.vectors import WordVectors
from deltavec.errors import CorpusError
from deltavec.evaluation.baselines import Embedder
from deltavec.evaluation.forums import Forum, digest
from deltavec.evaluation.problems_cache import OWN_PACKAGES, Part, ProblemsCache
from deltavec.evaluation.question_files import read_forums
from deltavec.evaluation.question_methods import Background
from deltavec.evaluation.question_pairs import MOST_PAIRS
from deltavec.evaluation.question_run import QuestionSettings, Run, evaluated, sizes
from deltavec.evaluation.results import Results
from deltavec.evaluation.review_words import ReviewWords, read_words
from deltavec.io.corpora import read_corpus
from deltavec.io.word_vectors import load_vectors
from deltavec.training import train_vectors


def duplicate_questions_benchmark(
    source: str | os.PathLike[str] | Sequence[Forum],
    *,
    vectors: WordVectors | str | os.PathLike[str] | None = None,
    vectors_method: str = "ppmi",
    most_pairs: int = MOST_PAIRS,
    seed: int = 0,
    skip: Iterable[str] = (),
    embedder: str | Embedder | None = None,
    tokenizer: str = "words",
    cache: str | os.PathLike[str] | None = None,
    threads: int | None = None,
    on_stage: Callable[[str], None] | None = None,
    on_progress: Callable[[float], None] | None = None,
    on_notice: Callable[[str], None] | None = None,
    on_results: Callable[[Results], None] | None = None,
) -> Results:
    """What each method scores on each forum.

    Parameters
    ----------
    source
        A file or folder that `deltavec.evaluation.question_files` knows, or forums.
    vectors
        Word vectors, or their file; by default they are trained on all the questions.
    vectors_method
        ``ppmi`` or ``word2vec``, for those that are trained.
    most_pairs
        How many pairs of a forum to compare; if it has more, all its duplicates and a sample of
        the others.
    seed
        Where random numbers begin.
    skip
        Baselines to leave out: ``doc2vec``, ``tf-idf``, ``lsa``.
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
    on_stage, on_progress
        Called with a few words when each stage begins, and with the share of it that is done.
    on_notice
        Called with a sentence where something was left out, and where earlier work is used.
    on_results
        Called after each forum with what is there so far.

    Returns
    -------
    Results
        One problem for each forum.
    """
    settings = QuestionSettings(
        most_pairs, seed, vectors_method, tuple(dict.fromkeys(skip)), tokenizer
    )
    begin = on_stage or ignore
    function = Embedder.named(embedder) if isinstance(embedder, str) else embedder
    begin("reading questions")
    forums = read_forums(Path(source)) if isinstance(source, str | os.PathLike) else list(source)
    given = load_vectors(vectors) if isinstance(vectors, str | os.PathLike) else vectors
    kept = ProblemsCache(None if cache is None else Path(cache))
    corpus = read_corpus([question for forum in forums for question in forum.questions])
    fingerprint = digest(forums)
    trained = Part(
        f"vectors-{vectors_method}",
        {"data": fingerprint, "seed": seed, "tokenizer": tokenizer},
        (*OWN_PACKAGES, "gensim"),
    )
    loaded = given or kept.vectors(
        trained,
        lambda: train_vectors(
            corpus,
            method=vectors_method,
            seed=seed,
            tokenizer=tokenizer,
            threads=threads,
            on_stage=on_stage,
            on_progress=on_progress,
        ),
    )
    begin("counting words")
    words = read_words(corpus, np.arange(sum(sizes(forums))), tokenizer, threads=threads)
    background = Background(words, loaded, function, seed, threads, begin)
    require_known_words(words.statistics.taken(background.columns))
    require_words(forums, words)
    data = {"name": name_of(source), "sha256": fingerprint, "forums": len(forums)}
    run = Run(settings, forums, data, background, loaded, name_of(vectors, vectors_method), kept)
    return evaluated(
        run, begin=begin, reach=on_progress or ignore, notice=on_notice or ignore,
        report=on_results or ignore,
    )  # fmt: skip


def ignore(_: Any) -> None:
    """Tell nobody."""


def name_of(source: object, trained: str = "") -> str:
    """What to call the data or the vectors; of a path only the name."""
    if source is None:
        return f"{trained}, trained on the questions"
    return Path(source).name if isinstance(source, str | os.PathLike) else "given in memory"


def require_words(forums: Sequence[Forum], words: ReviewWords) -> None:
    """Refuse a forum whose questions hold no words at all."""
    found = np.diff(words.words.begins)
    first = 0
    for forum in forums:
        if not found[first : first + len(forum.questions)].any():
            raise CorpusError(f"forum {forum.name!r}: its questions hold no words")
        first += len(forum.questions)
