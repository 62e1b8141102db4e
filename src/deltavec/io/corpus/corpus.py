"""Documents from files, streams, frames and iterables, as one kind of corpus.

``read_corpus`` looks before it leaps: files are found and opened and their columns checked at
once, so that a wrong name is an error now and not after an hour. The documents themselves are
read chunk by chunk, and again from the start each time the corpus is iterated over.
"""

from __future__ import annotations

import os
import stat
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from deltavec.core.arguments import require_one_of
from deltavec.errors import CorpusError
from deltavec.io.corpus.blocks import ByteStream, Pipe
from deltavec.io.corpus.delimiters import checked_delimiter
from deltavec.io.corpus.encodings import checked_encoding
from deltavec.io.corpus.files import Reading, found_files
from deltavec.io.corpus.formats import FORMATS, SUFFIXES, TEXT, WHOLE
from deltavec.io.corpus.memory import from_memory, kind_of
from deltavec.io.corpus.sources import Corpus as Corpus
from deltavec.io.corpus.sources import FileCorpus
from deltavec.io.corpus.streams import StreamCorpus


def read_corpus(
    source: Any,
    *,
    column: str | None = None,
    format: str | None = None,
    encoding: str | None = None,
    delimiter: str | None = None,
) -> Corpus:
    """The documents of files, of standard input, or of data in memory.

    Parameters
    ----------
    source
        A path of a ``.txt`` (one document per line), ``.csv``, ``.tsv``, ``.jsonl``, ``.ndjson``,
        ``.parquet`` or ``.xlsx`` file, the text ones also as ``.gz`` or ``.zst``; a folder of
        such files; a
        pattern such as ``"reviews/*.csv.gz"``; a list of `pathlib.Path`; ``"-"`` for standard
        input; an Arrow, pandas or polars column or table; or any iterable of strings.
    column : str or None
        The column, or key, that holds the documents; a ``.txt`` file has none. By default the one
        called ``text``; in a file without it the only column, or the only one that holds long
        text, and `Corpus.note` says which.
    format : str or None
        ``txt``, ``csv``, ``tsv``, ``jsonl``, ``parquet`` or ``xlsx`` (the first sheet; needs the
        extra ``excel``), if the name does not tell. Standard
        input is ``txt`` unless this says otherwise.
    encoding : str or None
        How a text file is encoded that is not UTF-8 and has no byte order mark, which comes first:
        ``cp1252``, ``latin-1``, or another name that Python knows. What is broken in an encoding
        that is given becomes U+FFFD; without one it is an error.
    delimiter : str or None
        What stands between the fields of a csv or tsv file: one character, or ``comma``,
        ``semicolon``, ``tab`` or ``pipe``. By default it is found by looking at the first rows.

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
    return opened_corpus(
        source, Reading(column=column, format=format, encoding=encoding, delimiter=delimiter)
    )


def opened_corpus(source: Any, reading: Reading) -> Corpus:
    """The documents of a source, read as is said; see `read_corpus`."""
    if isinstance(source, Corpus):
        return source
    if reading.format is not None:
        require_one_of("format", reading.format, FORMATS, CorpusError)
    if reading.encoding is not None:
        reading = replace(reading, encoding=checked_encoding(reading.encoding))
    if reading.delimiter is not None:
        reading = replace(reading, delimiter=checked_delimiter(reading.delimiter))
    if isinstance(source, str | os.PathLike):
        return _from_path(source, reading)
    paths = _paths(source)
    if paths:
        files = tuple(file for path in paths for file in found_files(path, reading))
        return FileCorpus.checked(_files_name(str(paths[0]), len(paths)), files, reading)
    for name in ("format", "encoding", "delimiter"):
        if getattr(reading, name) is not None:
            raise CorpusError(f"{name} is for files; leave it out for a {kind_of(source)}")
    return from_memory(source, reading.column or TEXT)


def _from_path(path: str | os.PathLike[str], reading: Reading) -> Corpus:
    if path == "-":
        if sys.stdin is None:
            raise CorpusError("'-' reads standard input, and this process has none")
        # the raw file: a buffered one, blocked in a thread, would hang the interpreter's exit
        data = getattr(sys.stdin.buffer, "raw", sys.stdin.buffer)
        return _stream(ByteStream("standard input", data, lambda: None), reading)
    if _is_pipe(path):
        return _stream(ByteStream(str(path), Pipe(Path(path)), lambda: None), reading)
    files = found_files(path, reading)
    return FileCorpus.checked(_files_name(str(path), len(files)), files, reading)


def _files_name(first: str, count: int) -> str:
    return first if count == 1 else f"{first} ({count} files)"


def _is_pipe(path: str | os.PathLike[str]) -> bool:
    try:
        mode = Path(path).stat().st_mode
    except (OSError, ValueError):
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISCHR(mode)


def _stream(stream: ByteStream, reading: Reading) -> StreamCorpus:
    if reading.format in WHOLE:
        raise CorpusError(
            f"{stream.name}: {reading.format} cannot be read from a stream; write it to a file"
        )
    return StreamCorpus.checked(stream, reading)


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
