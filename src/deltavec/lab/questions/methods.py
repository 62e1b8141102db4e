"""The documents and methods of the duplicate-questions benchmark."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from deltavec.core.learning.vocabulary_builder import usual_min_count
from deltavec.errors import CorpusError
from deltavec.io.corpus.corpus import read_corpus
from deltavec.lab.background import (
    Background,
    baselines,
    matrix_method,
    spectral_method,
    variant_method,
)
from deltavec.lab.baselines import DOC2VEC_DIMENSIONS, lsa_vectors, train_doc2vec, unit_rows
from deltavec.lab.experiment import Documents, Given, Method
from deltavec.lab.questions.forums import Forum, QuestionPairs
from deltavec.lab.words import CorpusWords, count_statistics


class QuestionBackground(Background):
    """What is learned from the questions of all forums."""

    def __init__(self, given: Given[Any], forums: Sequence[Forum], digest: str) -> None:
        self.forums = forums
        questions = [question for forum in forums for question in forum.questions]
        rows = np.arange(len(questions))
        super().__init__(given, read_corpus(questions), digest, rows, "questions")

    @functools.cached_property
    def words(self) -> CorpusWords:
        """The words of all questions; each forum must have some."""
        words = super().words
        lengths, first = np.diff(words.words.offsets), 0
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
        return train_doc2vec(
            map(words.words.of_document, range(words.words.documents)),
            min_count=usual_min_count(words.statistics.tokens),
            seed=given.settings.seed,
            threads=given.threads,
        )


def forum_documents(
    forum: Forum, rows: range, words: CorpusWords, pairs: QuestionPairs, threads: int | None
) -> Documents:
    """The questions of a forum, in these rows of all questions, and the pairs to compare."""
    counts = words.counts[rows.start : rows.stop]
    facts = {
        "questions": len(forum.questions),
        "pairs": len(pairs.positive),
        "pairs_possible": pairs.possible,
        "duplicates": int(pairs.positive.sum()),
    }
    return Documents(
        counts,
        count_statistics(counts),
        list(forum.questions),
        [*map(words.words.of_document, rows)],
        functools.partial(pairs.auc, threads=threads),
        facts | ({"notes": dict(forum.notes)} if forum.notes else {}),
    )


def methods(background: QuestionBackground) -> list[Method]:
    """The methods that are not skipped, in the order of their columns."""
    seed = background.given.settings.seed
    doc2vec = matrix_method("doc2vec", lambda docs: infer(docs, background.doc2vec), "doc2vec")
    lsa = matrix_method("lsa", lambda docs: lsa_vectors(docs.counts, docs.statistics, seed))
    spectral = spectral_method(background, own_center=True)
    return [variant_method(background), spectral, *baselines(background, [doc2vec], lsa)]


def infer(documents: Documents, model: Any) -> npt.NDArray[np.float32]:
    """The vectors that doc2vec infers for the documents; zero rows if it knows no word."""
    vectors = np.zeros((len(documents.tokens), DOC2VEC_DIMENSIONS), np.float32)
    for row, tokens in enumerate(documents.tokens):
        known = [word for word in map(str, tokens) if word in model.wv]
        if known:
            vectors[row] = model.infer_vector(known)
    return unit_rows(vectors)
