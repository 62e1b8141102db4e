"""The words of a file of reviews: counted over the whole file, and listed for what is drawn."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from scipy import sparse

from deltavec.core.discovery import word_counts
from deltavec.core.model import require_known_words
from deltavec.core.passes import counted
from deltavec.core.statistics import CorpusStatistics
from deltavec.core.texts import Chunked, Tokenizer, as_texts
from deltavec.core.vectors import WordVectors
from deltavec.core.vocabulary import Vocabulary
from deltavec.errors import CorpusError
from deltavec.evaluation.results import Lengths, WeightCurve
from deltavec.evaluation.word_counts import Counts, Words


@dataclass(frozen=True, eq=False)
class ReviewWords:
    """The words of a file, and those of some of its reviews.

    Attributes
    ----------
    vocabulary : Vocabulary
        Every word of the file, the most frequent first.
    statistics : CorpusStatistics
        Their counts in the whole file.
    rows : ndarray of int64
        The reviews that are kept, ascending.
    words : Words
        Their words.
    texts : tuple of str
        Their texts, if those are kept.
    """

    vocabulary: Vocabulary
    statistics: CorpusStatistics
    rows: npt.NDArray[np.int64]
    words: Words
    texts: tuple[str, ...]

    @functools.cached_property
    def counts(self) -> Counts:
        """How often each word occurs in each of the reviews kept."""
        return self.words.counts(len(self.vocabulary))

    def places(self, rows: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Where these rows of the file are among those kept."""
        return np.searchsorted(self.rows, rows)


@dataclass(frozen=True, eq=False)
class Documents:
    """Documents made of several reviews each.

    Attributes
    ----------
    source : ReviewWords
        The reviews.
    places : ndarray of int64, shape (documents, reviews in each)
        Which reviews make which document.
    labels : ndarray of int64
        The number of each document's location.
    """

    source: ReviewWords
    places: npt.NDArray[np.int64]
    labels: npt.NDArray[np.int64]

    @functools.cached_property
    def counts(self) -> Counts:
        """The words of each document: the sum of its reviews' counts."""
        documents, k = self.places.shape
        begins = np.arange(0, documents * k + 1, k)
        picked = sparse.csr_matrix(
            (np.ones(documents * k, np.int32), self.places.reshape(-1), begins),
            (documents, len(self.source.rows)),
        )
        return picked @ self.source.counts

    @property
    def lengths(self) -> Lengths:
        """How many words the documents hold."""
        words = np.asarray(self.counts.sum(axis=1)).reshape(-1)
        return Lengths(int(words.min()), float(words.mean()), int(words.max()))

    def words(self) -> list[npt.NDArray[np.int32]]:
        """The words of each document, in their order."""
        return [
            np.concatenate([self.source.words.of_document(place) for place in places])
            for places in self.places.tolist()
        ]

    def texts(self) -> list[str]:
        """The text of each document, a line for each review."""
        return [
            "\n".join(self.source.texts[place] for place in places)
            for places in self.places.tolist()
        ]


def read_words(
    corpus: Chunked,
    rows: npt.NDArray[np.int64],
    tokenizer: Tokenizer,
    *,
    keep_texts: bool = False,
    threads: int | None = None,
) -> ReviewWords:
    """The words of a whole file, and those of some of its reviews; the file is read twice.

    Parameters
    ----------
    corpus
        The file.
    rows
        The reviews to keep, ascending.
    tokenizer
        What parts a text into words.
    keep_texts
        Whether their texts are kept too.
    threads
        How many cores to use; all of them by default.
    """
    vocabulary, _ = word_counts(corpus, tokenizer).frequent(1)
    if len(vocabulary) == 0:
        raise CorpusError("the reviews hold no words")
    statistics = CorpusStatistics.empty(len(vocabulary))
    parts: list[Words] = []
    texts: list[str] = []
    first = 0
    for chunk in corpus:
        statistics += counted(as_texts(chunk, tokenizer), vocabulary, threads)
        begin, end = np.searchsorted(rows, (first, first + len(chunk)))
        kept = chunk.take(pa.array(rows[begin:end] - first))
        parts.append(Words.of(kept, vocabulary, tokenizer, threads))
        if keep_texts:
            texts += kept.to_pylist()
        first += len(chunk)
    return ReviewWords(vocabulary, statistics, rows, Words.joined(parts), tuple(texts))


class KnownWords(NamedTuple):
    """The words of a file that have a vector.

    Attributes
    ----------
    columns : ndarray of int64
        Their ids among all words of the file.
    vectors : WordVectors
        Their vectors.
    statistics : CorpusStatistics
        Their counts.
    """

    columns: npt.NDArray[np.int64]
    vectors: WordVectors
    statistics: CorpusStatistics

    @classmethod
    def of(cls, reviews: ReviewWords, vectors: WordVectors) -> KnownWords:
        """Those of the reviews' words that are among the vectors'."""
        places = vectors.vocabulary.ids(reviews.vocabulary.words)
        columns = np.flatnonzero(places >= 0)
        statistics = reviews.statistics.taken(columns)
        require_known_words(statistics)
        rows = vectors.matrix[places[columns]]
        return cls(
            columns,
            WordVectors.from_unit_rows(reviews.vocabulary.taken(columns), rows),
            statistics,
        )

    def counts(self, documents: Documents) -> Counts:
        """The documents' counts of these words."""
        return documents.counts[:, self.columns]


def weight_curve(statistics: CorpusStatistics, points: int = 400) -> WeightCurve:
    """The three weights of words from the most frequent to the rarest, evenly on a log scale."""
    from deltavec.core.weights import idf, sif, subsampling

    order = np.argsort(-statistics.token_counts, kind="stable")
    seen = order[: int((statistics.token_counts > 0).sum())]
    ranks = np.unique(np.geomspace(1, len(seen), points).round().astype(np.int64)) - 1
    columns = (statistics.term_frequencies, *(f(statistics) for f in (idf, sif, subsampling)))
    return WeightCurve(*(column[seen[ranks]].tolist() for column in columns))
