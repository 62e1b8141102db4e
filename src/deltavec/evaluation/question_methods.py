"""What is measured on each forum of the duplicate-questions benchmark."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from deltavec.core.discovery import usual_min_count
from deltavec.core.statistics import CorpusStatistics
from deltavec.core.vectors import WordVectors
from deltavec.core.weights import idf
from deltavec.evaluation.baselines import (
    DOC2VEC_DIMENSIONS,
    Embedder,
    Lsa,
    scaled_rows,
    tfidf,
    trained_doc2vec,
)
from deltavec.evaluation.forums import Forum
from deltavec.evaluation.question_pairs import QuestionPairs
from deltavec.evaluation.results import Lengths
from deltavec.evaluation.review_methods import Outcome
from deltavec.evaluation.review_words import ReviewWords
from deltavec.evaluation.variants import variants
from deltavec.evaluation.word_counts import Counts, Words

BASELINES = ("doc2vec", "tf-idf", "lsa")


class Background:
    """What comes from the text of all forums.

    Parameters
    ----------
    words
        The words of all questions, forum after forum.
    vectors
        The word vectors.
    embedder
        The user's own, if there is one.
    seed
        Where random numbers begin.
    threads
        How many cores to use.
    begin
        Told when a stage begins.
    """

    def __init__(
        self,
        words: ReviewWords,
        vectors: WordVectors,
        embedder: Embedder | None,
        seed: int,
        threads: int | None,
        begin: Callable[[str], None],
    ) -> None:
        self.words, self.embedder = words, embedder
        # A copy: counting sorts the ids it is given, and doc2vec needs them in their order.
        self.listed = Words(words.words.ids.copy(), words.words.begins.copy())
        self.seed, self.threads, self.begin = seed, threads, begin
        places = vectors.vocabulary.ids(words.vocabulary.words)
        self.columns = np.flatnonzero(places >= 0)
        self.vectors = WordVectors.from_unit_rows(
            words.vocabulary.taken(self.columns), vectors.matrix[places[self.columns]]
        )

    @functools.cached_property
    def doc2vec(self) -> Any:
        """doc2vec, trained on all questions."""
        self.begin("training doc2vec")
        listed = map(self.listed.of_document, range(self.listed.documents))
        least = usual_min_count(self.words.statistics.tokens)
        return trained_doc2vec(listed, min_count=least, seed=self.seed, threads=self.threads)


class ForumWords:
    """One forum: its questions' words, and the pairs to compare.

    Parameters
    ----------
    forum
        The forum.
    first
        Where its questions begin among those of all forums.
    background
        What comes from all of them.
    pairs
        Which of its questions to compare.
    """

    def __init__(
        self, forum: Forum, first: int, background: Background, pairs: QuestionPairs
    ) -> None:
        self.forum, self.background, self.pairs = forum, background, pairs
        self.rows = range(first, first + len(forum.questions))

    @functools.cached_property
    def counts(self) -> Counts:
        """How often each word occurs in each question."""
        return self.background.words.counts[self.rows.start : self.rows.stop]

    @functools.cached_property
    def statistics(self) -> CorpusStatistics:
        """The counts over the forum's own questions."""
        return statistics_of(self.counts)

    @property
    def lengths(self) -> Lengths:
        """How many words its questions hold."""
        words = np.asarray(self.counts.sum(axis=1)).reshape(-1)
        return Lengths(int(words.min()), float(words.mean()), int(words.max()))

    def auc(self, outcome: Outcome, name: str, vectors: npt.NDArray[np.float32]) -> None:
        """Add the score of some vectors to an outcome."""
        with outcome.timed("auc"):
            outcome.scores[name] = self.pairs.auc(vectors, threads=self.background.threads)


def statistics_of(counts: Counts) -> CorpusStatistics:
    """The statistics of counted documents, all of whose words are counted."""
    return CorpusStatistics(
        np.asarray(counts.sum(axis=0), np.int64).reshape(-1),
        np.asarray(counts.getnnz(axis=0), np.int64),
        counts.shape[0],
        int(counts.sum()),
        int((counts.getnnz(axis=1) == 0).sum()),
    )


def variant_scores(forum: ForumWords) -> Outcome:
    """The 19 recipes; idf and the component removed come from the forum's own questions."""
    outcome = Outcome()
    columns = forum.background.columns
    with outcome.timed("counting"):
        counts, statistics = forum.counts[:, columns], forum.statistics.taken(columns)
    outcome.facts["questions_without_known_words"] = int((counts.getnnz(axis=1) == 0).sum())
    embedded = variants(counts, forum.background.vectors, statistics)
    for variant in outcome.timed_each("embedding", embedded):
        forum.auc(outcome, variant.name, variant.vectors)
    return outcome


def tfidf_scores(forum: ForumWords) -> Outcome:
    """Sparse tf-idf, with idf and with its square."""
    outcome = Outcome()
    with outcome.timed("tf-idf"):
        weights = idf(forum.statistics)
        for name, power in (("tf-idf", 1.0), ("tf-idf2", 2.0)):
            rows = tfidf(forum.counts, weights, power=power)
            outcome.scores[name] = forum.pairs.sparse_auc(rows)
    return outcome


def lsa_scores(forum: ForumWords) -> Outcome:
    """scikit-learn's TF-IDF and truncated SVD, fitted on the forum's own questions."""
    outcome = Outcome()
    with outcome.timed("lsa"):
        occurrences = forum.statistics.token_counts
        least = min(usual_min_count(forum.statistics.tokens), int(occurrences.max()))
        counts = forum.counts[:, np.flatnonzero(occurrences >= least)]
        vectors = Lsa(counts, seed=forum.background.seed).embed(counts)
    forum.auc(outcome, "lsa", vectors)
    return outcome


def doc2vec_scores(forum: ForumWords) -> Outcome:
    """doc2vec, inferred by a model that was trained on the questions of all forums."""
    outcome = Outcome()
    with outcome.timed("doc2vec"):
        vectors = inferred(forum)
    forum.auc(outcome, "doc2vec", vectors)
    return outcome


def inferred(forum: ForumWords) -> npt.NDArray[np.float32]:
    """The vectors that doc2vec infers for the forum's questions; zeros where it knows no word."""
    model, listed = forum.background.doc2vec, forum.background.listed
    vectors = np.zeros((len(forum.rows), DOC2VEC_DIMENSIONS), np.float32)
    for place, row in enumerate(forum.rows):
        known = [word for word in map(str, listed.of_document(row)) if word in model.wv]
        if known:
            vectors[place] = model.infer_vector(known)
    return scaled_rows(vectors)


def embedder_scores(forum: ForumWords) -> Outcome:
    """The user's own embedder."""
    outcome = Outcome()
    embedder = forum.background.embedder
    assert embedder is not None
    with outcome.timed(embedder.name):
        vectors = embedder.embed(list(forum.forum.questions))
    forum.auc(outcome, embedder.name, vectors)
    return outcome


class Method(NamedTuple):
    """A way to embed questions, and what its scores depend on besides them."""

    name: str
    run: Callable[[ForumWords], Outcome]
    origin: Mapping[str, Any]
    packages: tuple[str, ...]


def methods(vectors: WordVectors, skip: tuple[str, ...], embedder: Embedder | None) -> list[Method]:
    """The methods that are asked for, in the order of their columns."""
    chosen = [Method("variants", variant_scores, {"vectors": vectors.fingerprint}, ())]
    baselines = {
        "doc2vec": Method("doc2vec", doc2vec_scores, {}, ("gensim",)),
        "tf-idf": Method("tf-idf", tfidf_scores, {}, ()),
        "lsa": Method("lsa", lsa_scores, {}, ("scikit-learn",)),
    }
    chosen += [baselines[name] for name in BASELINES if name not in skip]
    if embedder is not None:
        chosen.append(Method("embedder", embedder_scores, {"name": embedder.name}, ()))
    return chosen
