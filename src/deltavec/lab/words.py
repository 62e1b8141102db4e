"""The words of a corpus: counted over the whole of it, and listed for some of its documents."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from scipy import sparse

from deltavec.core.arrays import offsets_of
from deltavec.core.batching import count_batch
from deltavec.core.learning.cooccurrence import ids_of
from deltavec.core.learning.vocabulary_builder import word_counts
from deltavec.core.statistics import CorpusStatistics, require_known_words
from deltavec.core.text.batches import Chunked, Tokenizer, as_text_batch
from deltavec.core.vectors import WordVectors
from deltavec.core.vocabulary import Vocabulary
from deltavec.core.weights import idf, sif, subsampling
from deltavec.errors import CorpusError
from deltavec.lab.results import Lengths, WeightCurve

Counts: TypeAlias = sparse.csr_matrix
"""How often each word (column) occurs in each document (row); only what occurs is stored."""


class Words(NamedTuple):
    """The ids of the documents' words, in their order, and where each document begins."""

    ids: npt.NDArray[np.int32]
    begins: npt.NDArray[np.int64]

    @classmethod
    def of(
        cls, chunk: Any, vocabulary: Vocabulary, tokenizer: Tokenizer, threads: int | None = None
    ) -> Words:
        """The words of a chunk of documents that are in the vocabulary."""
        pieces = ids_of(as_text_batch(chunk, tokenizer), vocabulary, threads)
        listed = np.concatenate([np.zeros(0, np.int32), *pieces])
        lengths = np.diff(np.flatnonzero(listed < 0), prepend=-1) - 1
        return cls(listed[listed >= 0], offsets_of(lengths))

    @classmethod
    def joined(cls, parts: list[Words]) -> Words:
        """The documents of all parts, one after the other."""
        lengths = [np.diff(part.begins) for part in parts]
        return cls(
            np.concatenate([np.zeros(0, np.int32), *(part.ids for part in parts)]),
            offsets_of(np.concatenate([np.zeros(0, np.int64), *lengths])),
        )

    @property
    def documents(self) -> int:
        """How many documents there are."""
        return len(self.begins) - 1

    def of_document(self, place: int) -> npt.NDArray[np.int32]:
        """The words of one document."""
        return self.ids[self.begins[place] : self.begins[place + 1]]

    def counts(self, words: int) -> Counts:
        """How often each word occurs in each document, for a vocabulary of this many words."""
        ones = np.ones(len(self.ids), np.int32)
        # Copies: adding up repeats rewrites the matrix in place, and the words keep their order.
        places = self.ids.copy(), self.begins.copy()
        counts = sparse.csr_matrix((ones, *places), (self.documents, words))
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
    words : Words
        Their words.
    texts : pyarrow.Array
        Their texts.
    """

    vocabulary: Vocabulary
    statistics: CorpusStatistics
    rows: npt.NDArray[np.int64]
    words: Words
    texts: Any

    @functools.cached_property
    def counts(self) -> Counts:
        """How often each word occurs in each of the documents kept."""
        return self.words.counts(len(self.vocabulary))

    def places(self, rows: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Where these rows of the corpus are among those kept."""
        return np.searchsorted(self.rows, rows)


def read_words(
    corpus: Chunked,
    rows: npt.NDArray[np.int64],
    tokenizer: Tokenizer,
    *,
    threads: int | None = None,
) -> CorpusWords:
    """The words of a whole corpus, and those of some of its documents; it is read twice.

    Parameters
    ----------
    corpus
        The corpus.
    rows
        The documents to keep, ascending.
    tokenizer
        What parts a text into words.
    threads
        How many cores to use; all of them by default.
    """
    vocabulary, _ = word_counts(corpus, tokenizer).frequent(1)
    if len(vocabulary) == 0:
        raise CorpusError("the texts hold no words")
    statistics = CorpusStatistics.empty(len(vocabulary))
    parts: list[Words] = []
    texts = []
    first = 0
    for chunk in corpus:
        statistics += count_batch(as_text_batch(chunk, tokenizer), vocabulary, threads)
        begin, end = np.searchsorted(rows, (first, first + len(chunk)))
        texts.append(chunk.take(pa.array(rows[begin:end] - first)))
        parts.append(Words.of(texts[-1], vocabulary, tokenizer, threads))
        first += len(chunk)
    return CorpusWords(vocabulary, statistics, rows, Words.joined(parts), pa.concat_arrays(texts))


def lengths_of(counts: Counts) -> Lengths:
    """How many words counted documents hold."""
    words = np.asarray(counts.sum(axis=1)).reshape(-1)
    return Lengths(int(words.min()), float(words.mean()), int(words.max()))


def statistics_of(counts: Counts) -> CorpusStatistics:
    """The statistics of counted documents, all of whose words are counted."""
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
        """Those of the corpus' words that are among the vectors'."""
        places = vectors.vocabulary.ids(words.vocabulary.words)
        columns = np.flatnonzero(places >= 0)
        statistics = words.statistics.taken(columns)
        require_known_words(statistics)
        rows = vectors.matrix[places[columns]]
        known = WordVectors.from_unit_rows(words.vocabulary.taken(columns), rows)
        return cls(columns, known, statistics)


def weight_curve(statistics: CorpusStatistics, points: int = 400) -> WeightCurve:
    """The three weights of words from the most frequent to the rarest, evenly on a log scale."""
    order = np.argsort(-statistics.token_counts, kind="stable")
    seen = order[: int((statistics.token_counts > 0).sum())]
    ranks = np.unique(np.geomspace(1, len(seen), points).round().astype(np.int64)) - 1
    columns = (statistics.term_frequencies, *(f(statistics) for f in (idf, sif, subsampling)))
    return WeightCurve(*(column[seen[ranks]].tolist() for column in columns))
