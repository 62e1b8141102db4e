"""Vectors of a corpus to a file, in bounded memory, so that a kill loses next to nothing.

The documents are read, embedded and written at the same time. Finished vectors go to shards in
``<output>.partial`` (see `deltavec.io.shards`); when all are there they are put together under a
temporary name, which takes the place of the output in one step.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from deltavec.core.passes import thread_count
from deltavec.errors import CorpusError, DeltavecError, InputError
from deltavec.io import shards
from deltavec.io.corpora import Corpus, read_corpus
from deltavec.io.corpus_memory import Strings
from deltavec.io.corpus_sources import Files
from deltavec.io.documents import CHUNK_BYTES, Piece, text_sizes
from deltavec.io.overlap import done_behind, read_ahead
from deltavec.io.targets import Assembly, Target

FORMAT_VERSION = 2


class Embedder(Protocol):
    """What turns documents into vectors: a fitted model."""

    @property
    def fingerprint(self) -> str:
        """A name of the content: models with the same one give the same vectors."""

    def embed(self, documents: Any, *, threads: int | None = None) -> npt.NDArray[np.float32]:
        """The documents' vectors, one a row."""


class Progress(NamedTuple):
    """How far an embedding has come.

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
    """What `embed_to_file` has written.

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
    model: Embedder,
    corpus: Any,
    output: str | os.PathLike[str],
    *,
    keep: Sequence[str] = (),
    threads: int | None = None,
    on_progress: Callable[[Progress], None] | None = None,
    on_notice: Callable[[str], None] | None = None,
    shard_documents: int = shards.SHARD_DOCUMENTS,
) -> Written:
    """The vectors of a corpus, written to a file; a run that was stopped goes on where it was.

    Parameters
    ----------
    model : Embedder
        The fitted model.
    corpus
        A `Corpus`, or whatever `deltavec.read_corpus` reads.
    output : path
        A ``.parquet`` file (the columns kept and ``embedding``, a list of float32), a ``.npy``
        file (float32, one row per document), or a folder, with a slash at its end or there
        already, for a dataset of parquet files. What stood there is replaced at the very end.
    keep : sequence of str
        Columns of the corpus to write beside the vectors.
    threads : int or None
        How many cores to use; all of them by default.
    on_progress : callable or None
        Called after each chunk of documents.
    on_notice : callable or None
        Called with a sentence when earlier work is used, or cannot be.
    shard_documents : int
        Documents in a shard: what a kill can lose.

    Returns
    -------
    Written
        How many documents, how many of them without a vector, how many from an earlier run.

    Raises
    ------
    InputError
        Before any work, if the output has another suffix, its folder is not there, or a column to
        keep is not in the corpus.
    DeltavecError
        If the disk is full or forbids writing. Finished shards stay, and the next run goes on.
    """
    if shard_documents < 1:
        raise InputError(f"shard_documents must be 1 or more, got {shard_documents}")
    documents = read_corpus(corpus)
    target = Target.of(output, keep)
    if isinstance(documents.source, Files):
        target.check_apart_from(file.path for file in documents.source.files)
    width = model.embed([]).shape[1]
    schema = shards.shard_schema(_kept_schema(documents, keep), width)
    manifest = {
        "format": FORMAT_VERSION,
        "model": model.fingerprint,
        "corpus": documents.identity,
        "keep": list(keep),
        "shard_documents": shard_documents,
    }
    notice = on_notice or (lambda sentence: None)
    with _failing_clearly(target):
        before, reason = shards.resumed(target.partial, manifest, schema, target.shard_suffix)
    done = sum(shard.documents for shard in before)
    if reason:
        notice(f"starting over: {target.partial} cannot be used, {reason}")
    elif done:
        notice(f"going on after {done:,} documents that {target.partial} holds")
    with _failing_clearly(target):
        assembly = target.assembly(schema)
    try:
        with _failing_clearly(target):
            for shard in before:
                assembly.add(shards.read_shard(shard.path))
        with _pieces(documents, keep) as pieces:
            rows = _embedded(model, _skipped(pieces, done), keep, threads, done, on_progress)
            groups = shards.in_shards(rows, shard_documents)
            fresh = list(_written(groups, schema, len(before), target, assembly))
        with _failing_clearly(target):
            assembly.finish()
    except BaseException:
        assembly.abandon()
        raise
    everything = [*before, *fresh]
    notice(f"putting {target.path.name} in its place")
    with _failing_clearly(target):
        target.put_in_place()
    return Written(
        target.path,
        sum(shard.documents for shard in everything),
        sum(shard.zero_rows for shard in everything),
        done,
    )


def _kept_schema(corpus: Corpus, keep: Sequence[str]) -> pa.Schema:
    schema = corpus.schema(keep)
    kept = pa.schema([schema.field(name) for name in keep])
    shards.check_writable(kept)
    return kept


def _pieces(corpus: Corpus, keep: Sequence[str]) -> AbstractContextManager[Iterator[Piece]]:
    pieces = corpus.pieces(keep)
    if isinstance(corpus.source, Strings):
        return nullcontext(pieces)  # a caller's generator may belong to the caller's thread
    return read_ahead(pieces)


def _skipped(pieces: Iterable[Piece], count: int) -> Iterator[Piece]:
    """The pieces after so many documents."""
    for batch, consumed in pieces:
        if count < len(batch):
            yield Piece(batch.slice(count), consumed)
        count = max(0, count - len(batch))
    if count:
        raise CorpusError(
            f"the corpus ends {count:,} documents before the vectors already written for it; "
            "its files must have changed: remove the .partial folder and run again"
        )


def _embedded(
    model: Embedder,
    pieces: Iterable[Piece],
    keep: Sequence[str],
    threads: int | None,
    done: int,
    on_progress: Callable[[Progress], None] | None,
) -> Iterator[shards.Rows]:
    """The rows of the pieces, several at once: a core that is done goes on with the next piece.

    A piece beyond the usual size holds a document that is worth all cores. A caller's own
    tokenizer is never called by two threads at once.
    """
    workers = 1 if callable(getattr(model, "tokenizer", None)) else thread_count(threads)

    def embedded(piece: Piece) -> tuple[shards.Rows, float | None]:
        batch, consumed = piece
        texts = batch.column(0).fill_null("")
        sizes = text_sizes(texts)
        alone = workers == 1 or sizes.sum() > 2 * CHUNK_BYTES
        vectors = model.embed(texts, threads=threads if alone else 1)
        return shards.Rows(batch.select(list(keep)), sizes, vectors), consumed

    for rows, consumed in done_behind(embedded, pieces, workers + 1, workers):
        done += len(rows.vectors)
        if on_progress:
            on_progress(Progress(done, consumed))
        yield rows


def _written(
    groups: Iterable[list[shards.Rows]],
    schema: pa.Schema,
    first: int,
    target: Target,
    assembly: Assembly,
) -> Iterator[shards.Shard]:
    """The shards, written behind the embedding; an empty corpus has one, without rows.

    Each goes to the output as well, while the next are embedded: putting all of them together
    afterwards would leave the other cores idle.
    """

    def written(number: int, table: pa.Table) -> shards.Shard:
        with _failing_clearly(target):
            path = shards.shard_path(target.partial, number, target.shard_suffix)
            shard = shards.write_shard(path, table)
            assembly.add(table)
            return shard

    def write(numbered: tuple[int, list[shards.Rows]]) -> shards.Shard:
        number, group = numbered
        return written(number, shards.as_table(group, schema))

    none = True
    for shard in done_behind(write, enumerate(groups, first)):
        none = False
        yield shard
    if none and first == 0:
        yield written(0, schema.empty_table())


@contextmanager
def _failing_clearly(target: Target) -> Iterator[None]:
    """Within it, what the disk refuses is one clear error."""
    try:
        yield
    except OSError as error:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
        advice = "make room" if full else "see that the folder can be written"
        raise DeltavecError(
            f"cannot write {target.path}: {error.strerror or error}; {advice} and run again: "
            f"what {target.partial} holds is kept"
        ) from error
