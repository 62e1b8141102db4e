"""Whether an output can be written, asked before any work is done."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

import typer

from deltavec.errors import InputError


def checked_file(path: Path, suffixes: Iterable[str]) -> Path:
    """The path, if a file with one of these suffixes can be written there."""
    require_suffix(path, suffixes)
    if path.is_dir():
        raise InputError(f"{path} is a folder; expected the name of a file to write")
    require_folder_of(path)
    return path


def require_suffix(path: Path, suffixes: Iterable[str]) -> None:
    """Refuse a name whose ending says none of the formats there are."""
    suffixes = list(suffixes)
    if path.suffix.lower() not in suffixes:
        raise typer.BadParameter(
            f"expected a name that ends in {listed(suffixes)}, got {str(path)!r}",
            param_hint="'--output' / '-o'",
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


def listed(names: Iterable[str]) -> str:
    """Names as words: a, b or c."""
    *most, last = names
    return f"{', '.join(most)} or {last}" if most else last


def checked_new_folder(path: Path) -> Path:
    """The path, if a folder can be made there, or an empty one is there."""
    if path.exists() and not (path.is_dir() and not any(path.iterdir())):
        raise InputError(f"{path} exists already; name a new folder")
    require_folder_of(path)
    return path


def checked_model_folder(path: Path) -> Path:
    """The path, if a model can be written there; a model that is there already may be replaced."""
    from deltavec.errors import ModelError
    from deltavec.io.folder_kinds import problems_of
    from deltavec.io.storage import MODEL_FOLDER

    with problems_of(path, ModelError):
        MODEL_FOLDER.require_replaceable(path)
    require_folder_of(path)
    return path
