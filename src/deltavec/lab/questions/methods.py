"""What is measured on each forum of the duplicate-questions benchmark."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from deltavec.core.learning.vocabulary_builder import usual_min_count
from deltavec.core.statistics import CorpusStatistics
from deltavec.errors import CorpusError
from deltavec.io.corpus.corpus import read_corpus
from deltavec.lab.background import Background, chosen, of_one_matrix, spectral
from deltavec.lab.baselines import DOC2VEC_DIMENSIONS, lsa_vectors, scaled_rows, trained_doc2vec
from deltavec.lab.experiment import Given, Method, Outcome
from deltavec.lab.questions.forums import Forum
from deltavec.lab.questions.pairs import QuestionPairs
from deltavec.lab.variants import variants
from deltavec.lab.words import CorpusWords, Counts, lengths_of, statistics_of


class QuestionBackground(Background):
    """What comes from the questions of all forums.

    Parameters
    ----------
    given
        What the experiment is given.
    forums
        The forums.
    digest
        A hash of them.
    """

    def __init__(self, given: Given[Any], forums: Sequence[Forum], digest: str) -> None:
        self.forums = forums
        questions = [question for forum in forums for question in forum.questions]
        rows = np.arange(len(questions))
        super().__init__(given, read_corpus(questions), digest, rows, "questions")

    @functools.cached_property
    def words(self) -> CorpusWords:
        """The words of all questions; each forum must have some."""
        words = super().words
        lengths, first = np.diff(words.words.begins), 0
        for forum in self.forums:
            if not lengths[first : first + len(forum.questions)].any():
                raise CorpusError(f"forum {forum.name!r}: its questions hold no words")
            first += len(forum.questions)
        return words

    @functools.cached_property
    def doc2vec(self) -> Any:
        """doc2vec, trained on all questions."""
        given, words = self.given, self.words
        given.progress.stage("training doc2vec")
        return trained_doc2vec(
            map(words.words.of_document, range(words.words.documents)),
            min_count=usual_min_count(words.statistics.tokens),
            seed=given.settings.seed,
            threads=given.threads,
        )


@dataclass(eq=False)
class ForumDocuments:
    """One forum: its questions' words, and the pairs to compare.

    Attributes
    ----------
    forum : Forum
        The forum.
    first : int
        Where its questions begin among those of all forums.
    words : CorpusWords
        The words of all of them.
    pairs : QuestionPairs
        Which of its questions to compare.
    threads : int or None
        How many cores to use.
    """

    forum: Forum
    first: int
    words: CorpusWords
    pairs: QuestionPairs
    threads: int | None = None

    @property
    def rows(self) -> range:
        """Where its questions are among those of all forums."""
        return range(self.first, self.first + len(self.forum.questions))

    @functools.cached_property
    def counts(self) -> Counts:
        """How often each word occurs in each question."""
        return self.words.counts[self.rows.start : self.rows.stop]

    @functools.cached_property
    def statistics(self) -> CorpusStatistics:
        """The counts over the forum's own questions."""
        return statistics_of(self.counts)

    def texts(self) -> list[str]:
        """The questions."""
        return list(self.forum.questions)

    def score(self, vectors: Any) -> float:
        """The area under the ROC curve of the pairs' cosines."""
        return self.pairs.auc(vectors, threads=self.threads)


def methods(background: QuestionBackground) -> list[Method[ForumDocuments]]:
    """The methods that are asked for, in the order of their columns."""
    seed = background.given.settings.seed
    doc2vec: Method[ForumDocuments] = of_one_matrix(
        "doc2vec",
        lambda forum: inferred(forum, background.doc2vec),
        needs=("words", "doc2vec"),
        packages=("gensim",),
    )
    lsa: Method[ForumDocuments] = of_one_matrix(
        "lsa",
        lambda forum: lsa_vectors(forum.counts, forum.statistics, seed),
        packages=("scikit-learn",),
    )
    return [
        Method("forum", forum_facts),
        Method(
            "variants",
            lambda forum: variant_scores(forum, background),
            needs=("words", "known"),
            origin={"vectors": background.vectors.fingerprint},
        ),
        spectral(background, own_centre=True),
        *chosen(background, [doc2vec], lsa),
    ]


def forum_facts(documents: ForumDocuments) -> Outcome:
    """What is compared in a forum."""
    forum, pairs = documents.forum, documents.pairs
    facts = {
        "lengths": lengths_of(documents.counts),
        "questions": len(forum.questions),
        "pairs": len(pairs),
        "pairs_possible": pairs.possible,
        "duplicates": int(pairs.positive.sum()),
    }
    return Outcome(facts=facts | ({"notes": dict(forum.notes)} if forum.notes else {}))


def variant_scores(forum: ForumDocuments, background: Background) -> Outcome:
    """The 19 recipes; idf and the component removed come from the forum's own questions."""
    outcome, known = Outcome(), background.known
    with outcome.timed("counting"):
        counts, statistics = forum.counts[:, known.columns], forum.statistics.taken(known.columns)
    outcome.facts["questions_without_known_words"] = int((counts.getnnz(axis=1) == 0).sum())
    for variant in outcome.timed_each("embedding", variants(counts, known.vectors, statistics)):
        with outcome.timed("comparing"):
            outcome.scores[variant.name] = forum.score(variant.vectors)
    return outcome


def inferred(forum: ForumDocuments, model: Any) -> npt.NDArray[np.float32]:
    """The vectors that doc2vec infers for the forum's questions; zeros where it knows no word."""
    vectors = np.zeros((len(forum.rows), DOC2VEC_DIMENSIONS), np.float32)
    for place, row in enumerate(forum.rows):
        words = map(str, forum.words.words.of_document(row))
        known = [word for word in words if word in model.wv]
        if known:
            vectors[place] = model.infer_vector(known)
    return scaled_rows(vectors)
