"""Which files make up a corpus: a path, a list of paths, a folder or a pattern.

A file named outright must be readable. In a folder, or behind a pattern, files whose suffix is
no corpus's (a README, an image) and hidden files are passed over, and one file must remain.
"""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from deltavec.errors import CorpusError
from deltavec.io.corpus_formats import FORMATS, SUFFIXES
from deltavec.io.records import COMPRESSIONS, unreadable

READABLE = f"{', '.join(SUFFIXES)} (text also as {' or '.join(COMPRESSIONS)})"


@dataclass(frozen=True)
class CorpusFile:
    """One file of a corpus: where it is, how to read it, and what tells it from a later one."""

    path: Path
    format: str
    compression: str | None
    size: int
    modified: int


def found_files(source: str | os.PathLike[str], format: str | None) -> tuple[CorpusFile, ...]:
    """The files that a path, a folder or a glob pattern stands for, sorted by name."""
    path = Path(source)
    if _exists(path):
        if path.is_dir():
            return _suitable(_inside(path), format, f"the folder {path}")
        return (named_file(path, format),)
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
    return _suitable(files, format, str(source))


def named_file(path: Path, format: str | None) -> CorpusFile:
    """The file at a path, its format by suffix unless one is given."""
    plain, compression = _uncompressed(path)
    known = format or SUFFIXES.get(plain.suffix.lower())
    if known is None:
        advice = ": format='jsonl' reads one object per line" if plain.suffix == ".json" else ""
        raise CorpusError(
            f"{path}: cannot tell the format from the name; expected one of {READABLE}, "
            f"or format= one of {', '.join(FORMATS)}{advice}"
        )
    if known == "parquet" and compression:
        raise CorpusError(f"{path}: parquet is compressed inside; decompress the file first")
    try:
        status = path.stat()
    except OSError as error:
        raise unreadable(str(path), error) from error
    return CorpusFile(path, known, compression, status.st_size, status.st_mtime_ns)


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
    """All files in a folder and its folders, hidden ones left out."""
    found: list[Path] = []

    def refuse(error: OSError) -> None:
        raise unreadable(str(error.filename), error) from error

    for where, folders, names in os.walk(folder, onerror=refuse):
        folders[:] = [name for name in folders if not name.startswith(".")]
        found += [Path(where, name) for name in names if not name.startswith(".")]
    return found


def _suitable(paths: Iterable[Path], format: str | None, where: str) -> tuple[CorpusFile, ...]:
    everything = sorted(paths)
    readable = [
        path for path in everything if format or _uncompressed(path)[0].suffix.lower() in SUFFIXES
    ]
    if not readable:
        others = f"; found {', '.join(path.name for path in everything[:3])}" if everything else ""
        raise CorpusError(f"{where} holds no file to read; expected {READABLE}{others}")
    return tuple(named_file(path, format) for path in readable)
