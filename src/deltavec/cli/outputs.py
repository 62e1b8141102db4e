"""Whether an output can be written, and that nobody else writes it: before any work is done."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from deltavec.errors import InputError

if TYPE_CHECKING:
    from deltavec.io.artifacts.manifest import FolderKind


OUTPUT = "'--output' / '-o'"


def require_file(path: Path, suffixes: Iterable[str], option: str = OUTPUT) -> None:
    """Refuse a path at which no file with one of these suffixes can be written."""
    require_suffix(path, suffixes, option)
    if path.is_dir():
        raise InputError(f"{path} is a folder; expected the name of a file to write")
    require_folder_of(path)


def require_suffix(path: Path, suffixes: Iterable[str], option: str = OUTPUT) -> None:
    """Refuse a name whose ending says none of the formats there are."""
    suffixes = list(suffixes)
    if path.suffix.lower() not in suffixes:
        raise typer.BadParameter(
            f"expected a name that ends in {alternatives(suffixes)}, got {str(path)!r}",
            param_hint=option,
        )


def require_folder_of(path: Path) -> None:
    """Refuse a path whose folder is not there, or may not be written to."""
    folder = path.absolute().parent
    if not folder.is_dir():
        raise InputError(f"{path}: there is no folder {folder}: make it first")
    if not os.access(folder, os.W_OK):
        raise InputError(f"{path}: the folder {folder} may not be written to")


def require_other_file(output: Path, source: str) -> None:
    """Refuse to write over the corpus."""
    if output.exists() and source != "-" and Path(source).exists() and output.samefile(source):
        raise InputError(f"{output} is the corpus itself; name another file to write")


def alternatives(names: Iterable[str]) -> str:
    """Names as words: a, b or c."""
    *most, last = names
    return f"{', '.join(most)} or {last}" if most else last


def require_new_folder(path: Path) -> None:
    """Refuse a path at which there is something already, but for an empty folder."""
    if path.exists() and not (path.is_dir() and not any(path.iterdir())):
        raise InputError(f"{path} exists already; name a new folder")
    require_folder_of(path)


def writing_file(path: Path, suffixes: Iterable[str]) -> AbstractContextManager[None]:
    """While it lasts the file is ours to write; refused if it cannot be."""
    from deltavec.io.artifacts.locks import only_writer

    require_file(path, suffixes)
    return only_writer(path)


def writing_model(path: Path) -> AbstractContextManager[None]:
    """While it lasts the folder of a model is ours to write."""
    from deltavec.io.artifacts.model import MODEL_FOLDER

    return writing_folder(path, MODEL_FOLDER)


def writing_collection(path: Path) -> AbstractContextManager[None]:
    """While it lasts the folder of a collection is ours to write."""
    from deltavec.collection.folder import COLLECTION_FOLDER

    return writing_folder(path, COLLECTION_FOLDER)


def writing_export(path: Path) -> AbstractContextManager[None]:
    """While it lasts the folder of an exported model is ours to write."""
    from deltavec.io.export.export import EXPORT_FOLDER

    return writing_folder(path, EXPORT_FOLDER)


def writing_folder(path: Path, kind: FolderKind) -> AbstractContextManager[None]:
    """While it lasts the folder is ours to write; refused if another kind stands there."""
    from deltavec.io.artifacts.locks import only_writer

    kind.require_replaceable(path)
    require_folder_of(path)
    return only_writer(path)
