"""From a corpus to the files of a collection, in one pass and bounded memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa

from deltavec.collection import ids
from deltavec.collection.documents.arrow import ArrowWriter
from deltavec.collection.folder import documents_name
from deltavec.collection.manifest import StoredFile
from deltavec.collection.store import ID, TEXT, documents_schema, split_groups
from deltavec.collection.vectors import VectorsWriter
from deltavec.core.model import EmbeddingModel
from deltavec.core.statistics import TextCounts, warn_low_coverage
from deltavec.core.text.batches import is_text
from deltavec.core.threads import ordered_map
from deltavec.errors import CorpusError, InputError
from deltavec.io.corpus.column_types import without_missing
from deltavec.io.corpus.columns import Piece
from deltavec.io.corpus.corpus import Corpus
from deltavec.io.output.embed_to_file import Progress
from deltavec.io.output.pipeline import embedded_pieces
from deltavec.io.output.read_ahead import pieces_ahead
from deltavec.io.output.shards import EmbeddedRows, check_writable
from deltavec.search.lexical.writer import PostingsWriter

OnProgress = Callable[[Progress], None]


@dataclass(frozen=True)
class StoredColumns:
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
    def of(
        cls,
        corpus: Corpus,
        id_column: str | None,
        keep: Sequence[str],
        schema: pa.Schema | None = None,
    ) -> StoredColumns:
        """The columns asked for, if the corpus has them and they can be kept.

        Columns of text files get the types that all their values fit, unless the collection has
        a schema already, in which they are text. Ids stay as they are written.
        """
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
        corpus = corpus.typed(
            [name for name in kept if schema is None or not is_text(schema.field(name).type)]
        )
        found = corpus.schema([*([id_column] if id_column else []), *kept])
        if id_column:
            ids.require_id_type(id_column, found.field(id_column).type)
        stored = pa.schema([found.field(name).with_nullable(True) for name in kept])
        check_writable(stored)
        fresh = documents_schema(stored.remove_metadata())
        return cls(corpus, id_column or "", kept, fresh if schema is None else schema)

    @property
    def read(self) -> list[str]:
        """The columns to read beside the text."""
        return [*([self.id_column] if self.id_column else []), *self.keep]

    def ids(self, piece: Piece, first: int) -> pa.Array:
        """The ids of a piece's documents, of which the first has this number."""
        if not self.id_column:
            return ids.number_rows(first, len(piece.batch))
        return ids.as_ids(piece.batch.column(self.id_column), self.id_column, first)

    def stored(self, batch: pa.RecordBatch, texts: pa.Array, names: pa.Array) -> pa.RecordBatch:
        """A batch of the corpus as it is stored, with its texts and ids."""
        columns = [names, texts]
        for field in list(self.schema)[2:]:
            column = batch.column(field.name)
            try:
                columns.append(fit_columns(column, field.type))
            except pa.ArrowException as error:
                raise CorpusError(
                    f"{self.corpus.name}: column {field.name!r} holds {column.type}, in the "
                    f"collection it is {field.type}, and a value does not fit ({error})"
                ) from error
        return pa.record_batch(columns, schema=self.schema)


def fit_columns(column: pa.Array, kind: pa.DataType) -> pa.Array:
    """The values of a column as those of another type; an ArrowException if one does not fit."""
    if is_text(column.type) and not is_text(kind):
        column = without_missing(column)
    is_number = pa.types.is_integer(column.type) or pa.types.is_floating(column.type)
    if is_number and pa.types.is_temporal(kind):
        raise pa.ArrowInvalid("a number is no date")
    return column.cast(kind)


class Segment(NamedTuple):
    """What one pass has written."""

    vectors: StoredFile
    documents: StoredFile
    zero_rows: int
    length_error: float
    counts: TextCounts
    ids: list[pa.Array]


def write_segment(
    model: EmbeddingModel,
    columns: StoredColumns,
    folder: Path,
    number: int,
    vectors: VectorsWriter,
    *,
    words: PostingsWriter | None,
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
    words
        What takes in the words; None if they are left out, or taken in already.
    first
        The number of the first document.
    threads
        How many cores to use; all of them by default.
    on_progress
        Called after each chunk of documents.
    """
    names: list[pa.Array] = []
    counts = TextCounts()

    def named(pieces: Iterable[Piece]) -> Iterator[Piece]:
        done = first
        for piece in pieces:
            names.append(columns.ids(piece, done))
            done += len(piece.batch)
            yield piece

    def rows(pieces: Iterable[Piece]) -> Iterator[EmbeddedRows]:
        nonlocal counts
        done = 0
        for place, made in enumerate(embedded_pieces(model, named(pieces), threads)):
            if words:
                words.add(made.texts)
            counts += made.found.counts
            stored = columns.stored(made.piece.batch, made.documents, names[place])
            yield EmbeddedRows(stored, made.sizes, made.found.vectors)
            done += len(stored)
            if on_progress:
                on_progress(Progress(done, made.piece.consumed))

    def write_vectors(part: EmbeddedRows) -> EmbeddedRows:
        vectors.write(part.vectors)
        return part

    path = folder / documents_name(number)
    with ArrowWriter(path, columns.schema) as documents:

        def write_documents(group: list[EmbeddedRows]) -> None:
            documents.write([part.kept for part in group])

        with pieces_ahead(columns.corpus, columns.read) as pieces:
            # Vectors many at once, documents in groups, each behind the embedding.
            written = ordered_map(write_vectors, rows(pieces))
            for _ in ordered_map(write_documents, split_groups(written)):
                pass
        if not documents.documents:
            raise CorpusError(f"{columns.corpus.name} holds no documents")
        warn_low_coverage(counts)
        return Segment(
            vectors.finished(),
            documents.finished(),
            vectors.zero_rows,
            vectors.length_error,
            counts,
            names,
        )
