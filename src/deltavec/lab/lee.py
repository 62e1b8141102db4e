"""Lee's news stories: how well each method agrees with people's judgments.

Words are counted and vectors trained on all 350 stories. The center and the component that ``-pca``
removes come from all stories, or from the 50 that are compared: two problems.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property, partial
from hashlib import sha256
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from deltavec.core.fitting import model_of_table
from deltavec.core.learning.corpora import corpus_statistics
from deltavec.core.model import EmbeddingModel, remove_components
from deltavec.core.recipes import RECIPES, Recipe
from deltavec.core.text.batches import as_corpus
from deltavec.io.corpus.corpus import read_corpus
from deltavec.lab.background import Background, baselines, matrix_method, spectral_method
from deltavec.lab.baselines import DOC2VEC_MIN_COUNTS, doc2vec_vectors, lsa_vectors
from deltavec.lab.experiment import Documents, Method, Settings, Task, prepare, run
from deltavec.lab.results import Results
from deltavec.lab.stories import LeeDocuments, agreement, lee_documents

FROM_CORPUS, FROM_JUDGED = "all 350 stories", "the 50 judged"


def lee_benchmark(documents: LeeDocuments | None = None, **options: Any) -> Results:
    """Pearson's correlation of cosines with human judgments, for every method.

    Parameters
    ----------
    documents
        The stories; by default those that gensim carries.
    **options
        The options of `deltavec.lab.experiment.prepare`, and the fields of
        `deltavec.lab.experiment.Settings`.

    Returns
    -------
    Results
        Two problems, by what the center and the component come from.
    """
    given = prepare(Settings, **options)
    stories = documents or lee_documents()
    digest = sha256("\n".join(stories.stories).encode())
    digest.update(np.ascontiguousarray(stories.judgements).tobytes())
    corpus, rows = read_corpus(stories.stories), np.arange(len(stories.stories))
    background = LeeBackground(given, corpus, digest.hexdigest(), rows, "stories")
    make = partial(judged_documents, stories, background)
    tasks = [
        Task(FROM_CORPUS, make, methods(background, stories.stories)),
        Task(FROM_JUDGED, make, methods(background, stories.judged)),
    ]
    return run(
        "lee",
        "Pearson correlation",
        tasks,
        background,
        data={
            "name": "Lee's news stories, from gensim's test data",
            "sha256": background.digest,
            "stories": len(stories.stories),
            "judged": len(stories.judged),
            "pairs": stories.pairs,
        },
    )


class LeeBackground(Background):
    """What is learned from all stories."""

    @cached_property
    def doc2vec(self) -> dict[int, npt.NDArray[np.float32]]:
        """The doc2vec vectors of all stories, by min_count."""
        words, given = self.words.words, self.given
        given.progress.stage("training doc2vec")
        listed = [words.of_document(row) for row in range(words.documents)]
        return {
            least: doc2vec_vectors(
                listed, min_count=least, seed=given.settings.seed, threads=given.threads
            )
            for least in DOC2VEC_MIN_COUNTS
        }

    @cached_property
    def lsa(self) -> npt.NDArray[np.float32]:
        """The LSA vectors of all stories."""
        return lsa_vectors(self.words.counts, self.words.statistics, self.given.settings.seed)


def judged_documents(stories: LeeDocuments, background: Background) -> Documents:
    """The stories that people judged: the last ones of the corpus."""
    words, judged = background.words, len(stories.judged)
    rows = range(len(stories.background), len(stories.stories))
    return Documents(
        words.counts[-judged:],
        words.statistics,
        stories.judged,
        [*map(words.words.of_document, rows)],
        partial(score, stories=stories),
        {"stories": judged, "pairs": stories.pairs},
    )


def score(vectors: Any, stories: LeeDocuments) -> float:
    """The agreement with people; of vectors of all stories, those of the judged ones count."""
    rows = vectors.toarray() if sparse.issparse(vectors) else vectors
    return agreement(rows[-len(stories.judged) :], stories.judgements)


def methods(background: LeeBackground, center_on: list[str]) -> list[Method]:
    """The methods that are not skipped, in the order of their columns."""
    doc2vec = [
        matrix_method(f"d2v-mc{least}", lambda _, n=least: background.doc2vec[n], "doc2vec")  # type: ignore[misc]
        for least in DOC2VEC_MIN_COUNTS
    ]
    lsa = matrix_method("lsa", lambda _: background.lsa, "lsa")
    return [
        Method("recipes", lambda stories: recipe_scores(stories, background, center_on)),
        spectral_method(background, own_center=len(center_on) < len(background.rows)),
        *baselines(background, doc2vec, lsa),
    ]


def recipe_scores(
    stories: Documents, background: Background, center_on: list[str]
) -> dict[str, float]:
    """The scores of the 19 recipes; center and component come from the given documents."""
    scores = {}
    vectors, tokenizer = background.vectors, background.given.settings.tokenizer
    statistics = corpus_statistics(background.corpus, vectors.vocabulary, tokenizer, None)
    for name in RECIPES:
        recipe = Recipe.named(name)
        model = model_of_table(vectors, statistics, recipe, tokenizer, {})
        if recipe.form == "center":
            model = recenter(model, center_on)
        if recipe.n_components_removed:
            model = remove_components(model, as_corpus(center_on))
        scores[name] = stories.score(model.embed(stories.texts))
    return scores


def recenter(model: EmbeddingModel, documents: list[str]) -> EmbeddingModel:
    """The model with the center of these documents and its old weights."""
    statistics = corpus_statistics(as_corpus(documents), model.vocabulary, model.tokenizer, None)
    offset = statistics.term_frequencies @ model.table.rows.astype(np.float64)
    folded = replace(model.table, offset=offset, offset_norm=float(np.linalg.norm(offset)))
    return replace(model, table=folded)
