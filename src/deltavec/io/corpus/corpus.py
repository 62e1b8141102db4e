"""A corpus: documents from files, streams, frames and iterables, in chunks of bounded size.

``read_corpus`` opens files and checks their columns at once, so that a wrong name is an error now
and not after an hour. The documents themselves are read chunk by chunk, and again from the start
each time the corpus is iterated over.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Sized
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from deltavec.core.arguments import require_one_of
from deltavec.core.text.batches import (
    Once,
    as_arrow,
    as_strings,
    describe,
    replace_missing,
    string_array,
)
from deltavec.errors import CorpusError
from deltavec.io.corpus.blocks import Stream, checked_encoding
from deltavec.io.corpus.columns import (
    CHUNK_DOCUMENTS,
    Kind,
    Piece,
    Seen,
    bounded,
    require_columns,
    require_text,
    text_schema,
    without_missing,
)
from deltavec.io.corpus.files import (
    FORMATS,
    SUFFIXES,
    TEXT,
    WHOLE,
    CorpusFile,
    Reading,
    find_files,
    require_use,
)
from deltavec.io.corpus.readers import checked_delimiter, choose_column, read_pieces, sniff
from deltavec.io.remote import address_of, fetch, open_dataset

STRINGS_AT_ONCE = 1024


def describe_type(source: Any) -> str:
    """The type of an object, with the package for columns and tables."""
    package, name = type(source).__module__.partition(".")[0], type(source).__name__
    return f"{package} {name}" if package in ("pandas", "polars", "pyarrow") else name


def document_column(source: Any, column: str, name: str) -> pa.ChunkedArray:
    """The column of a table that holds the documents."""
    try:
        array = as_arrow(source[column])
    except CorpusError as error:
        raise CorpusError(f"{name}: column {column!r} mixes types ({error})") from error
    require_text(name, column, array.type)
    return array if isinstance(array, pa.ChunkedArray) else pa.chunked_array([array])


def select_columns(source: Any, names: Sequence[str]) -> pa.Table:
    """Some columns of a table in memory."""
    if describe_type(source) == "polars DataFrame":
        return source.select(names).to_arrow()
    if isinstance(source, pa.Table):
        return source.select(names)
    try:
        return pa.table({name: pa.Array.from_pandas(source[name]) for name in names})
    except pa.ArrowException as error:
        raise CorpusError(f"pandas DataFrame: a column to keep mixes types ({error})") from error


def string_batches(texts: Iterable[Any], name: str, column: str) -> Iterator[pa.RecordBatch]:
    """Documents that are Python strings."""
    source, done = iter(texts), 0
    while chunk := list(islice(source, STRINGS_AT_ONCE)):
        for position, document in enumerate(chunk, done):
            if not (document is None or isinstance(document, str)):
                raise CorpusError(
                    f"{name}: every document must be a string, found {describe(document)} at "
                    f"position {position}; lists of words are passed to deltavec as they are"
                )
        done += len(chunk)
        yield pa.record_batch([string_array(chunk, pa.string())], names=[column])


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Corpus:
    """Documents in chunks of bounded size, the same ones in the same order each time.

    Iterating gives Arrow ``string`` arrays without nulls, of about 8 MB of text or 65,536
    documents each.

    Attributes
    ----------
    name : str
        What errors call the source, such as the path of a file.
    column : str
        The name of the documents' column.
    columns : list of str
        The names of all columns, the documents' own among them.
    documents : int or None
        The number of documents, if it is known without reading them.
    identity : str or None
        A digest that changes when the files do; None for what is not in files.
    note : str or None
        A sentence about what was guessed: which column holds the documents.
    files : tuple of CorpusFile
        The files or the stream; empty for documents in memory.
    text : pyarrow.ChunkedArray or None
        The documents of a table in memory.
    source : object
        The table in memory, or the iterable that gives the documents.
    once : Once or None
        Refuses a second reading of what can be read only once.
    on_consumed : callable or None
        Called with the fraction of the source consumed after each chunk.
    on_documents : callable or None
        Called with the number of documents of each chunk.
    kinds : mapping of str to Kind
        The types of columns of text; see `typed`.

    Examples
    --------
    >>> corpus = dv.read_corpus("news.csv", column="text")
    >>> corpus
    Corpus('news.csv', column='text')
    >>> dv.fit(corpus).statistics.documents
    12
    """

    name: str
    column: str
    columns: list[str]
    documents: int | None = None
    identity: str | None = None
    note: str | None = None
    files: tuple[CorpusFile, ...] = ()
    text: pa.ChunkedArray | None = None
    source: Any = None
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
    def whole_files(self) -> bool:
        """Whether each document is a file; its path is in the column ``path``."""
        return any(file.is_whole for file in self.files)

    @property
    def one_shot(self) -> bool:
        """Whether the documents can be read only once (standard input, a generator)."""
        return self.once is not None

    def schema(self, columns: Sequence[str] = ()) -> pa.Schema:
        """The schema of `batches` of the same columns: the documents first, then the others."""
        keep = self._beside(columns)
        types = [
            self.kinds[name].type if name in self.kinds else kind
            for name, kind in zip(keep, self._kept_types(keep), strict=True)
        ]
        return pa.schema([(self.column, pa.string()), *zip(keep, types, strict=True)])

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
            If a column is missing, or the documents turn out to be unreadable.
        """
        return (piece.batch for piece in self.pieces(columns))

    def pieces(self, columns: Sequence[str] = ()) -> Iterator[Piece]:
        """The same as `batches`, each with the fraction of the source read by then."""
        keep = self._beside(columns)
        types = self._kept_types(keep)  # an unknown column is an error before any reading
        if self.once:
            self.once.take()
        if self.files:
            return self._report(bounded(self._file_pieces(keep, types)))
        batches: Iterable[pa.RecordBatch]
        if self.text is not None:
            kept = select_columns(self.source, keep).columns if keep else []
            table = pa.table([self.text, *kept], names=[self.column, *keep])
            batches = table.to_batches(max_chunksize=CHUNK_DOCUMENTS)
        elif hasattr(self.source, "to_batches"):
            batches = self.source.to_batches(columns=[self.column, *keep])
        else:
            batches = string_batches(self.source, self.name, self.column)
        return self._report(bounded(self._counted(batches)))

    def _counted(self, batches: Iterable[pa.RecordBatch]) -> Iterator[Piece]:
        """The batches that have rows, with the fraction given if the number of all is known."""
        done = 0
        for batch in filter(len, batches):
            done += len(batch)
            yield Piece(batch, done / self.documents if self.documents else None)

    def typed(self, columns: Sequence[str]) -> Corpus:
        """A copy in which columns of text are numbers, dates or booleans, where all values are.

        This reads the columns of csv, tsv and jsonl files from the first row to the last. A column
        stays text if a single value does not fit, as do all columns of what can be read only once.
        In a column that gets a type, the empty string, ``NA``, ``N/A``, ``NaN``, ``null`` and
        ``None`` are missing values.
        """
        keep = self._beside(columns)
        self._kept_types(keep)
        formats = {file.format for file in self.files}
        if not keep or not formats or "parquet" in formats or self.one_shot:
            return self
        seen = {name: Seen() for name in keep}
        for file in self.files:
            for piece in read_pieces(file, keep):
                for name, column in seen.items():
                    column.look_at(piece.batch.column(name))
                if not any(column.kinds for column in seen.values()):
                    return self
        kinds = {name: column.kind for name, column in seen.items() if column.kind}
        return replace(self, kinds=kinds)

    def watched(
        self, callback: Callable[[float], None], on_documents: Callable[[int], None] | None = None
    ) -> Corpus:
        """A copy that reports the fraction of the source consumed after each chunk.

        A source of unknown size (standard input, a generator) reports only its end, as 1.0.
        `on_documents` is called with the number of documents of each chunk.
        """
        return replace(self, on_consumed=callback, on_documents=on_documents)

    def _beside(self, columns: Sequence[str]) -> list[str]:
        return [name for name in dict.fromkeys(columns) if name != self.column]

    def _kept_types(self, keep: list[str]) -> list[pa.DataType]:
        """The types of some columns: those that hold the values of every file."""
        if not self.files:
            require_columns(self.name, keep, self.columns)
            if self.text is None and hasattr(self.source, "schema"):
                return [self.source.schema.field(name).type for name in keep]
            return list(select_columns(self.source, keep).schema.types) if keep else []
        schemas = []
        for file in self.files:
            require_columns(str(file.path), keep, [*file.schema.names, *file.partitions])
            types = [
                pa.string() if name in file.partitions else file.schema.field(name).type
                for name in keep
            ]
            schemas.append(pa.schema(list(zip(keep, types, strict=True))))
        try:
            return list(pa.unify_schemas(schemas, promote_options="permissive").types)
        except pa.ArrowTypeError as error:
            raise CorpusError(
                f"{self.name}: a column to keep has other types in other files ({error}); "
                "write the files with the same types"
            ) from error

    def _file_pieces(self, keep: list[str], types: list[pa.DataType]) -> Iterator[Piece]:
        """The documents of all files, and the fraction of their bytes read."""
        total = max(1, sum(file.size for file in self.files))
        before = 0
        for file in self.files:
            for batch, consumed in read_pieces(file, [self.column, *keep]):
                if keep:
                    batch = self._with_types(batch, keep, types)
                if consumed is not None:
                    consumed = (before + consumed * file.size) / total
                yield Piece(batch, consumed)
            before += file.size

    def _with_types(
        self, batch: pa.RecordBatch, keep: list[str], types: list[pa.DataType]
    ) -> pa.RecordBatch:
        """A batch of a file, its kept columns in the types that hold the values of every file."""
        columns = [batch.column(0)]
        for name, column, kind in zip(keep, batch.columns[1:], types, strict=True):
            values = column.cast(kind)
            if name in self.kinds:
                values = self.kinds[name].values(without_missing(values))
                if values is None:
                    odd = f"a value of the column {name!r} is no {self.kinds[name].type}"
                    changed = "as all were before: the file has changed"
                    raise CorpusError(f"{self.name}: {odd}, {changed}")
            columns.append(values)
        return pa.record_batch(columns, names=batch.schema.names)

    def _report(self, pieces: Iterator[Piece]) -> Iterator[Piece]:
        last: float | None = None
        for piece in pieces:
            yield piece
            last = piece.consumed
            if self.on_consumed and last is not None:
                self.on_consumed(last)
            if self.on_documents:
                self.on_documents(len(piece.batch))
        if self.on_consumed and last != 1.0:
            self.on_consumed(1.0)


def read_corpus(
    source: Any,
    *,
    column: str | None = None,
    format: str | None = None,
    encoding: str | None = None,
    delimiter: str | None = None,
    whole_files: bool | None = None,
) -> Corpus:
    """The documents of files, of standard input, or of data in memory.

    Parameters
    ----------
    source
        A path of a ``.txt`` (one document per line), ``.csv``, ``.tsv``, ``.jsonl``, ``.ndjson``,
        ``.parquet`` or ``.xlsx`` file, the text ones also as ``.gz`` or ``.zst``; a folder of
        such files; a pattern such as ``"reviews/*.csv.gz"``; a list of `pathlib.Path`; ``"-"`` for
        standard input; an Arrow, pandas or polars column or table; or any iterable of strings. Also
        an address that pyarrow knows (``s3://``, ``gs://``, ``hdfs://``); a
        ``pyarrow.dataset.Dataset``; a Delta or Iceberg table, or its folder.
    column : str or None
        The column, or key, that holds the documents; a ``.txt`` file has none. By default the one
        called ``text``; in a file without it the only column, or the only one that holds long
        text, and `Corpus.note` says which.
    format : str or None
        ``txt``, ``csv``, ``tsv``, ``jsonl``, ``parquet`` or ``xlsx`` (the first sheet; needs the
        extra ``excel``), if the name does not tell. Standard input is ``txt`` by default.
    encoding : str or None
        The encoding of text files that are not UTF-8: ``cp1252``, ``latin-1``, or another name
        that Python knows. A byte order mark takes precedence. With an encoding, broken bytes
        become U+FFFD; without one they are an error.
    delimiter : str or None
        What separates the fields of a csv or tsv file: one character, or ``comma``,
        ``semicolon``, ``tab`` or ``pipe``. By default it is found by looking at the first rows.
    whole_files : bool or None
        Whether each ``.txt`` file is one document, with its path in the column ``path``, not one
        document per line. By default so for a folder of 20 or more files of up to 32 kB on
        average; `Corpus.note` says it.

    Returns
    -------
    Corpus
        Re-iterable, except for standard input, pipes and generators (see `Corpus.one_shot`).

    Raises
    ------
    CorpusError
        If there is no such file or column, or a file is damaged. Files are opened and their
        columns checked here; damage further on shows while reading.

    Examples
    --------
    >>> corpus = read_corpus(["a quiet room", "a loud street"])
    >>> [chunk.to_pylist() for chunk in corpus]
    [['a quiet room', 'a loud street']]
    """
    return open_corpus(source, Reading(column, None, format, encoding, delimiter, whole_files))


def as_documents(source: Any) -> Any:
    """A corpus for a path, several paths or a table; documents in memory stay as they are."""
    is_file = isinstance(source, str | os.PathLike) or bool(_paths(source))
    is_table = hasattr(source, "columns") or hasattr(source, "schema")
    return read_corpus(source) if is_file or is_table else source


def open_corpus(source: Any, reading: Reading) -> Corpus:
    """The documents of a source, read as the options say; see `read_corpus`."""
    if isinstance(source, Corpus):
        return source
    if reading.format is not None:
        require_one_of("format", reading.format, FORMATS, CorpusError)
    if reading.encoding is not None:
        reading = replace(reading, encoding=checked_encoding(reading.encoding))
    if reading.delimiter is not None:
        reading = replace(reading, delimiter=checked_delimiter(reading.delimiter))
    if (dataset := open_dataset(source)) is not None:
        return _from_dataset(str(source)[:200], dataset, reading.column or reading.expected or TEXT)
    if address := address_of(source):
        source = fetch(address)
    if isinstance(source, str | os.PathLike):
        if stream := _stream(source):
            return _from_stream(stream, reading)
        return _from_files(str(source), find_files(source, reading), reading)
    if paths := _paths(source):
        files = tuple(file for path in paths for file in find_files(path, reading))
        return _from_files(str(paths[0]), files, reading)
    for name in ("format", "encoding", "delimiter", "whole_files"):
        if getattr(reading, name) is not None:
            raise CorpusError(f"{name} is for files; leave it out for a {describe_type(source)}")
    return _from_memory(source, reading.column or TEXT)


def _from_dataset(name: str, dataset: Any, column: str) -> Corpus:
    """The documents of a dataset of Arrow, read batch by batch as often as needed."""
    columns = dataset.schema.names
    require_columns(name, [column], columns)
    require_text(name, column, dataset.schema.field(column).type)
    return Corpus(name=name, column=column, columns=columns, source=dataset)


def _from_memory(source: Any, column: str) -> Corpus:
    """The documents of a column, a table, a frame or an iterable of strings."""
    name = describe_type(source)
    if name == "polars LazyFrame":
        raise CorpusError(f"{name}: nothing has been read yet; call collect() first")
    if isinstance(source, pa.RecordBatch):
        source = pa.Table.from_batches([source])
    columns = [column]
    is_column = name.endswith(" Series") or isinstance(source, pa.Array | pa.ChunkedArray)
    if is_column:
        source = {column: source}
    elif isinstance(source, pa.Table):
        columns = source.schema.names
    elif name.endswith(" DataFrame"):
        columns = [each for each in source.columns if isinstance(each, str)]
    if is_column or isinstance(source, pa.Table) or name.endswith(" DataFrame"):
        require_columns(name, [column], columns)
        text = document_column(source, column, name)
        return Corpus(
            name=name, column=column, columns=columns, documents=len(text), text=text, source=source
        )
    if not isinstance(source, Iterable) or isinstance(source, bytes | Mapping | set | frozenset):
        raise CorpusError(
            f"expected a path, a table, a column or an iterable of strings, got {name}"
        )
    if isinstance(source, np.ndarray):
        source = replace_missing(source.tolist())
    return Corpus(
        name=name,
        column=column,
        columns=columns,
        documents=len(source) if isinstance(source, Sized) else None,
        source=source,
        once=Once(name) if iter(source) is source else None,
    )


def _from_stream(stream: Stream, reading: Reading) -> Corpus:
    if reading.format in WHOLE:
        raise CorpusError(f"{stream.name}: {reading.format} cannot be read from a stream")
    given: Any = {name: getattr(reading, name) for name in ("encoding", "delimiter", "column")}
    file = CorpusFile(Path(stream.name), reading.format or "txt", stream=stream, **given)
    corpus = _from_files(stream.name, (file,), reading)
    return replace(corpus, identity=None, once=Once(stream.name))


def _from_files(first: str, files: tuple[CorpusFile, ...], reading: Reading) -> Corpus:
    """The files, each opened once to see that it has the documents' column."""
    name = first if len(files) == 1 else f"{first} ({len(files)} files)"
    require_use(reading, [file.format for file in files], name)
    files = tuple(sniff(file) for file in files)
    column, note = reading.column or reading.expected or TEXT, None
    tables = [file for file in files if file.format != "txt"]
    if reading.column is None and tables:
        column, note = choose_column(tables[0], reading.expected)
    for file in tables:
        require_columns(str(file.path), [column], file.schema.names)
        require_text(str(file.path), column, file.schema.field(column).type)
    files = tuple(
        replace(
            file,
            column=column,
            schema=text_schema([column]) if file.format == "txt" else file.schema,
            partitions={
                key: value
                for key, value in file.partitions.items()
                if key not in (column, *file.schema.names)
            },
        )
        for file in files
    )
    schemas = [[*file.schema.names, *file.partitions] for file in files]
    counts = [file.documents for file in files if file.documents is not None]
    if files[0].is_whole and reading.whole_files is None:
        lines = "whole_files=False, --no-whole-files: each line"
        note = f"{len(files):,} short files: each is one document ({lines})"
    return Corpus(
        name=name,
        column=column,
        columns=[name for name in dict.fromkeys(schemas[0]) if all(name in s for s in schemas)],
        documents=sum(counts) if len(counts) == len(files) else None,
        identity=_identity(column, files),
        note="; ".join(filter(None, [*(file.note for file in files), note])) or None,
        files=files,
    )


def _identity(column: str, files: Sequence[CorpusFile]) -> str:
    facts = [
        [str(file.path.resolve()), file.format, file.size, file.modified, file.is_whole]
        + [given for given in (file.encoding, file.delimiter) if given is not None]
        for file in files
    ]
    return hashlib.sha256(json.dumps([column, facts]).encode()).hexdigest()


def _stream(path: str | os.PathLike[str]) -> Stream | None:
    """The stream that a path stands for; None for other paths."""
    if path == "-":
        if sys.stdin is None:
            raise CorpusError("'-' reads standard input, and this process has none")
        # the raw file: a buffered one, blocked in a thread, would hang the interpreter's exit
        return Stream("standard input", getattr(sys.stdin.buffer, "raw", sys.stdin.buffer))
    try:
        mode = Path(path).stat().st_mode
    except (OSError, ValueError):
        return None
    is_pipe = stat.S_ISFIFO(mode) or stat.S_ISCHR(mode)
    return Stream(str(path), Path(path)) if is_pipe else None


def _paths(source: Any) -> list[os.PathLike[str]]:
    """The paths in a list of paths; none if the source is something else."""
    if not isinstance(source, list | tuple) or not source:
        return []
    paths = [item for item in source if isinstance(item, os.PathLike)]
    if len(paths) == len(source):
        return paths
    if paths:
        raise CorpusError("a list must hold only paths, or only documents; this one mixes them")
    if all(
        isinstance(item, str)
        and any(suffix.lower() in SUFFIXES for suffix in Path(item[-512:]).suffixes)
        and Path(item).is_file()
        for item in source
    ):
        raise CorpusError(
            f"every string is a file, such as {source[0]!r}: make each a pathlib.Path"
        )
    return []
