"""The batches of a corpus with their vectors: read ahead, and embedded on all cores."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from queue import Empty, Queue
from threading import Event, Thread
from typing import NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from deltavec.core.arrays import require_mapped
from deltavec.core.batching import EmbeddedBatch, embed_batch
from deltavec.core.model import EmbeddingModel
from deltavec.core.text.batches import as_strings, as_text_batch
from deltavec.core.text.rules import TextBatch
from deltavec.core.threads import ordered_map, thread_count
from deltavec.io.corpus.columns import Piece, text_sizes
from deltavec.io.corpus.corpus import Corpus

Item = TypeVar("Item")


class EmbeddedPiece(NamedTuple):
    """A batch of documents with their vectors.

    Attributes
    ----------
    piece : Piece
        The documents, and the columns beside them.
    documents : pyarrow.Array
        The documents, empty where they are missing.
    texts : TextBatch
        The documents as kernels read them.
    sizes : ndarray of int64
        The bytes of each document.
    found : EmbeddedBatch
        Their vectors, and their words counted.
    """

    piece: Piece
    documents: pa.Array
    texts: TextBatch
    sizes: npt.NDArray[np.int64]
    found: EmbeddedBatch


def embedded_pieces(
    model: EmbeddingModel, pieces: Iterable[Piece], threads: int | None
) -> Iterator[EmbeddedPiece]:
    """The batches in order, each embedded by one thread.

    A caller's own tokenizer is never called by two threads at once.
    """
    workers = 1 if callable(model.tokenizer) else thread_count(threads)

    def embed(piece: Piece) -> EmbeddedPiece:
        documents = as_strings(piece.batch.column(0))
        sizes = text_sizes(documents)
        texts = as_text_batch(documents, model.tokenizer)
        require_mapped(model.table.rows)
        found = embed_batch(texts, model.vocabulary, model.table, threads if workers == 1 else 1)
        return EmbeddedPiece(piece, documents, texts, sizes, found)

    return ordered_map(embed, pieces, workers)


@contextmanager
def read_ahead(items: Iterable[Item], depth: int = 2) -> Iterator[Iterator[Item]]:
    """The same items, taken by another thread up to `depth` of them ahead.

    Leaving the context stops the thread after its current item, without waiting for it: a thread
    that reads from a pipe may wait forever.
    """
    # Each item in a tuple; at the end the error, or None.
    ready: Queue[tuple[Item] | BaseException | None] = Queue(depth)
    stopped = Event()

    def fill() -> None:
        end: BaseException | None = None
        try:
            for item in items:
                ready.put((item,))
                if stopped.is_set():
                    return
        except BaseException as error:
            end = error
        ready.put(end)

    def taken() -> Iterator[Item]:
        while isinstance(entry := ready.get(), tuple):
            yield entry[0]
        if entry is not None:
            raise entry

    Thread(target=fill, name="deltavec-read-ahead", daemon=True).start()
    try:
        yield taken()
    finally:
        stopped.set()
        with suppress(Empty):
            while True:  # make room for one more item
                ready.get_nowait()


def pieces_ahead(corpus: Corpus, columns: Sequence[str]) -> AbstractContextManager[Iterator[Piece]]:
    """The documents of a corpus with other columns beside them, read ahead where that is safe."""
    pieces = corpus.pieces(columns)
    if corpus.files or corpus.text is not None:
        return read_ahead(pieces)
    return nullcontext(pieces)  # a caller's generator may belong to the caller's thread
