"""From a corpus to the files of a collection, in one pass and bounded memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa

from deltavec.collection import ids
from deltavec.collection.coverage import TextCounts
from deltavec.collection.description import StoredFile
from deltavec.collection.documents import ID, TEXT, DocumentsWriter, documents_schema, in_groups
from deltavec.collection.vectors import VectorsWriter
from deltavec.core.model import EmbeddingModel
from deltavec.core.passes import counted
from deltavec.core.texts import as_texts
from deltavec.errors import CorpusError, InputError
from deltavec.io.corpora import Corpus
from deltavec.io.corpus_memory import Strings
from deltavec.io.documents import Piece, text_sizes
from deltavec.io.overlap import done_behind, read_ahead
from deltavec.io.shards import Rows, check_writable
from deltavec.io.sinks import Progress

OnProgress = Callable[[Progress], None]


@dataclass(frozen=True)
class Columns:
    """Which columns of a corpus go into a collection.

    Attributes
    ----------
    corpus : Corpus
        The documents.
    id_column : str
        Where their ids are; empty to number them.
    keep : tuple of str
        The columns kept beside id and text.
    schema : pyarrow.Schema
        What is stored.
    """

    corpus: Corpus
    id_column: str
    keep: tuple[str, ...]
    schema: pa.Schema

    @classmethod
    def of(cls, corpus: Corpus, id_column: str | None, keep: Sequence[str]) -> Columns:
        """The columns asked for, if the corpus has them and they can be kept."""
        if isinstance(keep, str):
            raise InputError(f"keep must be a list of columns, got the string {keep!r}")
        if id_column == corpus.column:
            raise InputError(f"the column {id_column!r} holds the text; name another for the ids")
        kept = tuple(name for name in dict.fromkeys(keep) if name not in (corpus.column, id_column))
        for name in kept:
            if name in (ID, TEXT):
                what = "ids" if name == ID else "texts"
                raise InputError(
                    f"a column called {name!r} cannot be kept beside the {what}, which have that "
                    f"name: let it hold the {what}, or rename it"
                )
        found = corpus.schema([*([id_column] if id_column else []), *kept])
        if id_column:
            ids.require_id_type(id_column, found.field(id_column).type)
        stored = pa.schema([found.field(name).with_nullable(True) for name in kept])
        check_writable(stored)
        return cls(corpus, id_column or "", kept, documents_schema(stored.remove_metadata()))

    @property
    def read(self) -> list[str]:
        """The columns to read beside the text."""
        return [*([self.id_column] if self.id_column else []), *self.keep]

    def ids(self, batch: pa.RecordBatch, first: int) -> pa.Array:
        """The ids of a batch's documents, of which the first has this number."""
        if not self.id_column:
            return ids.numbered(first, len(batch))
        return ids.as_ids(batch.column(self.id_column), self.id_column, first)

    def stored(self, batch: pa.RecordBatch, names: pa.Array) -> pa.RecordBatch:
        """A batch of the corpus as it is stored."""
        columns = [names, batch.column(0).fill_null("")]
        for field in list(self.schema)[2:]:
            column = batch.column(field.name)
            try:
                columns.append(column.cast(field.type))
            except pa.ArrowException as error:
                raise CorpusError(
                    f"{self.corpus.name}: column {field.name!r} holds {column.type}, in the "
                    f"collection it is {field.type}, and a value does not fit ({error})"
                ) from error
        return pa.record_batch(columns, schema=self.schema)


class Segment(NamedTuple):
    """What one pass has written."""

    vectors: StoredFile
    documents: StoredFile
    zero_rows: int
    counts: TextCounts
    ids: list[pa.Array]


def write_segment(
    model: EmbeddingModel,
    columns: Columns,
    folder: Path,
    number: int,
    vectors: VectorsWriter,
    *,
    first: int = 0,
    threads: int | None = None,
    on_progress: OnProgress | None = None,
) -> Segment:
    """Write the documents of a corpus and their vectors to new files.

    Parameters
    ----------
    model
        What makes the vectors.
    columns
        The corpus, and what is kept of it.
    folder, number
        Where the files go, and the number in their names.
    vectors
        Where the vectors go; those of earlier documents are there already.
    first
        The number of the first document.
    threads
        How many cores to use; all of them by default.
    on_progress
        Called after each chunk of documents.
    """
    names: list[pa.Array] = []
    counts = TextCounts()

    def rows(pieces: Iterable[Piece]) -> Iterator[Rows]:
        nonlocal counts
        done = 0
        for batch, consumed in pieces:
            texts = batch.column(0).fill_null("")
            chunk = as_texts(texts, model.tokenizer)
            counts += TextCounts.of(counted(chunk, model.vocabulary, threads))
            names.append(columns.ids(batch, first + done))
            done += len(batch)
            embedded = model.embed(texts, threads=threads)
            yield Rows(columns.stored(batch, names[-1]), text_sizes(texts), embedded)
            if on_progress:
                on_progress(Progress(done, consumed))

    path = folder / f"documents-{number:06}.parquet"
    with DocumentsWriter(path, columns.schema) as documents:

        def write(group: list[Rows]) -> None:
            for part in group:
                vectors.write(part.vectors)
            documents.write([part.kept for part in group])

        with pieces_of(columns) as pieces:
            for _ in done_behind(write, in_groups(rows(pieces))):
                pass
        if not documents.documents:
            raise CorpusError(f"{columns.corpus.name} holds no documents")
        return Segment(vectors.finished(), documents.finished(), vectors.zero_rows, counts, names)


def pieces_of(columns: Columns) -> AbstractContextManager[Iterator[Piece]]:
    """The documents piece by piece, read ahead where that is safe."""
    pieces = columns.corpus.pieces(columns.read)
    if isinstance(columns.corpus.source, Strings):
        return nullcontext(pieces)  # a caller's generator may belong to the caller's thread
    return read_ahead(pieces)
