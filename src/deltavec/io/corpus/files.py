"""Which files make up a corpus: a path, a list of paths, a folder or a pattern.

A file named outright must be readable. In a folder, names that begin with ``.`` or ``_`` are
skipped, as Spark and Hive do: they are hidden, or unfinished. So are files with other suffixes (a
README, an image), and at least one file must remain.
"""

from __future__ import annotations

import glob
import os
import stat
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from urllib.parse import unquote

import pyarrow as pa

from deltavec.errors import CorpusError
from deltavec.io.corpus.blocks import Stream, unreadable

TEXT = "text"  # the default name of the documents' column
COLUMN = "column"  # the note of a model that says which column its documents were in

DELIMITED = {"csv": ",", "tsv": "\t"}  # their usual delimiters
TEXT_FORMATS = ("txt", *DELIMITED, "jsonl")
WHOLE = ("parquet", "xlsx")  # compressed inside, and read from a file only
FORMATS = (*TEXT_FORMATS, *WHOLE)
SUFFIXES = {f".{name}": name for name in FORMATS} | {".ndjson": "jsonl"}
COMPRESSIONS = {".gz": "gzip", ".zst": "zstd"}
READABLE = f"{', '.join(SUFFIXES)} (text also as {' or '.join(COMPRESSIONS)})"

SKIPPED = (".", "_")
PATH = "path"  # the column with the name of a file that is one document
# A folder of at least so many text files, as short as this on average, has one document per file.
MANY_FILES = 20
SHORT_FILE = 32 << 10  # bytes
NULL_PARTITION = "__HIVE_DEFAULT_PARTITION__"
# Tables whose data files alone do not say which rows they have, by what else is in the folder.
TABLES = {"_delta_log": "a Delta", ".hoodie": "a Hudi", "metadata/*.metadata.json": "an Iceberg"}

LINES = "format='txt' (--format txt) reads each line as a document"
# What helps with a file that has one of these suffixes; LINES with others.
ADVICE = {
    ".json": "format='jsonl' (--format jsonl) reads one object per line",
    **dict.fromkeys((".xls", ".xlsb", ".ods"), "save it as .xlsx or .csv"),
    **dict.fromkeys((".zip", ".7z", ".bz2", ".xz"), "unpack it first"),
    **dict.fromkeys((".pdf", ".doc", ".docx"), "extract the text first"),
    **dict.fromkeys((".feather", ".arrow"), "write it as .parquet"),
    **dict.fromkeys((".dv", ".idx"), "it names a model or a collection, not documents"),
}


@dataclass(frozen=True)
class Reading:
    """How the caller wants files to be read.

    Attributes
    ----------
    column : str or None
        The documents' column.
    expected : str or None
        The column to look for first if `column` is None: the one of earlier documents.
    format, encoding, delimiter : str or None
        How a text file is written.
    whole_files : bool or None
        Whether a ``.txt`` file is one document, not one per line; None for a folder of many short
        files only.
    """

    column: str | None = None
    expected: str | None = None
    format: str | None = None
    encoding: str | None = None
    delimiter: str | None = None
    whole_files: bool | None = None


@dataclass(frozen=True)
class CorpusFile:
    """One file of a corpus, or one stream.

    Attributes
    ----------
    path : Path
        Where it is; for a stream, what errors call it.
    format, compression, encoding, delimiter : str or None
        How it is written.
    size, modified : int
        What tells it from a later version.
    stream : Stream or None
        Its bytes, if they can be read only once.
    column : str or None
        The documents' column; None until it is chosen.
    schema : pyarrow.Schema
        Its columns; none until the file is opened.
    documents : int or None
        How many documents it has, if it says so.
    note : str or None
        What is left out of it.
    partitions : mapping of str to str or None
        Columns with one value: in the name of a folder above it, such as ``year=2024``, or the
        path of a file that is one document.
    is_whole : bool
        Whether the file is one document.
    """

    path: Path
    format: str
    compression: str | None = None
    size: int = 0
    modified: int = 0
    encoding: str | None = None
    delimiter: str | None = None
    stream: Stream | None = None
    column: str | None = None
    schema: pa.Schema = field(default_factory=lambda: pa.schema([]))
    documents: int | None = None
    note: str | None = None
    partitions: Mapping[str, str | None] = field(default_factory=dict)
    is_whole: bool = False


def find_files(source: str | os.PathLike[str], reading: Reading) -> tuple[CorpusFile, ...]:
    """The files that a path, a folder or a glob pattern stands for, sorted by name."""
    path = Path(source)
    if _exists(path):
        if path.is_dir():
            found = _suitable(_inside(path), reading, f"the folder {path}")
            return whole_documents(found, reading, path)
        return whole_documents((_named_file(path, reading),), reading, path.parent)
    if not glob.has_magic(str(source)):
        expected = "expected a file, a folder, a pattern such as 'reviews/*.csv', or documents"
        raise CorpusError(f"no such file: {source}; {expected}")
    # Path.glob takes no absolute pattern
    matches = [Path(match) for match in glob.glob(str(source), recursive=True)]  # noqa: PTH207
    if not any(part.startswith("_") for part in path.parts):
        matches = [match for match in matches if not any(p.startswith("_") for p in match.parts)]
    if not matches:
        raise CorpusError(f"no file matches {source}")
    files = {file for match in matches for file in (_inside(match) if match.is_dir() else [match])}
    return whole_documents(_suitable(files, reading, str(source)), reading, Path())


def whole_documents(
    files: tuple[CorpusFile, ...], reading: Reading, folder: Path
) -> tuple[CorpusFile, ...]:
    """The files, those of text as one document each if that is wanted or likely.

    Such a file has a column with its path, from the folder on.
    """
    whole = reading.whole_files
    are_text = all(file.format == "txt" for file in files)
    if whole is None:
        short = sum(file.size for file in files) <= SHORT_FILE * len(files)
        whole = are_text and len(files) >= MANY_FILES and short
    if whole and not are_text:
        raise CorpusError(f"{folder}: whole_files (--whole-files) is for .txt files; leave it out")
    if not whole:
        return files
    paths = [{PATH: os.path.relpath(file.path, folder)} for file in files]
    return tuple(
        replace(file, is_whole=True, partitions={**file.partitions, **path})
        for file, path in zip(files, paths, strict=True)
    )


def _named_file(path: Path, reading: Reading) -> CorpusFile:
    """The file at a path, its format by suffix unless one is given."""
    plain, compression = _uncompressed(path)
    suffix = plain.suffix.lower()
    known = reading.format or SUFFIXES.get(suffix)
    if known is None:
        raise CorpusError(
            f"{path}: cannot tell the format from the name; expected one of {READABLE}, or "
            f"format= (--format) one of {', '.join(FORMATS)}: {ADVICE.get(suffix, LINES)}"
        )
    if known in WHOLE and compression:
        raise CorpusError(f"{path}: {known} is compressed inside; decompress the file first")
    try:
        status = path.stat()
    except OSError as error:
        raise unreadable(str(path), error) from error
    if _is_special(status.st_mode):
        raise CorpusError(
            f"{path}: a pipe, a socket or a device; expected a file, or one pipe alone"
        )
    delimiter = reading.delimiter if known in DELIMITED else None
    version, given = (status.st_size, status.st_mtime_ns), (reading.encoding, delimiter)
    return CorpusFile(path, known, compression, *version, *given, column=reading.column)


def require_use(reading: Reading, formats: Collection[str], where: str) -> None:
    """Refuse options that do not apply to any of the formats."""
    if {*formats} == {"txt"} and reading.column not in (None, TEXT):
        raise CorpusError(
            f"{where}: read as txt, one document per line, it has no column {reading.column!r}: "
            "leave column (--column) out, or say how it is written: format='csv' (--format csv)"
        )
    for name, users in (("delimiter", tuple(DELIMITED)), ("encoding", TEXT_FORMATS)):
        if getattr(reading, name) is not None and not {*formats} & {*users}:
            found = f"this is {', '.join(sorted({*formats}))}; leave it out"
            raise CorpusError(f"{where}: {name} (--{name}) is for {', '.join(users)}, {found}")


def _is_special(mode: int) -> bool:
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def _exists(path: Path) -> bool:
    try:
        path.stat()
    except PermissionError as error:
        raise unreadable(str(path), error) from error
    except (OSError, ValueError):  # no such file, a name too long, a NUL in it
        return False
    return True


def _uncompressed(path: Path) -> tuple[Path, str | None]:
    compression = COMPRESSIONS.get(path.suffix.lower())
    return (path.with_suffix("") if compression else path), compression


def _inside(folder: Path) -> list[Path]:
    """All files in a folder and its folders, without skipped names, pipes and devices."""
    found: list[Path] = []

    def refuse(error: OSError) -> None:
        raise unreadable(str(error.filename), error) from error

    for where, folders, names in os.walk(folder, onerror=refuse):
        for mark, table in TABLES.items():
            if any(Path(where).glob(mark)):
                raise CorpusError(
                    f"{where} is {table} table, whose files also hold rows that were deleted or "
                    "replaced: read it with the library of that format and pass the DataFrame"
                )
        folders[:] = [name for name in folders if not name.startswith(SKIPPED)]
        paths = [Path(where, name) for name in names if not name.startswith(SKIPPED)]
        # opening a pipe waits for its writer, perhaps forever
        found += [one for one in paths if not (_exists(one) and _is_special(one.stat().st_mode))]
    return found


def _suitable(paths: Iterable[Path], reading: Reading, where: str) -> tuple[CorpusFile, ...]:
    suffixes = {path: _uncompressed(path)[0].suffix.lower() for path in sorted(paths)}
    readable = [path for path in suffixes if reading.format or suffixes[path] in SUFFIXES]
    if not readable:
        found = ", ".join(path.name for path in [*suffixes][:3]) or "none"
        suffix = next(iter(suffixes.values()), "")
        raise CorpusError(
            f"{where} holds no file to read; expected {READABLE}; found {found}: "
            f"{ADVICE.get(suffix, LINES)}"
        )
    return tuple(
        replace(_named_file(path, reading), partitions=hive_partitions(path)) for path in readable
    )


def hive_partitions(path: Path) -> dict[str, str | None]:
    """The columns in the names of the folders above a file, as Hive and Spark write them."""
    parts = [part.partition("=") for part in path.parts[:-1]]
    return {
        unquote(name): None if value == NULL_PARTITION else unquote(value)
        for name, sign, value in parts
        if name and sign
    }
