"""What every experiment learns from its whole corpus, and the methods that all of them have."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Any, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from deltavec.core.fitting import fit
from deltavec.core.model import EmbeddingModel
from deltavec.core.statistics import CorpusStatistics
from deltavec.core.threads import one_blas_thread
from deltavec.core.vectors import WordVectors
from deltavec.core.weights import idf
from deltavec.errors import SmallModelWarning
from deltavec.io.corpus.corpus import Corpus
from deltavec.lab.baselines import tfidf
from deltavec.lab.cache import OWN_PACKAGES, Part
from deltavec.lab.experiment import Given, Method, Outcome
from deltavec.lab.words import CorpusWords, Counts, KnownWords, read_words, weight_curve
from deltavec.training import train_vectors

Matrix = npt.NDArray[np.float32]


class Documents(Protocol):
    """The documents of one problem, as every method sees them."""

    @property
    def counts(self) -> Counts:
        """How often each word of the corpus occurs in each of them."""

    @property
    def statistics(self) -> CorpusStatistics:
        """The counts that weights come from."""

    def texts(self) -> list[str]:
        """Their texts."""

    def score(self, vectors: Any) -> float:
        """How good vectors of them are: rows of unit length, dense or sparse."""


D = TypeVar("D", bound=Documents)


class Background:
    """What is learned from the whole corpus, each thing when it is first asked for.

    Parameters
    ----------
    given
        What the experiment is given.
    corpus
        The texts.
    digest
        A hash of the data.
    rows
        The documents whose words are needed, ascending.
    called
        What the texts are: reviews, questions, stories.
    """

    def __init__(
        self,
        given: Given[Any],
        corpus: Corpus,
        digest: str,
        rows: npt.NDArray[np.int64],
        called: str,
    ) -> None:
        self.given, self.corpus, self.digest, self.rows = given, corpus, digest, rows
        self.vectors_name = given.vectors_name or (
            f"{given.settings.vectors_method}, trained on the {called}"
        )
        with given.clock.timed("vectors"):
            self.vectors = given.vectors or self._trained()

    def _trained(self) -> WordVectors:
        settings, given = self.given.settings, self.given
        part = Part(
            f"vectors-{settings.vectors_method}",
            {"data": self.digest, "seed": settings.seed, "tokenizer": settings.tokenizer},
            (*OWN_PACKAGES, "gensim"),
        )
        return given.cache.vectors(
            part,
            lambda: train_vectors(
                self.corpus,
                method=settings.vectors_method,
                seed=settings.seed,
                tokenizer=settings.tokenizer,
                threads=given.threads,
                on_stage=given.progress.stage,
                on_progress=given.progress.reach,
            ),
        )

    @functools.cached_property
    def words(self) -> CorpusWords:
        """The words of the corpus, and of the documents that are needed."""
        self.given.progress.stage("counting words")
        given = self.given
        return read_words(self.corpus, self.rows, given.settings.tokenizer, threads=given.threads)

    @functools.cached_property
    def known(self) -> KnownWords:
        """Those of the words that have vectors."""
        return KnownWords.of(self.words, self.vectors)

    @functools.cached_property
    def spectral(self) -> EmbeddingModel:
        """The model that `deltavec.fit` makes of the corpus when nothing else is asked for."""
        self.given.progress.stage("fitting spectral")
        given = self.given
        with warnings.catch_warnings():
            # Little text is what the experiment is about, if it is about little text.
            warnings.simplefilter("ignore", SmallModelWarning)
            rule = given.settings.tokenizer
            return fit(self.corpus, tokenizer=rule, units="words", threads=given.threads)

    @property
    def origin(self) -> dict[str, Any]:
        """What methods were given, for who reads the results."""
        embedder = self.given.embedder
        return {
            "embedder": embedder and embedder.name,
            "vectors": self.vectors_name,
            "vectors_dimensions": self.vectors.dimensions,
            "vectors_fingerprint": self.vectors.fingerprint,
        }

    def facts(self) -> dict[str, Any]:
        """How many words the corpus holds, and the weights of some of them."""
        origin = {
            "data": self.digest,
            "vectors": self.vectors.fingerprint,
            "tokenizer": self.given.settings.tokenizer,
        }
        part, cache = Part("corpus", origin), self.given.cache
        facts = cache.get(part)
        if facts is None:
            statistics = self.known.statistics
            facts = {
                "words": statistics.tokens,
                "distinct_words": len(self.words.vocabulary),
                "words_with_vectors": len(self.known.vectors),
                "coverage": statistics.coverage,
                "curve": asdict(weight_curve(statistics)),
            }
            cache.put(part, facts)
        return facts


def of_one_matrix(
    name: str,
    embed: Callable[[D], Matrix],
    cost: float = 1.0,
    needs: tuple[str, ...] = ("words",),
    **about: Any,
) -> Method[D]:
    """A method that gives one matrix; the other arguments are those of `Method`."""

    def run(documents: D) -> Outcome:
        outcome = Outcome()
        with outcome.timed(name):
            vectors = embed(documents)
        with outcome.timed("comparing"), one_blas_thread():
            outcome.scores[name] = documents.score(vectors)
        return outcome

    return Method(name, run, cost, needs, **about)


@one_blas_thread()
def tfidf_scores(documents: Documents) -> Outcome:
    """Sparse tf-idf, with idf and with its square."""
    outcome = Outcome()
    with outcome.timed("tf-idf"):
        weights = idf(documents.statistics)
        for name, power in (("tf-idf", 1.0), ("tf-idf2", 2.0)):
            rows = tfidf(documents.counts, weights, power=power)
            outcome.scores[name] = documents.score(rows)
    return outcome


def spectral(background: Background, *, own_centre: bool) -> Method[Any]:
    """The default recipe, fitted on the corpus; centred on the documents compared, or on it."""

    def embed(documents: Documents) -> Matrix:
        texts, threads = documents.texts(), background.given.threads
        model = background.spectral
        if own_centre:
            model = model.for_collection(texts, threads=threads)
        return model.embed(texts, threads=threads)

    return of_one_matrix("spectral", embed, needs=("words", "spectral"))


def chosen(
    background: Background, doc2vec: Sequence[Method[Any]], lsa: Method[Any], cost: float = 1.0
) -> list[Method[Any]]:
    """The baselines that are not to be skipped, and the user's own embedder.

    Parameters
    ----------
    background
        What comes from the whole corpus.
    doc2vec, lsa
        The methods that each experiment has in its own way.
    cost
        What tf-idf takes, a fiftieth of what an embedder does.
    """
    given = background.given
    ways: dict[str, Sequence[Method[Any]]] = {
        "doc2vec": doc2vec,
        "tf-idf": [Method("tf-idf", tfidf_scores, cost)],
        "lsa": [lsa],
    }
    methods = [
        method for name, some in ways.items() if name not in given.settings.skip for method in some
    ]
    embedder = given.embedder
    if embedder is not None:
        own: Method[Documents] = of_one_matrix(
            embedder.name, lambda documents: embedder.embed(documents.texts()), 50 * cost
        )
        # Its name may hold what no file's name can.
        methods.append(own._replace(name="embedder", origin={"name": embedder.name}))
    return methods
