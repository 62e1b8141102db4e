"""Baselines: sparse tf-idf, LSA, doc2vec, and the user's own embedder."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse

from deltavec.core.learning.vocabulary_builder import frequent_words, usual_min_count, word_counts
from deltavec.core.statistics import CorpusStatistics
from deltavec.core.text.batches import Chunked, Tokenizer
from deltavec.core.threads import thread_count
from deltavec.core.vectors import WordVectors, normalize_rows
from deltavec.errors import InputError, needing
from deltavec.evaluation.auc import Block, Blocks, blocks_auc, group_numbers
from deltavec.io.artifacts.atomic import scratch_folder
from deltavec.lab.words import Counts, TokenIds
from deltavec.training import train_vectors

DOC2VEC_MIN_COUNTS = (1, 5)
DOC2VEC_DIMENSIONS = 300
LSA_DIMENSIONS = 300

ROWS_AT_ONCE = 256
# Columns filled by more than this share of the documents are multiplied as a dense matrix.
DENSE_FROM = 0.02
MOST_DENSE = 4096

PROBE = ("A quiet room by the sea.", "The pool was closed")


def tfidf(counts: Counts, idf: npt.NDArray[np.float64], *, power: float = 1.0) -> sparse.csr_matrix:
    r"""The sparse vectors of documents, of unit length.

    .. math:: x_i \propto n_i \log(D / D_i)^{\mathrm{power}}

    Parameters
    ----------
    counts
        The documents.
    idf
        The inverse document frequency of each word, as `deltavec.core.weights.idf` gives it.
    power
        1, or 2 for idf squared.
    """
    from sklearn.preprocessing import normalize

    return normalize(counts @ sparse.diags(idf**power), copy=False).astype(np.float32)


def sparse_pairwise_auc(
    vectors: sparse.csr_matrix, labels: npt.ArrayLike, *, threads: int | None = None
) -> float:
    """`deltavec.pairwise_auc` of sparse rows."""
    groups = group_numbers(labels)
    order = np.argsort(groups, kind="stable")
    return blocks_auc(cosines(vectors[order]), groups[order], threads=threads)


def cosines(vectors: sparse.csr_matrix) -> Blocks:
    """The products of sparse rows, block by block; frequent columns are made dense."""
    filled = np.bincount(vectors.indices, minlength=vectors.shape[1])
    frequent = np.argsort(-filled, kind="stable")[:MOST_DENSE]
    frequent = np.sort(frequent[filled[frequent] > DENSE_FROM * vectors.shape[0]])
    rare = np.setdiff1d(np.flatnonzero(filled), frequent)
    dense, others = vectors[:, frequent].toarray(), vectors[:, rare]

    def blocks() -> Iterator[Block]:
        for first in range(0, vectors.shape[0], ROWS_AT_ONCE):
            here = slice(first, first + ROWS_AT_ONCE)
            scores = dense[here] @ dense[first:].T
            scores += (others[here] @ others[first:].T).toarray()
            yield Block(first, scores)

    return blocks


class Lsa:
    """scikit-learn's TF-IDF and truncated SVD, fitted on background documents.

    Parameters
    ----------
    background
        The documents to fit on.
    dimensions
        The length of a vector; fewer if the documents or words are fewer.
    seed
        The seed.
    """

    def __init__(
        self, background: Counts, *, dimensions: int = LSA_DIMENSIONS, seed: int = 0
    ) -> None:
        from sklearn.decomposition import TruncatedSVD
        from sklearn.feature_extraction.text import TfidfTransformer
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import Normalizer

        most = max(1, min(dimensions, min(background.shape) - 1))
        self._steps = make_pipeline(
            TfidfTransformer(), TruncatedSVD(most, random_state=seed), Normalizer(copy=False)
        )
        self._steps.fit(background.astype(np.float32))

    def embed(self, counts: Counts) -> npt.NDArray[np.float32]:
        """The documents' vectors, of unit length or zero."""
        vectors: npt.NDArray[np.float32] = self._steps.transform(counts.astype(np.float32))
        return vectors.astype(np.float32, copy=False)


def lsa_vectors(counts: Counts, statistics: CorpusStatistics, seed: int) -> npt.NDArray[np.float32]:
    """The vectors that LSA gives to the documents it is fitted on, by their frequent words."""
    occurrences = statistics.token_counts
    least = min(usual_min_count(statistics.tokens), int(occurrences.max()))
    frequent = counts[:, np.flatnonzero(occurrences >= least)]
    return Lsa(frequent, seed=seed).embed(frequent)


@contextmanager
def corpus_file(documents: Iterable[Iterable[Any]]) -> Iterator[str]:
    """A file with a document on each line; from it gensim trains without the interpreter."""
    with scratch_folder() as folder:
        path = folder / "documents.txt"
        with path.open("w", encoding="utf-8") as file:
            file.writelines(" ".join(map(str, document)) + "\n" for document in documents)
        yield str(path)


def word2vec_vectors(
    corpus: Chunked, tokenizer: Tokenizer, *, seed: int = 0, threads: int | None = None
) -> WordVectors:
    """Vectors of gensim's word2vec (CBOW), with the defaults of the original tool, as in the paper.

    It repeats exactly only with one thread.
    """
    with needing("lab", "word2vec needs gensim (Python 3.11 to 3.13)"):
        from gensim.models import Word2Vec
    vocabulary = frequent_words(word_counts(corpus, tokenizer), None)
    pieces = (TokenIds.of(chunk, vocabulary, tokenizer, threads) for chunk in corpus)
    documents = (piece.of_document(row) for piece in pieces for row in range(piece.documents))
    with corpus_file(documents) as path:
        model = Word2Vec(
            corpus_file=path,
            min_count=1,  # rarer words are not in the file
            negative=5,
            sample=1e-3,
            alpha=0.05,
            workers=thread_count(threads),
            vector_size=100,
            seed=seed,
        )
    kept = sorted(map(int, model.wv.key_to_index))
    return WordVectors([vocabulary.words[number] for number in kept], model.wv[map(str, kept)])


def train_doc2vec(
    documents: Iterable[Iterable[Any]],
    *,
    min_count: int,
    dimensions: int = DOC2VEC_DIMENSIONS,
    epochs: int = 20,
    seed: int = 0,
    threads: int | None = None,
) -> Any:
    """Train gensim's doc2vec on these documents with the settings of the paper (section 5).

    Parameters
    ----------
    documents
        Lists of words, or of their ids. No word may hold white space.
    min_count
        How often a word must occur.
    dimensions, epochs
        300 and 20 in the paper.
    seed
        The seed. Training gives the same result every time only with one thread.
    threads
        How many cores to use; all of them by default.
    """
    with needing("lab", "doc2vec needs gensim"):
        from gensim.models.doc2vec import Doc2Vec

    with scratch_folder() as folder:
        path = folder / "documents.txt"
        # From a file gensim trains without holding the GIL.
        with path.open("w", encoding="utf-8") as file:
            file.writelines(" ".join(map(str, document)) + "\n" for document in documents)
        return Doc2Vec(
            corpus_file=str(path),
            vector_size=dimensions,
            window=15,
            min_count=min_count,
            sample=1e-5,
            alpha=0.025,
            min_alpha=0.001,
            dm=0,
            negative=5,
            dbow_words=1,
            dm_concat=1,
            epochs=epochs,
            seed=seed,
            workers=thread_count(threads),
        )


def doc2vec_vectors(
    documents: Sequence[npt.ArrayLike],
    *,
    min_count: int,
    dimensions: int = DOC2VEC_DIMENSIONS,
    **training: Any,
) -> npt.NDArray[np.float32]:
    """Train doc2vec on these documents; return their vectors, normalized or zero.

    A document without a frequent word gets a zero row. The parameters are those of `train_doc2vec`.
    """
    lists = [np.asarray(document) for document in documents]
    _, word, occurrences = np.unique(np.concatenate(lists), return_inverse=True, return_counts=True)
    document = np.repeat(np.arange(len(lists)), [len(words) for words in lists])
    frequent = np.bincount(document, occurrences[word] >= min_count, len(lists)) > 0
    if not frequent.any():
        return np.zeros((len(lists), dimensions), np.float32)
    model = train_doc2vec(
        (document.tolist() for document in lists),
        min_count=min_count,
        dimensions=dimensions,
        **training,
    )
    return unit_rows(model.dv.vectors[: len(lists)] * frequent[:, None])


TRAINING: dict[str, Callable[..., WordVectors]] = {
    "ppmi": train_vectors,
    "word2vec": word2vec_vectors,
}


class Embedder(NamedTuple):
    """A function of the user from texts to a matrix, and its name."""

    name: str
    function: Callable[[list[str]], Any]

    @classmethod
    def named(cls, name: str) -> Embedder:
        """Import the embedder ``module:function`` and try it on two short texts."""
        module, _, path = name.partition(":")
        if not (module and path):
            raise InputError(
                f"an embedder is named module:function, such as my_models:embed; got {name!r}"
            )
        try:
            function: Any = importlib.import_module(module)
        except Exception as error:  # anything the user's module raises
            raise InputError(f"embedder {name!r}: cannot import {module!r} ({error})") from error
        for part in path.split("."):
            function = getattr(function, part, None)
        if not callable(function):
            raise InputError(f"embedder {name!r}: expected a function, got {function!r}")
        embedder = cls(name, function)
        embedder.embed(list(PROBE))
        return embedder

    def embed(self, texts: list[str]) -> npt.NDArray[np.float32]:
        """The vectors of the texts: unit rows, or zero."""
        try:
            rows = np.asarray(self.function(texts))
        except Exception as error:  # anything the user's code raises
            raise InputError(f"embedder {self.name!r}: {type(error).__name__}: {error}") from error
        if rows.ndim != 2 or len(rows) != len(texts) or rows.dtype.kind not in "fiu":
            raise InputError(
                f"embedder {self.name!r}: expected a matrix of numbers with {len(texts)} rows, one "
                f"for each text, got shape {rows.shape} of {rows.dtype}"
            )
        if not np.isfinite(rows).all():
            raise InputError(f"embedder {self.name!r}: returned NaN or infinity")
        return unit_rows(rows)


def unit_rows(rows: npt.NDArray[Any]) -> npt.NDArray[np.float32]:
    """Normalized rows; a zero row stays zero."""
    return normalize_rows(rows, np.sqrt(np.einsum("ij,ij->i", rows, rows, dtype=np.float64)))
