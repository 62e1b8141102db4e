"""The words of a corpus: counts over all of it, and token ids of some of its documents."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from scipy import sparse

from deltavec.core.arrays import offsets_of
from deltavec.core.learning.cooccurrence import ids_of
from deltavec.core.learning.corpora import corpus_statistics
from deltavec.core.learning.vocabulary_builder import word_counts
from deltavec.core.statistics import CorpusStatistics, require_known_words
from deltavec.core.text.batches import Chunked, Tokenizer, as_text_batch
from deltavec.core.vectors import WordVectors
from deltavec.core.vocabulary import Vocabulary
from deltavec.core.weights import idf, sif, subsampling
from deltavec.errors import CorpusError
from deltavec.lab.results import Lengths, WeightCurve

Counts: TypeAlias = sparse.csr_matrix
"""The count of each word (column) in each document (row), sparse."""


class TokenIds(NamedTuple):
    """The token ids of some documents, in order, and the offset of each document."""

    ids: npt.NDArray[np.int32]
    offsets: npt.NDArray[np.int64]

    @classmethod
    def of(
        cls,
        texts: Any,
        vocabulary: Vocabulary,
        tokenizer: Tokenizer,
        threads: int | None = None,
    ) -> TokenIds:
        """The ids of the documents' tokens that are in the vocabulary."""
        pieces = ids_of(as_text_batch(texts, tokenizer), vocabulary, threads)
        ids = np.concatenate([np.zeros(0, np.int32), *pieces])
        lengths = np.diff(np.flatnonzero(ids < 0), prepend=-1) - 1  # -1 ends a document
        return cls(ids[ids >= 0], offsets_of(lengths))

    @property
    def documents(self) -> int:
        """The number of documents."""
        return len(self.offsets) - 1

    def of_document(self, row: int) -> npt.NDArray[np.int32]:
        """The token ids of one document."""
        return self.ids[self.offsets[row] : self.offsets[row + 1]]

    def counts(self, vocabulary_size: int) -> Counts:
        """The count of each word in each document."""
        ones = np.ones(len(self.ids), np.int32)
        # Copies: summing duplicates rewrites the matrix in place.
        structure = self.ids.copy(), self.offsets.copy()
        counts = sparse.csr_matrix((ones, *structure), (self.documents, vocabulary_size))
        counts.sum_duplicates()
        return counts


@dataclass(frozen=True, eq=False)
class CorpusWords:
    """The words of a corpus, and those of some of its documents.

    Attributes
    ----------
    vocabulary : Vocabulary
        Every word of the corpus, the most frequent first.
    statistics : CorpusStatistics
        Their counts in the whole corpus.
    rows : ndarray of int64
        The documents that are kept, ascending.
    words : TokenIds
        Their words.
    texts : pyarrow.Array
        Their texts.
    """

    vocabulary: Vocabulary
    statistics: CorpusStatistics
    rows: npt.NDArray[np.int64]
    words: TokenIds
    texts: Any

    @functools.cached_property
    def counts(self) -> Counts:
        """The count of each word in each document that is kept."""
        return self.words.counts(len(self.vocabulary))

    def positions(self, rows: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """The positions of these rows of the corpus among those kept."""
        return np.searchsorted(self.rows, rows)


def read_words(
    corpus: Chunked,
    rows: npt.NDArray[np.int64],
    tokenizer: Tokenizer,
    *,
    threads: int | None = None,
) -> CorpusWords:
    """The words of a whole corpus, and those of some of its documents; reads it three times.

    Parameters
    ----------
    corpus
        The corpus.
    rows
        The documents to keep, ascending.
    tokenizer
        The tokenizer.
    threads
        How many cores to use; all of them by default.
    """
    vocabulary, _ = word_counts(corpus, tokenizer).frequent(1)
    if len(vocabulary) == 0:
        raise CorpusError("the texts hold no words")
    statistics = corpus_statistics(corpus, vocabulary, tokenizer, threads)
    texts = take_texts(corpus, rows)
    ids = TokenIds.of(texts, vocabulary, tokenizer, threads)
    return CorpusWords(vocabulary, statistics, rows, ids, texts)


def take_texts(corpus: Chunked, rows: npt.NDArray[np.int64]) -> Any:
    """The documents in these ascending rows, as an Arrow array."""
    parts = []
    first = 0
    for chunk in corpus:
        begin, end = np.searchsorted(rows, (first, first + len(chunk)))
        parts.append(chunk.take(pa.array(rows[begin:end] - first)))
        first += len(chunk)
    return pa.concat_arrays(parts)


def document_lengths(counts: Counts) -> Lengths:
    """The shortest, mean and longest document, in words."""
    words = np.asarray(counts.sum(axis=1)).reshape(-1)
    return Lengths(int(words.min()), float(words.mean()), int(words.max()))


def count_statistics(counts: Counts) -> CorpusStatistics:
    """The statistics of these documents."""
    return CorpusStatistics(
        np.asarray(counts.sum(axis=0), np.int64).reshape(-1),
        np.asarray(counts.getnnz(axis=0), np.int64),
        counts.shape[0],
        int(counts.sum()),
        int((counts.getnnz(axis=1) == 0).sum()),
    )


class KnownWords(NamedTuple):
    """The words of a corpus that have a vector.

    Attributes
    ----------
    columns : ndarray of int64
        Their ids among all words of the corpus.
    vectors : WordVectors
        Their vectors.
    statistics : CorpusStatistics
        Their counts.
    """

    columns: npt.NDArray[np.int64]
    vectors: WordVectors
    statistics: CorpusStatistics

    @classmethod
    def of(cls, words: CorpusWords, vectors: WordVectors) -> KnownWords:
        """The words of the corpus that have a vector."""
        ids = vectors.vocabulary.ids(words.vocabulary.words)
        columns = np.flatnonzero(ids >= 0)
        statistics = words.statistics.taken(columns)
        require_known_words(statistics)
        rows = vectors.matrix[ids[columns]]
        known = WordVectors.from_unit_rows(words.vocabulary.taken(columns), rows)
        return cls(columns, known, statistics)


def weight_curve(statistics: CorpusStatistics, points: int = 400) -> WeightCurve:
    """The three weights of words from the most frequent to the rarest, evenly on a log scale."""
    order = np.argsort(-statistics.token_counts, kind="stable")
    seen = order[: int((statistics.token_counts > 0).sum())]
    ranks = np.unique(np.geomspace(1, len(seen), points).round().astype(np.int64)) - 1
    columns = (statistics.term_frequencies, *(f(statistics) for f in (idf, sif, subsampling)))
    return WeightCurve(*(column[seen[ranks]].tolist() for column in columns))
