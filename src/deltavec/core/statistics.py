"""Counts over a corpus, which add: batches, threads and machines are one reduce."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from deltavec.errors import InputError


@dataclass(frozen=True, eq=False)
class CorpusStatistics:
    """How often each word of a vocabulary occurs in a corpus.

    Attributes
    ----------
    token_counts : ndarray of int64
        :math:`n_{ic}`, occurrences of word i.
    document_counts : ndarray of int64
        :math:`D_i`, documents that contain word i.
    documents : int
        D, all documents, empty ones too.
    tokens : int
        Words in the corpus, in the vocabulary or not.
    unknown_documents : int
        Documents that hold no word of the vocabulary.
    """

    token_counts: npt.NDArray[np.int64]
    document_counts: npt.NDArray[np.int64]
    documents: int
    tokens: int
    unknown_documents: int

    @classmethod
    def empty(cls, words: int) -> CorpusStatistics:
        """The statistics of no documents at all, for a vocabulary of this many words."""
        return cls(np.zeros(words, np.int64), np.zeros(words, np.int64), 0, 0, 0)

    def __add__(self, other: CorpusStatistics) -> CorpusStatistics:
        if len(self.token_counts) != len(other.token_counts):
            raise InputError(
                "statistics add only over one vocabulary, "
                f"got {len(self.token_counts)} and {len(other.token_counts)} words"
            )
        return CorpusStatistics(
            self.token_counts + other.token_counts,
            self.document_counts + other.document_counts,
            self.documents + other.documents,
            self.tokens + other.tokens,
            self.unknown_documents + other.unknown_documents,
        )

    def taken(self, order: npt.NDArray[np.int64]) -> CorpusStatistics:
        """The same statistics for the words with these ids, in this order."""
        return CorpusStatistics(
            self.token_counts[order],
            self.document_counts[order],
            self.documents,
            self.tokens,
            self.unknown_documents,
        )

    @property
    def known_tokens(self) -> int:
        r""":math:`N_c = \sum_i n_{ic}`, the occurrences of words in the vocabulary."""
        return int(self.token_counts.sum())

    @property
    def term_frequencies(self) -> npt.NDArray[np.float64]:
        r""":math:`\mathrm{tf}_{ic} = n_{ic} / N_c`; zeros for a corpus without known words."""
        frequencies: npt.NDArray[np.float64] = self.token_counts / max(self.known_tokens, 1)
        return frequencies

    @property
    def mean_length(self) -> float:
        """Words in the vocabulary per document."""
        return self.known_tokens / max(self.documents, 1)

    @property
    def coverage(self) -> float:
        """The share of the corpus' words that the vocabulary knows."""
        return self.known_tokens / max(self.tokens, 1)
