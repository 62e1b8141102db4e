"""Vectors of a corpus to a file, in bounded memory, so that a kill loses next to nothing.

The documents are read, embedded and written at the same time. Finished vectors go to the folder
``<output>.partial`` in shards (see `deltavec.io.output.shards`). When all are there, the file or
the folder takes the place of the output in one step.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

from deltavec.core.arguments import require_whole
from deltavec.core.model import EmbeddingModel
from deltavec.core.statistics import TextCounts, warn_low_coverage
from deltavec.core.threads import ordered_map
from deltavec.errors import CorpusError
from deltavec.io.corpus.columns import Piece
from deltavec.io.corpus.corpus import Corpus, open_corpus
from deltavec.io.corpus.files import COLUMN, Reading
from deltavec.io.output import shards
from deltavec.io.output.pipeline import embedded_pieces
from deltavec.io.output.read_ahead import pieces_ahead
from deltavec.io.output.shards import Shard
from deltavec.io.output.sink import Store, Target

FORMAT_VERSION = 1


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
    """The vectors of a corpus, written to a file; a run that was stopped goes on where it was.

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
        Parquet files. What stood there is replaced at the very end.
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
    documents = open_corpus(corpus, Reading(expected=model.notes.get(COLUMN)))
    target = Target.of(output, keep)
    target.check_apart_from(file.path for file in documents.files if not file.stream)
    width = model.embed([]).shape[1]
    schema = shards.shard_schema(_kept_schema(documents, keep), width)
    manifest = {
        "format": FORMAT_VERSION,
        "model": model.fingerprint,
        "corpus": documents.identity,
        "keep": list(keep),
        "shard_documents": shard_documents,
    }
    schema = shards.of_run(schema, manifest)
    notice = on_notice or (lambda sentence: None)
    met: list[TextCounts] = []
    with target.alone() as require_ours:
        with target.failing_clearly():
            reason = shards.prepare(target.partial, manifest)
        if reason:
            notice(f"starting over: {target.partial} cannot be used, {reason}")
        with target.store(schema) as store:
            done = sum(rows.documents for rows in store.before)
            if done:
                notice(f"going on after {done:,} documents that {target.partial} holds")
            with pieces_ahead(documents, keep) as pieces:
                rest = _skipped(pieces, done)
                rows = _embedded(model, rest, keep, threads, done, on_progress, met)
                groups = shards.in_shards(rows, shard_documents)
                fresh = list(_written(groups, schema, target, store, require_ours))
        everything = [*store.before, *fresh]
        notice(f"putting {target.path.name} in its place")
        with target.failing_clearly():
            require_ours()
            target.put_in_place(store.path)
    warn_low_coverage(sum(met, TextCounts()))
    return Written(
        target.path,
        sum(rows.documents for rows in everything),
        sum(rows.zero_rows for rows in everything),
        done,
    )


def _kept_schema(corpus: Corpus, keep: Sequence[str]) -> pa.Schema:
    schema = corpus.schema(keep)
    kept = pa.schema([schema.field(name) for name in keep])
    shards.check_writable(kept)
    return kept


def _skipped(pieces: Iterable[Piece], count: int) -> Iterator[Piece]:
    """The pieces after so many documents."""
    for piece in pieces:
        if count == 0:
            yield piece
        elif count < len(piece.batch):
            yield Piece(piece.batch.slice(count), piece.consumed)
        count = max(0, count - len(piece.batch))
    if count:
        raise CorpusError(
            f"the corpus ends {count:,} documents before the vectors already written for it; "
            "its files must have changed: remove the .partial folder and run again"
        )


def _embedded(
    model: EmbeddingModel,
    pieces: Iterable[Piece],
    keep: Sequence[str],
    threads: int | None,
    done: int,
    on_progress: Callable[[Progress], None] | None,
    met: list[TextCounts],
) -> Iterator[shards.EmbeddedRows]:
    """The rows of the pieces; what is met in them, and how far it is, is told."""
    for made in embedded_pieces(model, pieces, threads):
        met.append(made.found.counts)
        vectors = made.found.vectors
        done += len(vectors)
        if on_progress:
            on_progress(Progress(done, made.piece.consumed))
        yield shards.EmbeddedRows(made.piece.batch.select(list(keep)), made.sizes, vectors)


def _written(
    groups: Iterable[list[shards.EmbeddedRows]],
    schema: pa.Schema,
    target: Target,
    store: Store,
    require_ours: Callable[[], None],
) -> Iterator[Shard]:
    """What is written behind the embedding; of an empty corpus, one group without rows."""

    def write(group: list[shards.EmbeddedRows]) -> Shard:
        table = shards.as_table(group, schema)
        with target.failing_clearly():
            require_ours()
            return store.add(table)

    none = not store.before
    for finished in ordered_map(write, groups):
        none = False
        yield finished
    if none:
        yield write([])
