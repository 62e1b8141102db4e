"""Which files make up a corpus: a path, a list of paths, a folder or a pattern.

A file named outright must be readable. In a folder, or behind a pattern, files whose suffix is
no corpus's (a README, an image) and hidden files are passed over, and one file must remain.
"""

from __future__ import annotations

import glob
import os
import stat
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from deltavec.errors import CorpusError
from deltavec.io.corpus.blocks import COMPRESSIONS, unreadable
from deltavec.io.corpus.formats import FORMATS, SUFFIXES, WHOLE

READABLE = f"{', '.join(SUFFIXES)} (text also as {' or '.join(COMPRESSIONS)})"

COLUMN = "column"  # the note of a model that says where its documents stood

LINES = "format='txt' (--format txt) reads each line as a document"
# What helps with a file that has one of these endings; LINES with others.
ADVICE = {
    ".json": "format='jsonl' (--format jsonl) reads one object per line",
    ".xls": "save it as .xlsx or .csv",
    ".xlsb": "save it as .xlsx or .csv",
    ".ods": "save it as .xlsx or .csv",
    ".zip": "unpack it first",
    ".bz2": "unpack it first, or compress it as .gz or .zst",
    ".xz": "unpack it first, or compress it as .gz or .zst",
    ".7z": "unpack it first",
    ".pdf": "extract the text first",
    ".doc": "save it as .txt",
    ".docx": "save it as .txt",
    ".feather": "write it as .parquet",
    ".arrow": "write it as .parquet",
    ".dv": "it names a model, not documents",
    ".idx": "it names a collection, not documents",
}


@dataclass(frozen=True)
class Reading:
    """How files are to be read, as far as somebody has said so.

    Attributes
    ----------
    column : str or None
        The documents' column.
    expected : str or None
        The column to look for first if nobody has named one: the one of earlier documents.
    format, encoding, delimiter : str or None
        How a text file is written.
    """

    column: str | None = None
    expected: str | None = None
    format: str | None = None
    encoding: str | None = None
    delimiter: str | None = None


@dataclass(frozen=True)
class CorpusFile:
    """One file of a corpus: where it is, how to read it, and what tells it from a later one."""

    path: Path
    format: str
    compression: str | None
    size: int
    modified: int
    encoding: str | None = None
    delimiter: str | None = None


def found_files(source: str | os.PathLike[str], reading: Reading) -> tuple[CorpusFile, ...]:
    """The files that a path, a folder or a glob pattern stands for, sorted by name."""
    path = Path(source)
    if _exists(path):
        if path.is_dir():
            return _suitable(_inside(path), reading, f"the folder {path}")
        return (named_file(path, reading),)
    if not glob.has_magic(str(source)):
        raise CorpusError(
            f"no such file: {source}; expected a file, a folder, a pattern such as "
            "'reviews/*.csv', or a list of documents"
        )
    # Path.glob takes no absolute pattern
    matches = [Path(match) for match in glob.glob(str(source), recursive=True)]  # noqa: PTH207
    if not matches:
        raise CorpusError(f"no file matches {source}")
    files = {file for match in matches for file in (_inside(match) if match.is_dir() else [match])}
    return _suitable(files, reading, str(source))


def named_file(path: Path, reading: Reading) -> CorpusFile:
    """The file at a path, its format by suffix unless one is given."""
    plain, compression = _uncompressed(path)
    known = reading.format or SUFFIXES.get(plain.suffix.lower())
    if known is None:
        raise CorpusError(
            f"{path}: cannot tell the format from the name; expected one of {READABLE}, or "
            f"format= (--format) one of {', '.join(FORMATS)}: {_advice(plain)}"
        )
    if known in WHOLE and compression:
        raise CorpusError(f"{path}: {known} is compressed inside; decompress the file first")
    try:
        status = path.stat()
    except OSError as error:
        raise unreadable(str(path), error) from error
    if _is_special(status.st_mode):
        raise CorpusError(
            f"{path}: not a file but a pipe, a socket or a device; expected a file, or a pipe "
            "that is the only source"
        )
    return CorpusFile(
        path,
        known,
        compression,
        status.st_size,
        status.st_mtime_ns,
        reading.encoding,
        reading.delimiter,
    )


def _advice(path: Path) -> str:
    return ADVICE.get(path.suffix.lower(), LINES)


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
    """All files in a folder and its folders; hidden ones left out, and pipes and devices."""
    found: list[Path] = []

    def refuse(error: OSError) -> None:
        raise unreadable(str(error.filename), error) from error

    for where, folders, names in os.walk(folder, onerror=refuse):
        folders[:] = [name for name in folders if not name.startswith(".")]
        paths = [Path(where, name) for name in names if not name.startswith(".")]
        # to open a pipe is to wait for its writer, perhaps for ever
        found += [
            path for path in paths if not (_exists(path) and _is_special(path.stat().st_mode))
        ]
    return found


def _suitable(paths: Iterable[Path], reading: Reading, where: str) -> tuple[CorpusFile, ...]:
    everything = sorted(paths)
    readable = [
        path
        for path in everything
        if reading.format or _uncompressed(path)[0].suffix.lower() in SUFFIXES
    ]
    if not readable:
        others = ""
        if everything:
            found = ", ".join(path.name for path in everything[:3])
            others = f"; found {found}: {_advice(_uncompressed(everything[0])[0])}"
        raise CorpusError(f"{where} holds no file to read; expected {READABLE}{others}")
    return tuple(named_file(path, reading) for path in readable)
