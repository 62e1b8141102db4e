"""Checks that an output can be written, and locks on it, before any work is done."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from deltavec.cli.failures import require_usage
from deltavec.errors import InputError

if TYPE_CHECKING:
    from deltavec.io.artifacts.manifest import Artifact


OUTPUT = "'--output' / '-o'"


def require_file(path: Path, suffixes: Iterable[str], option: str = OUTPUT) -> None:
    """Raise an error if no file with one of these suffixes can be written at a path."""
    require_suffix(path, suffixes, option)
    if path.is_dir():
        raise InputError(f"{path} is a folder; expected the name of a file to write")
    require_folder_of(path)


def require_suffix(path: Path, suffixes: Iterable[str], option: str = OUTPUT) -> None:
    """Raise an error if a path has none of these suffixes."""
    *most, last = suffixes
    expected = f"{', '.join(most)} or {last}" if most else last
    message = f"expected a name that ends in {expected}, got {str(path)!r}"
    require_usage(path.suffix.lower() in (*most, last), option, message)


def require_folder_of(path: Path) -> None:
    """Raise an error if the folder of a path is missing or read-only."""
    folder = path.absolute().parent
    if not folder.is_dir():
        raise InputError(f"{path}: there is no folder {folder}: make it first")
    if not os.access(folder, os.W_OK):
        raise InputError(f"{path}: the folder {folder} may not be written to")


def require_other_file(output: Path, source: str) -> None:
    """Raise an error if the output is the corpus itself."""
    if output.exists() and source != "-" and Path(source).exists() and output.samefile(source):
        raise InputError(f"{output} is the corpus itself; name another file to write")


def require_new_folder(path: Path) -> None:
    """Raise an error if something other than an empty folder is at a path."""
    if path.exists() and not (path.is_dir() and not any(path.iterdir())):
        raise InputError(f"{path} exists already; name a new folder")
    require_folder_of(path)


def lock_file(path: Path, suffixes: Iterable[str]) -> AbstractContextManager[None]:
    """Lock a file to write; raise an error if it cannot be written."""
    from deltavec.io.artifacts.locks import only_writer

    require_file(path, suffixes)
    return only_writer(path)


def lock_folder(path: Path, kind: Artifact) -> AbstractContextManager[None]:
    """Lock a folder to write; raise an error if another kind of folder is there."""
    from deltavec.io.artifacts.locks import only_writer
    from deltavec.io.remote import address_of

    if address_of(path):
        return nullcontext()
    kind.require_replaceable(path)
    require_folder_of(path)
    return only_writer(path)
