"""Documents from files, streams, frames and iterables, as one kind of corpus.

``read_corpus`` looks before it leaps: files are found and opened and their columns checked at
once, so that a wrong name is an error now and not after an hour. The documents themselves are
read chunk by chunk, and again from the start each time the corpus is iterated over.
"""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from deltavec.errors import CorpusError
from deltavec.io.corpus_files import found_files
from deltavec.io.corpus_formats import FORMATS, SUFFIXES, TEXT_FORMATS
from deltavec.io.corpus_memory import from_memory, kind_of
from deltavec.io.corpus_sources import Files, Source, Stream
from deltavec.io.documents import Piece, bounded
from deltavec.io.records import ByteStream, Pipe, Readable


@dataclass(frozen=True, eq=False, repr=False)
class Corpus:
    """Documents in chunks of bounded size, the same ones in the same order each time.

    Iterating gives Arrow ``string`` arrays without nulls, of about 4 MB of text or 65,536
    documents each.

    Attributes
    ----------
    source : Source
        Where the documents come from.
    column : str
        The name of the documents' column.
    on_consumed : callable or None
        Told the fraction of the source consumed after each chunk.
    """

    source: Source
    column: str
    on_consumed: Callable[[float], None] | None = None

    def __iter__(self) -> Iterator[pa.Array]:
        for piece in self.pieces():
            yield piece.batch.column(0).fill_null("")

    def __repr__(self) -> str:
        return f"Corpus({self.name!r}, column={self.column!r})"

    @property
    def name(self) -> str:
        """What people call the source, such as the path of a file."""
        return self.source.name

    @property
    def one_shot(self) -> bool:
        """Whether the documents can be read only once (standard input, a generator)."""
        return self.source.one_shot

    @property
    def documents(self) -> int | None:
        """How many documents there are, if that is known without reading them."""
        return self.source.documents

    @property
    def columns(self) -> list[str]:
        """The names of all columns, the documents' own among them."""
        return self.source.columns

    @property
    def identity(self) -> str | None:
        """A text that changes when the files do; None for what is not in files."""
        return self.source.identity

    def schema(self, columns: Sequence[str] = ()) -> pa.Schema:
        """What `batches` of the same columns will have: the documents first, then the others."""
        return self.source.schema(self._beside(columns))

    def batches(self, columns: Sequence[str] = ()) -> Iterator[pa.RecordBatch]:
        """The documents, with other columns beside them.

        Parameters
        ----------
        columns : sequence of str
            Columns to read with the documents. Those of csv, tsv and jsonl files are text; those
            of parquet files and of tables keep their types.

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
        self.source.schema(beside)
        pieces = bounded(self.source.pieces(beside))
        return pieces if self.on_consumed is None else _reported(pieces, self.on_consumed)

    def watched(self, callback: Callable[[float], None]) -> Corpus:
        """A copy that reports the fraction of the source consumed after each chunk.

        A source of unknown size (standard input, a generator) reports only its end, as 1.0.
        """
        return replace(self, on_consumed=callback)

    def _beside(self, columns: Sequence[str]) -> list[str]:
        return [name for name in dict.fromkeys(columns) if name != self.column]


def _reported(pieces: Iterator[Piece], report: Callable[[float], None]) -> Iterator[Piece]:
    last: float | None = None
    for piece in pieces:
        yield piece
        if piece.consumed is not None:
            last = piece.consumed
            report(last)
    if last != 1.0:
        report(1.0)


def read_corpus(source: Any, *, column: str = "text", format: str | None = None) -> Corpus:
    """The documents of files, of standard input, or of data in memory.

    Parameters
    ----------
    source
        A path of a ``.txt`` (one document per line), ``.csv``, ``.tsv``, ``.jsonl``, ``.ndjson``
        or ``.parquet`` file, the text ones also as ``.gz`` or ``.zst``; a folder of such files; a
        pattern such as ``"reviews/*.csv.gz"``; a list of `pathlib.Path`; ``"-"`` for standard
        input; an Arrow, pandas or polars column or table; or any iterable of strings.
    column : str
        The column, or key, that holds the documents. A ``.txt`` file has no other.
    format : str or None
        ``txt``, ``csv``, ``tsv``, ``jsonl`` or ``parquet``, if the name does not tell. Standard
        input is ``txt`` unless this says otherwise.

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
    if isinstance(source, Corpus):
        return source
    if format is not None and format not in FORMATS:
        raise CorpusError(f"format must be one of {', '.join(FORMATS)}, got {format!r}")
    return Corpus(_source(source, column, format), column)


def _source(source: Any, column: str, form: str | None) -> Source:
    if isinstance(source, str | os.PathLike):
        return _from_path(source, column, form)
    paths = _paths(source)
    if paths:
        files = tuple(file for path in paths for file in found_files(path, form))
        return Files.checked(_files_name(str(paths[0]), len(paths)), column, files)
    if form is not None:
        raise CorpusError(f"format is for files; leave it out for a {kind_of(source)}")
    return from_memory(source, column)


def _from_path(path: str | os.PathLike[str], column: str, form: str | None) -> Source:
    if path == "-":
        if sys.stdin is None:
            raise CorpusError("'-' reads standard input, and this process has none")
        # the raw file: a buffered one, blocked in a thread, would hang the interpreter's exit
        data = getattr(sys.stdin.buffer, "raw", sys.stdin.buffer)
        return _stream("standard input", data, column, form)
    if _is_pipe(path):
        return _stream(str(path), Pipe(Path(path)), column, form)
    files = found_files(path, form)
    return Files.checked(_files_name(str(path), len(files)), column, files)


def _files_name(first: str, count: int) -> str:
    return first if count == 1 else f"{first} ({count} files)"


def _is_pipe(path: str | os.PathLike[str]) -> bool:
    try:
        mode = Path(path).stat().st_mode
    except (OSError, ValueError):
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISCHR(mode)


def _stream(name: str, data: Readable, column: str, form: str | None) -> Stream:
    if form == "parquet":
        raise CorpusError(f"{name}: parquet cannot be read from a stream; write it to a file")
    return Stream(ByteStream(name, data, lambda: None), column, form or next(iter(TEXT_FORMATS)))


def _paths(source: Any) -> list[os.PathLike[str]]:
    """The paths in a list of paths; none if the source is something else."""
    if not isinstance(source, list | tuple) or not source:
        return []
    paths = [item for item in source if isinstance(item, os.PathLike)]
    if len(paths) == len(source):
        return paths
    if paths:
        raise CorpusError("a list must hold only paths, or only documents; this one mixes them")
    if all(isinstance(item, str) and _names_a_corpus(item) for item in source):
        raise CorpusError(
            f"every string in the list is the name of a file, such as {source[0]!r}; "
            "to read the files, make each a pathlib.Path"
        )
    return []


def _names_a_corpus(text: str) -> bool:
    suffixes = Path(text[-512:]).suffixes
    return any(suffix.lower() in SUFFIXES for suffix in suffixes) and Path(text).is_file()
