"""Lee's news stories: how well each method agrees with the people who judged them.

Words are counted and vectors trained on all 350 stories. What is taken off every document (the
centre, and the component that ``-pca`` removes) comes from all of them, or from the 50 that are
compared: two problems.
"""

from __future__ import annotations

import functools
from dataclasses import replace
from hashlib import sha256
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from deltavec.core.fitting import model_of_table
from deltavec.core.learning.corpora import corpus_statistics
from deltavec.core.model import EmbeddingModel, remove_components
from deltavec.core.recipes import RECIPES, WeightedRecipe
from deltavec.core.statistics import CorpusStatistics
from deltavec.core.text.batches import as_corpus
from deltavec.io.corpus.corpus import read_corpus
from deltavec.lab.background import Background, chosen, of_one_matrix, spectral
from deltavec.lab.baselines import DOC2VEC_MIN_COUNTS, doc2vec_vectors, lsa_vectors
from deltavec.lab.experiment import Given, Method, Outcome, Settings, Task, run
from deltavec.lab.results import Results
from deltavec.lab.stories import LeeDocuments, agreement, lee_documents
from deltavec.lab.words import Counts, lengths_of

FROM_CORPUS, FROM_JUDGED = "all 350 stories", "the 50 judged"


def lee_benchmark(documents: LeeDocuments | None = None, **options: Any) -> Results:
    """Pearson's correlation of cosines with human judgements, for every method.

    Parameters
    ----------
    documents
        The stories; by default those that gensim carries.
    **options
        What `deltavec.lab.experiment.Given.of` takes, and the fields of
        `deltavec.lab.experiment.Settings`.

    Returns
    -------
    Results
        Two problems, by what the centre and the component come from.
    """
    given = Given.of(Settings, **options)
    stories = documents or lee_documents()
    corpus, rows = read_corpus(stories.stories), np.arange(len(stories.stories))
    background = LeeBackground(given, corpus, digest(stories), rows, "stories")
    tasks = [
        Task(
            name,
            "",
            {},
            lambda: JudgedDocuments(stories, background),
            methods(background, offset_from, own_centre=name == FROM_JUDGED),
        )
        for name, offset_from in ((FROM_CORPUS, stories.stories), (FROM_JUDGED, stories.judged))
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


def digest(documents: LeeDocuments) -> str:
    """A hash of stories and judgements."""
    found = sha256("\n".join(documents.stories).encode())
    found.update(np.ascontiguousarray(documents.judgements).tobytes())
    return found.hexdigest()


class LeeBackground(Background):
    """What comes from all stories."""

    @functools.cached_property
    def doc2vec(self) -> dict[int, npt.NDArray[np.float32]]:
        """The vectors that doc2vec learns for all stories, by min_count."""
        words, given = self.words.words, self.given
        given.progress.stage("training doc2vec")
        listed = [words.of_document(place) for place in range(words.documents)]
        return {
            least: doc2vec_vectors(
                listed, min_count=least, seed=given.settings.seed, threads=given.threads
            )
            for least in DOC2VEC_MIN_COUNTS
        }

    @functools.cached_property
    def lsa(self) -> npt.NDArray[np.float32]:
        """The vectors of all stories by TF-IDF and truncated SVD."""
        return lsa_vectors(self.words.counts, self.words.statistics, self.given.settings.seed)


class JudgedDocuments:
    """The stories that people judged."""

    def __init__(self, documents: LeeDocuments, background: Background) -> None:
        self.documents, self.background = documents, background
        self.first = len(documents.background)

    @property
    def counts(self) -> Counts:
        """How often each word occurs in each of them."""
        return self.background.words.counts[self.first :]

    @property
    def statistics(self) -> CorpusStatistics:
        """The counts over all stories."""
        return self.background.words.statistics

    def texts(self) -> list[str]:
        """The stories."""
        return self.documents.judged

    def score(self, vectors: Any) -> float:
        """The agreement with people."""
        rows = vectors.toarray() if sparse.issparse(vectors) else vectors
        return agreement(rows, self.documents.judgements)


def methods(
    background: LeeBackground, offset_from: list[str], *, own_centre: bool
) -> list[Method[JudgedDocuments]]:
    """The methods that are asked for, in the order of their columns."""
    doc2vec: list[Method[JudgedDocuments]] = [
        of_one_matrix(
            f"d2v-mc{least}",
            lambda stories, least=least: background.doc2vec[least][stories.first :],  # type: ignore[misc]
            needs=("words", "doc2vec"),
        )
        for least in DOC2VEC_MIN_COUNTS
    ]
    lsa: Method[JudgedDocuments] = of_one_matrix(
        "lsa", lambda stories: background.lsa[stories.first :], needs=("words", "lsa")
    )
    return [
        Method("stories", story_facts),
        Method("recipes", lambda stories: recipe_scores(stories, background, offset_from)),
        spectral(background, own_centre=own_centre),
        *chosen(background, doc2vec, lsa),
    ]


def story_facts(stories: JudgedDocuments) -> Outcome:
    """What is compared."""
    documents = stories.documents
    lengths = lengths_of(stories.counts)
    return Outcome(
        facts={"lengths": lengths, "stories": len(documents.judged), "pairs": documents.pairs}
    )


def recipe_scores(
    stories: JudgedDocuments, background: Background, offset_from: list[str]
) -> Outcome:
    """The 19 recipes; centre and component come from the documents given."""
    outcome = Outcome()
    vectors, tokenizer = background.vectors, background.given.settings.tokenizer
    statistics = corpus_statistics(background.corpus, vectors.vocabulary, tokenizer, None)
    for name in RECIPES:
        with outcome.timed("embedding"):
            recipe = WeightedRecipe.named(name)
            model = model_of_table(vectors, statistics, recipe, tokenizer, {})
            if recipe.form == "center":
                model = recentred(model, offset_from)
            if recipe.n_components_removed:
                model = remove_components(model, as_corpus(offset_from))
            embedded = model.embed(stories.texts())
        with outcome.timed("comparing"):
            outcome.scores[name] = stories.score(embedded)
    return outcome


def recentred(model: EmbeddingModel, documents: list[str]) -> EmbeddingModel:
    """The model with the centre of these documents, its weights as they are."""
    counted = corpus_statistics(as_corpus(documents), model.vocabulary, model.tokenizer, None)
    offset = counted.term_frequencies @ model.folded.rows.astype(np.float64)
    folded = replace(model.folded, offset=offset, offset_norm=float(np.linalg.norm(offset)))
    return replace(model, folded=folded)
