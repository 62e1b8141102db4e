"""The folders that deltavec writes, and the sealed JSON in each that says what the folder is.

The first entry of that JSON is the SHA-256 of the file itself, taken with sixty-four zeros in its
own place. It guards against accidents, not against people: who means harm can compute it anew, so
every value is looked at as well.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, TypeAlias, TypeVar

from deltavec.errors import InputError
from deltavec.io.artifacts.atomic import UNFINISHED, replacing, sha256
from deltavec.version import __version__

Entries: TypeAlias = Mapping[str, Any]
Content = TypeVar("Content")

LONGEST = 1 << 20  # bytes; a real one has about a thousand
LARGEST_COUNT = 1 << 53  # above it JSON readers that know only float64 lose digits
NO_CHECKSUM = b"0" * 64
SEAL = re.compile(rb'\{\n  "checksum": "([0-9a-f]{64})"')
IN_EVERY_DESCRIPTION = ("checksum", "format", "format_version", "library_version")
ANOTHER_NAME = "choose another name"
KINDS_OF_VALUES: dict[type[Any], str] = {
    str: "a string",
    int: "a whole number",
    float: "a finite number",
    bool: "true or false",
    list: "a list",
    dict: "an object",
}


class Unsealed(NamedTuple):
    """What a description says: the version of its format, and the entries of its kind."""

    version: int
    entries: dict[str, Any]


@dataclass(frozen=True)
class FolderKind:
    """A kind of folder that deltavec writes.

    Attributes
    ----------
    name : str
        What it is called: a model, an index, a collection.
    version : int
        The newest version of its format.
    description : str
        The file that says what it is.
    files : re.Pattern
        What the files in it are called.
    error : type
        What is raised for a folder that cannot be used.
    folders : mapping of str to FolderKind
        The folders in it.
    """

    name: str
    version: int
    description: str
    files: re.Pattern[str]
    error: type[InputError] = InputError
    folders: Mapping[str, FolderKind] = field(default_factory=dict)

    @property
    def format(self) -> str:
        """What its description says it is."""
        return f"deltavec {self.name}"

    def describe(self, folder: Path, entries: Entries) -> None:
        """Write a description, sealed; it appears whole, in the place of the one before."""
        with replacing(folder / self.description) as temporary:
            temporary.write_bytes(self.sealed(entries))

    def described(self, folder: Path) -> Unsealed:
        """What the description in a folder says."""
        with self.opened(folder / self.description) as file:
            return self.unsealed(file.read(LONGEST + 1))

    def sealed(self, entries: Entries) -> bytes:
        """The entries as sealed JSON of the newest version."""
        about = {
            "format": self.format,
            "format_version": self.version,
            "library_version": __version__,
        }
        return sealed({**about, **entries})

    def unsealed(self, data: bytes) -> Unsealed:
        """What a description says that is whole, of this format, and of a version we know."""
        what = f"damaged, or not a {self.format}"
        seal = SEAL.match(data)
        if len(data) > LONGEST:
            raise InputError(f"expected at most {LONGEST:,} bytes: {what}")
        if seal is None:
            raise InputError(f"the first line is not a checksum: {what}")
        blank = data[: seal.start(1)] + NO_CHECKSUM + data[seal.end(1) :]
        require_checksum(hashlib.sha256(blank).hexdigest(), seal[1].decode())
        try:
            entries: dict[str, Any] = json.loads(data.decode())
        except (ValueError, RecursionError) as error:
            raise InputError(f"expected JSON: {error}") from None
        self._require_known_version(entries)
        own = {name: value for name, value in entries.items() if name not in IN_EVERY_DESCRIPTION}
        return Unsealed(entries["format_version"], own)

    def _require_known_version(self, entries: Entries) -> None:
        found, version = entries.get("format"), entries.get("format_version")
        if found != self.format:
            raise InputError(f"expected the format {self.format!r}, got {found!r:.60}")
        if type(version) is not int or version < 1:
            raise InputError(f"expected a format version from 1 on, got {version!r:.60}")
        if version > self.version:
            raise InputError(
                f"written by a newer deltavec, in version {version!r:.60} of the format; this one "
                f"reads up to version {self.version}: upgrade deltavec"
            )

    def require_replaceable(self, folder: Path) -> None:
        """Refuse to write where something stands that is not of this kind."""
        with problems_of(folder, self.error):
            if not os.path.lexists(folder):
                return
            if not folder.is_dir():
                what = "a file" if folder.is_file() else "something else"
                raise InputError(f"expected a folder, or nothing, found {what}: {ANOTHER_NAME}")
            for entry in folder.iterdir():
                if not self.holds(entry):
                    raise InputError(
                        f"the folder holds {entry.name!r}, which is not part of a {self.format}, "
                        f"and is left alone: {ANOTHER_NAME}"
                    )
            mark = json.dumps({"format": self.format}).strip("{}").encode()
            if any(folder.iterdir()) and mark not in start_of(folder / self.description):
                raise InputError(
                    f"the folder is not a {self.format}, and is left alone: {ANOTHER_NAME}"
                )

    def holds(self, entry: Path) -> bool:
        """Whether a folder of this kind may hold a file or folder like this."""
        if entry.name in self.folders:
            return entry.is_dir()
        return entry.is_file() and self.files.fullmatch(entry.name) is not None

    def remove(self, folder: Path) -> None:
        """Remove a folder of this kind, if it is there; one that holds anything else stays."""
        # What is in the way here (a file in use, on Windows) is no reason to call a save failed.
        with suppress(OSError):
            for name, kind in self.folders.items():
                if not (folder / name).is_symlink():  # what it points to is not ours
                    kind.remove(folder / name)
            for entry in list(folder.iterdir()):
                unfinished = re.fullmatch(UNFINISHED, entry.name)
                if unfinished and entry.is_dir() and not entry.is_symlink():
                    for kind in self.folders.values():
                        kind.remove(entry)
                elif unfinished or self.files.fullmatch(entry.name):
                    entry.unlink()
            folder.rmdir()

    def read_whole(self, folder: Path, read: Callable[[Path], Content]) -> Content:
        """What is read from the files of a folder that somebody may replace meanwhile."""
        while True:
            before = self.identity(folder)
            try:
                content = read(folder)
            except InputError:
                if self.identity(folder) == before:
                    raise
            else:
                if self.identity(folder) == before:
                    return content
            # Another was put there between the reading of two files: once more.

    def identity(self, folder: Path) -> tuple[int, int, int]:
        """What tells a folder from the one that takes its place."""
        with problems_of(folder, self.error):
            if not folder.is_dir():
                what = "a file" if folder.exists() else "nothing there"
                raise InputError(f"expected the folder of a {self.format}, found {what}")
            status = folder.stat()
            return status.st_dev, status.st_ino, status.st_mtime_ns  # inodes are used again

    @contextmanager
    def opened(self, path: Path) -> Iterator[BinaryIO]:
        """One of its files, open for reading; an error inside begins with its name."""
        with problems_of(path, self.error):
            if not path.is_file():
                raise InputError(
                    f"the file is missing: the folder is not a {self.format}, or damaged"
                )
            with path.open("rb") as file:
                yield file


def names(files: Iterable[str]) -> re.Pattern[str]:
    """A pattern of just these names."""
    return re.compile("|".join(map(re.escape, files)))


def sealed(entries: Entries) -> bytes:
    """The entries as JSON with its own checksum; floats keep all their digits."""
    content = {"checksum": NO_CHECKSUM.decode(), **entries}
    blank = json.dumps(content, indent=2, allow_nan=False).encode() + b"\n"
    if len(blank) > LONGEST:
        raise InputError(
            "the notes are too long, or the columns too many: a description has at most "
            f"{LONGEST:,} bytes"
        )
    return blank.replace(NO_CHECKSUM, hashlib.sha256(blank).hexdigest().encode(), 1)


def require_types(entries: Entries, kinds: Mapping[str, type[Any]]) -> None:
    """Refuse an object that does not have just these entries, of these types."""
    if odd := sorted(entries.keys() ^ kinds.keys()):
        what = "is missing" if odd[0] in kinds else "is unknown"
        raise InputError(f"the entry {odd[0]!r:.60} {what}")
    for name, kind in kinds.items():
        value = entries[name]
        if type(value) is not kind or (kind is float and not math.isfinite(value)):
            raise InputError(f"{name} must be {KINDS_OF_VALUES[kind]}, got {value!r:.60}")


def require_ranges(entries: Entries, ranges: Mapping[str, tuple[float, float]]) -> None:
    """Refuse numbers that are too small or too large; those that are not there are no matter."""
    for name, (smallest, largest) in ranges.items():
        value = entries.get(name, smallest)
        if not smallest <= value <= largest:
            raise InputError(f"{name} must be from {smallest} to {largest}, got {value!r:.60}")


def require_size(file: BinaryIO, expected: int) -> None:
    """Refuse a file of another length."""
    found = os.fstat(file.fileno()).st_size
    if found != expected:
        raise InputError(
            f"expected {expected:,} bytes, found {found:,}: the file was cut short or exchanged"
        )


def require_unchanged(file: BinaryIO, expected: str, begin: int = 0) -> None:
    """Refuse a file with another checksum, taken from a place on."""
    require_checksum(sha256(file, begin), expected)


def require_checksum(found: str, expected: str) -> None:
    """Refuse content that has another checksum."""
    if found != expected:
        raise InputError("the content does not have its checksum: the file is damaged")


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
