"""The methods of the comparison, each a function from a draw to its documents' vectors."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from pathlib import Path

import numpy as np
import numpy.typing as npt
from corpora import LabelledCorpus
from problems import Draw, Vectors, counts_of
from safetensors.numpy import load_file

import deltavec as dv
from deltavec.core.learning.vocabulary_builder import usual_min_count
from deltavec.core.statistics import SecondMoment, leading_components
from deltavec.core.vectors import WordVectors
from deltavec.core.weights import idf
from deltavec.lab.baselines import Lsa, tfidf, train_doc2vec, unit_rows
from deltavec.lab.variants import Variant, variants
from deltavec.training import train_vectors

LSA_DOCUMENTS = 50_000
DOC2VEC_TEXTS = 25_000
REMOVED = ", component removed"

Method = Callable[[Draw], Vectors]


class Comparison:
    """What each method learns from a corpus, when it is first asked for.

    Parameters
    ----------
    corpus
        The corpus that is learned from and that draws are made of.
    cache
        A folder for what takes long to learn.
    wider
        All forums, for a corpus that is one of them: word2vec and doc2vec need more text than
        one forum has.
    """

    def __init__(
        self, corpus: LabelledCorpus, cache: Path, wider: LabelledCorpus | None = None
    ) -> None:
        self.corpus, self.cache = corpus, cache
        self.wider = corpus if wider is None else wider

    @cached_property
    def weights(self) -> npt.NDArray[np.float64]:
        """Idf of every word of the corpus."""
        return idf(self.corpus.words.statistics)

    def tfidf(self, draw: Draw, power: float) -> Vectors:
        """Sparse tf-idf."""
        return tfidf(counts_of(self.corpus, draw), self.weights, power=power)

    @cached_property
    def model(self) -> dv.EmbeddingModel:
        """What `deltavec.fit` makes of the corpus, at its defaults."""
        path = self.cache / "models" / f"{self.corpus.name}.dv"
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            dv.fit(self.corpus.texts).save(path)
        return dv.load(path)

    def documents(self, draw: Draw) -> list[str]:
        """The documents of a draw: their texts one after the other."""
        texts = self.corpus.texts
        return [" ".join(texts[place] for place in places) for places in draw.places.tolist()]

    def spectral(self, draw: Draw) -> Vectors:
        """Ours, for comparing these documents with each other: what `for_collection` gives."""
        documents = self.documents(draw)
        return self.model.for_collection(documents).embed(documents)

    def spectral_as_fitted(self, draw: Draw) -> Vectors:
        """Ours as fitted: nothing learned from these documents."""
        return self.model.embed(self.documents(draw))

    def with_prior(self, vectors: WordVectors) -> Method:
        """Ours, with vectors from elsewhere as prior knowledge."""
        model = dv.fit(self.corpus.texts, prior=vectors)

        def embed(draw: Draw) -> Vectors:
            documents = self.documents(draw)
            return model.for_collection(documents).embed(documents)

        return embed

    @cached_property
    def _lsa(self) -> tuple[Lsa, int]:
        counts, statistics = self.corpus.words.counts, self.corpus.words.statistics
        known = int((statistics.token_counts >= usual_min_count(statistics.tokens)).sum())
        rows = np.arange(counts.shape[0])
        if len(rows) > LSA_DOCUMENTS:
            rows = np.sort(np.random.default_rng(0).choice(rows, LSA_DOCUMENTS, replace=False))
        return Lsa(counts[rows][:, :known]), known

    def lsa(self, draw: Draw) -> Vectors:
        """scikit-learn's TF-IDF and truncated SVD, 300 dimensions."""
        fitted, known = self._lsa
        return fitted.embed(counts_of(self.corpus, draw)[:, :known])

    def word_vectors(self, method: str) -> WordVectors:
        """Word vectors trained on the corpus, with the defaults of `deltavec.train_vectors`."""
        corpus = self.wider if method == "word2vec" else self.corpus
        path = self.cache / "vectors" / f"{method}-{corpus.name}.npz"
        if not path.exists():
            trained = train_vectors(corpus.texts, method=method)
            path.parent.mkdir(parents=True, exist_ok=True)
            np.savez(path, words=np.array(trained.words), matrix=trained.matrix)
        with np.load(path) as kept:
            return WordVectors(kept["words"].tolist(), kept["matrix"])

    def recipes(self, draw: Draw, vectors: WordVectors) -> Iterator[Variant]:
        """The paper's recipes; the component comes from these documents, as in the paper."""
        places = vectors.vocabulary.ids(self.corpus.words.vocabulary.words)
        columns = np.flatnonzero(places >= 0)
        aligned = WordVectors.from_unit_rows(
            self.corpus.words.vocabulary.taken(columns), vectors.matrix[places[columns]]
        )
        statistics = self.corpus.words.statistics.taken(columns)
        return variants(counts_of(self.corpus, draw)[:, columns], aligned, statistics)

    def doc2vec(self, draws: Sequence[Draw], seed: int = 0) -> list[Vectors]:
        """doc2vec with the paper's settings and min_count 5: the vectors of each draw's documents.

        It is trained once, on every text of the corpus by itself (of a large corpus on those that
        are compared and on others). The vectors of documents of several texts are inferred: trained
        on, these would tell it which texts belong together.
        """
        words = self.wider.words.words
        first = 0 if self.wider is self.corpus else self.corpus.first
        compared = [first + draw.places[:, 0] for draw in draws if draw.places.shape[1] == 1]
        others = np.random.default_rng(seed).permutation(words.documents)[:DOC2VEC_TEXTS]
        texts = np.unique(np.concatenate([*compared, others]))
        model = train_doc2vec(
            (words.of_document(place).tolist() for place in texts.tolist()), min_count=5, seed=seed
        )

        def embedded(draw: Draw) -> Vectors:
            if draw.places.shape[1] == 1:
                rows = np.searchsorted(texts, first + draw.places[:, 0])
                return unit_rows(model.dv.vectors[rows])
            documents = [
                [str(word) for place in places for word in words.of_document(first + place)]
                for places in draw.places.tolist()
            ]
            return unit_rows(np.stack([model.infer_vector(document) for document in documents]))

        return [embedded(draw) for draw in draws]

    @cached_property
    def _potion(self) -> npt.NDArray[np.float32]:
        with np.load(self.cache / "vectors" / f"potion-{self.corpus.peer_name}.npz") as kept:
            return kept["sums"]

    def potion(self, draw: Draw) -> Vectors:
        """potion-base-8M: the mean of all tokens' vectors."""
        return unit_rows(
            self._potion[self.corpus.first + draw.places].sum(axis=1, dtype=np.float64)
        )

    @cached_property
    def _minilm(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float32]]:
        with np.load(self.cache / "vectors" / f"minilm-{self.corpus.peer_name}.npz") as kept:
            return kept["rows"], kept["vectors"]

    def minilm(self, draw: Draw) -> Vectors:
        """all-MiniLM-L6-v2, documents of one text only."""
        rows, vectors = self._minilm
        return vectors[np.searchsorted(rows, self.corpus.first + draw.places[:, 0])]


def without_common(vectors: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """The vectors with nothing along what they have in common, at unit length again."""
    for p in leading_components(SecondMoment.of(vectors), 1).astype(np.float32):
        vectors = vectors - np.outer(vectors @ p, p)
    return unit_rows(vectors)


def potion_words(folder: Path | None) -> WordVectors:
    """The whole words among the tokens of potion-base-8M."""
    if folder is None:
        raise SystemExit("prior needs --prior, the folder of potion-base-8M")
    tokens = json.loads((folder / "tokenizer.json").read_text("utf-8"))["model"]["vocab"]
    rows = load_file(folder / "model.safetensors")["embeddings"]
    words = [word for word in tokens if word.isalnum() and rows[tokens[word]].any()]
    return WordVectors(words, rows[[tokens[word] for word in words]])
