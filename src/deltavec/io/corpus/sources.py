"""A corpus: documents in chunks of bounded size, and the corpus in files.

Each kind of corpus says what columns it has and gives its documents piece by piece; what is common
to all of them (bounded chunks, progress) is done once.
"""

from __future__ import annotations

import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import pyarrow as pa

from deltavec.core.text.batches import Once, as_strings
from deltavec.errors import CorpusError
from deltavec.io.corpus.column_types import Kind, Seen, without_missing
from deltavec.io.corpus.columns import Piece, bounded, checked_columns, checked_text_type
from deltavec.io.corpus.files import CorpusFile, Reading
from deltavec.io.corpus.formats import TEXT, Wanted, text_schema
from deltavec.io.corpus.sniff import Head, file_pieces, first_rows, head_of, require_use
from deltavec.io.corpus.text_column import Chosen, chosen_column


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Corpus(ABC):
    """Documents in chunks of bounded size, the same ones in the same order each time.

    Iterating gives Arrow ``string`` arrays without nulls, of about 4 MB of text or 65,536
    documents each.

    Attributes
    ----------
    name : str
        What people call the source, such as the path of a file.
    column : str
        The name of the documents' column.
    documents : int or None
        How many documents there are, if that is known without reading them.
    identity : str or None
        A text that changes when the files do; None for what is not in files.
    note : str or None
        A sentence about what was found out and not told: which column holds the documents.
    once : Once or None
        What keeps documents that are gone once read from being read again.
    on_consumed : callable or None
        Told the fraction of the source consumed after each chunk.
    on_documents : callable or None
        Told how many documents each chunk held.
    kinds : mapping of str to Kind
        What the values of columns of text stand for; see `typed`.
    """

    name: str
    column: str
    documents: int | None = None
    identity: str | None = None
    note: str | None = None
    once: Once | None = None
    on_consumed: Callable[[float], None] | None = None
    on_documents: Callable[[int], None] | None = None
    kinds: Mapping[str, Kind] = field(default_factory=dict)

    def __iter__(self) -> Iterator[pa.Array]:
        for piece in self.pieces():
            yield as_strings(piece.batch.column(0))

    def __repr__(self) -> str:
        return f"Corpus({self.name!r}, column={self.column!r})"

    @property
    def one_shot(self) -> bool:
        """Whether the documents can be read only once (standard input, a generator)."""
        return self.once is not None

    @property
    @abstractmethod
    def columns(self) -> list[str]:
        """The names of all columns, the documents' own among them."""

    @abstractmethod
    def read_schema(self, keep: Sequence[str]) -> pa.Schema:
        """The documents' column, then those to keep, with their types."""

    @abstractmethod
    def read_pieces(self, keep: Sequence[str]) -> Iterator[Piece]:
        """The documents, the columns to keep beside them, in pieces of any size."""

    def schema(self, columns: Sequence[str] = ()) -> pa.Schema:
        """What `batches` of the same columns will have: the documents first, then the others."""
        found = self.read_schema(self._beside(columns))
        types = [
            self.kinds[column.name].type if column.name in self.kinds else column.type
            for column in found
        ]
        return pa.schema(list(zip(found.names, types, strict=True)))

    def batches(self, columns: Sequence[str] = ()) -> Iterator[pa.RecordBatch]:
        """The documents, with other columns beside them.

        Parameters
        ----------
        columns : sequence of str
            Columns to read with the documents. Those of csv, tsv and jsonl files are text unless
            `typed` has given them types; those of parquet files and of tables keep theirs.

        Yields
        ------
        pyarrow.RecordBatch
            The documents' column first, then the others in the order asked for.

        Raises
        ------
        CorpusError
            If a column is not there, or the documents turn out to be unreadable.
        """
        return (piece.batch for piece in self.pieces(columns))

    def pieces(self, columns: Sequence[str] = ()) -> Iterator[Piece]:
        """The same as `batches`, each with the fraction of the source read by then."""
        beside = self._beside(columns)
        self.read_schema(beside)
        if self.once:
            self.once.take()
        return self._reported(map(self._parsed, bounded(self.read_pieces(beside))))

    def typed(self, columns: Sequence[str]) -> Corpus:
        """A copy in which columns of text are numbers, dates or booleans, where all values are.

        Columns of csv, tsv and jsonl files are read once for it, from the first row to the last.
        Where a single value does not fit the column stays text, as all columns do of what can be
        read only once. Nothing, and ``NA``, ``N/A``, ``NaN``, ``null`` and ``None``, is a missing
        value in a column that has a type.
        """
        return self

    def watched(
        self, callback: Callable[[float], None], on_documents: Callable[[int], None] | None = None
    ) -> Corpus:
        """A copy that reports the fraction of the source consumed after each chunk.

        A source of unknown size (standard input, a generator) reports only its end, as 1.0. If
        asked to, the copy also says how many documents each chunk held.
        """
        return replace(self, on_consumed=callback, on_documents=on_documents)

    def _parsed(self, piece: Piece) -> Piece:
        """A piece, with columns of text as what they stand for."""
        if not self.kinds:
            return piece
        batch = piece.batch
        for place, name in enumerate(batch.schema.names):
            if place and name in self.kinds:
                kind = self.kinds[name]
                values = kind.values(without_missing(batch.column(place)))
                if values is None:
                    raise CorpusError(
                        f"{self.name}: a value of the column {name!r} is no {kind.type}, as all "
                        "were before: the file has changed meanwhile"
                    )
                batch = batch.set_column(place, name, values)
        return Piece(batch, piece.consumed)

    def _beside(self, columns: Sequence[str]) -> list[str]:
        return [name for name in dict.fromkeys(columns) if name != self.column]

    def _reported(self, pieces: Iterator[Piece]) -> Iterator[Piece]:
        last: float | None = None
        for piece in pieces:
            yield piece
            if self.on_consumed and piece.consumed is not None:
                last = piece.consumed
                self.on_consumed(last)
            if self.on_documents:
                self.on_documents(len(piece.batch))
        if self.on_consumed and last != 1.0:
            self.on_consumed(1.0)


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class FileCorpus(Corpus):
    """Documents in one file or several, read one after the other."""

    files: tuple[CorpusFile, ...]
    schemas: tuple[pa.Schema, ...]

    @classmethod
    def checked(cls, name: str, files: tuple[CorpusFile, ...], reading: Reading) -> FileCorpus:
        """The files, each opened once to see that it has the documents' column."""
        require_use(reading, [file.format for file in files], name)
        heads = [head_of(file, reading.column) for file in files]
        chosen = _chosen(heads, reading)
        for head in heads:
            if head.file.format != "txt":
                where = str(head.file.path)
                checked_columns(where, [chosen.column], head.schema)
                checked_text_type(where, chosen.column, head.schema.field(chosen.column).type)
        counts = [head.documents for head in heads]
        known = [count for count in counts if count is not None]
        return cls(
            name=name,
            column=chosen.column,
            documents=sum(known) if len(known) == len(counts) else None,
            identity=_identity(chosen.column, files),
            note="; ".join(filter(None, [*(head.note for head in heads), chosen.note])) or None,
            files=tuple(head.file for head in heads),
            schemas=tuple(
                text_schema([chosen.column]) if head.file.format == "txt" else head.schema
                for head in heads
            ),
        )

    @property
    def columns(self) -> list[str]:
        """The columns that every file has."""
        return [
            name
            for name in dict.fromkeys(self.schemas[0].names)
            if all(name in schema.names for schema in self.schemas)
        ]

    def read_schema(self, keep: Sequence[str]) -> pa.Schema:
        """The types that hold the values of every file."""
        for file, schema in zip(self.files, self.schemas, strict=True):
            checked_columns(str(file.path), keep, schema)
        kept = [pa.schema([schema.field(name) for name in keep]) for schema in self.schemas]
        try:
            together = pa.unify_schemas(
                [schema.remove_metadata() for schema in kept], promote_options="permissive"
            )
        except pa.ArrowTypeError as error:
            raise CorpusError(
                f"{self.name}: a column to keep has other types in other files ({error}); "
                "write the files with the same types"
            ) from error
        return pa.schema([(self.column, pa.string()), *zip(keep, together.types, strict=True)])

    def typed(self, columns: Sequence[str]) -> Corpus:
        """A copy in which columns of text have types; see `Corpus.typed`."""
        keep = self._beside(columns)
        self.read_schema(keep)  # an unknown column is an error before any reading
        if not keep or any(file.format == "parquet" for file in self.files):
            return self
        seen = {name: Seen() for name in keep}
        for file in self.files:
            for piece in file_pieces(file, Wanted(str(file.path), None, tuple(keep))):
                for name, column in seen.items():
                    column.look_at(piece.batch.column(name))
                if not any(column.kinds for column in seen.values()):
                    return self
        kinds = {name: column.kind for name, column in seen.items() if column.kind}
        return replace(self, kinds=kinds)

    def read_pieces(self, keep: Sequence[str]) -> Iterator[Piece]:
        """The documents of all files, and the fraction of their bytes read."""
        types = self.read_schema(keep).types
        total = max(1, sum(file.size for file in self.files))
        before = 0
        for file in self.files:
            wanted = Wanted(str(file.path), self.column, tuple(keep))
            for piece in file_pieces(file, wanted):
                done = (before + (piece.consumed or 0.0) * file.size) / total
                if keep:
                    yield Piece(_with_types(piece.batch, types), done)
                else:
                    yield piece._replace(consumed=done)
            before += file.size


def _with_types(batch: pa.RecordBatch, types: Sequence[pa.DataType]) -> pa.RecordBatch:
    kept = [column.cast(kind) for column, kind in zip(batch.columns[1:], types[1:], strict=True)]
    return pa.record_batch([batch.column(0), *kept], names=batch.schema.names)


def _chosen(heads: Sequence[Head], reading: Reading) -> Chosen:
    """The documents' column: as it is told, or by the first file that is a table."""
    if reading.column is not None:
        return Chosen(reading.column)
    for head in heads:
        if head.file.format != "txt":
            rows = partial(first_rows, head.file)
            return chosen_column(str(head.file.path), head.schema, reading.expected, rows)
    return Chosen(reading.expected or TEXT)


def _identity(column: str, files: Sequence[CorpusFile]) -> str:
    facts = [
        [str(file.path.resolve()), file.format, file.size, file.modified]
        + [given for given in (file.encoding, file.delimiter) if given is not None]
        for file in files
    ]
    return hashlib.sha256(json.dumps([column, facts]).encode()).hexdigest()
