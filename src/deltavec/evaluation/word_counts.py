"""Documents as the numbers of their words: in their order, or counted."""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy import sparse

from deltavec.core.cooccurrence import ids_of
from deltavec.core.packing import begins_of
from deltavec.core.texts import Chunked, Tokenizer, as_texts
from deltavec.core.vocabulary import Vocabulary

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
        pieces = ids_of(as_texts(chunk, tokenizer), vocabulary, threads)
        listed = np.concatenate([np.zeros(0, np.int32), *pieces])
        lengths = np.diff(np.flatnonzero(listed < 0), prepend=-1) - 1
        return cls(listed[listed >= 0], begins_of(lengths))

    @classmethod
    def joined(cls, parts: list[Words]) -> Words:
        """The documents of all parts, one after the other."""
        lengths = [np.diff(part.begins) for part in parts]
        return cls(
            np.concatenate([np.zeros(0, np.int32), *(part.ids for part in parts)]),
            begins_of(np.concatenate([np.zeros(0, np.int64), *lengths])),
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


def document_counts(
    corpus: Chunked, vocabulary: Vocabulary, tokenizer: Tokenizer, threads: int | None = None
) -> Counts:
    """How often each word of the vocabulary occurs in each document of a corpus."""
    parts = [Words.of(chunk, vocabulary, tokenizer, threads) for chunk in corpus]
    return Words.joined(parts).counts(len(vocabulary))
