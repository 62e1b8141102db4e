"""Files in folders and in zip archives alike, read whole and only if they are not too large.

Nothing is unpacked to disk, and no more memory is taken than a file says it needs, once that is
known to be reasonable.
"""

from __future__ import annotations

import lzma
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from deltavec.errors import CorpusError

# The largest forum of CQADupStack takes a fifth of this.
LARGEST_FILE = 1 << 30
LARGEST_TOTAL = 8 << 30
# What Python's reader of archives raises for those that are not sound.
DAMAGE = (zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error, EOFError, ValueError,
          IndexError, OverflowError)  # fmt: skip


class Entry(NamedTuple):
    """A file, wherever it is.

    Attributes
    ----------
    root : Path
        The folder or archive that it was found in.
    path : PurePosixPath
        Where it is in there.
    size : int
        How many bytes it holds, unpacked.
    content : callable
        Gives them.
    """

    root: Path
    path: PurePosixPath
    size: int
    content: Callable[[], bytes]

    @property
    def where(self) -> str:
        """What errors call it."""
        return f"{self.root}: {self.path}" if self.root.is_file() else str(self.root / self.path)

    @property
    def folder(self) -> str:
        """The name of the folder it is in, or of the archive."""
        return self.path.parent.name or self.root.stem

    def read(self) -> bytes:
        """Its bytes."""
        if self.size > LARGEST_FILE:
            raise CorpusError(
                f"{self.where}: holds {self.size:,} bytes; expected at most {LARGEST_FILE:,}"
            )
        try:
            return self.content()
        except (RuntimeError, NotImplementedError) as error:  # a password, or a rare compression
            raise CorpusError(f"{self.where}: cannot be unpacked ({error})") from None
        except DAMAGE as error:
            raise CorpusError(f"{self.where}: the archive is damaged ({error})") from None
        except OSError as error:
            raise CorpusError(f"{self.where}: cannot be read ({error})") from None


def entries(
    path: Path, wanted: Callable[[PurePosixPath], bool], most_bytes: int = LARGEST_TOTAL
) -> list[Entry]:
    """The files that are wanted: in a folder, in its archives, in an archive, or the one file."""
    found = sorted(_entries(path), key=lambda entry: (str(entry.root), str(entry.path)))
    chosen = [entry for entry in found if wanted(entry.path) and not is_hidden(entry.path)]
    total = sum(entry.size for entry in chosen)
    if total > most_bytes:
        raise CorpusError(
            f"{path}: its questions hold {total:,} bytes; expected at most {most_bytes:,}: "
            "evaluate the forums one by one"
        )
    return chosen


def _entries(path: Path) -> Iterator[Entry]:
    if path.is_file():
        if path.suffix.lower() == ".zip":
            yield from in_archive(path)
        else:
            yield Entry(path.parent, PurePosixPath(path.name), path.stat().st_size, path.read_bytes)
        return
    for file in path.rglob("*"):
        if file.suffix.lower() == ".zip" and file.is_file():
            yield from in_archive(file)
        elif file.is_file():
            inside = PurePosixPath(file.relative_to(path).as_posix())
            yield Entry(path, inside, file.stat().st_size, file.read_bytes)


def in_archive(path: Path) -> Iterator[Entry]:
    """The files of a zip archive."""
    try:
        with zipfile.ZipFile(path) as archive:
            listed = archive.infolist()
    except (*DAMAGE, NotImplementedError, OSError) as error:
        raise CorpusError(f"{path}: not a zip archive that can be read ({error})") from None
    for item in listed:
        if item.filename and not item.is_dir():
            inside = PurePosixPath(item.filename)
            yield Entry(path, inside, item.file_size, lambda item=item: unpacked(path, item))  # type: ignore[misc]


def unpacked(path: Path, item: zipfile.ZipInfo) -> bytes:
    """The bytes of a file in an archive; never more than the archive says they are."""
    with zipfile.ZipFile(path) as archive, archive.open(item) as file:
        return file.read(item.file_size + 1)


def is_hidden(path: PurePosixPath) -> bool:
    """Whether a file was put there by a program, such as macOS's archiver."""
    return any(part.startswith((".", "__MACOSX")) for part in path.parts)
