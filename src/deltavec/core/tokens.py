"""Token ids of documents, a buffer at a time, and the distinct terms of each document.

The tokenizer is one kernel, which is called from here only. Whatever is made of documents (counts,
vectors, postings, co-occurrences) is made from the ids that it writes, by small kernels.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from deltavec.core.arrays import Int32s, extend
from deltavec.core.kernels.count import DocumentTerms, collect_terms
from deltavec.core.kernels.hashing import VocabTable
from deltavec.core.kernels.tokenize import IDS_AT_ONCE, GrowingTable, TokenBuffers, scan_documents
from deltavec.core.text.rules import TextBatch

TERMS_AT_ONCE = 1 << 20
DOCUMENTS_AT_ONCE = 1 << 16
NOT_GROWING = GrowingTable(
    np.zeros(0, np.uint64), np.zeros(0, np.uint8), np.zeros(0, np.int64), np.zeros(1, np.int64)
)


@dataclass
class TokenStream:
    """The token ids of documents from one on, before another, each document closed by -1.

    Attributes
    ----------
    texts
        The documents.
    document, last
        The document to go on with, and the first that is left out.
    buffers
        What the kernel writes.
    tokens
        How many tokens were read so far, known or not.
    """

    texts: TextBatch
    document: int
    last: int
    buffers: TokenBuffers
    tokens: int = 0

    def __post_init__(self) -> None:
        self.position = int(self.texts.ends[self.document])
        self.ngrams = (True,) if self.texts.rule.gram else ()
        self.unspaced: tuple[bool, ...] = ()

    def __bool__(self) -> bool:
        return self.document < self.last

    def read(self, words: VocabTable, growing: GrowingTable = NOT_GROWING) -> Int32s:
        """The next ids, in a buffer that the next call writes over.

        Ends early if ``growing`` is full. The loop for scripts without spaces is compiled only if
        the documents have any.
        """
        document, position, known, passed, stopped = scan_documents(
            self.texts,
            self.document,
            self.position,
            self.last,
            words,
            growing,
            self.buffers,
            self.ngrams,
            self.unspaced,
        )
        if stopped:
            self.unspaced = (True,)
        self.document, self.position = int(document), int(position)
        self.tokens += int(passed)
        return self.buffers.ids[:known]

    def ids(self, words: VocabTable) -> Iterator[Int32s]:
        """All ids, in a buffer that is written over again and again."""
        while self:
            yield self.read(words)


class TermBuffers:
    """Room to list the distinct terms of documents, for vocabularies of up to so many words."""

    def __init__(self, words: int, longest: int) -> None:
        documents = DOCUMENTS_AT_ONCE + IDS_AT_ONCE
        self.tokens = TokenBuffers.of(longest)
        self.occurrences = np.zeros(words, np.int32)
        self.terms = DocumentTerms(
            np.empty(0, np.int32),
            np.empty(0, np.int64),
            np.zeros(documents + 1, np.int64),
            np.empty(documents, np.int64),
        )
        self.progress = np.zeros(3, np.int64)
        self.grow(words)

    def grow(self, words: int) -> None:
        """Make room for a vocabulary of so many words."""
        self.occurrences = extend(self.occurrences, words)
        # For what is found at once, for the rest of a document, whatever it holds, and for the term
        # written in vain.
        size = TERMS_AT_ONCE + IDS_AT_ONCE + words + 1
        listed = int(self.progress[1])
        ids, counts = np.empty(size, np.int32), np.empty(size, np.int64)
        ids[:listed], counts[:listed] = self.terms.ids[:listed], self.terms.counts[:listed]
        self.terms = self.terms._replace(ids=ids, counts=counts)
        self.shares = np.empty(size, np.float32)  # what embedding makes of the counts

    def documents(self, ids: Iterable[Int32s], lead: int = 0) -> Iterator[DocumentTerms]:
        """The documents whose token ids these are, many at a time.

        The arrays are written over when the next ones are asked for. Counts are `IN_LEAD` higher
        for each occurrence in the lead.
        """
        for some in ids:
            collect_terms(some, self.occurrences, lead, self.terms, self.progress)
            if self.progress[0] >= DOCUMENTS_AT_ONCE or self.progress[1] >= TERMS_AT_ONCE:
                yield self._complete()
                self._drop()
        yield self._complete()
        self._drop()

    def _complete(self) -> DocumentTerms:
        """The complete documents."""
        documents = int(self.progress[0])
        end = int(self.terms.ends[documents])
        ids, counts, ends, lengths = self.terms
        return DocumentTerms(ids[:end], counts[:end], ends[: documents + 1], lengths[:documents])

    def _drop(self) -> None:
        """Forget the complete documents."""
        documents, listed, _ = self.progress.tolist()
        begin = int(self.terms.ends[documents])
        self.terms.ids[: listed - begin] = self.terms.ids[begin:listed]
        self.progress[:2] = 0, listed - begin
