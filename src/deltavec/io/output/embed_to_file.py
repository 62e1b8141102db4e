"""Embed a corpus to a file, in bounded memory; a killed run can be resumed.

The documents are read, embedded and written at the same time. Finished vectors go to the folder
``<output>.partial`` in shards (see `deltavec.io.output.shards`). At the end the file or the folder
replaces the output in one step.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from queue import Empty, Queue
from threading import Event, Thread
from typing import Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from deltavec.core.arguments import require_whole
from deltavec.core.arrays import require_mapped
from deltavec.core.batching import EmbeddedBatch, embed_batch
from deltavec.core.model import EmbeddingModel
from deltavec.core.statistics import TextCounts, warn_low_coverage
from deltavec.core.text.batches import as_strings, as_text_batch
from deltavec.core.text.rules import TextBatch
from deltavec.core.threads import ordered_map, thread_count
from deltavec.errors import CorpusError
from deltavec.io.corpus.columns import Piece, text_sizes
from deltavec.io.corpus.corpus import Corpus, open_corpus
from deltavec.io.corpus.files import COLUMN, Reading
from deltavec.io.output import shards
from deltavec.io.output.shards import EmbeddedRows, Target, open_sink
from deltavec.io.remote import address_of, uploading

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


FORMAT_VERSION = 1


class Progress(NamedTuple):
    """The progress of an embedding run.

    Attributes
    ----------
    documents : int
        Documents embedded so far, those of earlier runs included.
    fraction : float or None
        Fraction of the corpus read, None where its size is unknown.
    """

    documents: int
    fraction: float | None


@dataclass(frozen=True)
class Written:
    """The result of `embed_to_file`.

    Attributes
    ----------
    path : Path
        The file, or the folder of parquet files.
    documents : int
        Its rows.
    zero_rows : int
        Those of them that are zero: documents without known words.
    resumed_documents : int
        Those that an earlier, unfinished run had embedded.
    """

    path: Path
    documents: int
    zero_rows: int
    resumed_documents: int


def embed_to_file(
    model: EmbeddingModel,
    corpus: Any,
    output: str | os.PathLike[str],
    *,
    keep: Sequence[str] = (),
    threads: int | None = None,
    on_progress: Callable[[Progress], None] | None = None,
    on_notice: Callable[[str], None] | None = None,
    shard_documents: int = shards.SHARD_DOCUMENTS,
) -> Written:
    """Write the vectors of a corpus to a file; a run that was stopped is resumed.

    Parameters
    ----------
    model : EmbeddingModel
        The fitted model.
    corpus
        A `Corpus`, or whatever `deltavec.read_corpus` reads.
    output : path
        A ``.parquet`` or ``.arrow`` file (the columns kept and ``embedding``, a list of float32;
        Arrow IPC is faster to write and can be memory-mapped), a ``.npy`` file (float32, one row
        per document), or a folder, with a slash at its end or there already, for a dataset of
        Parquet files. An existing output is replaced at the very end. Or an address such as
        ``s3://bucket/vectors.parquet``, to which a finished local file is copied.
    keep : sequence of str
        Columns of the corpus to write beside the vectors.
    threads : int or None
        How many cores to use; all of them by default.
    on_progress : callable or None
        Called after each chunk of documents.
    on_notice : callable or None
        Called with a sentence when earlier work is used, or cannot be.
    shard_documents : int
        Documents that are written at once: what a kill can lose.

    Returns
    -------
    Written
        How many documents, how many of them without a vector, how many from an earlier run.

    Warns
    -----
    LowCoverageWarning
        If the model knows less than half of the words, or nothing of nearly all documents.

    Raises
    ------
    InputError
        Before any work, if the output has another suffix, its folder is not there, or a column to
        keep is not in the corpus, or another run writes to the same output.
    DeltavecError
        If the disk is full or forbids writing. What is finished stays, and the next run goes on.
    """
    require_whole("shard_documents", shard_documents)
    if address := address_of(output):
        with uploading(address) as local:
            how: Any = {"on_progress": on_progress, "on_notice": on_notice, "keep": keep}
            how |= {"threads": threads, "shard_documents": shard_documents}
            written = embed_to_file(model, corpus, local, **how)
        return replace(written, path=Path(address))
    documents = open_corpus(corpus, Reading(expected=model.notes.get(COLUMN)))
    target = Target.of(output, keep)
    target.check_apart_from(file.path for file in documents.files if not file.stream)
    kept = pa.schema([documents.schema(keep).field(name) for name in keep])
    shards.check_writable(kept)
    manifest = {
        "format": FORMAT_VERSION,
        "model": model.fingerprint,
        "corpus": documents.identity,
        "keep": list(keep),
        "shard_documents": shard_documents,
    }
    schema = shards.shard_schema(kept, model.dimensions, manifest)
    counts = TextCounts()

    def rows(pieces: Iterator[Piece]) -> Iterator[EmbeddedRows]:
        nonlocal counts
        done = sink.resumed
        for made in embedded_pieces(model, skip_documents(pieces, done), threads):
            counts += made.found.counts
            done += len(made.sizes)
            if on_progress:
                on_progress(Progress(done, made.piece.consumed))
            yield EmbeddedRows(made.piece.batch.select(list(keep)), made.sizes, made.found.vectors)

    notice = on_notice or (lambda sentence: None)
    with open_sink(target, schema, manifest, notice) as sink:
        with pieces_ahead(documents, keep) as pieces:
            groups = shards.in_shards(rows(pieces), shard_documents)
            for _ in ordered_map(sink.add, groups):  # written while the next are embedded
                pass
        if not sink.shards:
            sink.add([])
    warn_low_coverage(counts)
    documents_written, zeros = (sum(one) for one in list(zip(*sink.shards, strict=True))[1:])
    return Written(target.path, documents_written, zeros, sink.resumed)


def skip_documents(pieces: Iterable[Piece], count: int) -> Iterator[Piece]:
    """The pieces after the first `count` documents."""
    for piece in pieces:
        if count == 0:
            yield piece
        elif count < len(piece.batch):
            yield Piece(piece.batch.slice(count), piece.consumed)
        count = max(0, count - len(piece.batch))
    if count:
        raise CorpusError(
            f"the corpus ends {count:,} documents before the vectors already written for it: its "
            "files have changed; remove the .partial folder and run again"
        )
