"""What a folder on disk is meant to be, a model or an index, and how its problems are told."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from deltavec.errors import InputError


@dataclass(frozen=True)
class FolderKind:
    """A kind of folder that deltavec writes.

    Attributes
    ----------
    name : str
        What errors call it.
    files : tuple of str
        The names of the files that may be in it.
    description : str
        The file that says what it is.
    mark : bytes
        What that file holds near its beginning.
    error : type
        What is raised for a folder that cannot be used.
    """

    name: str
    files: tuple[str, ...]
    description: str
    mark: bytes
    error: type[InputError] = InputError

    def require_replaceable(self, folder: Path) -> None:
        """Refuse to write where something stands that is not of this kind."""
        if not os.path.lexists(folder):
            return
        if not folder.is_dir():
            raise self.error(
                "expected a folder, or nothing, found something else: choose another name"
            )
        for entry in folder.iterdir():
            if entry.name not in self.files or not entry.is_file():
                raise self.error(
                    f"the folder holds {entry.name!r}, which is not part of a deltavec "
                    f"{self.name}, and is left alone: choose another name"
                )
        if any(folder.iterdir()) and self.mark not in start_of(folder / self.description):
            raise self.error(
                f"the folder is not a deltavec {self.name}, and is left alone: choose another name"
            )

    def identity(self, folder: Path) -> tuple[int, int, int]:
        """What tells a folder from the one that takes its place."""
        with problems_of(folder, self.error):
            if not folder.is_dir():
                what = "a file" if folder.exists() else "nothing there"
                raise self.error(f"expected the folder of a deltavec {self.name}, found {what}")
            status = folder.stat()
            return status.st_dev, status.st_ino, status.st_mtime_ns  # inodes are used again

    @contextmanager
    def opened(self, path: Path) -> Iterator[BinaryIO]:
        """One of its files, open for reading, and the name of what is wrong with it."""
        with problems_of(path, self.error):
            if not path.is_file():
                raise self.error(
                    f"the file is missing: the folder is not a deltavec {self.name}, or damaged"
                )
            with path.open("rb") as file:
                yield file


def start_of(path: Path) -> bytes:
    """The first bytes of a file, none if it is not there."""
    if not path.is_file():
        return b""
    with path.open("rb") as file:
        return file.read(1024)


@contextmanager
def problems_of(path: Path, kind: type[InputError] = InputError) -> Iterator[None]:
    """Whatever goes wrong inside, as an error of this kind that begins with the path."""
    try:
        yield
    except InputError as error:
        raise kind(f"{path}: {error}") from None
    except OSError as error:
        raise kind(f"{path}: {error.strerror or error}") from error
