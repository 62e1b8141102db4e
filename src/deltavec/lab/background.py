"""What every experiment learns from its whole corpus, and the methods that all of them share."""

from __future__ import annotations

import functools
import hashlib
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from deltavec.core.fitting import fit
from deltavec.core.model import EmbeddingModel
from deltavec.core.threads import one_blas_thread
from deltavec.core.vectors import WordVectors
from deltavec.core.weights import idf
from deltavec.errors import SmallModelWarning
from deltavec.io.corpus.corpus import Corpus
from deltavec.io.vectors.load import load_vectors, save_vectors
from deltavec.lab.baselines import TRAINING, tfidf
from deltavec.lab.experiment import Documents, Given, Method
from deltavec.lab.results import versions
from deltavec.lab.variants import variants
from deltavec.lab.words import CorpusWords, KnownWords, read_words


class Background:
    """What is learned from the whole corpus, each part on first use.

    Parameters
    ----------
    given
        The input of the experiment.
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
        method = given.settings.vectors_method
        self.vectors_name = given.vectors_name or f"{method}, trained on the {called}"

    @functools.cached_property
    def vectors(self) -> WordVectors:
        """The word vectors: given, cached, or trained on the corpus."""
        settings, given = self.given.settings, self.given
        if given.vectors is not None:
            return given.vectors
        method, seed, tokenizer = settings.vectors_method, settings.seed, settings.tokenizer
        path = None
        if given.folder is not None:
            origin = repr((self.digest, method, seed, tokenizer, versions()))
            key = hashlib.sha256(origin.encode()).hexdigest()[:16]
            path = given.folder / f"vectors-{key}.safetensors"
            if path.exists():
                return load_vectors(path)
        given.progress.stage(f"training {method}")
        vectors = TRAINING[method](
            self.corpus, tokenizer=tokenizer, seed=seed, threads=given.threads
        )
        if path is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
            save_vectors(vectors, path)
        return vectors

    @functools.cached_property
    def words(self) -> CorpusWords:
        """The words of the corpus, and of the documents that are needed."""
        self.given.progress.stage("counting words")
        given = self.given
        return read_words(self.corpus, self.rows, given.settings.tokenizer, threads=given.threads)

    @functools.cached_property
    def known(self) -> KnownWords:
        """The words that have a vector."""
        return KnownWords.of(self.words, self.vectors)

    @functools.cached_property
    def spectral(self) -> EmbeddingModel:
        """The default model of `deltavec.fit`, fitted on the corpus."""
        self.given.progress.stage("fitting spectral")
        rule, threads = self.given.settings.tokenizer, self.given.threads
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SmallModelWarning)  # a small corpus is intended here
            return fit(self.corpus, tokenizer=rule, units="words", threads=threads)

    @property
    def origin(self) -> dict[str, Any]:
        """The embedder and the word vectors, for the results."""
        embedder = self.given.embedder
        return {
            "embedder": embedder and embedder.name,
            "vectors": self.vectors_name,
            "vectors_dimensions": self.vectors.dimensions,
            "vectors_fingerprint": self.vectors.fingerprint,
        }

    def facts(self) -> dict[str, Any]:
        """The size of the corpus, and how much of it has vectors."""
        statistics = self.known.statistics
        return {
            "words": statistics.tokens,
            "distinct_words": len(self.words.vocabulary),
            "words_with_vectors": len(self.known.vectors),
            "coverage": statistics.coverage,
        }


def matrix_method(
    name: str, embed: Callable[[Documents], npt.NDArray[np.float32]], *needs: str
) -> Method:
    """A method that embeds all documents as one matrix."""

    def scores(documents: Documents) -> dict[str, float]:
        vectors = embed(documents)
        with one_blas_thread():
            return {name: documents.score(vectors)}

    return Method(name, scores, needs)


def variant_method(background: Background) -> Method:
    """The 19 recipes; the component is fitted on the documents, as in the paper."""

    @one_blas_thread()
    def scores(documents: Documents) -> dict[str, float]:
        known = background.known
        counts = documents.counts[:, known.columns]
        found = variants(counts, known.vectors, documents.statistics.taken(known.columns))
        return {variant.name: documents.score(variant.vectors) for variant in found}

    return Method("variants", scores, ("known",))


def spectral_method(background: Background, *, own_center: bool) -> Method:
    """The default recipe fitted on the corpus, centered on the documents compared or on it."""

    def embed(documents: Documents) -> npt.NDArray[np.float32]:
        texts, threads = documents.texts, background.given.threads
        model = background.spectral
        if own_center:
            model = model.for_collection(texts, threads=threads)
        return model.embed(texts, threads=threads)

    return matrix_method("spectral", embed, "spectral")


@one_blas_thread()
def tfidf_scores(documents: Documents) -> dict[str, float]:
    """The scores of sparse tf-idf, with idf and with its square."""
    weights, counts = idf(documents.statistics), documents.counts
    powers = {"tf-idf": 1.0, "tf-idf2": 2.0}
    return {
        name: documents.score(tfidf(counts, weights, power=power)) for name, power in powers.items()
    }


def baselines(background: Background, doc2vec: Sequence[Method], lsa: Method) -> list[Method]:
    """The baselines that are not skipped, and the user's own embedder."""
    named = {"doc2vec": doc2vec, "tf-idf": [Method("tf-idf", tfidf_scores)], "lsa": [lsa]}
    skip, embedder = background.given.settings.skip, background.given.embedder
    methods = [method for name, some in named.items() if name not in skip for method in some]
    if embedder is not None:
        methods.append(
            matrix_method(embedder.name, lambda documents: embedder.embed(documents.texts))
        )
    return methods
