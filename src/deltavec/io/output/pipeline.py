"""The pieces of a corpus with their vectors, several at once: a free core takes the next."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from threading import Lock
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from deltavec.core.arrays import detach, mapped_file, require_mapped
from deltavec.core.batching import EmbeddedBatch, embed_batch
from deltavec.core.forms import EmbeddingTable
from deltavec.core.model import EmbeddingModel
from deltavec.core.text.batches import as_strings, as_text_batch
from deltavec.core.text.rules import TextBatch
from deltavec.core.threads import ordered_map, thread_count
from deltavec.io.corpus.columns import CHUNK_BYTES, Piece, text_sizes

LARGEST_COPIED = 1 << 29  # of rows, in bytes


class EmbeddedPiece(NamedTuple):
    """Some documents in a row, with their vectors.

    Attributes
    ----------
    piece : Piece
        The documents, and what stands beside them.
    documents : pyarrow.Array
        The documents, empty where there is none.
    texts : Texts
        The documents as they were read.
    sizes : ndarray of int64
        The bytes of each document.
    found : Embedded
        Their vectors, and their words counted.
    """

    piece: Piece
    documents: pa.Array
    texts: TextBatch
    sizes: npt.NDArray[np.int64]
    found: EmbeddedBatch


class Table:
    """The rows of a model, in memory of their own once there was more text than they have bytes.

    A copy takes as long as a tenth of the text does; a little text is not worth it.
    """

    def __init__(self, folded: EmbeddingTable) -> None:
        self._folded = folded
        self._text_left = folded.rows.nbytes
        self._lock = Lock()

    def for_text_of(self, size: int) -> EmbeddingTable:
        """The rows for so many more bytes of text.

        Raises
        ------
        InputError
            If they lie in a file that was cut short since.
        """
        with self._lock:
            rows = self._folded.rows
            require_mapped(rows)
            self._text_left -= size
            if self._text_left < 0 and rows.nbytes <= LARGEST_COPIED and mapped_file(rows):
                self._folded = replace(self._folded, rows=detach(rows))
            return self._folded


def embedded_pieces(
    model: EmbeddingModel, pieces: Iterable[Piece], threads: int | None
) -> Iterator[EmbeddedPiece]:
    """The pieces in their order, each embedded by one thread.

    A piece beyond the usual size holds a document that is worth all cores. A caller's own
    tokenizer is never called by two threads at once.
    """
    workers = 1 if callable(model.tokenizer) else thread_count(threads)
    table = Table(model.folded)

    def made(piece: Piece) -> EmbeddedPiece:
        documents = as_strings(piece.batch.column(0))
        sizes = text_sizes(documents)
        size = int(sizes.sum())
        alone = workers == 1 or size > 2 * CHUNK_BYTES
        texts = as_text_batch(documents, model.tokenizer)
        folded = table.for_text_of(size)
        found = embed_batch(texts, model.vocabulary, folded, threads if alone else 1)
        return EmbeddedPiece(piece, documents, texts, sizes, found)

    return ordered_map(made, pieces, workers)
