"""The pieces of a corpus with their vectors, several at once: a free core takes the next."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from deltavec.core.arrays import require_mapped
from deltavec.core.kernels import Texts
from deltavec.core.model import EmbeddingModel
from deltavec.core.passes import Embedded, embedded
from deltavec.core.texts import as_texts
from deltavec.core.threads import in_order, thread_count
from deltavec.io.corpus.columns import CHUNK_BYTES, Piece, text_sizes


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
    texts: Texts
    sizes: npt.NDArray[np.int64]
    found: Embedded


def embedded_pieces(
    model: EmbeddingModel, pieces: Iterable[Piece], threads: int | None
) -> Iterator[EmbeddedPiece]:
    """The pieces in their order, each embedded by one thread.

    A piece beyond the usual size holds a document that is worth all cores. A caller's own
    tokenizer is never called by two threads at once.
    """
    workers = 1 if callable(model.tokenizer) else thread_count(threads)

    def made(piece: Piece) -> EmbeddedPiece:
        documents = piece.batch.column(0).fill_null("")
        sizes = text_sizes(documents)
        alone = workers == 1 or sizes.sum() > 2 * CHUNK_BYTES
        texts = as_texts(documents, model.tokenizer)
        require_mapped(model.folded.rows)
        found = embedded(texts, model.vocabulary, model.folded, threads if alone else 1)
        return EmbeddedPiece(piece, documents, texts, sizes, found)

    return in_order(made, pieces, workers)
